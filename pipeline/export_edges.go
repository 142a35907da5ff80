package pipeline

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

	"neardup/report"
)

// edges are the near pairs, of texts, and the judged ones that hold clusters
// together, and the pages that have these texts or stand in a cluster.
type edges struct {
	w     *Workspace
	pages *sorter // by text
	pairs *sorter // the texts, then the score
}

// edges gathers the pages; close lets go of them.
func (w *Workspace) edges(ctx context.Context) (_ *edges, err error) {
	e := &edges{w: w, pairs: w.store.sorter()}
	texts := w.store.sorter()
	defer func() {
		if err = errors.Join(err, texts.close()); err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	for t, err := range w.clusteredTexts() {
		if err := errors.Join(err, texts.add(t.text[:], nil)); err != nil {
			return e, err
		}
	}
	for l, err := range w.nearPairs() {
		if err != nil {
			return e, err
		}
		a, b := l.leader.ID(), l.member.ID()
		err := errors.Join(ctx.Err(), texts.add(a[:], nil), texts.add(b[:], nil), e.pairs.add(slices.Concat(a[:], b[:]), l.score.append(nil)))
		if err != nil {
			return e, err
		}
	}
	if err := e.addJudged(ctx); err != nil {
		return e, err
	}
	e.pages, err = w.store.gather(ctx, sortedTexts(texts))
	return e, err
}

// addJudged adds the judged pairs that clusters need, whose texts are all in
// clusters. Without any this takes no pass over the clusters.
func (e *edges) addJudged(ctx context.Context) error {
	var counts VerifyCounts
	if err := e.w.counts(StageVerify, &counts); err != nil || counts.Judged == nil {
		return err
	}
	for r, err := range e.w.store.table(tableCluster) {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		row, err := parseClusterRow(r)
		if err == nil && row.score.Relation == Judged {
			err = e.pairs.add(slices.Concat(row.against[:], row.member[:]), row.score.append(nil))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *edges) close() error {
	err := e.pairs.close()
	if e.pages != nil {
		err = errors.Join(err, e.pages.close())
	}
	return err
}

// sortedTexts gives the texts that are keys, without a group.
func sortedTexts(texts *sorter) iter.Seq2[wantedText, error] {
	return func(yield func(wantedText, error) bool) {
		for e, err := range texts.sorted() {
			var w wantedText
			if err == nil {
				w.text = textID(e.key)
			}
			if !yield(w, err) || err != nil {
				return
			}
		}
	}
}

// textNodes are the pages of a text as nodes.
type textNodes struct {
	text  textID
	nodes []report.Node // the first stands for the text
}

// nodes gives the pages by text.
func (e *edges) nodes(ctx context.Context) iter.Seq2[textNodes, error] {
	return func(yield func(textNodes, error) bool) {
		next, stop := iter.Pull2(e.w.clusteredTexts())
		defer stop()
		in, err, clustered := next()
		for t, pagesErr := range pagesOf(ctx, e.pages) {
			err = errors.Join(err, pagesErr)
			for err == nil && clustered && compareTexts(in.text, t.text) < 0 {
				in, err, clustered = next()
			}
			if err != nil {
				yield(textNodes{}, err)
				return
			}
			n := textNodes{text: t.text}
			for _, m := range t.pages {
				node := report.Node{Document: m.Document, RecordID: m.RecordID, URI: m.URI, Date: m.Date}
				if clustered && in.text == t.text {
					node.Cluster = fmt.Sprintf("%x", in.group)
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

// endsOf puts the node of the text that each key starts with in front of the
// value, and the other text in front of the key.
func (e *edges) endsOf(ctx context.Context, from, to *sorter) error {
	next, stop := iter.Pull2(e.nodes(ctx))
	defer stop()
	var n textNodes
	for pair, err := range from.sorted() {
		if err != nil {
			return err
		}
		text, other := textID(pair.key[:16]), pair.key[16:32]
		for more := true; compareTexts(n.text, text) < 0 || n.nodes == nil; {
			if n, err, more = next(); err != nil {
				return err
			}
			if !more {
				break
			}
		}
		if n.text != text {
			return fmt.Errorf("a text without pages: %w", corrupt(text[:]))
		}
		node, err := json.Marshal(n.nodes[0])
		if err != nil {
			return err
		}
		value := append(binary.AppendUvarint(nil, uint64(len(node))), node...)
		if err := to.add(slices.Concat(other, text[:]), append(value, pair.value...)); err != nil {
			return err
		}
	}
	return nil
}

// all gives the edges, by the texts of source and target: the pairs, and from the
// first page of a text to each other.
func (e *edges) all(ctx context.Context) iter.Seq2[report.Edge, error] {
	return func(yield func(report.Edge, error) bool) {
		byTarget, whole := e.w.store.sorter(), e.w.store.sorter()
		err := e.endsOf(ctx, e.pairs, byTarget)
		if err == nil {
			err = e.endsOf(ctx, byTarget, whole)
		}
		_ = byTarget.close()
		defer func() { _ = whole.close() }()
		if err != nil {
			yield(report.Edge{}, err)
			return
		}
		next, stop := iter.Pull2(whole.sorted())
		defer stop()
		pair, err, more := next()
		upTo := func(text textID) bool { // the near pairs from texts up to this one
			for ; more && (err != nil || bytes.Compare(pair.key[:16], text[:]) <= 0); pair, err, more = next() {
				var edge report.Edge
				if err == nil {
					edge, err = parseEdge(pair)
				}
				if !yield(edge, cmp.Or(err, ctx.Err())) || err != nil {
					return false
				}
			}
			return true
		}
		for n, err := range e.nodes(ctx) {
			if err != nil {
				yield(report.Edge{}, err)
				return
			}
			for _, other := range n.nodes[1:] {
				if !yield(report.Edge{Source: n.nodes[0], Target: other, Relation: report.Identical, Resemblance: 1, Containment: 1}, ctx.Err()) {
					return
				}
			}
			if !upTo(n.text) {
				return
			}
		}
	}
}

// parseEdge parses what endsOf has made of both ends.
func parseEdge(e entry) (edge report.Edge, err error) {
	rest := e.value
	for _, node := range []*report.Node{&edge.Target, &edge.Source} {
		n, used := binary.Uvarint(rest)
		if used <= 0 || uint64(len(rest)-used) < n {
			return edge, corrupt(e.key)
		}
		rest = rest[used:]
		if err := json.Unmarshal(rest[:n], node); err != nil {
			return edge, err
		}
		rest = rest[n:]
	}
	s, err := parseScore(rest)
	edge.Resemblance, edge.Containment = report.Score(s.Resemblance), report.Score(s.Containment)
	switch s.Relation {
	case Contained:
		edge.Relation = report.Contained
	case Contains:
		edge.Relation = report.Contains
	case Judged:
		edge.Relation = report.Judged
	default:
		edge.Relation = report.Near
	}
	return edge, err
}

func (w *Workspace) writeEdges(ctx context.Context, out report.EdgeWriter) error {
	e, err := w.edges(ctx)
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

func (w *Workspace) writeGraph(ctx context.Context, out io.Writer) error {
	e, err := w.edges(ctx)
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
