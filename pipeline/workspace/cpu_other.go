//go:build !unix

package workspace

import "os"

func cpuSeconds() float64 { return 0 }

// IsNoSpace reports whether the disk is full.
func IsNoSpace(error) bool { return false }

func hold(*os.File) {}

func isHeld(string) bool { return true }

func isReadOnly(error) bool { return false }
