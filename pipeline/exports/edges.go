package exports

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"neardup/pipeline/extsort"
	"neardup/pipeline/groups"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// edges holds the near pairs of texts and the judged pairs that hold clusters
// together, with the pages that have these texts or are in a cluster.
type edges struct {
	w      *workspace.Workspace
	places groups.Places
	pages  *extsort.Sorter // by text
	pairs  *extsort.Sorter // the two texts → the score
}

// newEdges gathers the pages. close releases them.
func newEdges(ctx context.Context, w *workspace.Workspace) (_ *edges, err error) {
	places, err := results.Places(w)
	if err != nil {
		return nil, err
	}
	e := &edges{w: w, places: places, pairs: extsort.New(w.DB.Tmp)}
	texts := extsort.New(w.DB.Tmp)
	defer func() {
		if err = errors.Join(err, texts.Close()); err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	for t, err := range results.ClusteredTexts(w) {
		if err := errors.Join(err, texts.Add(t.Text[:], nil)); err != nil {
			return e, err
		}
	}
	for l, err := range results.VerifiedPairs(w) {
		if err != nil {
			return e, err
		}
		a, b := l.Leader.ID(), l.Member.ID()
		if l.Score.Relation == report.Contains { // from the containing text to the contained one
			a, b, l.Score = b, a, l.Score.Inverse()
		}
		err := errors.Join(ctx.Err(), texts.Add(a[:], nil), texts.Add(b[:], nil), e.pairs.Add(slices.Concat(a[:], b[:]), layout.AppendScore(nil, l.Score)))
		if err != nil {
			return e, err
		}
	}
	if err := e.addJudged(ctx); err != nil {
		return e, err
	}
	e.pages, err = results.Gather(ctx, w.DB, sortedTexts(texts))
	return e, err
}

// addJudged adds the judged pairs that clusters need. Their texts are all in
// clusters. Without judged pairs it makes no pass over the clusters.
func (e *edges) addJudged(ctx context.Context) error {
	var counts rows.VerifyCounts
	if err := e.w.Counts(workspace.StageVerify, &counts); err != nil || counts.Judged == nil {
		return err
	}
	for r, err := range e.w.DB.Table(layout.TableCluster) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		row, err := r.Cluster()
		if err == nil && row.Score.Relation == report.Judged {
			err = e.pairs.Add(slices.Concat(row.Against[:], row.Member[:]), layout.AppendScore(nil, row.Score))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *edges) close() error {
	err := e.pairs.Close()
	if e.pages != nil {
		err = errors.Join(err, e.pages.Close())
	}
	return err
}

// sortedTexts yields the texts that are the keys, without a group.
func sortedTexts(texts *extsort.Sorter) iter.Seq2[groups.Wanted, error] {
	return func(yield func(groups.Wanted, error) bool) {
		for e, err := range texts.Sorted() {
			var w groups.Wanted
			if err == nil {
				w.Text = rows.TextID(e.Key)
			}
			if !yield(w, err) || err != nil {
				return
			}
		}
	}
}

// textNodes holds the pages of a text, or a part of them, as nodes.
type textNodes struct {
	groups.TextPages
	nodes []report.Node
}

// nodes yields the pages by text. The first node of a text stands for it.
func (e *edges) nodes(ctx context.Context) iter.Seq2[textNodes, error] {
	return func(yield func(textNodes, error) bool) {
		next, stop := iter.Pull2(results.ClusteredTexts(e.w))
		defer stop()
		in, err, clustered := next()
		for t, pagesErr := range groups.Pages(ctx, e.pages.Sorted(), e.w.DB.Tmp) {
			err = errors.Join(err, pagesErr)
			for err == nil && clustered && rows.CompareTexts(in.Text, t.Text) < 0 {
				in, err, clustered = next()
			}
			if err != nil {
				yield(textNodes{}, err)
				return
			}
			n := textNodes{TextPages: t}
			for _, m := range t.Pages {
				node := report.Node{Document: m.Document, RecordID: m.RecordID, URI: m.URI, Date: m.Date, Offset: m.Offset}
				node.Path, node.Entry = e.places.Of(m.Source)
				if clustered && in.Text == t.Text {
					node.Cluster = fmt.Sprintf("%x", in.Group)
				}
				n.nodes = append(n.nodes, node)
			}
			if !yield(n, nil) {
				return
			}
		}
		if err != nil {
			yield(textNodes{}, err)
		}
	}
}

// endsOf looks up the node of the text that each key begins with, puts it before
// the value, and moves the other text to the front of the key.
func (e *edges) endsOf(ctx context.Context, from, to *extsort.Sorter) error {
	next, stop := iter.Pull2(e.nodes(ctx))
	defer stop()
	var n textNodes
	for pair, err := range from.Sorted() {
		if err != nil {
			return err
		}
		text, other := rows.TextID(pair.Key[:16]), pair.Key[16:32]
		for more := true; rows.CompareTexts(n.Text, text) < 0 || n.nodes == nil; {
			if n, err, more = next(); err != nil {
				return err
			}
			if !more {
				break
			}
		}
		if n.Text != text {
			return fmt.Errorf("a text without pages: %w", layout.Corrupt(text[:]))
		}
		node, err := json.Marshal(n.nodes[0])
		if err != nil {
			return err
		}
		value := append(binary.AppendUvarint(nil, uint64(len(node))), node...)
		if err := to.Add(slices.Concat(other, text[:]), append(value, pair.Value...)); err != nil {
			return err
		}
	}
	return nil
}

// all yields the edges, by the texts of source and target: the pairs, and the edges
// from the first page of a text to its other pages.
func (e *edges) all(ctx context.Context) iter.Seq2[report.Edge, error] {
	return func(yield func(report.Edge, error) bool) {
		byTarget, whole := extsort.New(e.w.DB.Tmp), extsort.New(e.w.DB.Tmp)
		err := e.endsOf(ctx, e.pairs, byTarget)
		if err == nil {
			err = e.endsOf(ctx, byTarget, whole)
		}
		_ = byTarget.Close()
		defer func() { _ = whole.Close() }()
		if err != nil {
			yield(report.Edge{}, err)
			return
		}
		next, stop := iter.Pull2(whole.Sorted())
		defer stop()
		pair, err, more := next()
		upTo := func(text rows.TextID) bool { // yields the near pairs whose first text is at most this one
			for ; more && (err != nil || bytes.Compare(pair.Key[:16], text[:]) <= 0); pair, err, more = next() {
				var edge report.Edge
				if err == nil {
					edge, err = parseEdge(pair)
					edge.EstimatedBy = e.w.Config.EstimatedBy()
				}
				if !yield(edge, cmp.Or(err, ctx.Err())) || err != nil {
					return false
				}
			}
			return true
		}
		var first report.Node // of the present text
		for n, err := range e.nodes(ctx) {
			if err != nil {
				yield(report.Edge{}, err)
				return
			}
			others := n.nodes
			if n.From == 0 {
				first, others = n.nodes[0], n.nodes[1:]
			}
			for _, other := range others {
				if !yield(report.Edge{Source: first, Target: other, Relation: report.Identical, Resemblance: 1, Containment: 1}, ctx.Err()) {
					return
				}
			}
			if !n.More && !upTo(n.Text) {
				return
			}
		}
	}
}

// parseEdge parses an entry whose two ends endsOf has looked up.
func parseEdge(e extsort.Entry) (edge report.Edge, err error) {
	rest := e.Value
	for _, node := range []*report.Node{&edge.Target, &edge.Source} {
		n, used := binary.Uvarint(rest)
		if used <= 0 || uint64(len(rest)-used) < n {
			return edge, layout.Corrupt(e.Key)
		}
		rest = rest[used:]
		if err := json.Unmarshal(rest[:n], node); err != nil {
			return edge, err
		}
		rest = rest[n:]
	}
	s, err := layout.ParseScore(rest)
	edge.Resemblance, edge.Containment = report.Score(s.Resemblance), report.Score(s.Containment)
	edge.Relation = s.Relation
	return edge, err
}

func writeEdges(ctx context.Context, w *workspace.Workspace, out report.EdgeWriter) error {
	e, err := newEdges(ctx, w)
	if err != nil {
		return err
	}
	return errors.Join(e.write(ctx, out), e.close())
}

func (e *edges) write(ctx context.Context, out report.EdgeWriter) error {
	for edge, err := range e.all(ctx) {
		if err == nil {
			err = out.Edge(edge)
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(ctx.Err(), out.Close())
}

func writeGraph(ctx context.Context, w *workspace.Workspace, out io.Writer) error {
	e, err := newEdges(ctx, w)
	if err != nil {
		return err
	}
	return errors.Join(e.writeGraph(ctx, out), e.close())
}

func (e *edges) writeGraph(ctx context.Context, out io.Writer) error {
	g, err := report.NewGraphML(out)
	if err != nil {
		return err
	}
	for t, err := range e.nodes(ctx) {
		if err != nil {
			return err
		}
		for _, n := range t.nodes {
			if err := g.Node(n); err != nil {
				return err
			}
		}
	}
	return e.write(ctx, g)
}
