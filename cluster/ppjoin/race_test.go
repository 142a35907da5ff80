//go:build race

package ppjoin_test

func init() { raced = true }
