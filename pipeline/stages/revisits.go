package stages

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"

	"neardup/extract"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/revisits"
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
	known, err := w.Sources()
	if err != nil {
		return c, err
	}
	captures := int64(0)
	for _, s := range known {
		captures += s.Counts.Captures
	}
	w.Options.Progress.Total(2*captures, "captures") // Resolve goes through them twice
	found := extsort.New(w.DB.Tmp)                   // place → textID[16] JSON of the page
	defer func() { err = errors.Join(err, found.Close()) }()
	sorter := func() *extsort.Sorter { return extsort.New(w.DB.Tmp) }
	err = revisits.Resolve(sr.Ctx, storedRevisits(w), documents(w), sorter, func(r revisits.Revisit, t rows.TextID, page rows.Document) error {
		b, err := json.Marshal(page)
		return errors.Join(err, found.Add(r.Place, append(t[:], b...)))
	})
	if err != nil {
		return c, err
	}
	w.Options.Progress.Total(total, "revisits")
	return x.updateRevisits(sr, found.Sorted())
}

// updateRevisits makes revisits the pages that were found for them, which come by the
// revisits' places. It takes back the pages of other revisits.
func (x *extraction) updateRevisits(sr *workspace.StageRun, found iter.Seq2[extsort.Entry, error]) (c revisitCounts, err error) {
	stored, err := x.w.DB.Seeker(layout.TableDocument)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, stored.Close()) }()
	y := &revisitUpdate{update: newUpdate(x.w, sr), stored: stored, pages: x.documents}
	if err := y.b.Clear(layout.TableWanted); err != nil { // rows of a former version of this stage
		return c, err
	}
	nextPage, stopPages := iter.Pull2(found)
	defer stopPages()
	f, ferr, morePages := nextPage()
	nextRow, stopRows := iter.Pull2(results.RevisitRows(x.w))
	defer stopRows()
	var last extract.ID
	var page []byte // that the present revisit is
	alone := true   // no other revisit, and no capture, has its ID
	v, err, more := nextRow()
	for n := 0; more; n++ {
		if n&0xfff == 0 {
			err = errors.Join(err, context.Cause(sr.Ctx))
		}
		if err := errors.Join(err, ferr); err != nil {
			return c, err
		}
		following, followErr, follows := nextRow()
		if n == 0 || v.Key.ID != last {
			last = v.Key.ID
			page, alone, err = y.own(v.Key)
			if alone = alone && !(follows && followErr == nil && following.Key.ID == last); err == nil && !alone {
				err = y.takeAllBack(last)
			}
		}
		before := v.Row.Resolved
		if v.Row.Resolved = ""; morePages && bytes.Equal(f.Key, v.Key.Place) {
			v.Row.Resolved = hex.EncodeToString(f.Value[:16])
			err = errors.Join(err, y.set(v, f.Value[16:], alone, before, page))
			f, ferr, morePages = nextPage()
		} else if before != "" && alone {
			err = errors.Join(err, y.takeBack(v, before))
		}
		c.add(v.Row)
		x.w.Options.Progress.Add(1)
		if err := errors.Join(err, y.commitIfFull()); err != nil {
			return c, err
		}
		v, err, more = following, followErr, follows
	}
	return c, errors.Join(err, ferr, y.commit())
}

// revisitUpdate changes the pages that were made from revisits.
//
// The ID of a page does not depend on what a revisit refers to. So several revisits, and
// captures, can have one ID and with it the same rows, of which the last written counts:
// that of the revisit with the largest place. All rows of such an ID are written again.
type revisitUpdate struct {
	*update
	stored *store.Seeker // pages, as they were before
	pages  *workspace.RowCount
}

// own returns the page that was made from a revisit, and whether no other page has its ID.
func (y *revisitUpdate) own(key layout.RevisitPlace) (page []byte, alone bool, err error) {
	document := key.Document()
	for r, err := range y.stored.Rows(layout.DocumentsOf(key.ID)) {
		if err != nil || !bytes.Equal(r.Key(), document) {
			return nil, false, err
		}
		v, err := r.Value()
		if err != nil {
			return nil, false, err
		}
		page = bytes.Clone(v)
	}
	return page, true, nil
}

