// Package withdrawals takes captures out of a workspace, so that they stay out, and lets
// them in again.
package withdrawals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"neardup/extract"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
	"neardup/pipeline/learning"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

// NoteOfVanished is the name of the row that says that texts have gone from the
// workspace. Sign then drops what it has of them.
const NoteOfVanished = "vanished"

// indexTables are the tables that are made on demand and describe pages.
var indexTables = []byte{layout.TableName, layout.TableBrowsed, layout.TableSize, layout.TableMember, layout.TableSURT, layout.TableDate}

// Withdraw removes captures from the workspace and records that they stay out. It
// deletes all rows about them at once. The next run updates the rest; its rows are
// then those of a run over the remaining captures. Withdraw returns the number of
// captures removed.
func Withdraw(ctx context.Context, w *workspace.Workspace, of ...withdrawn.Withdrawal) (captures int64, err error) {
	known, err := w.Sources()
	if err != nil {
		return 0, err
	}
	s, begun, err := w.State(workspace.StageExtract)
	if err != nil {
		return 0, err
	}
	if begun && !s.Done && !w.StartsOver(s, known) { // where it starts over, an input may be missing that has to be withdrawn
		return 0, fmt.Errorf("%w: the extraction was interrupted; run neardup extract first", workspace.ErrUsage)
	}
	x := &withdrawing{ctx: ctx, w: w, edits: w.DB.Edits(), changed: map[string]*inputs.Source{}, unnamed: map[string]*inputs.Source{}, byID: map[string][]*inputs.Source{}, byPath: map[uint64]*inputs.Source{}, gone: map[string]int{}, goneBy: map[string]int{},
		of: make([]int64, len(of)), withdrawals: slices.Clone(of), patterns: withdrawn.List(of).Patterns()}
	defer func() { err = errors.Join(err, x.edits.Close()) }()
	var left []inputs.Source
	for i := range known {
		s := &known[i]
		x.byPath[rows.Hash(s.Path)] = s
		if i := slices.IndexFunc(x.withdrawals, func(d withdrawn.Withdrawal) bool { return d.IsOf(ctx, *s, w.Config.Extract.Limits) }); i >= 0 {
			x.gone[s.Path] = i
			x.goneBy[s.ID()] = i
			if err := x.edits.Delete(layout.SourceKey(s.Path)); err != nil {
				return 0, err
			}
			continue
		}
		left = append(left, *s)
		x.byID[s.ID()] = append(x.byID[s.ID()], s)
		for j, e := range s.Ended {
			if e.URI != "" && x.patterns.First(e.URI) >= 0 {
				s.Ended[j].URI = ""
				x.unnamed[s.Path] = s
			}
		}
	}
	if err := w.MayExtract(ctx, left); err != nil {
		return 0, err
	}
	var counts results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &counts); err != nil {
		return 0, err
	}
	w.Options.Progress.Start("remove", string(workspace.Input), "captures that stay out")
	w.Options.Progress.Total(counts.Documents, "documents")
	err = x.dropDocuments()
	w.Options.Progress.Stop(err)
	if err != nil {
		return 0, err
	}
	if err := x.note(len(left), len(known)); err != nil {
		return 0, err
	}
	return x.total, errors.Join(DropTexts(ctx, w), w.DropCosts(), w.Publish())
}

// withdrawing collects what Withdraw deletes.
type withdrawing struct {
	ctx         context.Context
	w           *workspace.Workspace
	edits       *store.Edits
	withdrawals withdrawn.List
	patterns    *withdrawn.Patterns // of withdrawals
	of          []int64             // captures removed by each withdrawal
	total       int64
	byID        map[string][]*inputs.Source // remaining sources; equal files share one ID
	byPath      map[uint64]*inputs.Source   // all sources, by the hash of the path
	gone        map[string]int              // of the path of a source that goes, its withdrawal
	goneBy      map[string]int              // of the ID of a source that goes, its withdrawal
	changed     map[string]*inputs.Source   // remaining sources that lose captures
	unnamed     map[string]*inputs.Source   // remaining sources whose list of records that ended runs lost a URI
}

func (x *withdrawing) count(i int) {
	x.total++
	x.of[i]++
}

