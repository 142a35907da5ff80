// Package groups makes clusters with their pages from sorted rows. It knows no
// database: package results runs it over the tables of a workspace, and package
// filters over frames of rows.
//
//	Occurrences  texts with their groups, rows of x   → documents with group and text
//	Documents    these by document, rows of d         → pages
//	Pages        these by group and text              → pages, text by text
//	Groups       rows of c and h, pages               → clusters, and groups around them
//
// A group is a cluster, or a text in no cluster that contains other texts.
package groups

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/report"
)

// Tables are sorted rows that make groups.
type Tables struct {
	Clusters, Contained iter.Seq2[layout.Row, error] // rows of these tables
	Pages               iter.Seq2[TextPages, error]  // of all texts in them, by group, then text
	Places              Places
	EstimatedBy         string // as configs.Config tells
}

// Groups yields the clusters and, among them by ID, the texts in no cluster that
// contain other texts. Such a group has the ID of its text, no members, and the
// contained pages. Only one is in memory at a time.
func (t Tables) Groups(ctx context.Context) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		err := t.groups(ctx, func(c report.Cluster) bool { return yield(c, nil) })
		if err != nil {
			yield(report.Cluster{}, err)
		}
	}
}

func (t Tables) groups(ctx context.Context, yield func(report.Cluster) bool) error {
	clustered, contained := newGroupRows(t.Clusters, layout.Row.Cluster), newGroupRows(t.Contained, layout.Row.Contained)
	defer clustered.stop()
	defer contained.stop()
	pages := map[rows.TextID][]report.Member{}
	flush := func(group rows.TextID) (more bool, err error) {
		texts, err := clustered.of(group, func(r rows.Cluster) rows.TextID { return r.Cluster })
		held, heldErr := contained.of(group, func(r rows.Contained) rows.TextID { return r.Group })
		if err := errors.Join(err, heldErr, ctx.Err()); err != nil {
			return false, err
		}
		c := report.Cluster{ID: hex.EncodeToString(group[:])}
		for _, r := range texts {
			if len(pages[r.Member]) == 0 {
				return false, fmt.Errorf("a text without pages: %w", layout.Corrupt(r.Member[:]))
			}
		}
		if len(texts) > 0 {
			if c, err = assemble(texts, pages); err != nil {
				return false, err
			}
			c.EstimatedBy = t.EstimatedBy
		}
		t.Places.Fill(c.Members)
		c.Contained, err = containedPages(held, pages, c, t.Places)
		clear(pages)
		return err == nil && yield(c), err
	}
	var group rows.TextID
	for p, err := range t.Pages {
		if err != nil {
			return err
		}
		if len(pages) > 0 && p.Group != group {
			if more, err := flush(group); err != nil || !more {
				return err
			}
		}
		group, pages[p.Text] = p.Group, p.Pages
	}
	if len(pages) > 0 {
		if more, err := flush(group); err != nil || !more {
			return err
		}
	}
	return errors.Join(clustered.ended(), contained.ended(), ctx.Err())
}

// Write writes groups: contained pages, and the clusters of at least two pages.
func Write(ctx context.Context, groups iter.Seq2[report.Cluster, error], contained report.ContainedWriter, to ...report.Writer) error {
	for c, err := range groups {
		if err != nil {
			return err
		}
		if err := WriteGroup(c, contained, to...); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err() // cancelled since the last cluster
	}
	for _, out := range to {
		if err := out.Close(); err != nil {
			return err
		}
	}
	return nil
}

// WriteGroup writes the contained pages of a group, and the group if it is a cluster.
func WriteGroup(c report.Cluster, contained report.ContainedWriter, to ...report.Writer) error {
	for _, p := range c.Contained {
		if err := contained(p); err != nil {
			return err
		}
	}
	if c.Size == 0 {
		return nil
	}
	for _, out := range to {
		if err := out.Write(c); err != nil {
			return err
		}
	}
	return nil
}

// groupRows reads the rows of a table group by group.
type groupRows[T any] struct {
	next func() (T, error, bool)
	stop func()

	row  T
	err  error
	more bool
}

func newGroupRows[T any](table iter.Seq2[layout.Row, error], parse func(layout.Row) (T, error)) *groupRows[T] {
	g := &groupRows[T]{}
	g.next, g.stop = iter.Pull2(func(yield func(T, error) bool) {
		for r, err := range table {
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

// containedPages returns the pages that a group contains, ordered by the containing
// page, date and record ID.
func containedPages(held []rows.Contained, pages map[rows.TextID][]report.Member, in report.Cluster, places Places) (out []report.ContainedPage, err error) {
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
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return cmp.Or(cmp.Compare(a.InDate, b.InDate), cmp.Compare(a.In, b.In), cmp.Compare(a.InDocument, b.InDocument),
			cmp.Compare(a.Date, b.Date), cmp.Compare(a.RecordID, b.RecordID), cmp.Compare(a.Document, b.Document)) < 0
	})
	return out, nil
}

// assemble makes a cluster from its texts and the pages with these texts. For each
// page it names the page that it was verified against.
func assemble(texts []rows.Cluster, pages map[rows.TextID][]report.Member) (report.Cluster, error) {
	id := texts[0].Cluster
	if len(pages[id]) == 0 {
		return report.Cluster{}, fmt.Errorf("a cluster without representative: %w", layout.Corrupt(id[:]))
	}
	n := 0
	for _, r := range texts {
		n += len(pages[r.Member])
	}
	c := report.Cluster{ID: hex.EncodeToString(id[:]), Representative: pages[id][0].RecordID, Members: make([]report.Member, 0, n)}
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
