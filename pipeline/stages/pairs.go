package stages

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
)

// Candidates that are pairs: each is a row of TableSet, the larger key as the
// set. Nothing is merged, and every pair is verified by itself.

// setRun collects the rows of pairs.
type setRun struct {
	w    *workspace.Workspace
	ctx  context.Context
	rows store.FixedRun
	set  cluster.Key // of the pair before
	left int64       // pairs that may still come
}

func newSetRun(ctx context.Context, w *workspace.Workspace, scored bool) *setRun {
	r := &setRun{w: w, ctx: ctx, rows: store.FixedRun{Size: store.EdgeSize}, left: w.Config.Cluster.MaxPairs}
	if scored {
		r.rows.Size = store.ScoredSetSize
	}
	return r
}

// add adds a pair, in any order, with the score that the search gave it.
func (r *setRun) add(a, b cluster.Key, score float64) error {
	if r.left--; r.left < 0 {
		return fmt.Errorf("over %d candidate pairs: the texts are too much alike for this method; raise cluster.max_pairs, "+
			"ask for more in common, or choose a method that compares with representatives only", r.w.Config.Cluster.MaxPairs)
	}
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	row := func(member cluster.Key, score float64) {
		value := binary.BigEndian.AppendUint64(nil, math.Float64bits(score))
		r.rows.Add([]byte{store.TableSet}, a[:], member[:], value[:r.rows.Size-store.EdgeSize])
	}
	if a != r.set {
		row(a, 1)
		r.set = a
	}
	row(b, score)
	if r.rows.Len() < r.w.Options.RunRows {
		return nil
	}
	return r.flush()
}

func (r *setRun) flush() error {
	err := r.w.DB.Ingest(r.ctx, r.rows.Sorted(r.w.Options.Workers)...)
	r.rows.Clear()
	r.set = cluster.Key{}
	return err
}

// clearSets begins the rows of sets anew.
func clearSets(w *workspace.Workspace) error {
	b := w.DB.Batch()
	return errors.Join(b.Clear(store.TableSet), b.Commit())
}

// tallyEdges takes the edges of enough lists for pairs: the counting of the lecture
// on near-duplicates, over sorted <document, document> pairs (slide "Algorithm
// used").
func tallyEdges(w *workspace.Workspace, sr *workspace.StageRun, c *rows.ClusterCounts) error {
	if err := clearSets(w); err != nil {
		return err
	}
	w.Options.Progress.Total(c.Lists.Edges, "edges")
	sets := newSetRun(sr.Ctx, w, false)
	var last [store.EdgeSize]byte
	common, read := 0, int64(0)
	for r, err := range w.DB.Table(store.TableEdge) {
		if err != nil {
			return err
		}
		if len(r.Key()) != edgeSize(w) {
			return store.Corrupt(r.Key())
		}
		if pair := r.Key()[:store.EdgeSize]; !bytes.Equal(pair, last[:]) {
			copy(last[:], pair)
			common = 0
			c.Edges++
		}
		if common++; common == w.Config.Cluster.Common || edgeSize(w) == store.EdgeSize {
			a, b, err := store.ParsePairKey(last[:])
			if err := errors.Join(err, sets.add(a, b, 0)); err != nil {
				return err
			}
		}
		if read++; read&0xffff == 0 {
			w.Options.Progress.Add(0x10000)
			if err := sr.Ctx.Err(); err != nil {
				return err
			}
		}
	}
	return sets.flush()
}

// candidate is a pair with the row that it is of.
type candidate struct {
	a, b  cluster.Key // a is the larger
	score float64     // of the search
}

