//go:build !unix

package workspace

func cpuSeconds() float64 { return 0 }

// IsNoSpace reports whether the disk is full.
func IsNoSpace(error) bool { return false }
