package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"neardup/configs"
	"neardup/pipeline/disk"
	"neardup/pipeline/inputs"
	"neardup/pipeline/store"
)

// A run changes tables step by step, so readers cannot use them meanwhile. Before
// its first change a run therefore keeps the last finished state: the manifest, and
// a checkpoint of the database that shares its tables with the workspace (see
// store.Keep). The state is kept whole or not at all. It is removed when all stages
// are done again. An interrupted run leaves it for readers, and the run that
// resumes finds it.

// finishedName is the directory of the last finished state. halfName is one that is
// being written or removed.
const (
	finishedName = "finished"
	halfName     = disk.Temporary + finishedName
)

// isFinished reports whether all stages are done and each has read what the stage
// before it wrote. state returns the stored state of a stage.
func isFinished(stages []Stage, known []inputs.Source, state func(name string) (StageState, bool, error)) (bool, error) {
	input := SourcesGeneration(known)
	for _, st := range stages {
		s, ok, err := state(st.Name)
		if err != nil || !ok || !s.Done || s.Version != st.Version || s.Input != input {
			return false, err
		}
		input = s.Generation()
	}
	return true, nil
}

// isFinished reports whether no run is under way or interrupted.
func (w *Workspace) isFinished() (bool, error) {
	known, err := w.Sources()
	if err != nil {
		return false, err
	}
	return isFinished(w.Stages, known, w.State)
}

// isFinished is Workspace.isFinished, computed from the manifest.
func (m Manifest) isFinished(stages []Stage) bool {
	known := map[string]StageState{}
	for _, s := range m.Stages {
		known[s.Name] = s.StageState
	}
	finished, _ := isFinished(stages, m.Inputs, func(name string) (StageState, bool, error) {
		s, ok := known[name]
		return s, ok, nil
	})
	return finished
}

// keepFinished keeps the present state for readers, if it is finished. A run calls
// it before its first change. If the state cannot be kept, the run goes on without
// it.
func (w *Workspace) keepFinished() error {
	if w.trial != nil {
		return nil
	}
	finished, err := w.isFinished()
	if err != nil || !finished {
		return err
	}
	if err := errors.Join(w.dropFinished(), w.writeFinished()); err != nil {
		w.Options.Progress.Warn("the last finished state cannot be kept; others can read the workspace when the run is done", "error", err)
	}
	return nil
}

func (w *Workspace) writeFinished() (err error) {
	dir := w.Path(halfName)
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	db := filepath.Join(dir, "db")
	if err := os.MkdirAll(db, 0o777); err != nil {
		return err
	}
	if err := store.Keep(w.Path("db"), db); err != nil {
		return err
	}
	files, err := disk.Matching(db, "*")
	if err != nil {
		return err
	}
	m, err := w.manifest()
	if err != nil {
		return err
	}
	var id identity
	if _, err := w.DB.GetJSON(identityKey, &id); err != nil {
		return err
	}
	m.Config = id.Config // of the run that finished the state, not of the run that begins
	if err := errors.Join(disk.SyncFiles(files), writeManifest(dir, m), disk.FaultAt("publish", finishedName)); err != nil {
		return err
	}
	return os.Rename(dir, w.Path(finishedName))
}

// dropFinished removes the kept state if the workspace itself is finished.
func (w *Workspace) dropFinished() error {
	if _, err := os.Lstat(w.Path(finishedName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	finished, err := w.isFinished()
	if err != nil || !finished {
		return err
	}
	return w.DropFinished()
}

// DropFinished removes the kept state, whatever the workspace is.
func (w *Workspace) DropFinished() error {
	if err := disk.FaultAt("remove", finishedName); err != nil {
		return err
	}
	if err := os.Rename(w.Path(finishedName), w.Path(halfName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(w.Path(halfName))
}

// ReadConfig returns the config of the run that left what is read, if that is a copy, and
// whether it is the kept state, because a run has not ended. It returns nil if the workspace
// itself is open.
func (w *Workspace) ReadConfig() (c *configs.Config, finished bool) { return w.read, w.finished }
