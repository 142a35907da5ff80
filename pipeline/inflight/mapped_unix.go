//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package inflight

import (
	"os"
	"syscall"
)

// mapped returns the first bytes of a file as memory, or nil if that is not possible.
// What is written to it outlives the process.
func mapped(f *os.File, size int) []byte {
	b, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

func unmap(b []byte) error { return syscall.Munmap(b) }
