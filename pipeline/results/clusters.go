// Package results reads what the stages wrote: texts, documents by name, sets, near
// pairs, clusters with their pages, and the summary.
package results

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// ClusterOf returns the representative of the text's cluster. ok is false if the
// text is in none.
func ClusterOf(w *workspace.Workspace, t rows.TextID) (representative rows.TextID, ok bool, err error) {
	v, ok, err := w.DB.Get(layout.AssignedKey(t))
	if ok && len(v) != len(representative) {
		err = layout.Corrupt(layout.AssignedKey(t))
	}
	copy(representative[:], v)
	return representative, ok, err
}

// Clusters yields the clusters of at least two pages, by ID. Only one is in memory
// at a time.
func Clusters(ctx context.Context, w *workspace.Workspace) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		for c, err := range eachGroup(ctx, w) {
			if err == nil && c.Size == 0 {
				continue
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// eachGroup yields the clusters and, among them by ID, the texts in no cluster that
// contain other texts. Such a group has the ID of its text, no members, and the
// contained pages. Only one is in memory at a time.
func eachGroup(ctx context.Context, w *workspace.Workspace) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		err := groups(ctx, w, func(c report.Cluster) bool { return yield(c, nil) })
		if err != nil {
			yield(report.Cluster{}, err)
		}
	}
}

func groups(ctx context.Context, w *workspace.Workspace, yield func(report.Cluster) bool) (err error) {
	gathered, err := Gather(ctx, w.DB, groupedTexts(w))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gathered.Close()) }()
	clustered, contained := newGroupRows(w, layout.TableCluster, layout.Row.Cluster), newGroupRows(w, layout.TableContained, layout.Row.Contained)
	defer clustered.stop()
	defer contained.stop()
	places, err := Places(w)
	if err != nil {
		return err
	}
	pages := map[rows.TextID][]report.Member{}
	flush := func(group rows.TextID) (more bool, err error) {
		texts, err := clustered.of(group, func(r rows.Cluster) rows.TextID { return r.Cluster })
		held, heldErr := contained.of(group, func(r rows.Contained) rows.TextID { return r.Group })
		if err := errors.Join(err, heldErr, ctx.Err()); err != nil {
			return false, err
		}
		c := report.Cluster{ID: fmt.Sprintf("%x", group)}
		for _, t := range texts {
			if len(pages[t.Member]) == 0 {
				return false, fmt.Errorf("a text without pages: %w", layout.Corrupt(t.Member[:]))
			}
		}
		if len(texts) > 0 {
			if c, err = assemble(texts, pages); err != nil {
				return false, err
			}
			c.EstimatedBy = w.Config.EstimatedBy()
		}
		places.Fill(c.Members)
		c.Contained, err = containedPages(held, pages, c, places)
		clear(pages)
		return err == nil && yield(c), err
	}
	var group rows.TextID
	for t, err := range PagesOf(ctx, gathered) {
		if err != nil {
			return err
		}
		if len(pages) > 0 && t.Group != group {
			if more, err := flush(group); err != nil || !more {
				return err
			}
		}
		group, pages[t.Text] = t.Group, t.Pages
	}
	if len(pages) > 0 {
		if more, err := flush(group); err != nil || !more {
			return err
		}
	}
	return errors.Join(clustered.ended(), contained.ended(), ctx.Err())
}

// groupRows reads the rows of a table group by group.
type groupRows[T any] struct {
	next func() (T, error, bool)
	stop func()

	row  T
	err  error
	more bool
}

