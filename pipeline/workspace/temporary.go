package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"neardup/pipeline/disk"
	"neardup/pipeline/store"
)

// Options.Temp moves sorted runs and spilled queues to a directory outside the
// workspace. The directory is locked while it is in use, and the file elsewhereName
// names it, so that the next command in the workspace can remove it after a crash.
const (
	elsewhereName   = "temporary"
	elsewherePrefix = "neardup-run-"
)

// makeElsewhere makes the directory for temporary files in Options.Temp, if that is
// set.
func (w *Workspace) makeElsewhere() (err error) {
	if err := w.clearElsewhere(); err != nil {
		return err
	}
	if w.Options.Temp == "" {
		return nil
	}
	parent, err := filepath.Abs(w.Options.Temp)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(parent, elsewherePrefix)
	if err != nil {
		return fmt.Errorf("%w: --temp: %w", ErrUsage, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.dropElsewhere())
		}
	}()
	w.elsewhere = dir
	if w.elsewhereLock, err = store.LockDirectory(dir); err != nil {
		return err
	}
	return disk.WriteFile(w.Path(elsewhereName), func(f *os.File) error {
		_, err := f.WriteString(dir)
		return err
	})
}

// dropElsewhere removes what makeElsewhere made.
func (w *Workspace) dropElsewhere() error {
	if w.elsewhere == "" {
		return nil
	}
	if w.elsewhereLock != nil {
		_ = w.elsewhereLock.Close()
	}
	err := errors.Join(os.RemoveAll(w.elsewhere), os.RemoveAll(w.Path(elsewhereName)))
	w.elsewhere, w.elsewhereLock = "", nil
	return err
}

// clearElsewhere removes the directory that a killed command left. A directory that
// a process holds stays: it belongs to the workspace that this one is a copy of. If
// the directory cannot be removed, the file that names it stays, too.
func (w *Workspace) clearElsewhere() error {
	b, err := os.ReadFile(w.Path(elsewhereName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	dir := string(b)
	if filepath.IsAbs(dir) && strings.HasPrefix(filepath.Base(dir), elsewherePrefix) {
		if _, err := os.Stat(dir); err == nil {
			lock, err := store.LockDirectory(dir)
			if err == nil {
				_ = lock.Close()
				err := disk.FaultAt("remove", dir)
				if err == nil {
					err = os.RemoveAll(dir)
				}
				if err != nil {
					w.Options.Progress.Warn("temporary files of a killed command cannot be removed", "directory", dir, "error", err)
					return nil
				}
			}
		}
	}
	return os.Remove(w.Path(elsewhereName))
}
