package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"neardup/pipeline/disk"
	"neardup/pipeline/store"
)

// If another process holds the workspace, or it cannot be written, readers use a
// copy of its database at one moment (see store.Copy). They take no lock and write
// nothing into the workspace. What they write into the copy, such as an index, is
// discarded with it.

// ReadOnly reports whether the workspace is open for reading only.
func (w *Workspace) ReadOnly() bool { return w.copied != nil }

// openCopy opens a workspace that cannot be locked, for reading. It reads the
// present state, or the last finished state while a run changes the workspace. why
// is the reason why the lock failed.
func (w *Workspace) openCopy(why error) error {
	w.why = why
	m, err := ReadManifest(w.Dir)
	if err != nil {
		return errors.Join(why, err)
	}
	if !m.isFinished(w.Stages) && w.readFinished() == nil {
		return nil
	}
	err = w.readCopy(w.Dir)
	if err != nil && w.readFinished() == nil { // a run has begun since
		return nil
	}
	if err == nil {
		if errors.Is(why, ErrInUse) { // whose advice is for those who want to write
			w.Options.Progress.Warn("the workspace is in use, and read as it is", "workspace", w.Dir, "by", holder(w.Dir))
		} else {
			w.Options.Progress.Warn("the workspace is read without a change", "workspace", w.Dir, "why", why)
		}
	}
	return err
}

// readFinished opens a copy of the kept finished state.
func (w *Workspace) readFinished() error {
	m, err := ReadManifest(w.Path(finishedName))
	if err != nil {
		return err
	}
	if err := w.readCopy(w.Path(finishedName)); err != nil {
		return err
	}
	w.finished = m.Config
	return nil
}

// readCopy opens a copy of the database in the directory from.
func (w *Workspace) readCopy(from string) (err error) {
	dropCopies(cmp.Or(w.Options.Temp, os.TempDir()))
	dir, err := os.MkdirTemp(w.Options.Temp, copyPrefix)
	if err != nil {
		return fmt.Errorf("%s can be read as a copy only, and %w", w.Dir, disk.TemporaryError(err))
	}
	used, err := store.LockDirectory(dir)
	if err != nil {
		return errors.Join(w.why, err, os.RemoveAll(dir))
	}
	release := func() {}
	w.copied = func() error {
		release()
		return errors.Join(used.Close(), os.RemoveAll(dir))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.copied())
		}
	}()
	db := filepath.Join(dir, "db")
	if err := os.Mkdir(db, 0o700); err != nil {
		return err
	}
	held, err := store.Copy(filepath.Join(from, "db"), db)
	if err != nil {
		return fmt.Errorf("%w; and it cannot be read beside it: %w", w.why, err)
	}
	release = held
	if w.lock, err = store.LockDirectory(db); err != nil {
		return err
	}
	if w.DB, err = store.OpenCopy(db, w.lock, logger{w}, w.onDiskFull); err != nil {
		return errors.Join(damaged(filepath.Join(from, "db"), err), w.lock.Close())
	}
	if err = w.underWay(); err == nil && w.DB.Unsealed {
		if err = w.CheckContents(); err != nil {
			err = damaged(filepath.Join(from, "db"), err)
		}
	}
	if err != nil {
		return errors.Join(err, w.DB.Close(), w.lock.Close())
	}
	return nil
}

// copyPrefix is how the names of the directories of copies begin.
const copyPrefix = "neardup-read-"

// youngCopy is the age up to which a copy may not be locked yet.
const youngCopy = time.Minute

// dropCopies removes the copies that killed readers left in a directory. A copy that a
// process reads is locked. Those of other users stay: they cannot be removed, and
// locking in a directory that another user has filled would follow its links. Errors
// do not matter here: the reader has work to do.
func dropCopies(temp string) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := filepath.Join(temp, e.Name())
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), copyPrefix) || !isOwn(info) || time.Since(info.ModTime()) < youngCopy {
			continue
		}
		if lock, err := store.LockDirectory(dir); err == nil {
			_ = lock.Close()
			_ = os.RemoveAll(dir)
		}
	}
}

// underWay returns an error if another process holds the workspace and a stage is
// not done: the workspace can be read once it is.
func (w *Workspace) underWay() error {
	if !errors.Is(w.why, ErrInUse) {
		return nil
	}
	for _, st := range w.Stages {
		s, ok, err := w.State(st.Name)
		if err != nil {
			return err
		}
		if !ok || !s.Done {
			return fmt.Errorf("%w; its stage %s is under way, and can be read when the run is done", w.why, st.Name)
		}
	}
	return nil
}

// holderName is the file that names the process that holds the workspace.
const holderName = "holder"

// noteHolder writes this process into the holder file. Only a message uses it, so a
// failure does not matter.
func (w *Workspace) noteHolder() {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	_ = os.WriteFile(w.Path(holderName), fmt.Appendf(nil, holderFormat+"\n", os.Getpid(), host), 0o644)
}

const holderFormat = "process %d on %s"

// atWork returns the description of the process that holds a workspace. It is empty if
// there is none. One on another machine may have ended without a trace.
func atWork(dir string) string {
	name := holder(dir)
	var pid int
	var host string
	if n, _ := fmt.Sscanf(name, holderFormat, &pid, &host); n != 2 {
		return ""
	}
	if here, err := os.Hostname(); err == nil && here == host {
		p, err := os.FindProcess(pid)
		if err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			return ""
		}
	}
	return name
}

// holder returns the description of the process that holds a workspace.
func holder(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, holderName))
	name := strings.TrimSpace(string(b))
	if err != nil || name == "" || len(name) > 300 || strings.ContainsAny(name, "\n\r\x1b") {
		return "another neardup"
	}
	return name
}