// dropRevisit deletes the row of a revisit if it is withdrawn. page is the key of the
// document that was made from it, if it was and is to be deleted.
func (x *withdrawing) dropRevisit(v results.RevisitRow) (page []byte, err error) {
	s := x.byPath[v.Key.Path()]
	if s == nil {
		return nil, layout.Corrupt(v.Key.Row())
	}
	i, ok := x.gone[s.Path]
	if !ok {
		if i = x.patterns.First(v.Row.TargetURI); i < 0 {
			return nil, nil
		}
		s.Counts.Revisits--
		s.Counts.Skip(extract.ReasonWithdrawn, 1)
		x.changed[s.Path] = s
	}
	x.count(i)
	if v.Row.Resolved != "" {
		page = v.Key.Document()
	}
	return page, x.edits.Delete(v.Key.Row())
}

// dropDocuments deletes rows of revisits, of documents and of what is around their
// texts. A document that another source has, too, stays, and so does its entry under
// each text that it has there.
func (x *withdrawing) dropDocuments() error {
	nextRevisit, stop := iter.Pull2(results.RevisitRows(x.w))
	defer stop()
	v, verr, moreRevisits := nextRevisit()
	pages := map[string]bool{} // documents of one ID that were made from revisits, and go
	dropRevisits := func(all bool, upTo extract.ID) error {
		clear(pages)
		for ; moreRevisits && (verr != nil || all || bytes.Compare(v.Key.ID[:], upTo[:]) <= 0); v, verr, moreRevisits = nextRevisit() {
			if err := errors.Join(verr, x.ctx.Err()); err != nil {
				return err
			}
			page, err := x.dropRevisit(v)
			if err != nil {
				return err
			}
			if page != nil && v.Key.ID == upTo {
				pages[string(page)] = true
			}
		}
		return nil
	}
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
				err = x.edits.Set(key, layout.OccurrenceValue(rows.OccurrenceOf(d.Document)))
			} else {
				err = x.edits.Delete(key)
			}
			if err != nil {
				return err
			}
		}
		gone = gone[:0]
		clear(stay)
		return nil
	}
	n := 0
	for d, err := range results.DocumentRows[rows.Document](x.w) {
		if err != nil {
			return err
		}
		if n == 0 || d.ID != last {
			last = d.ID
			if err := errors.Join(x.ctx.Err(), flush(), dropRevisits(false, last)); err != nil {
				return err
			}
		}
		if n++; n&0xfff == 0 {
			x.w.Options.Progress.Add(0x1000)
		}
		key := layout.DocumentKey(d.ID, d.Source, d.Offset)
		goes := pages[string(key)]
		if d.Row.Repeats == nil {
			if i, ok := x.goneBy[d.Source]; ok && len(x.byID[d.Source]) == 0 { // no remaining source has it
				goes = true
				x.count(i)
			} else if i := x.patterns.First(d.Row.TargetURI); i >= 0 {
				goes = true
				if len(x.byID[d.Source]) == 0 { // another version of extract wrote the row
					x.count(i)
				}
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
		if err := errors.Join(x.edits.Delete(key), x.edits.Delete(layout.AroundKey(d.ID, d.Source, d.Offset)), x.edits.Delete(layout.UnitsRoundKey(d.ID, d.Source, d.Offset))); err != nil {
			return err
		}
	}
	x.w.Options.Progress.Add(int64(n & 0xfff))
	return errors.Join(flush(), dropRevisits(true, extract.ID{}))
}

// note records the withdrawals, marks the stages to be done again, and commits. left are
// the sources that are left of those known.
func (x *withdrawing) note(left, known int) error {
	all, err := x.w.Withdrawn()
	if err != nil {
		return err
	}
	there := map[string]withdrawn.Withdrawal{}
	for _, d := range all {
		there[string(d.Key())] = d
	}
	for i := range x.withdrawals { // one that is there already keeps its figures
		d := &x.withdrawals[i]
		d.Captures = x.of[i]
		if before, ok := there[string(d.Key())]; ok {
			*d = d.With(before)
		}
		there[string(d.Key())] = *d
		if err := x.edits.SetJSON(d.Key(), d); err != nil {
			return err
		}
	}
	var names withdrawn.List
	for _, key := range slices.Sorted(maps.Keys(there)) {
		names = append(names, there[key])
	}
	generation := names.Patterns().Generation
	for path, s := range x.unnamed {
		if x.changed[path] != nil {
			continue
		}
		if err := x.edits.SetJSON(layout.SourceKey(path), s); err != nil {
			return err
		}
	}
	for _, s := range x.changed {
		s.Withdrawn = generation
		if err := x.edits.SetJSON(layout.SourceKey(s.Path), s); err != nil {
			return err
		}
	}
	if err := x.w.DropFinished(); err != nil { // others could read captures there, also those that the tables no longer have
		return err
	}
	if x.total == 0 && left == known {
		return x.edits.Commit(x.ctx)
	}
	s, ok, err := x.w.State(workspace.StageExtract)
	if err == nil && ok { // its tables are no longer what it left, and an input may be back before it runs
		s.Tables, s.Input = nil, ""
		err = x.edits.SetJSON(layout.MetaKey("stage/"+workspace.StageExtract), s)
	}
	// Sign drops what it has of texts that go, and counts all sentences again.
	if err := errors.Join(err, x.edits.Set(layout.MetaKey(NoteOfVanished), []byte("true"))); err != nil {
		return err
	}
	// The filter has signatures of these texts, and an index may list pages that are gone.
	// Both are made again where they are missed, and so are the counts of sentences.
	b := x.w.DB.Batch()
	lower, upper := layout.PrefixBounds(layout.MetaKey("index/"))
	err = errors.Join(learning.Forget(b), b.Clear(layout.TableFilter), b.Clear(indexTables...), b.DeleteRange(lower, upper))
	if err != nil {
		return errors.Join(err, b.Close())
	}
	if left == 0 {
		return x.dropAll(b)
	}
	if err := b.Commit(); err != nil {
		return err
	}
	return x.edits.Commit(x.ctx)
}

// dropAll commits that nothing is left. What runs wrote beside the database goes before,
// since no later run would remove it.
func (x *withdrawing) dropAll(b store.Batch) error {
	errs := []error{x.w.DropExports(), x.w.DropCosts(), b.Clear(layout.TableSource, layout.TableExported)}
	for _, d := range x.withdrawals {
		errs = append(errs, b.SetJSON(d.Key(), d))
	}
	for _, st := range x.w.Stages {
		errs = append(errs, b.Clear(slices.Concat(st.Tables, st.Scratch)...), b.Delete(layout.MetaKey("stage/"+st.Name)))
		for _, note := range st.Notes {
			errs = append(errs, b.Delete(layout.MetaKey(note)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return errors.Join(err, b.Close())
	}
	return b.Commit()
}

// Readmit removes withdrawals, all or none. The captures of a URI come back when all
// inputs are read again, which the next run does. Those of an input come back when it is
// named again. ok is false if one of the withdrawals does not exist.
func Readmit(ctx context.Context, w *workspace.Workspace, of ...withdrawn.Withdrawal) (ok bool, err error) {
	b := w.DB.Batch()
	isURI := false
	for _, d := range of {
		if _, ok, err := w.DB.Get(d.Key()); err != nil || !ok {
			return false, errors.Join(err, b.Close())
		}
		isURI = isURI || d.URI != ""
		if err := b.Delete(d.Key()); err != nil {
			return false, errors.Join(err, b.Close())
		}
	}
	if isURI {
		again, err := isOut(ctx, w)
		if err == nil && again {
			err = b.Delete(layout.MetaKey("stage/" + workspace.StageExtract))
		}
		if err != nil {
			return false, errors.Join(err, b.Close())
		}
	}
	if err := b.Commit(); err != nil {
		return false, err
	}
	return true, w.Publish()
}

// isOut reports whether an input has captures that stay out. Letting them in means to read
// all inputs again; the error says that this cannot be done.
func isOut(ctx context.Context, w *workspace.Workspace) (bool, error) {
	known, err := w.Sources()
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(known, func(s inputs.Source) bool { return s.Counts.Skipped[string(extract.ReasonWithdrawn)] > 0 }) {
		return false, nil
	}
	files := inputs.NewComparer(w.Config.Extract.Limits)
	for _, s := range known {
		if s.IsUnread() && !s.Again {
			continue
		}
		if same, err := files.Unchanged(ctx, s); err != nil {
			return false, fmt.Errorf("%w: all inputs would have to be read again, but %w", workspace.ErrUsage, err)
		} else if !same {
			return false, fmt.Errorf("%w: all inputs would have to be read again, but %s has changed", workspace.ErrUsage, s.Shown())
		}
	}
	return true, nil
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
func DropTexts(ctx context.Context, w *workspace.Workspace) error {
	if _, vanished, err := w.DB.Get(layout.MetaKey(NoteOfVanished)); err != nil || !vanished {
		return err
	}
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
			if err := errors.Join(b.Commit(), ctx.Err()); err != nil {
				return err
			}
			b = w.DB.Batch()
		}
	}
	return b.Commit()
}
