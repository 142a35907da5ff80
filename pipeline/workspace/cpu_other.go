//go:build !unix

package workspace

func cpuSeconds() float64 { return 0 }

func isNoSpace(error) bool { return false }
