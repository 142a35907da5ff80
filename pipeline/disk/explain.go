package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// IsRefused reports whether an error says that the system refused to open or change
// a file: too few file descriptors, missing rights, a read-only or a full disk, a file that
// would be too large.
// Such an error tells nothing about the file's content.
func IsRefused(err error) bool {
	return IsNoSpace(err) || isReadOnly(err) || isTooLarge(err) || hasTooFewFiles(err) || errors.Is(err, fs.ErrPermission)
}

// Explain adds to an error of the system what can be done about it. Other errors
// stay as they are.
func Explain(err error) error {
	if err == nil || errors.Is(err, ErrFull) {
		return err
	}
	path, isFile := refusedPath(err)
	switch {
	case IsNoSpace(err) && path == os.Stdout.Name():
		return fmt.Errorf("%w: that of standard output (%w)", ErrFull, err)
	case IsNoSpace(err) && isFile:
		return Full(filepath.Dir(path), err)
	case isTooLarge(err):
		return fmt.Errorf("%w; this command, or its disk, may have no files of that size: raise the limit (ulimit -f), then run the same command again", err)
	case IsFailing(err):
		return fmt.Errorf("%w; the disk failed to read or write: look into the log of the system before you replace files", err)
	case hasTooFewFiles(err):
		return fmt.Errorf("%w; %s, then run the same command again", err, tooFewFilesAdvice(err))
	case isReadOnly(err) && isFile:
		return fmt.Errorf("%w; the disk of %s is mounted read-only", err, path)
	case errors.Is(err, fs.ErrPermission) && isFile:
		return fmt.Errorf("%w; %s, and the user of this command (%d) lacks a right to it: change its owner or mode, or run the command as another user",
			err, describe(existing(path)), os.Geteuid())
	}
	return err
}

// refusedPath returns the path of the file that an error is about. If the call that
// failed changes a directory, it is the path of the directory.
func refusedPath(err error) (path string, ok bool) {
	var file *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &link):
		return filepath.Dir(link.New), true
	case !errors.As(err, &file):
		return "", false
	case file.Op == "remove" || file.Op == "unlinkat" || file.Op == "mkdir":
		return filepath.Dir(file.Path), true
	}
	return file.Path, true
}

// existing returns the path, or the innermost directory above it that can be
// examined: a file that cannot be created, or not even be seen, lacks a right there.
func existing(path string) (string, fs.FileInfo) {
	for {
		info, err := os.Lstat(path)
		if err == nil || path == filepath.Dir(path) {
			return path, info
		}
		path = filepath.Dir(path)
	}
}

func describe(path string, info fs.FileInfo) string {
	if info == nil {
		return path
	}
	return fmt.Sprintf("%s is %v%s", path, info.Mode(), ownerOf(info))
}
