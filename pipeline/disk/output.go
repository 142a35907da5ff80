package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// maxLinks limits the chain of symbolic links that Output follows.
const maxLinks = 40

// Output returns the file that a write to path has to create: path itself, or the
// target of a symbolic link, which need not exist. special is true if that is a
// pipe or a device, which has to be written into.
func Output(path string) (file string, special bool, err error) {
	for range maxLinks {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return path, false, nil
		case err != nil:
			return "", false, err
		case info.IsDir():
			return "", false, fmt.Errorf("%s is a directory", path)
		case info.Mode().IsRegular():
			return path, false, nil
		case info.Mode()&fs.ModeSymlink == 0:
			return path, true, nil
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return path, true, nil // /dev/stdout may point to no path
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", false, err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", false, fmt.Errorf("%s: too many links", path)
}

// madeName matches the names that os.CreateTemp and os.MkdirTemp make from
// Temporary.
var madeName = regexp.MustCompile("^" + regexp.QuoteMeta(Temporary) + `\d+$`)

// MkdirTemp makes a temporary directory in dir. Those that killed processes left there are
// removed, as far as they can be. remove removes it.
func MkdirTemp(dir string) (name string, remove func() error, err error) {
	_ = RemoveStale(dir)
	if name, err = os.MkdirTemp(dir, Temporary+"*"); err != nil {
		return "", nil, TemporaryError(err)
	}
	held, err := os.Open(name)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(name))
	}
	hold(held)
	return name, func() error { return errors.Join(held.Close(), os.RemoveAll(name)) }, nil
}

// TemporaryError returns the error for a temporary directory that cannot be made, with
// advice.
func TemporaryError(err error) error {
	return fmt.Errorf("temporary files have no place: %w; TMPDIR, or --temp if the command has it, names a directory for them", err)
}

// staleAfter is the age from which a temporary file that no process holds counts as
// left by a killed one. The process of a younger file may be about to lock it.
const staleAfter = time.Minute

// RemoveStale removes the temporary files and directories that killed processes
// left in a directory. It keeps those that a process holds, and a replaced
// directory under its temporary name.
func RemoveStale(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // a write to the directory will report the error
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if !madeName.MatchString(e.Name()) || err != nil || time.Since(info.ModTime()) < staleAfter || !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		if _, err := os.Lstat(filepath.Join(path, formerName)); err == nil || isHeld(path) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}