// candidates returns the pairs behind the row after, from the largest keys down.
func candidates(w *workspace.Workspace, after []byte) iter.Seq2[candidate, error] {
	return func(yield func(candidate, error) bool) {
		lower, upper := store.TableBounds(store.TableSet)
		if after != nil {
			_, lower = store.PrefixBounds(store.Key(store.TableSet, after))
		}
		for r, err := range w.DB.Rows(lower, upper) {
			var c candidate
			if err == nil {
				c.a, c.b, c.score, err = store.ParseSetKey(r.Key())
			}
			if err == nil && c.a == c.b {
				continue
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// pairRound is the number of pairs that workers share out before any of them is
// committed, or spares another. Nothing but the cost depends on it.
const pairRound = 256

// comparePairs verifies candidates that are pairs, in rounds.
func comparePairs(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor) error {
	var clustered rows.ClusterCounts
	if err := w.Counts(workspace.StageCluster, &clustered); err != nil {
		return err
	}
	w.Options.Progress.Total(clustered.Members-clustered.Sets, "pairs")
	docs, err := NewDocuments(w)
	if err != nil {
		return err
	}
	p := &pairVerifier{w: w, judge: docs.Judge, docs: docs}
	if p.judge.Measure != nil {
		p.workers = p.judge.Comparers(w.Options.Workers)
	}
	if w.Config.Verify.Transitivity {
		p.linked = map[rows.TextID]rows.TextID{}
		for l, err := range results.NearPairs(w) {
			if err != nil {
				return err
			}
			p.link(l)
		}
	}
	b, saved := w.DB.Batch(), time.Now()
	commit := func() error {
		err := errors.Join(sr.SetCursor(b, at), b.Commit())
		b, saved = w.DB.Batch(), time.Now()
		return err
	}
	end := func(round []candidate) error {
		links, err := p.verify(sr.Ctx, round, &at.Counts)
		if err != nil {
			return err
		}
		for _, l := range links {
			if err := b.Set(store.PairKey(store.TableVerdict, l.Leader, l.Member), store.AppendScore(nil, l.Score)); err != nil {
				return err
			}
		}
		last := round[len(round)-1]
		at.After = slices.Concat(last.a[:], last.b[:])
		w.Options.Progress.Add(int64(len(round)))
		if b.Count() >= commitLinks || time.Since(saved) > commitEvery {
			return commit()
		}
		return nil
	}
	var round []candidate
	for c, err := range candidates(w, at.After) {
		if err != nil {
			return err
		}
		if round = append(round, c); len(round) == pairRound {
			if err := end(round); err != nil {
				return err
			}
			round = round[:0]
		}
	}
	if len(round) > 0 {
		if err := end(round); err != nil {
			return err
		}
	}
	at.Counts.Sets = clustered.Sets
	at.compared(w.Config.Verify.Closing)
	return commit()
}

// pairVerifier verifies pairs.
type pairVerifier struct {
	w       *workspace.Workspace
	judge   pair.Judge
	docs    *Documents
	workers []verify.Comparer

	// With transitivity, the forest of texts that are linked.
	linked map[rows.TextID]rows.TextID
}

// verify returns the links of a round, in its order.
func (p *pairVerifier) verify(ctx context.Context, round []candidate, counts *rows.VerifyCounts) ([]rows.Link, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	outcomes := make([]struct {
		rows.Link
		near   bool
		counts rows.VerifyCounts
	}, len(round))
	var next atomic.Int64
	one := func(c verify.Comparer) error {
		for i := int(next.Add(1) - 1); i < len(round); i = int(next.Add(1) - 1) {
			if i%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			x, o := round[i], &outcomes[i]
			if p.linked != nil && p.root(x.a.ID()) == p.root(x.b.ID()) {
				continue
			}
			var docs [2]*pair.Text
			var err error
			for j, k := range []cluster.Key{x.a, x.b} {
				if docs[j], err = p.docs.Get(k.ID()); err != nil {
					return err
				}
			}
			d := p.judge.Decide(c, docs[0], docs[1])
			o.counts.AddDecision(d)
			if o.near = d.Near; o.near {
				o.Link = rows.Link{Leader: x.a, Member: x.b, Score: scoreOf(d, docs[0], docs[1])}
			}
		}
		return nil
	}
	if p.judge.Measure == nil { // the search has found what is near
		for i, x := range round {
			outcomes[i].near = true
			outcomes[i].counts.AddDecision(pair.Decision{Verdict: verify.Verdict{Near: true}})
			outcomes[i].Link = rows.Link{Leader: x.a, Member: x.b, Score: rows.Score{Relation: report.Near, Resemblance: x.score, Containment: x.score}}
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, c := range p.workers {
		g.Go(func() error { return one(c) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var links []rows.Link
	for i, o := range outcomes {
		// What the round itself has linked was compared for nothing, and does not
		// count: which pairs that are would depend on the workers.
		if p.linked != nil && p.root(round[i].a.ID()) == p.root(round[i].b.ID()) {
			continue
		}
		counts.Add(o.counts)
		if o.near {
			links = append(links, o.Link)
			p.link(o.Link)
		}
	}
	return links, nil
}

// link unites the clusters of a near pair, unless it is a leaf.
func (p *pairVerifier) link(l rows.Link) {
	if p.linked == nil || !p.w.Config.Verify.Links(l.Score.Relation == report.Near) {
		return
	}
	a, b := p.root(l.Leader.ID()), p.root(l.Member.ID())
	if a == b {
		return
	}
	if rows.CompareTexts(a, b) > 0 { // any rule that keeps trees low on average
		a, b = b, a
	}
	p.linked[b] = a
}

// root returns the text that stands for the cluster of t. It changes nothing, so that
// workers can share it.
func (p *pairVerifier) root(t rows.TextID) rows.TextID {
	for {
		up, ok := p.linked[t]
		if !ok {
			return t
		}
		t = up
	}
}
