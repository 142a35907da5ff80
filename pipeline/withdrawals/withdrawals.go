// Package withdrawals takes captures out of a workspace, so that they stay out, and lets
// them in again.
package withdrawals

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"neardup/extract"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/learning"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// NoteOfVanished is the name of the row that says that texts have gone from the
// workspace. Sign then drops what it has of them.
const NoteOfVanished = "vanished"

// indexTables are the tables that are made on demand and describe pages.
var indexTables = []byte{layout.TableName, layout.TableBrowsed, layout.TableSize, layout.TableMember, layout.TableSURT, layout.TableDate}

// Withdraw removes captures from the workspace and records that they stay out. It
// deletes all rows about them in one batch. The next run updates the rest; its rows
// are then those of a run over the remaining captures. Withdraw returns the number
// of captures removed.
func Withdraw(w *workspace.Workspace, of ...workspace.Withdrawal) (captures int64, err error) {
	known, err := w.Sources()
	if err != nil {
		return 0, err
	}
	s, begun, err := w.State(workspace.StageExtract)
	if err != nil {
		return 0, err
	}
	if begun && !s.Done {
		return 0, fmt.Errorf("%w: the extraction was interrupted; run neardup extract first", workspace.ErrUsage)
	}
	x := &withdrawing{w: w, b: w.DB.Batch(), changed: map[string]*inputs.Source{}, byID: map[string][]*inputs.Source{}, byPath: map[uint64]*inputs.Source{},
		revisits: map[string]bool{}, of: make([]int64, len(of)), withdrawals: of}
	left := 0
	for i := range known {
		s := &known[i]
		x.byPath[rows.Hash(s.Path)] = s
		if x.ofSource(s) >= 0 {
			if err := x.b.Delete(layout.SourceKey(s.Path)); err != nil {
				return 0, err
			}
			continue
		}
		left++
		x.byID[s.ID()] = append(x.byID[s.ID()], s)
	}
	if err := errors.Join(x.dropRevisits(), x.dropDocuments()); err != nil {
		return 0, err
	}
	return x.total, errors.Join(x.note(left, len(known)), x.b.Commit(), w.DropCosts())
}

// withdrawing collects what Withdraw deletes.
type withdrawing struct {
	w           *workspace.Workspace
	b           store.Batch
	withdrawals workspace.Withdrawn
	of          []int64 // captures removed by each withdrawal
	total       int64
	byID        map[string][]*inputs.Source // remaining sources; equal files share one ID
	byPath      map[uint64]*inputs.Source   // all sources, by the hash of the path
	changed     map[string]*inputs.Source   // remaining sources that lose captures
	revisits    map[string]bool             // keys of documents that were made from revisits and are deleted
}

// ofSource returns the index of the withdrawal that covers a source, or -1.
func (x *withdrawing) ofSource(s *inputs.Source) int {
	for i, d := range x.withdrawals {
		if d.URI == "" && d.Sample != "" && d.Size == s.Size && d.Sample == s.Sample {
			return i
		}
	}
	return -1
}

// ofURI returns the index of the withdrawal that covers a URI, or -1.
func (x *withdrawing) ofURI(uri string) int {
	for i, d := range x.withdrawals {
		if d.Has(uri) {
			return i
		}
	}
	return -1
}

func (x *withdrawing) count(i int) {
	x.total++
	if i >= 0 {
		x.of[i]++
	}
}

// dropRevisits deletes rows of revisits, and of the documents that were made from
// them.
func (x *withdrawing) dropRevisits() error {
	for v, err := range results.RevisitRows(x.w) {
		if err != nil {
			return err
		}
		s := x.byPath[v.Key.Path()]
		if s == nil {
			return layout.Corrupt(v.Key.Row())
		}
		i := x.ofSource(s)
		if i < 0 {
			if i = x.ofURI(v.Row.TargetURI); i < 0 {
				continue
			}
			s.Counts.Revisits--
			s.Counts.Skip(extract.ReasonWithdrawn, 1)
			x.changed[s.Path] = s
		}
		x.count(i)
		if err := x.b.Delete(v.Key.Row()); err != nil {
			return err
		}
		if v.Row.Resolved != "" {
			x.revisits[string(v.Key.Document())] = true
		}
	}
	return nil
}

// dropDocuments deletes rows of documents and of what is around their texts. A
// document that another source has, too, stays, and so does its entry under each text
// that it has there.
func (x *withdrawing) dropDocuments() error {
	type occurrence struct {
		text rows.TextID
		id   extract.ID
	}
	var gone []occurrence                   // rows of one document
	stay := map[rows.TextID]rows.Document{} // of rows of the document that stay, by text, one that is listed under it
	var last extract.ID
	flush := func() error {
		for _, o := range gone {
			key := layout.OccurrenceKey(o.text, o.id)
			var err error
			if d, ok := stay[o.text]; ok {
				err = x.b.Set(key, layout.OccurrenceValue(rows.OccurrenceOf(d.Document)))
			} else {
				err = x.b.Delete(key)
			}
			if err != nil {
				return err
			}
		}
		gone = gone[:0]
		clear(stay)
		return nil
	}
	for d, err := range results.DocumentRows[rows.Document](x.w) {
		if err != nil {
			return err
		}
		if d.ID != last {
			if err := flush(); err != nil {
				return err
			}
		}
		last = d.ID
		key := layout.DocumentKey(d.ID, d.Source, d.Offset)
		goes := x.revisits[string(key)]
		if d.Row.Repeats == nil {
			if goes = len(x.byID[d.Source]) == 0; goes { // no remaining source has it
				x.count(x.ofSourceID(d.Source))
			} else if i := x.ofURI(d.Row.TargetURI); i >= 0 {
				goes = true
				for _, s := range x.byID[d.Source] {
					s.Counts.Uncapture(d.Row.Document)
					s.Counts.Skip(extract.ReasonWithdrawn, 1)
					x.changed[s.Path] = s
					x.count(i)
				}
			}
		}
		t, err := layout.ParseTextID(d.Row.TextID)
		if err != nil {
			return err
		}
		if !goes {
			if listed, ok := stay[t]; !ok || listed.Repeats == nil { // a revisit counts before a capture
				stay[t] = d.Row
			}
			continue
		}
		gone = append(gone, occurrence{t, d.ID})
		if err := errors.Join(x.b.Delete(key), x.b.Delete(layout.AroundKey(d.ID, d.Source, d.Offset)), x.b.Delete(layout.UnitsRoundKey(d.ID, d.Source, d.Offset))); err != nil {
			return err
		}
	}
	return flush()
}

