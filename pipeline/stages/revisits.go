package stages

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
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

func (c *revisitCounts) add(v rows.Revisit) {
	if v.Resolved != "" {
		c.resolved++
		return
	}
	if c.unresolved == nil {
		c.unresolved = map[extract.Reason]int64{}
	}
	c.unresolved[v.Repeats.Unresolved]++
}

// countRevisits counts the outcomes of revisits.
func countRevisits(w *workspace.Workspace) (c revisitCounts, err error) {
	for v, err := range results.RevisitRows(w) {
		if err != nil {
			return c, err
		}
		c.add(v.Row)
	}
	return c, nil
}

// resolveRevisits finds the captures that revisit records refer to, in all files
// that the workspace has read, and makes each such revisit a document with the same
// text. It starts over whenever files were read: a better capture may have come,
// and the result must not depend on the order of the files. It writes only what has
// changed.
func (x *extraction) resolveRevisits(sr *workspace.StageRun) (c revisitCounts, err error) {
	w := x.w
	total, err := w.DB.Count(layout.TableRevisit)
	if total == 0 || err != nil {
		return c, err
	}
	w.Options.Progress.Total(total, "revisits")
	found := extsort.New(w.DB.Tmp) // place → textID[16] JSON of the page
	defer func() { err = errors.Join(err, found.Close()) }()
	sorter := func() *extsort.Sorter { return extsort.New(w.DB.Tmp) }
	err = dataflow.Resolve(sr.Ctx, revisits(w), documents(w), sorter, func(r dataflow.Revisit, t rows.TextID, page rows.Document) error {
		b, err := json.Marshal(page)
		return errors.Join(err, found.Add(r.Place, append(t[:], b...)))
	})
	if err != nil {
		return c, err
	}
	return x.updateRevisits(sr, found.Sorted())
}

// updateRevisits makes revisits the documents that were found for them, which come by the
// revisits' places. It takes back the documents of other revisits.
func (x *extraction) updateRevisits(sr *workspace.StageRun, found iter.Seq2[extsort.Entry, error]) (c revisitCounts, err error) {
	stored, err := x.w.DB.Seeker(layout.TableDocument)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	u := newUpdate(x.w, sr)
	if err := u.b.Clear(layout.TableWanted); err != nil { // rows of a former version of this stage
		return c, err
	}
	next, stop := iter.Pull2(found)
	defer stop()
	f, ferr, more := next()
	for v, err := range results.RevisitRows(x.w) {
		if err := errors.Join(err, ferr); err != nil {
			return c, err
		}
		before := v.Row.Resolved
		if v.Row.Resolved = ""; more && bytes.Equal(f.Key, v.Key.Place) {
			v.Row.Resolved = hex.EncodeToString(f.Value[:16])
			err = x.resolve(u, stored, v, before, f.Value[16:])
			f, ferr, more = next()
		} else if before != "" {
			err = errors.Join(x.takeBack(u, stored, v.Key, before), u.b.SetJSON(v.Key.Row(), v.Row))
		}
		c.add(v.Row)
		x.w.Options.Progress.Add(1)
		if err := errors.Join(err, u.commitIfFull()); err != nil {
			return c, err
		}
	}
	return c, errors.Join(ferr, u.commit())
}

// resolve makes a revisit a page, unless it is this page already. before is the text that
// it had.
func (x *extraction) resolve(u *update, stored *store.Seeker, v results.RevisitRow, before string, page []byte) error {
	key := v.Key.Document()
	if v.Row.Resolved == before {
		r, ok, err := stored.Get(key)
		if err != nil {
			return err
		}
		if ok {
			if b, err := r.Value(); err != nil || bytes.Equal(b, page) {
				return err
			}
		}
	} else {
		if before != "" {
			if err := x.takeBack(u, stored, v.Key, before); err != nil {
				return err
			}
		}
		x.documents.add(key)
	}
	var d rows.Document
	if err := json.Unmarshal(page, &d); err != nil {
		return err
	}
	t, err := layout.ParseTextID(v.Row.Resolved)
	return errors.Join(err, u.b.SetJSON(v.Key.Row(), v.Row), u.b.Set(key, page),
		u.b.Set(layout.OccurrenceKey(t, v.Key.ID), layout.OccurrenceValue(rows.OccurrenceOf(d.Document))))
}

// takeBack removes the page that was made from a revisit, with its text.
func (x *extraction) takeBack(u *update, stored *store.Seeker, key layout.RevisitPlace, text string) error {
	t, err := layout.ParseTextID(text)
	if err != nil {
		return err
	}
	captured, err := isCapture(stored, key.ID, text)
	if err == nil && !captured {
		err = u.b.Delete(layout.OccurrenceKey(t, key.ID))
	}
	x.documents.remove(key.Document())
	return errors.Join(err, u.b.Delete(key.Document()))
}

// isCapture reports whether a capture has the ID of a revisit, and a text. A hostile file
// can have such a capture.
func isCapture(stored *store.Seeker, id extract.ID, text string) (bool, error) {
	for r, err := range stored.Rows(layout.DocumentsOf(id)) {
		var d rows.Document
		if err == nil {
			err = r.JSON(&d)
		}
		if err != nil {
			return false, err
		}
		if d.Repeats == nil && d.TextID == text {
			return true, nil
		}
	}
	return false, nil
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

// documents yields all documents, for dataflow.Resolve. If several files hold one, the
// first by name counts.
func documents(w *workspace.Workspace) iter.Seq2[dataflow.Capture, error] {
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
