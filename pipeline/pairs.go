package pipeline

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
	"neardup/configs"
	"neardup/verify"
)

// Candidates that are pairs: each is a row of tableSet, the larger key as the
// set. Nothing is merged, and every pair is verified by itself.

// setRun collects the rows of pairs.
type setRun struct {
	w    *Workspace
	ctx  context.Context
	rows fixedRun
	set  cluster.Key // of the pair before
	left int64       // pairs that may still come
}

func (w *Workspace) newSetRun(ctx context.Context, scored bool) *setRun {
	r := &setRun{w: w, ctx: ctx, rows: fixedRun{size: edgeSize}, left: w.config.Cluster.MaxPairs}
	if scored {
		r.rows.size = scoredSetSize
	}
	return r
}

// add adds a pair, in any order, with the score that the search gave it.
func (r *setRun) add(a, b cluster.Key, score float64) error {
	if r.left--; r.left < 0 {
		return fmt.Errorf("over %d candidate pairs: the texts are too much alike for this method; raise cluster.max_pairs, "+
			"ask for more in common, or choose a method that compares with representatives only", r.w.config.Cluster.MaxPairs)
	}
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	row := func(member cluster.Key, score float64) {
		value := binary.BigEndian.AppendUint64(nil, math.Float64bits(score))
		r.rows.add([]byte{tableSet}, a[:], member[:], value[:r.rows.size-edgeSize])
	}
	if a != r.set {
		row(a, 1)
		r.set = a
	}
	row(b, score)
	if r.rows.len() < r.w.o.runRows {
		return nil
	}
	return r.flush()
}

func (r *setRun) flush() error {
	err := r.w.store.ingest(r.ctx, r.rows.sorted(r.w.o.Workers)...)
	r.rows.clear()
	r.set = cluster.Key{}
	return err
}

// clearSets begins the rows of sets anew.
func (w *Workspace) clearSets() error {
	b := w.store.batch()
	return errors.Join(b.clear(tableSet), b.commit())
}

