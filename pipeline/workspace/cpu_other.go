//go:build !unix

package workspace

func cpuSeconds() float64 { return 0 }
