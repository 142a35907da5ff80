package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

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
func (w *Workspace) openCopy(why error) (err error) {
	w.why = why
	for range openTries {
		m, manifestErr := ReadManifest(w.Dir)
		if manifestErr != nil {
			return errors.Join(why, manifestErr)
		}
		if !m.isFinished(w.Stages) && w.readFinished() == nil {
			return nil
		}
		if err = w.readCopy(w.Dir); err == nil {
			break
		}
		if w.readFinished() == nil { // a run has begun since
			return nil
		}
	}
	switch {
	case err != nil:
	case errors.Is(why, ErrInUse): // whose advice is for those who want to write
		w.Options.Progress.Warn("the workspace is in use, and read as it is", "workspace", w.Dir, "by", holder(w.Dir))
	default:
		w.Options.Progress.Warn("the workspace is read without a change", "workspace", w.Dir, "why", why)
	}
	return err
}

// openTries is how often a workspace is tried: a run may begin before it is read, and end
// before what it keeps is.
const openTries = 3

var errNotEnded = errors.New("the last run of the workspace has not ended; run neardup run")

// openFinished opens the kept finished state of a workspace whose last run has not
// ended, and lets go of the workspace itself. It reports whether there is one.
func (w *Workspace) openFinished() bool {
	lock := w.lock
	w.why = errNotEnded
	if m, err := ReadManifest(w.Dir); err != nil || m.isFinished(w.Stages) || w.readFinished() != nil {
		w.lock, w.why, w.copied, w.read, w.DB = lock, nil, nil, nil, nil
		return false
	}
	_ = lock.Close()
	return true
}

// readFinished opens a copy of the kept finished state.
func (w *Workspace) readFinished() error {
	if _, err := os.Lstat(w.Path(finishedName)); err != nil {
		return err
	}
	if err := w.readCopy(w.Path(finishedName)); err != nil {
		return err
	}
	w.finished = true
	return nil
}

// readCopy opens a copy of the database in the directory from.
func (w *Workspace) readCopy(from string) (err error) {
	dir, used, err := store.TemporaryDirectory(w.Options.Temp)
	if err != nil {
		return fmt.Errorf("%s can be read as a copy only, and %w", w.Dir, disk.TemporaryError(err))
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
	var id identity
	_, err = w.DB.GetJSON(identityKey, &id)
	w.read = id.Config
	if err = errors.Join(err, w.underWay()); err == nil && w.DB.Unsealed {
		if err = w.CheckContents(); err != nil {
			err = damaged(filepath.Join(from, "db"), err)
		}
	}
	if err != nil {
		return errors.Join(err, w.DB.Close(), w.lock.Close())
	}
	return nil
}

// underWay returns an error if another process holds the workspace and a run of it has
// changed what is read: it can be read once the run is done.
func (w *Workspace) underWay() error {
	if !errors.Is(w.why, ErrInUse) {
		return nil
	}
	known, err := w.Sources()
	if err != nil {
		return err
	}
	input := SourcesGeneration(known)
	for _, st := range w.Stages {
		s, ok, err := w.State(st.Name)
		if err != nil {
			return err
		}
		if !ok || !s.Done || s.Input != input {
			return fmt.Errorf("%w; its stage %s is under way, and can be read when the run is done", w.why, st.Name)
		}
		input = s.Generation()
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
