// Package groups makes clusters with their pages from sorted rows. It knows no
// database: package results runs it over the tables of a workspace, and package
// filters over frames of rows.
//
//	Occurrences  texts with their groups, rows of x   → documents with group and text
//	Documents    these by document, rows of d         → pages
//	Pages        these by group and text              → pages, text by text
//	Groups       rows of c and h, pages               → clusters, and groups around them
//	Parts        likewise                             → these, clusters of many pages in parts
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

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/report"
)

// Tables are sorted rows that make groups.
type Tables struct {
	Clusters, Contained iter.Seq2[layout.Row, error]    // rows of these tables
	Pages               iter.Seq2[extsort.Entry, error] // of all texts in them, as Documents emits them, by group, then text
	Places              Places
	EstimatedBy         string // as configs.Config tells
	Dir                 string // for sorted files
}

// PartPages is how many pages of a group are in memory at a time.
var PartPages = 8192

// Groups yields the clusters and, among them by ID, the texts in no cluster that
// contain other texts. Such a group has the ID of its text, no members, and the
// contained pages. Only one is in memory at a time.
func (t Tables) Groups(ctx context.Context) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		var whole report.Whole
		for c, err := range t.Parts(ctx) {
			if err == nil {
				var ended bool
				if c, ended = whole.Of(c); !ended {
					continue
				}
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Parts is Groups where a cluster of more than PartPages pages comes in parts.
func (t Tables) Parts(ctx context.Context) iter.Seq2[report.Cluster, error] {
	return func(yield func(report.Cluster, error) bool) {
		if err := t.parts(ctx, func(c report.Cluster) bool { return yield(c, nil) }); err != nil && !errors.Is(err, errEnough) {
			yield(report.Cluster{}, err)
		}
	}
}

// errEnough ends the reading where no more groups are wanted.
var errEnough = errors.New("no more groups are wanted")

func (t Tables) parts(ctx context.Context, yield func(report.Cluster) bool) error {
	clustered, contained := newGroupRows(t.Clusters, layout.Row.Cluster), newGroupRows(t.Contained, layout.Row.Contained)
	defer clustered.stop()
	defer contained.stop()
	pages := pile{dir: t.Dir} // of the present group
	defer pages.clear()
	flush := func(group rows.TextID) error {
		texts, err := clustered.of(group, func(r rows.Cluster) rows.TextID { return r.Cluster })
		in, inErr := contained.of(group, func(r rows.Contained) rows.TextID { return r.Group })
		if err := errors.Join(err, inErr, ctx.Err()); err != nil {
			return err
		}
		g := grouping{Tables: t, group: group, texts: texts, contained: in}
		defer pages.clear()
		if pages.large != nil {
			return pages.large.write(ctx, &g, yield)
		}
		c, err := g.whole(pages.held)
		if err != nil {
			return err
		}
		return end(yield(c))
	}
	var group rows.TextID
	n := 0
	for e, err := range t.Pages {
		var p gathered
		if n++; err == nil && n&0xfff == 0 {
			err = ctx.Err()
		}
		if err == nil {
			p, err = parseGathered(e)
		}
		if err == nil && !pages.empty() && p.Group != group {
			err = flush(group)
		}
		if group = p.Group; err == nil {
			err = pages.add(p)
		}
		if err != nil {
			return err
		}
	}
	if !pages.empty() {
		if err := flush(group); err != nil {
			return err
		}
	}
	return errors.Join(clustered.ended(), contained.ended(), ctx.Err())
}

// grouping is a group whose pages are read.
type grouping struct {
	Tables
	group     rows.TextID
	texts     []rows.Cluster   // in the cluster; none if the group is no cluster
	contained []rows.Contained // in the group
}

// whole returns the group with these pages.
func (g *grouping) whole(held []gathered) (c report.Cluster, err error) {
	pages := map[rows.TextID][]report.Member{}
	for _, p := range held {
		pages[p.Wanted.Text] = append(pages[p.Wanted.Text], p.Member)
	}
	for _, of := range pages {
		slices.SortFunc(of, ComparePagesOfText)
	}
	for _, r := range g.texts {
		if len(pages[r.Member]) == 0 {
			return c, fmt.Errorf("a text without pages: %w", layout.Corrupt(r.Member[:]))
		}
	}
	c = report.Cluster{ID: hex.EncodeToString(g.group[:])}
	if len(g.texts) > 0 {
		if c, err = assemble(g.texts, pages); err != nil {
			return c, err
		}
		c.EstimatedBy = g.EstimatedBy
	}
	g.Places.Fill(c.Members)
	c.Contained, err = g.containedPages(func(t rows.TextID) (first report.Member, n int) {
		if of := pages[t]; len(of) > 0 {
			first, n = of[0], len(of)
		}
		return first, n
	})
	return c, err
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
// page, date and record ID. pages returns the first page of a text, and their number.
func (g *grouping) containedPages(pages func(rows.TextID) (first report.Member, n int)) (out []report.ContainedPage, err error) {
	for _, r := range g.contained {
		m, n := pages(r.Text)
		host, hosts := pages(r.Host)
		if n == 0 || hosts == 0 {
			return nil, fmt.Errorf("a contained text without pages: %w", layout.Corrupt(r.Text[:]))
		}
		p := report.ContainedPage{RecordID: m.RecordID, URI: m.URI, Date: m.Date, Document: m.Document, Pages: n,
			In: host.RecordID, InURI: host.URI, InDate: host.Date, InDocument: host.Document,
			Resemblance: report.Score(r.Score.Resemblance), Containment: report.Score(r.Score.Containment)}
		p.Path, p.Entry = g.Places.Of(m.Source)
		p.InPath, p.InEntry = g.Places.Of(host.Source)
		p.Offset, p.InOffset = m.Offset, host.Offset
		if r.Cluster != (rows.TextID{}) {
			p.Cluster = fmt.Sprintf("%x", r.Cluster)
		}
		if len(g.texts) > 0 {
			p.InCluster = hex.EncodeToString(g.group[:])
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
			c.Members = append(c.Members, memberOf(m, r, pages[r.Against][0], i))
		}
	}
	slices.SortFunc(c.Members, func(a, b report.Member) int {
		return cmp.Or(report.FalseFirst(a.Relation != report.Representative, b.Relation != report.Representative), ComparePages(a, b))
	})
	c.Size = len(c.Members)
	return c, nil
}

// memberOf returns the i-th page with the row's text as a member of its cluster. against
// is the first page of the text that it was verified against.
func memberOf(m report.Member, r rows.Cluster, against report.Member, i int) report.Member {
	m.Resemblance, m.Containment = report.Score(r.Score.Resemblance), report.Score(r.Score.Containment)
	m.VerifiedAgainst, m.AgainstDocument, m.AgainstText = against.RecordID, against.Document, against.Text
	m.Relation = RelationOf(r, r.Cluster, i)
	return m
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
