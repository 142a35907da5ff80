//go:build race

package extract

func init() { raced = true }
