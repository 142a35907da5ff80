//go:build !unix

package pipeline

func cpuSeconds() float64 { return 0 }

func isNoSpace(error) bool { return false }