// tally takes the edges of enough lists for pairs: the counting of the lecture
// on near-duplicates, over sorted <document, document> pairs (slide "Algorithm
// used").
func (w *Workspace) tally(sr *stageRun, c *ClusterCounts) error {
	if err := w.clearSets(); err != nil {
		return err
	}
	w.o.Progress.Total(c.Lists.Edges, "edges")
	sets := w.newSetRun(sr.ctx, false)
	var last [edgeSize]byte
	common, read := 0, int64(0)
	for r, err := range w.store.table(tableEdge) {
		if err != nil {
			return err
		}
		if len(r.key()) != w.edgeSize() {
			return corrupt(r.key())
		}
		if pair := r.key()[:edgeSize]; !bytes.Equal(pair, last[:]) {
			copy(last[:], pair)
			common = 0
			c.Edges++
		}
		if common++; common == w.config.Cluster.Common || w.edgeSize() == edgeSize {
			a, b, err := parsePairKey(last[:])
			if err := errors.Join(err, sets.add(a, b, 0)); err != nil {
				return err
			}
		}
		if read++; read&0xffff == 0 {
			w.o.Progress.Add(0x10000)
			if err := sr.ctx.Err(); err != nil {
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

// candidates gives the pairs behind the row after, from the largest keys down.
func (w *Workspace) candidates(after []byte) iter.Seq2[candidate, error] {
	return func(yield func(candidate, error) bool) {
		lower, upper := tableBounds(tableSet)
		if after != nil {
			_, lower = prefixBounds(join(tableSet, after))
		}
		for r, err := range w.store.rows(lower, upper) {
			var c candidate
			if err == nil {
				c.a, c.b, c.score, err = parseSetKey(r.key())
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
func (w *Workspace) comparePairs(sr *stageRun, at *verifyCursor) error {
	var clustered ClusterCounts
	if err := w.counts(StageCluster, &clustered); err != nil {
		return err
	}
	w.o.Progress.Total(clustered.Members-clustered.Sets, "pairs")
	p := &pairVerifier{w: w, judge: newJudge(&w.config), docs: newPrepared(w)}
	if p.judge.measure != nil {
		p.workers = p.judge.comparers(w.o.Workers)
	}
	if w.config.Verify.Transitivity {
		p.linked = map[textID]textID{}
		for l, err := range w.nearPairs() {
			if err != nil {
				return err
			}
			p.link(l)
		}
	}
	b, saved := w.store.batch(), time.Now()
	commit := func() error {
		err := errors.Join(sr.setCursor(b, at), b.commit())
		b, saved = w.store.batch(), time.Now()
		return err
	}
	end := func(round []candidate) error {
		links, err := p.verify(sr.ctx, round, &at.Counts)
		if err != nil {
			return err
		}
		for _, l := range links {
			if err := b.set(pairKey(tableVerdict, l.leader, l.member), l.score.append(nil)); err != nil {
				return err
			}
		}
		last := round[len(round)-1]
		at.After = slices.Concat(last.a[:], last.b[:])
		w.o.Progress.Add(int64(len(round)))
		if b.Count() >= commitLinks || time.Since(saved) > commitEvery {
			return commit()
		}
		return nil
	}
	var round []candidate
	for c, err := range w.candidates(at.After) {
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
	at.Closing = true
	return commit()
}

// pairVerifier verifies pairs.
type pairVerifier struct {
	w       *Workspace
	judge   judge
	docs    *prepared
	workers []verify.Comparer

	// With transitivity, the forest of texts that are linked.
	linked map[textID]textID
}

// verify gives the links of a round, in its order.
func (p *pairVerifier) verify(ctx context.Context, round []candidate, counts *VerifyCounts) ([]link, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	outcomes := make([]struct {
		link
		near   bool
		counts VerifyCounts
	}, len(round))
	var next atomic.Int64
	one := func(c verify.Comparer) error {
		for i := int(next.Add(1) - 1); i < len(round); i = int(next.Add(1) - 1) {
			if i%64 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			pair, o := round[i], &outcomes[i]
			if p.linked != nil && p.root(pair.a.ID()) == p.root(pair.b.ID()) {
				continue
			}
			var docs [2]*document
			var err error
			for j, k := range []cluster.Key{pair.a, pair.b} {
				if docs[j], err = p.docs.get(k.ID()); err != nil {
					return err
				}
			}
			verdict, bySubject := p.judge.decide(c, docs[0], docs[1])
			if bySubject {
				o.counts.bySubject()
				continue
			}
			o.counts.verdict(verdict)
			if o.near = verdict.Near; o.near {
				o.link = link{pair.a, pair.b, p.judge.score(verdict, docs[0], docs[1])}
			}
		}
		return nil
	}
	if p.judge.measure == nil { // the search has found what is near
		for i, pair := range round {
			outcomes[i].near = true
			outcomes[i].counts.verdict(verify.Verdict{Near: true})
			outcomes[i].link = link{pair.a, pair.b, score{Near, pair.score, pair.score}}
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	for _, c := range p.workers {
		g.Go(func() error { return one(c) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var links []link
	for i, o := range outcomes {
		// What the round itself has linked was compared for nothing, and does not
		// count: which pairs that are would depend on the workers.
		if p.linked != nil && p.root(round[i].a.ID()) == p.root(round[i].b.ID()) {
			continue
		}
		counts.add(o.counts)
		if o.near {
			links = append(links, o.link)
			p.link(o.link)
		}
	}
	return links, nil
}

// link unites the clusters of a near pair, unless it is a leaf.
func (p *pairVerifier) link(l link) {
	if p.linked == nil || p.judge.config.Contained == configs.ContainedLeaf && l.score.Relation != Near {
		return
	}
	a, b := p.root(l.leader.ID()), p.root(l.member.ID())
	if a == b {
		return
	}
	if compareTexts(a, b) > 0 { // any rule that keeps trees low on average
		a, b = b, a
	}
	p.linked[b] = a
}

// root is the text that stands for the cluster of t. It changes nothing, so that
// workers can share it.
func (p *pairVerifier) root(t textID) textID {
	for {
		up, ok := p.linked[t]
		if !ok {
			return t
		}
		t = up
	}
}
