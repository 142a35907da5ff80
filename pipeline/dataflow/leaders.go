package dataflow

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify"
	"neardup/verify/pair"
)

// Bounds of the work for one text in a set. They limit the scored pairs, because
// scoring takes the product of two lengths.
const (
	usualLength = 10_000 // code points; fewer pairs of longer texts are scored
	minScored   = 4      // lower bound for a text of any length, for each kind of pair below
	partPairs   = 8      // pairs of a text that are verified for a partition
	otherPairs  = 8      // leaders that a text is scored against once it is near one

	// ComparedTimes is how many times as many leaders a text is compared with as it
	// may be scored against. Most are rejected by their sketches, which costs a
	// fraction of a score.
	ComparedTimes = 4
)

// share returns how many of pairs a text of this length may take, and at least
// limit.
func share(pairs, limit, length int) int {
	long := max(1, float64(length)/usualLength)
	return max(min(pairs, limit), int(float64(pairs)/(long*long)))
}

// MaxScored limits the texts of a set that a text of this length is scored against.
// 0 means no limit.
func MaxScored(c configs.Verify, length int) int {
	if c.MaxScored == 0 {
		return 0
	}
	return share(c.MaxScored, minScored, length)
}

// otherShare limits the leaders that a text of this length is scored against once
// it is near one. partShare limits its pairs that are verified for a partition. If
// only one pair were scored, versions of a long contract would be split at random.
func otherShare(length int) int { return share(otherPairs, minScored, length) }

func partShare(length int) int { return share(partPairs, minScored, length) }

