//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// isReadOnly reports whether an error says that the file system is read-only.
func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// isTooLarge reports whether an error says that a file would become too large.
func isTooLarge(err error) bool { return errors.Is(err, syscall.EFBIG) }

// IsFailing reports whether an error says that the disk failed.
func IsFailing(err error) bool { return errors.Is(err, syscall.EIO) }

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

// hasTooFewFiles reports whether an error says that no more files can be open.
func hasTooFewFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// tooFewFilesAdvice returns what to do about an error that hasTooFewFiles accepts.
func tooFewFilesAdvice(err error) string {
	if errors.Is(err, syscall.ENFILE) {
		return "the machine has no file descriptors left: end other programs, or raise its limit (fs.file-max)"
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return "raise the limit of file descriptors (ulimit -n)"
	}
	return fmt.Sprintf("this command may have only %d files open: raise the limit (ulimit -n) to 1024 or more", limit.Cur)
}

// ownerOf returns the owner of a file as the end of a sentence about it.
func ownerOf(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" and belongs to user %d", s.Uid)
}

// IsNoSpace reports whether an error says that the disk is full.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
