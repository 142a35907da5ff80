// Package results reads what the stages wrote: texts, documents by name, sets,
// near pairs, clusters with their pages, and the summary.
package results

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// ClusterOf returns the representative of the text's cluster; ok is false if
// the text is in none.
func ClusterOf(w *workspace.Workspace, t rows.TextID) (representative rows.TextID, ok bool, err error) {
	v, ok, err := w.DB.Get(store.AssignedKey(t))
	if ok && len(v) != len(representative) {
		err = store.Corrupt(store.AssignedKey(t))
	}
	copy(representative[:], v)
	return representative, ok, err
}

// Clusters returns the clusters of two and more pages by id. One at a time is in
// memory.
func Clusters(ctx context.Context, w *workspace.Workspace) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		gathered, err := Gather(ctx, w.DB, ClusteredTexts(w))
		if err != nil {
			yield(report.Cluster{}, err)
			return
		}
		defer func() { _ = gathered.Close() }()
		next, stop := iter.Pull2(PagesOf(ctx, gathered))
		defer stop()
		places, err := Places(w)
		if err != nil {
			yield(report.Cluster{}, err)
			return
		}
		var texts []rows.Cluster
		pages := map[rows.TextID][]report.Member{}
		flush := func() bool {
			c, err := assemble(texts, pages)
			places.Fill(c.Members)
			texts = texts[:0]
			clear(pages)
			return yield(c, errors.Join(err, ctx.Err())) && err == nil
		}
		for r, err := range w.DB.Table(store.TableCluster) {
			var row rows.Cluster
			if err == nil {
				row, err = ParseClusterRow(r)
			}
			if err == nil && len(texts) > 0 && texts[0].Cluster != row.Cluster && !flush() {
				return
			}
			if err == nil {
				t, pagesErr, ok := next()
				if pages[row.Member], err = t.Pages, pagesErr; err == nil && (!ok || t.WantedText != WantedText{row.Cluster, row.Member}) {
					err = fmt.Errorf("a text without pages: %w", store.Corrupt(row.Member[:]))
				}
			}
			if err != nil {
				yield(report.Cluster{}, err)
				return
			}
			texts = append(texts, row)
		}
		if len(texts) > 0 {
			flush()
		}
	}
}

// ClusteredTexts returns the texts in clusters, by text.
func ClusteredTexts(w *workspace.Workspace) iter.Seq2[WantedText, error] {
	return func(yield func(WantedText, error) bool) {
		for r, err := range w.DB.Table(store.TableAssigned) {
			var t WantedText
			if err == nil {
				t, err = parseAssigned(r)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// parseAssigned parses a row of TableAssigned: a text, in the group of its
// cluster.
func parseAssigned(r store.Row) (t WantedText, err error) {
	v, err := r.Value()
	if err != nil {
		return t, err
	}
	if len(r.Key()) != 1+16 || len(v) != 16 {
		return t, store.Corrupt(r.Key())
	}
	return WantedText{Group: rows.TextID(v), Text: rows.TextID(r.Key()[1:])}, nil
}

func ClusterValue(against rows.TextID, s rows.Score) []byte { return store.AppendScore(against[:], s) }

func ParseClusterRow(r store.Row) (c rows.Cluster, err error) {
	k := r.Key()
	v, err := r.Value()
	if err != nil {
		return c, err
	}
	if len(k) != 1+32 || len(v) != 16+store.ScoreSize {
		return c, store.Corrupt(k)
	}
	c.Cluster, c.Member, c.Against = rows.TextID(k[1:17]), rows.TextID(k[17:]), rows.TextID(v[:16])
	c.Score, err = store.ParseScore(v[16:])
	return c, err
}

// assemble makes a cluster of its texts and of the pages
// with these texts. It names the page that each was verified against.
func assemble(texts []rows.Cluster, pages map[rows.TextID][]report.Member) (report.Cluster, error) {
	id := texts[0].Cluster
	if len(pages[id]) == 0 {
		return report.Cluster{}, fmt.Errorf("a cluster without representative: %w", store.Corrupt(id[:]))
	}
	c := report.Cluster{ID: fmt.Sprintf("%x", id), Representative: pages[id][0].RecordID}
	for _, r := range texts {
		if len(pages[r.Against]) == 0 {
			return report.Cluster{}, fmt.Errorf("verified against a text that is not in the cluster: %w", store.Corrupt(r.Against[:]))
		}
		for i, m := range pages[r.Member] {
			m.Resemblance, m.Containment = report.Score(r.Score.Resemblance), report.Score(r.Score.Containment)
			m.VerifiedAgainst, m.AgainstDocument = pages[r.Against][0].RecordID, pages[r.Against][0].Document
			m.Relation = RelationOf(r, id, i)
			c.Members = append(c.Members, m)
		}
	}
	slices.SortFunc(c.Members, func(a, b report.Member) int {
		return cmp.Or(report.FalseFirst(a.Relation != report.Representative, b.Relation != report.Representative), ComparePages(a, b))
	})
	c.Size = len(c.Members)
	return c, nil
}

// RelationOf returns the relation of the i-th page of the row's text.
func RelationOf(r rows.Cluster, representative rows.TextID, i int) report.Relation {
	switch {
	case r.Member == representative && i == 0:
		return report.Representative
	case r.Member == representative:
		return report.Identical
	case r.Score.Relation == report.Judged:
		return report.Judged
	case r.Against != representative:
		return report.Linked
	}
	return r.Score.Relation
}

// ComparePages orders pages by date, then by record id and all else that differs.
func ComparePages(a, b report.Member) int {
	return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.RecordID, b.RecordID), cmp.Compare(a.URI, b.URI),
		cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.WARC, b.WARC), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Document, b.Document))
}
