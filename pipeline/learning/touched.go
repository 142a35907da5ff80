package learning

import (
	"cmp"
	"errors"
	"iter"
	"slices"

	"neardup/configs"
	"neardup/extract"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// Where crawls were added, only the sentences of new pages are counted again.
// TableCounted has the documents and pages that each text was counted with, so a text of
// which other documents are there now is touched. Sign leaves the touched texts to
// verify, which counts sentences in another form, in TableTouched.
//
// Most new pages are fresh: no document that was counted has their address. A fresh page
// adds one to the pages of each sentence around its text, and to those of its text if
// the site did not have the text before. Only sentences that have no number yet, because
// they were on too few pages, and those of other new pages are looked for in all texts.

const (
	// noteOfCounts is the name of the row that says that TableFrame and TableCounted
	// agree. It is not there where pages may have gone without a trace. In workspaces of
	// earlier versions it has another value: their rows lack the single documents.
	noteOfCounts = "counted"
	agree        = "documents"
	// noteOfTouched is the name of the row that says between which states the texts in
	// TableTouched were touched.
	noteOfTouched = "touched"
)

type touchedNote struct {
	Verified string `json:"verified"` // generation of verify before
	Signed   string `json:"signed"`   // generation of sign after
}

// maxTouched is the share of touched texts up to which sentences are counted again by
// touched texts.
const maxTouched = 0.2

// Touched texts, of about 200 bytes and 16 for each document, and sentences to be counted
// again, of 16 to 40, are held in memory. Beyond these bounds all sentences are counted.
func heldTouched(w *workspace.Workspace) int  { return max(1, w.Options.RunRows/4) }
func heldRecounts(w *workspace.Workspace) int { return 2 * w.Options.RunRows }

// touchedText is a text with other documents than it was counted with.
type touchedText struct {
	id      rows.TextID
	isNew   bool     // it was not counted
	counted []uint64 // documents that it was counted with
	now     rows.Counted
	pages   []rows.TouchedPage // that count for it and did not before
}

// isCounted reports whether the text was counted with the document of this hash.
func (t *touchedText) isCounted(document uint64) bool {
	_, ok := slices.BinarySearch(t.counted, document)
	return ok
}

// otherPages returns the pages that count for a text and did not before. One on a site
// that had the text before takes the place of another page, so it adds none.
func otherPages(before, now []rows.SitePage) (pages []rows.TouchedPage) {
	for _, p := range now {
		i, had := slices.BinarySearchFunc(before, p.Site, func(b rows.SitePage, site uint64) int { return cmp.Compare(b.Site, site) })
		if !had || before[i] != p {
			pages = append(pages, rows.TouchedPage{SitePage: p, Fresh: !had})
		}
	}
	return pages
}

// isSubset reports whether all of a are in b. Both are ascending.
func isSubset(a, b []uint64) bool {
	for _, x := range b {
		if len(a) > 0 && a[0] == x {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// findTouched returns the touched texts, and the pages of new documents that are fresh.
// ok is false if all sentences must be counted.
func findTouched(w *workspace.Workspace, sr *workspace.StageRun) (touched []touchedText, fresh map[rows.SitePage]bool, ok bool, err error) {
	note, _, err := w.DB.Get(layout.MetaKey(noteOfCounts))
	if err != nil || string(note) != agree || sr.Extended == nil {
		return nil, nil, false, err
	}
	next, stop := iter.Pull2(countedTexts(w))
	defer stop()
	before, err, more := next()
	texts, documents := 0, 0 // documents: of touched texts
	for t, terr := range results.TextsWithPages(w) {
		if err := errors.Join(terr, err); err != nil {
			return nil, nil, false, err
		}
		if texts++; texts&0xfff == 0 && sr.Ctx.Err() != nil {
			return nil, nil, false, sr.Ctx.Err()
		}
		x := touchedText{id: t.ID, isNew: !more || before.ID != t.ID}
		if x.isNew && more && rows.CompareTexts(before.ID, t.ID) < 0 {
			return nil, nil, false, nil // a text has gone
		}
		if x.isNew || !before.Equal(t.Counted) {
			x.now = rows.Counted{Documents: slices.Clone(t.Documents), Pages: slices.Clone(t.Pages)}
			var pages []rows.SitePage
			if !x.isNew {
				if !isSubset(before.Documents, t.Documents) {
					return nil, nil, false, nil // a document has gone
				}
				x.counted, pages = slices.Clone(before.Documents), before.Pages
			}
			x.pages = otherPages(pages, t.Pages)
			documents += len(t.Documents)
			if touched = append(touched, x); len(touched)+documents/16 > heldTouched(w) {
				return nil, nil, false, nil
			}
		}
		if !x.isNew {
			before, err, more = next()
		}
	}
	if err != nil || more || float64(len(touched)) > maxTouched*float64(texts) {
		return nil, nil, false, err
	}
	if fresh, ok, err = freshPages(w, sr, touched); err != nil || !ok {
		return nil, nil, false, err
	}
	for _, t := range touched {
		for i := range t.pages {
			p := &t.pages[i]
			p.Fresh = p.Fresh && fresh[p.SitePage]
		}
	}
	return touched, fresh, true, nil
}

// countedTexts yields the texts with what they were counted with, in order. Each is
// valid until the next step.
func countedTexts(w *workspace.Workspace) iter.Seq2[*results.TextPages, error] {
	return func(yield func(*results.TextPages, error) bool) {
		t := &results.TextPages{}
		for r, err := range w.DB.Table(layout.TableCounted) {
			if err == nil {
				t.ID, err = r.TextID()
			}
			if err == nil {
				err = r.Counted(&t.Counted)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// freshPages returns the pages that only new documents have. ok is false if these are too
// many.
func freshPages(w *workspace.Workspace, sr *workspace.StageRun, touched []touchedText) (fresh map[rows.SitePage]bool, ok bool, err error) {
	occurrences, err := w.DB.Seeker(layout.TableOccurrence)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = occurrences.Close() }()
	left := map[rows.SitePage]int{} // new documents of the pages, less all documents of them
	for _, t := range touched {
		if err := sr.Ctx.Err(); err != nil {
			return nil, false, err
		}
		for r, err := range occurrences.FewRows(layout.OccurrencesOf(t.id)) {
			p, d, err := pageOf(r, err)
			if err != nil {
				return nil, false, err
			}
			if t.isCounted(results.CountedDocument(d, p)) {
				continue
			}
			if left[p]++; len(left) > heldRecounts(w) {
				return nil, false, nil
			}
		}
	}
	n := 0
	for r, err := range w.DB.Table(layout.TableOccurrence) {
		if n++; err == nil && n&0xfff == 0 {
			err = sr.Ctx.Err()
		}
		p, _, err := pageOf(r, err)
		if err != nil {
			return nil, false, err
		}
		if _, has := left[p]; has {
			left[p]--
		}
	}
	fresh = map[rows.SitePage]bool{}
	for p, n := range left {
		if n == 0 {
			fresh[p] = true
		}
	}
	return fresh, true, nil
}

// pageOf returns the page of a row of TableOccurrence, and its document.
func pageOf(r layout.Row, err error) (p rows.SitePage, d extract.ID, _ error) {
	if err != nil {
		return p, d, err
	}
	if _, d, err = layout.ParseOccurrenceKey(r.Key()); err != nil {
		return p, d, err
	}
	p, err = r.SitePage()
	return p, d, err
}

// framesAgain brings TableFrame up to date with the touched texts, and notes these for
// verify. It returns the texts of which other sentences may be in frames now, besides
// those that have sentences in frames; nil if it can be any.
func framesAgain(w *workspace.Workspace, sr *workspace.StageRun, c *recount, touched []touchedText, at cursor) (changed map[rows.TextID]bool, err error) {
	b := w.DB.Batch()
	changed, texts, err := c.countAgain(w, sr, b, layout.TableFrame, dataflow.FewestFramePages(w.Config)-1)
	for _, t := range touched {
		if t.isNew && changed != nil { // a text without sentences is new, too
			changed[t.id] = true
		}
	}
	// A site of fewer pages has other frames, and a text may be compared or not by its pages.
	if c.less || len(changed) > heldTouched(w) || float64(len(changed)) > maxTouched*float64(texts) || w.Config.Text.Pages == configs.PagesTopic {
		changed = nil
	}
	if err := errors.Join(err, forgetTouched(b)); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	verified, err := verifiedBefore(w, sr)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	for _, t := range touched {
		err := b.Set(layout.CountedKey(t.id), layout.CountedValue(t.now))
		if verified != "" && len(t.pages) > 0 {
			err = errors.Join(err, b.Set(layout.TouchedKey(t.id), layout.TouchedValue(t.pages)))
		}
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	if verified != "" {
		err = b.SetJSON(layout.MetaKey(noteOfTouched), touchedNote{verified, sr.State.Generation()})
	}
	return changed, errors.Join(err, sr.SetCursor(b, at), b.Commit())
}

// verifiedBefore returns the generation of verify if it is done with what sign had
// before its input grew.
func verifiedBefore(w *workspace.Workspace, sr *workspace.StageRun) (string, error) {
	clusters, ok, err := w.State(workspace.StageCluster)
	if err != nil || !ok || !clusters.Done || clusters.Input != sr.Extended.Generation() {
		return "", err
	}
	verified, ok, err := w.State(workspace.StageVerify)
	if err != nil || !ok || !verified.Done || verified.Input != clusters.Generation() {
		return "", err
	}
	return verified.Generation(), nil
}

// forgetTouched drops the touched texts of an earlier run.
func forgetTouched(b store.Batch) error {
	return errors.Join(b.Clear(layout.TableTouched), b.Delete(layout.MetaKey(noteOfTouched)))
}

// notedTouched returns the texts that were touched since verify was done. ok is false
// if nobody knows them.
func notedTouched(w *workspace.Workspace, sr *workspace.StageRun) (touched []touchedText, ok bool, err error) {
	var note touchedNote
	if ok, err := w.DB.GetJSON(layout.MetaKey(noteOfTouched), &note); err != nil || !ok || sr.Extended == nil {
		return nil, false, err
	}
	clusters, ok, err := w.State(workspace.StageCluster)
	if err != nil || !ok || note != (touchedNote{sr.Extended.Generation(), clusters.Input}) {
		return nil, false, err
	}
	for r, err := range w.DB.Table(layout.TableTouched) {
		var x touchedText
		if err == nil {
			x.id, x.pages, err = r.Touched()
		}
		if err != nil {
			return nil, false, err
		}
		touched = append(touched, x)
	}
	return touched, true, nil
}
