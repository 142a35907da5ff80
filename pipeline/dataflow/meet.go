package dataflow

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
)

// The work for a text in a set is bounded by pairs that are scored, and pairs of
// long texts take the square of their length.
const (
	usualLength = 10_000 // code points; of longer texts fewer pairs are scored
	minScored   = 4      // of any text
	partPairs   = 8      // pairs of a text that are verified for a partition
	otherPairs  = 8      // leaders that a text is scored against once it is near one
)

// share is how many of so many pairs, and at least limit, a text of this length
// may take.
func share(pairs, limit, length int) int {
	long := max(1, float64(length)/usualLength)
	return max(min(pairs, limit), int(float64(pairs)/(long*long)))
}

// meet compares m with the leaders from up to to. Of those that the index does
// not reject at most max_scored are scored, and fewer once m is near one: the
// ones that have most of m's windows that few leaders have, since what all have
// in common tells nothing.
// Comparers share the leaders, a wave of them at a time; what they find is taken
// in the order of the leaders, so that it does not depend on their number.
func (v *setVerifier) meet(ctx context.Context, comparers []verify.Comparer, m *member, from, to int) error {
	leaders := v.ordered(m, from, to)
	limit, limitOthers := math.MaxInt, math.MaxInt
	if v.config.MaxScored > 0 {
		limit, limitOthers = share(v.config.MaxScored, minScored, m.doc.Len()), share(otherPairs, 1, m.doc.Len())
	}
	scored, others := 0, 0 // others: since m is near one
	wave := 1
	if len(comparers) > 1 {
		wave = 4 * len(comparers)
	}
	var found map[int]outcome // of the wave, by leader
	for i, leader := range leaders {
		l := leader.number
		if v.config.Closing == configs.ClosingRepresentative && len(m.joined) > 0 {
			return nil
		}
		if slices.ContainsFunc(m.joined, func(j int) bool { return v.root(j) == v.root(l) }) {
			continue
		}
		if leader.rejected != verify.None {
			m.counts.AddDecision(pair.Decision{Verdict: verify.Verdict{Rejected: leader.rejected}})
			continue
		}
		if scored >= limit || others >= limitOthers {
			m.counts.OverBudget++
			continue
		}
		o, ok := found[l]
		if !ok {
			var err error
			if found, err = v.compare(ctx, comparers, m, leaders[i:], wave); err != nil {
				return err
			}
			o = found[l]
		}
		m.counts.AddDecision(o.Decision)
		if o.Near || o.Rejected == verify.ByDistance || o.Rejected == verify.ByScore {
			scored++
			if len(m.joined) > 0 {
				others++
			}
		}
		if o.Near {
			if v.config.Links(o.score.Relation == report.Near) {
				m.joined = append(m.joined, l)
			}
			m.links = append(m.links, rows.Link{Leader: v.leaders[l], Member: m.key, Score: o.score})
		}
	}
	return nil
}

// met is a leader that m meets, by its number.
type met struct {
	number   int
	rejected verify.Stage // by the index
}

// ordered gives the leaders from up to to in the order in which m meets them: from
// the largest key down, unless more are left than may be scored. Then it is by the
// windows of m that only few leaders have, and last come those that the index does
// not have.
func (v *setVerifier) ordered(m *member, from, to int) []met {
	var all []met
	left := 0
	for l := from; l < to; l++ {
		x := met{number: l}
		if l < v.index.len() {
			x.rejected = v.index.rejects(&v.config.Options, &m.bounds, l)
		}
		if x.rejected == verify.None {
			left++
		}
		all = append(all, x)
	}
	if v.config.MaxScored == 0 || left <= v.config.MaxScored || v.index.len() == 0 {
		return all
	}
	kept := func(x met) int {
		if x.number >= v.index.len() {
			return -1
		}
		return v.index.kept(&m.bounds, x.number)
	}
	slices.SortStableFunc(all, func(a, b met) int { return cmp.Compare(kept(b), kept(a)) })
	return all
}

// outcome is what the comparison with one leader gave.
type outcome struct {
	pair.Decision
	score rows.Score
}

// compare compares m with the first so many of the leaders that the index does not
// reject.
func (v *setVerifier) compare(ctx context.Context, comparers []verify.Comparer, m *member, leaders []met, limit int) (map[int]outcome, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var numbers []int
	for _, x := range leaders {
		if len(numbers) == limit {
			break
		}
		if x.rejected == verify.None {
			numbers = append(numbers, x.number)
		}
	}
	out := make([]outcome, len(numbers))
	one := func(c verify.Comparer, i int) error {
		leader, err := v.docs(v.leaders[numbers[i]].ID())
		if err != nil {
			return err
		}
		o := &out[i]
		if o.Decision = v.Decide(c, leader, m.doc); o.Near {
			o.score = scoreOf(o.Decision)
		}
		return nil
	}
	var next atomic.Int64
	work := func(c verify.Comparer) error {
		for i := int(next.Add(1) - 1); i < len(numbers); i = int(next.Add(1) - 1) {
			if err := cmp.Or(ctx.Err(), one(c, i)); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if len(numbers) == 1 {
		err = work(comparers[0])
	} else {
		var g errgroup.Group
		for _, c := range comparers {
			g.Go(func() error { return work(c) })
		}
		err = g.Wait()
	}
	found := map[int]outcome{}
	for i, l := range numbers {
		found[l] = out[i]
	}
	return found, err
}
