package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"neardup/pipeline/layout"
)

// Exports of a run are written again from those of the run before, group by group,
// where it is known which groups changed. The database notes what they were written
// from. Before the first change of the tables that they come from, it drops that note,
// and from then on only the process at work knows what changed: if it is killed, the
// exports are written as a whole.

const noteOfExports = "exports"

const (
	exportedTables = string(layout.TableOccurrence) + string(layout.TableCluster)
	mostChanges    = 1 << 19 // rows; each takes about 50 bytes of memory
)

type exportsNote struct {
	Stages []string        `json:"stages"` // generations of extract and verify, and whether each was done
	Note   json.RawMessage `json:"note"`
}

// watchExports begins to collect what changes after the exports were written. It does
// nothing if the database has no note of them, or changed since in the hands of a
// program that knows no such notes.
func (w *Workspace) watchExports() error {
	var n exportsNote
	ok, err := w.DB.GetJSON(layout.MetaKey(noteOfExports), &n)
	if err != nil || !ok {
		return err
	}
	now, err := w.exportedFrom()
	if err != nil || len(n.Stages) != len(now) {
		return err
	}
	for i := range now {
		if n.Stages[i] != now[i] {
			return nil
		}
	}
	w.exported = n.Note
	w.watch()
	return nil
}

func (w *Workspace) watch() {
	w.DB.Watch(exportedTables, mostChanges, func() error {
		b := w.DB.Batch()
		return errors.Join(b.Delete(layout.MetaKey(noteOfExports)), b.Commit())
	})
}

func (w *Workspace) exportedFrom() (generations []string, err error) {
	for _, name := range []string{StageExtract, StageVerify} {
		s, _, err := w.State(name)
		if err != nil {
			return nil, err
		}
		generations = append(generations, fmt.Sprint(s.Generation(), s.Done))
	}
	return generations, nil
}

// ExportsAreOld reports whether the exports of runs may hold what the tables do not.
func (w *Workspace) ExportsAreOld() bool {
	_, err := os.Lstat(w.Path("exports"))
	return err == nil && w.exported == nil
}

// Exported decodes what NoteExported noted, and returns the rows of occurrences and
// clusters that were written or deleted since. ok is false if that is not known.
func (w *Workspace) Exported(note any) (changed map[layout.RowID]struct{}, ok bool, err error) {
	if w.exported == nil {
		return nil, false, nil
	}
	changed, ok = w.DB.Changed()
	return changed, ok, json.Unmarshal(w.exported, note)
}

// NoteExported notes that the exports hold what the tables do now.
func (w *Workspace) NoteExported(note any) error {
	raw, err := json.Marshal(note)
	if err != nil {
		return err
	}
	from, err := w.exportedFrom()
	if err != nil {
		return err
	}
	b := w.DB.Batch()
	if err := errors.Join(b.SetJSON(layout.MetaKey(noteOfExports), exportsNote{from, raw}), b.Commit()); err != nil {
		return err
	}
	w.exported = raw
	w.watch()
	return nil
}