// takeAllBack removes the pages that were made from the revisits of an ID, and lists those
// of its captures under their texts.
func (y *revisitUpdate) takeAllBack(id extract.ID) error {
	for v, err := range results.RevisitsOf(y.w, id) {
		if err != nil {
			return err
		}
		if before := v.Row.Resolved; before != "" {
			v.Row.Resolved = ""
			if err := y.takeBack(v, before); err != nil {
				return err
			}
		}
		if err := y.commitIfFull(); err != nil {
			return err
		}
	}
	for r, err := range y.stored.Rows(layout.DocumentsOf(id)) {
		var d rows.Document
		if err == nil {
			err = r.JSON(&d)
		}
		if err != nil {
			return err
		}
		if d.Repeats != nil {
			continue
		}
		if err := errors.Join(y.list(id, d), y.commitIfFull()); err != nil {
			return err
		}
	}
	return nil
}

// set makes a revisit a page. If it is alone, it had the text before and was the page
// stored. Then nothing is written if it is this page already.
func (y *revisitUpdate) set(v results.RevisitRow, page []byte, alone bool, before string, stored []byte) error {
	key := v.Key.Document()
	if alone && v.Row.Resolved == before {
		if bytes.Equal(stored, page) {
			return nil
		}
	} else {
		if alone && before != "" {
			if err := y.takeBack(v, before); err != nil {
				return err
			}
		}
		y.pages.Add(key)
	}
	var d rows.Document
	if err := json.Unmarshal(page, &d); err != nil {
		return err
	}
	return errors.Join(y.b.SetJSON(v.Key.Row(), v.Row), y.b.Set(key, page), y.list(v.Key.ID, d))
}

// list lists a page under its text.
func (y *revisitUpdate) list(id extract.ID, d rows.Document) error {
	t, err := layout.ParseTextID(d.TextID)
	return errors.Join(err, y.b.Set(layout.OccurrenceKey(t, id), layout.OccurrenceValue(rows.OccurrenceOf(d.Document))))
}

// takeBack removes the page that was made from a revisit, and its entry under the text.
func (y *revisitUpdate) takeBack(v results.RevisitRow, text string) error {
	t, err := layout.ParseTextID(text)
	if err != nil {
		return err
	}
	y.pages.Remove(v.Key.Document())
	return errors.Join(y.b.SetJSON(v.Key.Row(), v.Row), y.b.Delete(v.Key.Document()), y.b.Delete(layout.OccurrenceKey(t, v.Key.ID)))
}

// storedRevisits yields all revisits, for revisits.Resolve.
func storedRevisits(w *workspace.Workspace) iter.Seq2[revisits.Revisit, error] {
	return func(yield func(revisits.Revisit, error) bool) {
		for v, err := range results.RevisitRows(w) {
			d := v.Row.Document
			d.ID = v.Key.ID
			if !yield(revisits.Revisit{Place: v.Key.Place, Document: d}, err) || err != nil {
				return
			}
		}
	}
}

// documents yields all documents, for revisits.Resolve. If several files hold one, the
// first by name counts.
func documents(w *workspace.Workspace) iter.Seq2[revisits.Capture, error] {
	return func(yield func(revisits.Capture, error) bool) {
		n := int64(0)
		for r, err := range w.DB.Table(layout.TableDocument) {
			if n++; n&0xfff == 0 {
				w.Options.Progress.Add(0x1000)
			}
			c := revisits.Capture{Row: func() (d rows.Document, err error) { return d, r.JSON(&d) }, Brief: func() (rows.Document, error) { return brief(r) }}
			if err == nil {
				c.ID, _, _, err = layout.ParseDocumentKey(r.Key())
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// brief decodes what a capture is found by.
func brief(r layout.Row) (d rows.Document, err error) {
	v, err := results.View(r)
	d.RecordID, d.TargetURI, d.Date, d.Digest, d.TextID = v.RecordID, v.TargetURI, v.Date, v.Digest, v.TextID
	d.Derived = v.Derived
	if v.Repeats {
		d.Repeats = &extract.Reference{}
	}
	return d, err
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
