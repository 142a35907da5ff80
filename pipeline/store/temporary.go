package store

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// TemporaryDirectory makes a directory for a Copy below temp, or the system's
// directory for temporary files if that is empty, and locks it. It removes those that
// killed processes left there.
func TemporaryDirectory(temp string) (dir string, used *Lock, err error) {
	dropTemporary(cmp.Or(temp, os.TempDir()))
	if dir, err = os.MkdirTemp(temp, temporaryPrefix); err != nil {
		return "", nil, err
	}
	if used, err = LockDirectory(dir); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, used, nil
}

// temporaryPrefix is how the names of these directories begin.
const temporaryPrefix = "neardup-read-"

// youngDirectory is the age up to which a directory may not be locked yet.
const youngDirectory = time.Minute

// dropTemporary removes the directories that killed processes left. One that a process
// uses is locked. Those of other users stay: they cannot be removed, and locking in a
// directory that another user has filled would follow its links. Errors do not matter
// here: the caller has work to do.
func dropTemporary(temp string) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(temp, e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), temporaryPrefix) || !isOwn(info) || time.Since(info.ModTime()) < youngDirectory {
			continue
		}
		if lock, err := LockDirectory(dir); err == nil {
			_ = lock.Close()
			_ = os.RemoveAll(dir)
		}
	}
}
