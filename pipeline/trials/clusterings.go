package trials

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"iter"
	"slices"
	"sort"

	"neardup/compare"
	"neardup/extract"
	"neardup/paper"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/truth"
)

// clusterings holds the clusters that several methods made of the same texts. For
// each text in a cluster of any method it takes 24 bytes, and 4 more per method.
type clusterings struct {
	texts   []rows.TextID        // texts in any cluster, ascending
	pages   []int32              // number of pages of each text
	of      []compare.Clustering // of each method
	judged  map[int32][]judgedPage
	missing int // judged pages that are no document
}

// judgedPage is a document that is a page of the truth.
type judgedPage struct {
	page int // index in the truth
	id   extract.ID
}

// keptPrefix returns the prefix of the rows of an outcome.
func keptPrefix(outcome string) []byte {
	b, err := hex.DecodeString(outcome)
	if err != nil {
		panic(err) // outcomes are digests
	}
	return layout.KeptOf(b)
}

// keep copies the clusters of the last run and stores them under the outcome.
func keep(ctx context.Context, w *workspace.Workspace, outcome string) error {
	prefix := keptPrefix(outcome)
	b := w.DB.Batch()
	for r, err := range w.DB.Table(layout.TableAssigned) {
		if err != nil {
			return err
		}
		text, kerr := r.TextID()
		representative, verr := r.Value()
		if err := errors.Join(kerr, verr, b.Set(slices.Concat(prefix, text[:]), representative)); err != nil {
			return err
		}
		if b.Len() >= workspace.CommitBytes {
			if err := errors.Join(b.Commit(), ctx.Err()); err != nil {
				return err
			}
			b = w.DB.Batch()
		}
	}
	return b.Commit()
}

