// Package disk publishes files and directories whole or not at all, and tells a
// full disk from other failures.
//
// A file is written under a temporary name beside its place and then renamed. A
// killed process leaves the temporary file behind; RemoveStale removes it.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrFull reports that no space is left on the disk.
var ErrFull = errors.New("no space left on the disk")

// Full returns the error for a full disk, with advice. err names what could not be
// written.
func Full(dir string, err error) error {
	return fmt.Errorf("%w: %s; nothing that was complete is lost: free some space and run the same command again (%w)", ErrFull, dir, err)
}

// Temporary is the prefix of the names of temporary files and directories.
const Temporary = ".neardup-"

// IsTemporary reports whether a directory entry has a temporary name.
func IsTemporary(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), Temporary) }

// Matching returns the paths of the files in dir whose names match a pattern. dir may
// have any characters, other than in filepath.Glob.
func Matching(dir, pattern string) ([]string, error) {
	names, err := fs.Glob(os.DirFS(dir), pattern)
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names, err
}

// WriteFile publishes a file whole: it writes a temporary file beside path, syncs
// it, renames it, and syncs the directory. So a crash of the machine loses no file that was
// published.
func WriteFile(path string, write func(f *os.File) error) (err error) {
	return writeFile(path, write, os.Rename)
}

// CreateFile is WriteFile for a new file. If path exists, it returns fs.ErrExist.
func CreateFile(path string, write func(f *os.File) error) error {
	return writeFile(path, write, func(temporary, path string) error {
		err := os.Link(temporary, path)
		if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(temporary)
			return err
		}
		return os.Rename(temporary, path) // the file system has no hard links
	})
}

func writeFile(path string, write func(f *os.File) error, publish func(temporary, path string) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), Temporary+"*")
	if err != nil {
		return err
	}
	hold(f)
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := FaultAt("sync", path); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := FaultAt("publish", path); err != nil {
		return err
	}
	if err := publish(f.Name(), path); err != nil {
		return err
	}
	return SyncDirectory(filepath.Dir(path))
}

// SyncDirectory makes the names in a directory durable. File systems that cannot do this for
// a directory keep them by other means.
func SyncDirectory(dir string) error {
	if err := FaultAt("sync", dir); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return nil // it may be written to and not be read
	}
	err = d.Sync()
	_ = d.Close() // nothing was written
	if IsFailing(err) || IsNoSpace(err) {
		return err
	}
	return nil
}
