//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

// IsReadOnly reports whether an error says that the file system is read-only.
func IsReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// hold locks a file, so that isHeld is true until the file is closed or the process
// ends.
func hold(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) } // if locking fails, the file's age protects it

// isHeld reports whether a process holds a file.
func isHeld(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

// IsNoSpace reports whether an error says that the disk is full.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
