//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package inflight

import "os"

// mapped returns nil: files are not mapped.
func mapped(*os.File, int) []byte { return nil }

func unmap([]byte) error { return nil }
