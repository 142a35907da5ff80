package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// maxLinks limits the links from one to the next that Output follows.
const maxLinks = 40

// Output returns the file that is to be written under a path: the one that a link
// leads to, which need not be there. It is special if it is no file: a pipe or a
// device, which is written into.
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
			return path, true, nil // /dev/stdout may lead to no path
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

// madeName is what os.CreateTemp and os.MkdirTemp make of temporary.
var madeName = regexp.MustCompile("^" + regexp.QuoteMeta(temporary) + `\d+$`)

// staleAfter is the age from which on a temporary file that no process holds is
// left of one that was killed. A younger one may be about to be held.
const staleAfter = time.Minute

// RemoveStale removes the temporary files and directories that killed processes
// left in a directory. Those that a process holds stay, and one that keeps what
// stood in the place of a directory.
func RemoveStale(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // writing there will say what is wrong
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
