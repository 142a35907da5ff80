package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// Directories of killed processes go; those that are used or are just being made stay, and so
// does whatever is no copy or could be another user's.
func TestTemporaryDirectories(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("owners are not known")
	}
	temp := t.TempDir()
	old := time.Now().Add(-time.Hour)
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.Mkdir(victim, 0o700); err != nil {
		t.Fatal(err)
	}
	stays := map[string]bool{"neardup-read-killed": false, "neardup-read-in-use": true, "neardup-read-young": true, "neardup-run-other": true,
		"neardup-read-open": true, "neardup-read-link": true}
	for name := range stays {
		dir := filepath.Join(temp, name)
		if name == "neardup-read-link" {
			if err := os.Symlink(victim, dir); err != nil {
				t.Fatal(err)
			}
			continue
		}
		err := errors.Join(os.MkdirAll(filepath.Join(dir, "db"), 0o700), os.Chmod(dir, 0o700), os.WriteFile(filepath.Join(dir, "db", "seal"), nil, 0o600))
		if name == "neardup-read-open" {
			err = errors.Join(err, os.Chmod(dir, 0o777))
		}
		if name == "neardup-read-in-use" {
			lock, lerr := LockDirectory(dir)
			if lerr != nil {
				t.Fatal(lerr)
			}
			defer func() { _ = lock.Close() }()
		}
		if name != "neardup-read-young" {
			err = errors.Join(err, os.Chtimes(dir, old, old))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	dropTemporary(temp)
	for name, want := range stays {
		_, err := os.Lstat(filepath.Join(temp, name))
		if got := !errors.Is(err, fs.ErrNotExist); got != want {
			t.Errorf("%s stays: %v, want %v", name, got, want)
		}
	}
	if entries, err := os.ReadDir(victim); err != nil || len(entries) > 0 {
		t.Errorf("what a link leads to was changed: %v %v", entries, err)
	}
	dropTemporary(filepath.Join(temp, "missing"))
}