func newGroupRows[T any](w *workspace.Workspace, table byte, parse func(layout.Row) (T, error)) *groupRows[T] {
	g := &groupRows[T]{}
	g.next, g.stop = iter.Pull2(func(yield func(T, error) bool) {
		for r, err := range w.DB.Table(table) {
			var row T
			if err == nil {
				row, err = parse(r)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	})
	g.row, g.err, g.more = g.next()
	return g
}

// of returns the rows of the next group, if it is the given one.
func (g *groupRows[T]) of(group rows.TextID, groupOf func(T) rows.TextID) (out []T, err error) {
	for g.err == nil && g.more && groupOf(g.row) == group {
		out = append(out, g.row)
		g.row, g.err, g.more = g.next()
	}
	return out, g.err
}

// ended returns an error if rows are left: their texts have no pages.
func (g *groupRows[T]) ended() error {
	if g.err == nil && g.more {
		return fmt.Errorf("texts without pages: %w", layout.ErrCorrupt)
	}
	return g.err
}

// groupedTexts yields the texts whose pages eachGroup needs, in order.
func groupedTexts(w *workspace.Workspace) iter.Seq2[WantedText, error] {
	hosts := func(yield func(WantedText, error) bool) { // hosts in no cluster are the names of their groups
		for r, err := range w.DB.Table(layout.TableContained) {
			var c rows.Contained
			if err == nil {
				c, err = r.Contained()
			}
			if err == nil && c.Group != c.Host {
				continue
			}
			if !yield(WantedText{c.Group, c.Host}, err) || err != nil {
				return
			}
		}
	}
	contained := func(yield func(WantedText, error) bool) {
		for r, err := range w.DB.Table(layout.TableHost) {
			var c rows.Contained
			if err == nil {
				c, err = r.HostOf()
			}
			if !yield(WantedText{c.Group, c.Text}, err) || err != nil {
				return
			}
		}
	}
	return mergeWanted(ClusteredTexts(w), mergeWanted(hosts, contained))
}

// mergeWanted merges two sorted sequences.
func mergeWanted(a, b iter.Seq2[WantedText, error]) iter.Seq2[WantedText, error] {
	return func(yield func(WantedText, error) bool) {
		next, stop := iter.Pull2(b)
		defer stop()
		y, yErr, more := next()
		upTo := func(t *rows.TextID) bool { // yields those of b before t; nil: all
			for more && (yErr != nil || t == nil || rows.CompareTexts(y.Text, *t) < 0) {
				if !yield(y, yErr) || yErr != nil {
					return false
				}
				y, yErr, more = next()
			}
			return true
		}
		for x, err := range a {
			if err == nil && !upTo(&x.Text) || !yield(x, err) || err != nil {
				return
			}
		}
		upTo(nil)
	}
}

// containedPages returns the pages that a group contains, ordered by the containing
// page, date and record ID.
func containedPages(held []rows.Contained, pages map[rows.TextID][]report.Member, in report.Cluster, places PlacesOf) (out []report.ContainedPage, err error) {
	for _, r := range held {
		if len(pages[r.Text]) == 0 || len(pages[r.Host]) == 0 {
			return nil, fmt.Errorf("a contained text without pages: %w", layout.Corrupt(r.Text[:]))
		}
		m, host := pages[r.Text][0], pages[r.Host][0]
		p := report.ContainedPage{RecordID: m.RecordID, URI: m.URI, Date: m.Date, Document: m.Document, Pages: len(pages[r.Text]),
			In: host.RecordID, InURI: host.URI, InDate: host.Date, InDocument: host.Document,
			Resemblance: report.Score(r.Score.Resemblance), Containment: report.Score(r.Score.Containment)}
		p.Path, p.Entry = places.Of(m.Source)
		p.InPath, p.InEntry = places.Of(host.Source)
		p.Offset, p.InOffset = m.Offset, host.Offset
		if r.Cluster != (rows.TextID{}) {
			p.Cluster = fmt.Sprintf("%x", r.Cluster)
		}
		if in.Size > 0 {
			p.InCluster = in.ID
		}
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b report.ContainedPage) int {
		return cmp.Or(cmp.Compare(a.InDate, b.InDate), cmp.Compare(a.In, b.In), cmp.Compare(a.InDocument, b.InDocument),
			cmp.Compare(a.Date, b.Date), cmp.Compare(a.RecordID, b.RecordID), cmp.Compare(a.Document, b.Document))
	})
	return out, nil
}

// ClusteredTexts yields the texts in clusters, in order.
func ClusteredTexts(w *workspace.Workspace) iter.Seq2[WantedText, error] {
	return func(yield func(WantedText, error) bool) {
		for r, err := range w.DB.Table(layout.TableAssigned) {
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

// parseAssigned parses a row of TableAssigned: a text and, as its group, its
// cluster.
func parseAssigned(r layout.Row) (t WantedText, err error) {
	text, representative, err := r.Representative()
	return WantedText{Group: representative, Text: text}, err
}

// assemble makes a cluster from its texts and the pages with these texts. For each
// page it names the page that it was verified against.
func assemble(texts []rows.Cluster, pages map[rows.TextID][]report.Member) (report.Cluster, error) {
	id := texts[0].Cluster
	if len(pages[id]) == 0 {
		return report.Cluster{}, fmt.Errorf("a cluster without representative: %w", layout.Corrupt(id[:]))
	}
	c := report.Cluster{ID: fmt.Sprintf("%x", id), Representative: pages[id][0].RecordID}
	for _, r := range texts {
		if len(pages[r.Against]) == 0 {
			return report.Cluster{}, fmt.Errorf("verified against a text that is not in the cluster: %w", layout.Corrupt(r.Against[:]))
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

// RelationOf returns the relation of the i-th page with the row's text.
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

// ComparePages orders pages by date, then by record ID, then by all other fields.
func ComparePages(a, b report.Member) int {
	return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.RecordID, b.RecordID), cmp.Compare(a.URI, b.URI),
		cmp.Compare(a.Digest, b.Digest), cmp.Compare(a.WARC, b.WARC), cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Document, b.Document))
}
