//go:build unix

package workspace

import (
	"errors"
	"os"
	"syscall"
)

// cpuSeconds returns the processor time of this process so far.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// hold makes isHeld true of a file until it is closed, or the process ends.
func hold(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) } // if it cannot, its age protects it

// isHeld reports whether a process holds a file.
func isHeld(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

// IsNoSpace reports whether the disk is full.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