// compareLeaders compares m with the leaders from number from up to to. Of the
// leaders that the screen or the index does not reject, at most max_scored are scored,
// and fewer once m is near one. It prefers leaders that share the most of m's rare
// sentences, or windows: what all leaders share does not tell them apart. The comparers
// work on the leaders in waves. Results are taken in the order of the leaders, so they
// do not depend on the number of comparers.
func (v *setVerifier) compareLeaders(ctx context.Context, comparers []verify.Comparer, m *member, from, to int) error {
	leaders, rejected := v.ordered(m, from, to)
	limit, limitOthers, limitCompared := math.MaxInt, math.MaxInt, math.MaxInt
	if v.config.MaxScored > 0 && !v.config.Small(v.size) {
		length, err := m.length(v)
		if err != nil {
			return err
		}
		limit, limitOthers = MaxScored(*v.config, length), otherShare(length)
		limitCompared = ComparedTimes * limit
	}
	scored, others, compared := 0, 0, 0 // others: scored since m is near one
	wave := 1
	if len(comparers) > 1 {
		wave = 4 * len(comparers)
	}
	var joins []join
	for _, l := range m.joined { // from earlier calls
		joins = append(joins, join{candidate{kept: math.MaxInt}, v.root(l)})
	}
	var found map[int]outcome // results of the wave, by leader
	for i, leader := range leaders {
		l := leader.number
		if v.config.Closing == configs.ClosingRepresentative && len(m.joined) > 0 {
			break
		}
		if scored >= limit || others >= limitOthers || compared >= limitCompared {
			m.counts.OverBudget += v.unmet(m, leaders[i:])
			break
		}
		if slices.ContainsFunc(m.joined, func(j int) bool { return v.root(j) == v.root(l) }) {
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
		compared++
		m.counts.AddDecision(o.Decision)
		if v.noted && !o.apart {
			d := rows.Decided{A: v.places[l], B: m.place, Weighing: o.Weighing, Verdict: o.Verdict, Relation: o.score.Relation, Whole: o.Whole}
			m.decided = append(m.decided, d)
		}
		if o.Aligned() {
			scored++
			if len(m.joined) > 0 {
				others++
			}
		}
		if o.Near {
			if !v.everyPair() && v.config.Links(o.score.Relation.Resembles()) {
				m.joined = append(m.joined, l)
				joins = append(joins, join{leader, v.root(l)})
			}
			m.links = append(m.links, rows.Link{Leader: v.leaders[l], Member: m.key, Score: o.score})
		}
	}
	if len(joins) > 0 && v.screen == nil { // what a screen rejects counts, whatever m joins
		rejected = v.rejectedBefore(m, from, to, joins)
	}
	m.counts.Pairs += rejected.ByLength + rejected.BySketch + rejected.ByRarity
	m.counts.Outcomes.Add(rejected)
	return nil
}

// candidate is a leader that a member may be near, by number. Its order is that of
// the comparisons: the largest kept first, then by number.
type candidate struct {
	number int
	kept   int // what both have: rare weight of sentences, or code points of the member in windows that few leaders have
}

func (a candidate) compare(b candidate) int {
	return cmp.Or(cmp.Compare(b.kept, a.kept), cmp.Compare(a.number, b.number))
}

// join is a leader that a member is near, with the root of the leader's cluster.
type join struct {
	candidate
	root int
}

// ordered returns the leaders from number from up to to that the screen or the index
// does not reject, in the order of the comparisons, and counts the rejected ones. The
// order is from the largest key down. If more are left than may be scored, it is by
// what m has in common with them. Leaders that share nothing in a sample of windows
// count as over the budget.
func (v *setVerifier) ordered(m *member, from, to int) (left []candidate, rejected verify.Outcomes) {
	m.byKept = false
	if v.screen != nil {
		left, rejected.ByRarity = v.screen.left(&m.sighting, from, to)
		if v.said.From > 0 && from == 0 {
			m.common = m.sighting.bounds.Digest
			for _, l := range left {
				m.left = append(m.left, rows.Left{Leader: v.places[l.number], Member: m.place, Rare: l.kept})
			}
		}
		if m.byKept = v.config.MaxScored > 0 && len(left) > v.config.MaxScored; m.byKept {
			slices.SortFunc(left, candidate.compare)
		}
		return left, rejected
	}
	bounded := min(to, v.index.len())
	for l := from; l < bounded; l++ {
		stage, w := v.index.rejects(&m.bounds, l)
		switch stage {
		case verify.None:
			left = append(left, candidate{number: l})
			continue
		case verify.ByLength:
			rejected.ByLength++
		default:
			rejected.BySketch++
		}
		if v.noted && w != (pair.Weighing{}) {
			m.decided = append(m.decided, rows.Decided{A: v.places[l], B: m.place, Weighing: w, Bounded: true})
		}
	}
	for l := range v.beyond(m, max(from, bounded), to) {
		left = append(left, candidate{number: l})
	}
	if v.config.MaxScored == 0 || len(left) <= v.config.MaxScored || v.index.len() == 0 {
		return left, rejected
	}
	m.byKept = true
	for i := range left {
		left[i].kept = v.index.kept(&m.bounds, left[i].number)
	}
	slices.SortFunc(left, candidate.compare)
	return left, rejected
}

// beyond yields the leaders from number from up to to, which have no bounds. It
// leaves out those that share nothing in a sample; they count as over the budget.
func (v *setVerifier) beyond(m *member, from, to int) iter.Seq[int] {
	return func(yield func(int) bool) {
		sampled := from
		if v.config.MaxScored > 0 {
			alike, till := v.index.alike(&m.bounds, from, to)
			for _, l := range alike {
				if !yield(l) {
					return
				}
			}
			m.counts.OverBudget += int64(max(from, till) - from - len(alike))
			sampled = max(from, till)
		}
		for l := sampled; l < to; l++ {
			if !yield(l) {
				return
			}
		}
	}
}

// unmet counts the leaders that are not in a cluster that m is in.
func (v *setVerifier) unmet(m *member, leaders []candidate) (n int64) {
	if len(m.joined) == 0 {
		return int64(len(leaders))
	}
	for _, x := range leaders {
		if !slices.ContainsFunc(m.joined, func(j int) bool { return v.root(j) == v.root(x.number) }) {
			n++
		}
	}
	return n
}

// rejectedBefore counts the leaders that the index rejects. It leaves out those
// that m would have been compared with only after it had joined their cluster.
func (v *setVerifier) rejectedBefore(m *member, from, to int, joins []join) (rejected verify.Outcomes) {
	for l := from; l < min(to, v.index.len()); l++ {
		stage, _ := v.index.rejects(&m.bounds, l)
		if stage == verify.None {
			continue
		}
		x := candidate{number: l}
		if m.byKept {
			x.kept = v.index.kept(&m.bounds, l)
		}
		if !slices.ContainsFunc(joins, func(j join) bool {
			return j.compare(x) < 0 && (v.config.Closing == configs.ClosingRepresentative || j.root == v.root(l))
		}) {
			rejected.Count(verify.Verdict{Rejected: stage})
		}
	}
	return rejected
}

// known returns the outcome of a comparison that takes no text.
func (v *setVerifier) known(m *member, x candidate) (o outcome, ok bool, err error) {
	leader := v.leaders[x.number].ID()
	if v.screen != nil && x.kept == 0 {
		if o.apart, err = v.apart(m, x.number); err != nil || o.apart {
			o.Rejected = verify.ByRarity
			return o, o.apart, err
		}
	}
	d, ok, err := v.recall.Of(leader, m.key.ID())
	if err != nil || ok {
		return outcome{Decision: pair.Decision{Verdict: d.Verdict, Weighing: d.Weighing, Whole: d.Whole}, score: d.Score()}, ok, err
	}
	if v.screen == nil { // which has rejected all of these
		o.Decision, ok, err = v.recall.Rejected(leader, m.key.ID())
	}
	return o, ok, err
}

// outcome is the result of the comparison with one leader.
type outcome struct {
	pair.Decision
	score rows.Score
	apart bool // by the screen, which needs no note
}

// compare compares m with the first limit of the leaders. Texts are read only for
// decisions that no earlier run has made and that sentences alone do not make.
func (v *setVerifier) compare(ctx context.Context, comparers []verify.Comparer, m *member, leaders []candidate, limit int) (map[int]outcome, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	found := map[int]outcome{}
	var numbers []int // of the leaders to compare
	for _, x := range leaders[:min(limit, len(leaders))] {
		o, ok, err := v.known(m, x)
		if err != nil {
			return nil, err
		}
		if ok {
			found[x.number] = o
		} else {
			numbers = append(numbers, x.number)
		}
	}
	if len(numbers) == 0 {
		return found, nil
	}
	doc, err := m.text(v)
	if err != nil {
		return nil, err
	}
	out := make([]outcome, len(numbers))
	one := func(c verify.Comparer, i int) error {
		id := v.leaders[numbers[i]].ID()
		leader, err := v.docs(id)
		if err != nil {
			return err
		}
		o := &out[i]
		if o.Decision = v.DecideAgain(c, leader, doc, v.recall.Whole(id, m.key.ID())); o.Near {
			o.score = ScoreOf(o.Decision)
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
	if len(numbers) == 1 {
		err = work(comparers[0])
	} else {
		var g errgroup.Group
		for _, c := range comparers {
			g.Go(func() error { return work(c) })
		}
		err = g.Wait()
	}
	for i, l := range numbers {
		found[l] = out[i]
	}
	return found, err
}
