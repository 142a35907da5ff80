package stages

import (
	"encoding/hex"
	"errors"
	"iter"

	"neardup/extract"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// revisitCounts counts the outcomes of revisits.
type revisitCounts struct {
	resolved   int64
	unresolved map[extract.Reason]int64
}

// resolveRevisits finds the captures that revisit records refer to, in all files
// that the workspace has read, and makes each such revisit a document with the same
// text. It starts over whenever files were read: a better capture may have come,
// and the result must not depend on the order of the files.
func (x *extraction) resolveRevisits(sr *workspace.StageRun) (c revisitCounts, err error) {
	w := x.w
	total, err := w.DB.Count(layout.TableRevisit)
	if total == 0 || err != nil {
		return c, err
	}
	w.Options.Progress.Total(total, "revisits")
	if err := x.takeBack(sr); err != nil {
		return c, err
	}
	u := newUpdate(w, sr)
	sorter := func() *extsort.Sorter { return extsort.New(w.DB.Tmp) }
	err = dataflow.Resolve(sr.Ctx, revisits(w), captures(w), sorter, func(r dataflow.Revisit, t rows.TextID, page rows.Document) error {
		w.Options.Progress.Add(1)
		key, err := layout.ParseRevisitPlace(r.Place)
		if err != nil {
			return err
		}
		x.documents.add(key.Document())
		v := rows.Revisit{Document: r.Document, Resolved: hex.EncodeToString(t[:])}
		if err := errors.Join(u.b.SetJSON(key.Row(), v), u.b.SetJSON(key.Document(), page),
			u.b.Set(layout.OccurrenceKey(t, key.ID), layout.OccurrenceValue(rows.OccurrenceOf(page.Document)))); err != nil {
			return err
		}
		return u.commitIfFull()
	})
	if err := errors.Join(err, u.commit()); err != nil {
		return c, err
	}
	return countRevisits(w)
}

// countRevisits counts the outcomes of revisits.
func countRevisits(w *workspace.Workspace) (c revisitCounts, err error) {
	c.unresolved = map[extract.Reason]int64{}
	for v, err := range results.RevisitRows(w) {
		switch {
		case err != nil:
			return c, err
		case v.Row.Resolved != "":
			c.resolved++
		default:
			w.Options.Progress.Add(1)
			c.unresolved[v.Row.Repeats.Unresolved]++
		}
	}
	return c, nil
}

// takeBack removes the documents that were made from revisits.
func (x *extraction) takeBack(sr *workspace.StageRun) error {
	w := x.w
	u := newUpdate(w, sr)
	if err := u.b.Clear(layout.TableWanted); err != nil { // rows of a former version of this stage
		return err
	}
	for v, err := range results.RevisitRows(w) {
		if err != nil {
			return err
		}
		if v.Row.Resolved == "" {
			continue
		}
		t, err := layout.ParseTextID(v.Row.Resolved)
		if err != nil {
			return err
		}
		v.Row.Resolved = ""
		x.documents.remove(v.Key.Document())
		if err := errors.Join(u.b.SetJSON(v.Key.Row(), v.Row),
			u.b.Delete(v.Key.Document()), u.b.Delete(layout.OccurrenceKey(t, v.Key.ID)), u.commitIfFull()); err != nil {
			return err
		}
	}
	return u.commit()
}

// revisits yields all revisits, for dataflow.Resolve.
func revisits(w *workspace.Workspace) iter.Seq2[dataflow.Revisit, error] {
	return func(yield func(dataflow.Revisit, error) bool) {
		for v, err := range results.RevisitRows(w) {
			d := v.Row.Document
			d.ID = v.Key.ID
			if !yield(dataflow.Revisit{Place: v.Key.Place, Document: d}, err) || err != nil {
				return
			}
		}
	}
}

// captures yields all documents that are no revisits, for dataflow.Resolve.
// takeBack must have run before. If several files hold a document, the first by
// name counts.
func captures(w *workspace.Workspace) iter.Seq2[dataflow.Capture, error] {
	return func(yield func(dataflow.Capture, error) bool) {
		for r, err := range w.DB.Table(layout.TableDocument) {
			c := dataflow.Capture{Row: func() (d rows.Document, err error) { return d, r.JSON(&d) }}
			if err == nil {
				c.ID, _, _, err = layout.ParseDocumentKey(r.Key())
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// update collects changes and commits them in batches.
type update struct {
	w  *workspace.Workspace
	sr *workspace.StageRun
	b  store.Batch
}

func newUpdate(w *workspace.Workspace, sr *workspace.StageRun) *update {
	return &update{w: w, sr: sr, b: w.DB.Batch()}
}

func (u *update) commitIfFull() error {
	if u.b.Len() < u.w.Options.CommitBytes {
		return nil
	}
	return u.commit()
}

func (u *update) commit() error {
	err := u.b.Commit()
	u.b = u.w.DB.Batch() // a batch is committed once, also if the run ends here
	return errors.Join(err, u.sr.Ctx.Err())
}
