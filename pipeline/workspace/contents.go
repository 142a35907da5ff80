package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"neardup/configs"
	"neardup/pipeline/disk"
	"neardup/pipeline/layout"
	"neardup/pipeline/store"
)

// tableContents maps the letter of a table to its contents.
type tableContents map[string]store.Contents

// contents returns the contents of a stage's tables. It does not read those that are
// known.
func (w *Workspace) contents(st Stage, known map[byte]store.Contents) (tableContents, error) {
	out := tableContents{}
	for _, table := range st.Tables {
		c, ok := known[table]
		if !ok {
			var err error
			if c, err = w.DB.Contents(table); err != nil {
				return nil, err
			}
		}
		out[string(table)] = c
	}
	return out, nil
}

// CheckContents compares the present contents of the stages' tables with those
// recorded when each stage was done.
func (w *Workspace) CheckContents() error {
	for _, st := range w.Stages {
		s, ok, err := w.State(st.Name)
		if err != nil {
			return err
		}
		if !ok || !s.Done || s.Tables == nil {
			continue
		}
		now, err := w.contents(st, nil)
		if err != nil {
			return err
		}
		for _, table := range slices.Sorted(maps.Keys(s.Tables)) {
			if was, is := s.Tables[table], now[table]; !was.Equal(is) {
				return fmt.Errorf("%w: table %s of %s has %d rows, but had %d", layout.ErrCorrupt, table, st.Name, is.Rows, was.Rows)
			}
		}
	}
	return nil
}

// damaged wraps the error of a database that cannot be opened with advice. If the
// system refused to open it, nothing is known of damage.
func damaged(path string, err error) error {
	if disk.IsRefused(err) || disk.IsFailing(err) {
		return fmt.Errorf("%s cannot be opened: %w", path, err)
	}
	return fmt.Errorf("%s: %w; put a copy of the workspace back, or start a new one", path, err)
}

// missesDatabase returns an error if the manifest names finished work but the
// database is gone.
func (w *Workspace) missesDatabase() error {
	has, err := store.HasDatabase(w.Path("db"))
	if err != nil || has {
		return err
	}
	m, err := ReadManifest(w.Dir)
	if err == nil && (len(m.Inputs) > 0 || len(m.Stages) > 0) {
		err = damaged(w.Path("db"), fmt.Errorf("%w: it is empty", layout.ErrCorrupt))
	}
	return err
}

// migrate checks a database that has no seal, and upgrades a workspace of an older
// format to this one.
func (w *Workspace) migrate() error {
	if w.DB.Unsealed {
		if err := w.CheckContents(); err != nil {
			return damaged(w.Path("db"), err)
		}
	}
	m, err := readManifest(w.Dir, false)
	if err != nil || m.Format == Format {
		return err
	}
	if m, err = ReadManifest(w.Dir); err != nil { // with all fields
		return err
	}
	m.Format = Format
	return writeManifest(w.Dir, m)
}

// identityRow is the row of the database that repeats the manifest's fields about
// the workspace as a whole. Restore makes a lost manifest from it.
type identityRow struct {
	mu   sync.Mutex
	kept identity
}

type identity struct {
	Format int             `json:"format"`
	Config *configs.Config `json:"config"` // config of the last run
}

var identityKey = layout.MetaKey("workspace")

// keepIdentity writes the identity row if it changed.
func (w *Workspace) keepIdentity() error {
	w.identity.mu.Lock()
	defer w.identity.mu.Unlock()
	now := identity{Format, w.keptConfig()}
	if reflect.DeepEqual(now, w.identity.kept) {
		return nil
	}
	b := w.DB.Batch()
	if err := errors.Join(b.SetJSON(identityKey, now), b.Commit()); err != nil {
		return err
	}
	config := *now.Config
	w.identity.kept = identity{Format, &config}
	return nil
}

// Restored is the warning about a manifest that Restore made again.
const Restored = "manifest.json was missing or damaged; it is made again from the database"

// Restore writes the manifest of the workspace in dir from its database, if the
// manifest is missing or damaged.
func Restore(dir string, stages []Stage) (restored bool, err error) {
	_, err = readManifest(dir, false)
	if err == nil || !errors.Is(err, errManifest) && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if has, hasErr := store.HasDatabase(filepath.Join(dir, "db")); hasErr != nil || !has {
		if errors.Is(err, fs.ErrNotExist) { // the caller knows whether a database should be there
			err = nil
		}
		return false, errors.Join(hasErr, err)
	}
	w := &Workspace{opened: &opened{Dir: dir, Stages: stages, Options: Options{Progress: Silent{}}}}
	if w.lock, err = store.LockDirectory(w.Path("db")); err != nil {
		return false, fmt.Errorf("manifest.json is missing or damaged: %w", locked(dir, err))
	}
	defer func() { err = errors.Join(err, w.lock.Close()) }()
	if w.DB, err = store.Open(w.Path("db"), w.lock, logger{w}, w.onDiskFull); err != nil {
		return false, damaged(w.Path("db"), err)
	}
	defer func() { err = errors.Join(err, w.DB.Close()) }()
	var id identity
	if _, err := w.DB.GetJSON(identityKey, &id); err != nil {
		return false, err
	}
	if id.Format > Format {
		return false, fmt.Errorf("%w: %s has format %d, this program reads formats up to %d", ErrOtherFormat, dir, id.Format, Format)
	}
	if w.DB.Unsealed {
		if err := w.CheckContents(); err != nil {
			return false, damaged(w.Path("db"), err)
		}
	}
	m, err := w.manifest()
	if err != nil {
		return false, err
	}
	m.Config = id.Config
	return true, w.ExplainError(writeManifest(dir, m))
}