// ofSourceID returns the index of the withdrawal that covers the source with an ID,
// or -1.
func (x *withdrawing) ofSourceID(id string) int {
	for _, s := range x.byPath {
		if s.ID() == id {
			return x.ofSource(s)
		}
	}
	return -1
}

// note records the withdrawals, and marks the stages to be done again.
func (x *withdrawing) note(left, known int) error {
	all, err := x.w.Withdrawn()
	if err != nil {
		return err
	}
	var errs []error
	for i, d := range x.withdrawals {
		d.Captures = x.of[i]
		errs = append(errs, x.b.SetJSON(d.Key(), d))
	}
	generation := append(all, x.withdrawals...).Generation()
	for _, s := range x.changed {
		s.Withdrawn = generation
		errs = append(errs, x.b.SetJSON(layout.SourceKey(s.Path), s))
	}
	if x.total == 0 && left == known {
		return errors.Join(errs...)
	}
	s, ok, err := x.w.State(workspace.StageExtract)
	if err != nil {
		return err
	}
	if ok { // its tables are no longer what it left, and an input may be back before it runs
		s.Tables, s.Input = nil, ""
		errs = append(errs, x.b.SetJSON(layout.MetaKey("stage/"+workspace.StageExtract), s))
	}
	// Sign drops what it has of texts that go, and counts all sentences again. The filter
	// has their signatures, and an index may list pages that are gone.
	lower, upper := layout.PrefixBounds(layout.MetaKey("index/"))
	errs = append(errs, x.b.Set(layout.MetaKey(NoteOfVanished), []byte("true")), learning.Forget(x.b),
		x.b.Clear(layout.TableFilter), x.b.Clear(indexTables...), x.b.DeleteRange(lower, upper))
	if left == 0 { // nothing is left to run
		for _, st := range x.w.Stages {
			errs = append(errs, x.b.Clear(slices.Concat(st.Tables, st.Scratch)...), x.b.Delete(layout.MetaKey("stage/"+st.Name)))
			for _, note := range st.Notes {
				errs = append(errs, x.b.Delete(layout.MetaKey(note)))
			}
		}
	}
	return errors.Join(errs...)
}

// Readmit removes a withdrawal. The captures of a URI come back when all inputs are
// read again, which the next run does. Those of an input come back when it is named
// again. ok is false if there is no such withdrawal.
func Readmit(w *workspace.Workspace, d workspace.Withdrawal) (ok bool, err error) {
	_, ok, err = w.DB.Get(d.Key())
	if err != nil || !ok {
		return ok, err
	}
	b := w.DB.Batch()
	errs := []error{b.Delete(d.Key())}
	if d.URI != "" {
		errs = append(errs, b.Delete(layout.MetaKey("stage/"+workspace.StageExtract)))
	}
	return true, errors.Join(errors.Join(errs...), b.Commit())
}

// occurringTexts yields the text of each page, in order.
func occurringTexts(w *workspace.Workspace) iter.Seq2[rows.TextID, error] {
	return func(yield func(rows.TextID, error) bool) {
		for r, err := range w.DB.Table(layout.TableOccurrence) {
			var t rows.TextID
			if err == nil {
				t, _, err = layout.ParseOccurrenceKey(r.Key())
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// DropTexts deletes the texts that no page has any more, after captures were
// withdrawn.
func DropTexts(w *workspace.Workspace, sr *workspace.StageRun) error {
	next, stop := iter.Pull2(occurringTexts(w))
	defer stop()
	o, err, more := next()
	b := w.DB.Batch()
	for r, terr := range w.DB.Table(layout.TableText) {
		if err := errors.Join(terr, err); err != nil {
			return err
		}
		text, kerr := r.TextID()
		if kerr != nil {
			return kerr
		}
		for more && err == nil && rows.CompareTexts(o, text) < 0 {
			o, err, more = next()
		}
		if more && err == nil && o == text {
			continue
		}
		if err := errors.Join(err, b.Delete(layout.TextKey(text)), b.Delete(layout.UnitsKey(text))); err != nil {
			return err
		}
		if b.Len() >= w.Options.CommitBytes {
			if err := errors.Join(b.Commit(), sr.Ctx.Err()); err != nil {
				return err
			}
			b = w.DB.Batch()
		}
	}
	return b.Commit()
}
