package dataflow

import (
	"context"
	"iter"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
)

// pairRound is the number of pairs that the workers share before any result is
// emitted or used to skip later pairs. Only the cost depends on it.
const pairRound = 256

// VerifiedPairs is the result of some candidate pairs.
type VerifiedPairs struct {
	Last   rows.Candidate
	Pairs  int64
	Links  []rows.Link
	Counts rows.VerifyCounts
}

// VerifyPairs verifies candidate pairs, in rounds. They come by their larger key,
// then by the other. linked yields the links of earlier candidates; transitivity
// needs them. If the method has no measure, every candidate is near.
func VerifyPairs(ctx context.Context, candidates iter.Seq2[rows.Candidate, error], linked iter.Seq2[rows.Link, error], texts *Texts, c configs.Verify, workers int, emit func(VerifiedPairs) error) error {
	p := &pairVerifier{config: c, texts: texts}
	if p.texts.Judge.Measure != nil {
		p.workers = p.texts.Judge.Comparers(workers)
	}
	if c.Transitivity {
		p.linked = map[rows.TextID]rows.TextID{}
		for l, err := range linked {
			if err != nil {
				return err
			}
			p.link(l)
		}
	}
	var round []rows.Candidate
	end := func() error {
		if len(round) == 0 {
			return nil
		}
		v := VerifiedPairs{Last: round[len(round)-1], Pairs: int64(len(round))}
		var err error
		if v.Links, err = p.verify(ctx, round, &v.Counts); err != nil {
			return err
		}
		round = round[:0]
		return emit(v)
	}
	for c, err := range candidates {
		if err != nil {
			return err
		}
		if round = append(round, c); len(round) == pairRound {
			if err := end(); err != nil {
				return err
			}
		}
	}
	return end()
}

// pairVerifier verifies pairs.
type pairVerifier struct {
	config  configs.Verify
	texts   *Texts
	workers []verify.Comparer

	// With transitivity, the forest of texts that are linked.
	linked map[rows.TextID]rows.TextID
}

// verify returns the links of a round, in order.
func (p *pairVerifier) verify(ctx context.Context, round []rows.Candidate, counts *rows.VerifyCounts) ([]rows.Link, error) {
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
			if p.linked != nil && p.root(x.A.ID()) == p.root(x.B.ID()) {
				continue
			}
			var docs [2]*pair.Text
			var err error
			for j, k := range []cluster.Key{x.A, x.B} {
				if docs[j], err = p.texts.Get(k.ID()); err != nil {
					return err
				}
			}
			d := p.texts.Judge.Decide(c, docs[0], docs[1])
			o.counts.AddDecision(d)
			if o.near = d.Near; o.near {
				o.Link = rows.Link{Leader: x.A, Member: x.B, Score: ScoreOf(d)}
			}
		}
		return nil
	}
	if p.texts.Judge.Measure == nil { // the search has found near pairs
		for i, x := range round {
			outcomes[i].near = true
			outcomes[i].counts.AddDecision(pair.Decision{Verdict: verify.Verdict{Near: true}})
			outcomes[i].Link = rows.Link{Leader: x.A, Member: x.B, Score: rows.Score{Relation: report.Near, Resemblance: x.Score, Containment: x.Score}}
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
		// A pair whose texts this round has linked through others was compared for
		// nothing. It does not count, since which pairs these are would depend on
		// the workers.
		if p.linked != nil && p.root(round[i].A.ID()) == p.root(round[i].B.ID()) {
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

// link unites the clusters of a near pair, unless one text is a leaf.
func (p *pairVerifier) link(l rows.Link) {
	if p.linked == nil || !p.config.Links(l.Score.Relation.Resembles()) {
		return
	}
	a, b := p.root(l.Leader.ID()), p.root(l.Member.ID())
	if a == b {
		return
	}
	if rows.CompareTexts(a, b) > 0 { // any fixed rule keeps trees low on average
		a, b = b, a
	}
	p.linked[b] = a
}

// root returns the text that stands for the cluster of t. It changes nothing, so
// workers can share the forest.
func (p *pairVerifier) root(t rows.TextID) rows.TextID {
	for {
		up, ok := p.linked[t]
		if !ok {
			return t
		}
		t = up
	}
}
