//go:build race

package testkit

func init() { Raced = true }