// kept yields the texts of an outcome's clusters, ascending, with their
// representatives.
func kept(w *workspace.Workspace, outcome string) iter.Seq2[[2]rows.TextID, error] {
	return func(yield func([2]rows.TextID, error) bool) {
		for r, err := range w.DB.Rows(layout.PrefixBounds(keptPrefix(outcome))) {
			var row [2]rows.TextID
			if err == nil {
				_, row[0], row[1], err = r.Kept()
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// dropKept deletes kept clusters of other inputs, and those whose result an
// interruption lost.
func dropKept(w *workspace.Workspace) error {
	known, err := w.Sources()
	if err != nil {
		return err
	}
	input := workspace.SourcesGeneration(known)
	b := w.DB.Batch()
	lower, upper := layout.TableBounds(layout.TableKept)
	for {
		var prefix []byte
		var of string
		for r, err := range w.DB.Rows(lower, upper) {
			if err != nil {
				return err
			}
			outcome, _, _, err := r.Kept()
			if err != nil {
				return err
			}
			of, prefix = hex.EncodeToString(outcome), layout.KeptOf(outcome)
			break
		}
		if prefix == nil {
			return b.Commit()
		}
		from, to := layout.PrefixBounds(prefix)
		lower = to
		result := layout.MetaKey("compare/" + of)
		var m storedMethod
		if ok, err := w.DB.GetJSON(result, &m); err != nil {
			return err
		} else if !ok || m.Input != input {
			if err := errors.Join(b.Delete(result), b.DeleteRange(from, to)); err != nil {
				return err
			}
		}
	}
}

// load reads the clusters of the outcomes, and finds the truth's pages in them.
func (c *clusterings) load(w *workspace.Workspace, outcomes []string, tr *truth.Truth) error {
	for _, outcome := range outcomes {
		var texts []rows.TextID
		for row, err := range kept(w, outcome) {
			if err != nil {
				return err
			}
			texts = append(texts, row[0])
		}
		c.texts = union(c.texts, texts)
	}
	for _, outcome := range outcomes {
		of := make(compare.Clustering, len(c.texts))
		for i := range of {
			of[i] = compare.None
		}
		numbers := map[rows.TextID]int32{} // numbers of clusters
		at := 0
		for row, err := range kept(w, outcome) {
			if err != nil {
				return err
			}
			for c.texts[at] != row[0] {
				at++
			}
			n, ok := numbers[row[1]]
			if !ok {
				n = int32(len(numbers))
				numbers[row[1]] = n
			}
			of[at] = n
		}
		c.of = append(c.of, of)
	}
	if err := c.countPages(w); err != nil || tr == nil {
		return err
	}
	return c.findJudged(w, tr)
}

// union merges two sorted lists.
func union(a, b []rows.TextID) []rows.TextID {
	if len(a) == 0 {
		return b
	}
	out := make([]rows.TextID, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		order := rows.CompareTexts(a[0], b[0])
		if order <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out = append(out, b[0])
		}
		if order >= 0 {
			b = b[1:]
		}
	}
	return append(append(out, a...), b...)
}

func (c *clusterings) countPages(w *workspace.Workspace) error {
	c.pages = make([]int32, len(c.texts))
	at := 0
	for r, err := range w.DB.Table(layout.TableOccurrence) {
		if err != nil {
			return err
		}
		t, _, err := layout.ParseOccurrenceKey(r.Key())
		if err != nil {
			return err
		}
		for at < len(c.texts) && rows.CompareTexts(c.texts[at], t) < 0 {
			at++
		}
		if at < len(c.texts) && c.texts[at] == t {
			c.pages[at]++
		}
	}
	return nil
}

// findJudged finds the documents that are pages of the truth.
func (c *clusterings) findJudged(w *workspace.Workspace, tr *truth.Truth) error {
	c.judged = map[int32][]judgedPage{}
	found := map[int]bool{}
	for stored, err := range results.Documents[groups.DocumentView](w) {
		if err != nil {
			return err
		}
		d := stored.Row
		page, ok := tr.Index(d.RecordID)
		if !ok {
			continue
		}
		found[page] = true
		t, err := d.ParsedTextID()
		if err != nil {
			return err
		}
		if i, ok := slices.BinarySearchFunc(c.texts, t, rows.CompareTexts); ok {
			c.judged[int32(i)] = append(c.judged[int32(i)], judgedPage{page, stored.ID})
		}
	}
	for _, pages := range c.judged {
		sort.Slice(pages, func(i, j int) bool {
			a, b := pages[i], pages[j]
			return cmp.Or(cmp.Compare(a.page, b.page), bytes.Compare(a.id[:], b.id[:])) < 0
		})
	}
	c.missing = tr.Len() - len(found)
	return nil
}

// judgedClusters yields the record IDs of the judged pages of each cluster.
func (c *clusterings) judgedClusters(of compare.Clustering, tr *truth.Truth) iter.Seq2[[]string, error] {
	members := map[int32][]string{}
	for i, pages := range c.judged {
		if of[i] == compare.None {
			continue
		}
		for _, p := range pages {
			members[of[i]] = append(members[of[i]], tr.Page(p.page).RecordID)
		}
	}
	return func(yield func([]string, error) bool) {
		for _, ids := range members {
			if !yield(ids, nil) {
				return
			}
		}
	}
}

// pagesOfMethods returns the pages in a cluster of any method, for each record ID
// the first by docID.
func (c *clusterings) pagesOfMethods(w *workspace.Workspace) (out []paper.Page, err error) {
	seen := map[string]bool{}
	for stored, err := range results.Documents[groups.DocumentView](w) {
		if err != nil {
			return nil, err
		}
		d := stored.Row
		t, err := d.ParsedTextID()
		if err != nil {
			return nil, err
		}
		i, ok := slices.BinarySearchFunc(c.texts, t, rows.CompareTexts)
		if !ok || seen[d.RecordID] {
			continue
		}
		seen[d.RecordID] = true
		p := paper.Page{RecordID: d.RecordID, Site: d.Site, Text: int32(i)}
		for _, of := range c.of {
			p.Clusters = append(p.Clusters, of[i])
		}
		out = append(out, p)
	}
	return out, nil
}
