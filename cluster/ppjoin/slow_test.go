package ppjoin_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/cluster/ppjoin"
)

// weightOf returns a token's weight, for cosine squared.
func weightOf(o ppjoin.Options, t uint32) float64 {
	if o.Weights == nil {
		return 1
	}
	w := o.Weights.Of(t)
	if o.Measure == ppjoin.Cosine {
		w *= w
	}
	return w
}

// slowSimilarity is the definitions of section 2.1 and 6.2.
func slowSimilarity(o ppjoin.Options, x, y map[uint32]bool, aloneX, aloneY int) float64 {
	sum := func(s map[uint32]bool, and map[uint32]bool) (n float64) {
		for t := range s {
			if and == nil || and[t] {
				n += weightOf(o, t)
			}
		}
		return n
	}
	common, mx, my := sum(x, y), sum(x, nil)+float64(aloneX), sum(y, nil)+float64(aloneY)
	return similarity(o, common, mx, my)
}

// similarity of two records by what they have in common and in all.
func similarity(o ppjoin.Options, common, mx, my float64) float64 {
	if common == 0 {
		return 0
	}
	switch o.Measure {
	case ppjoin.Jaccard:
		return common / (mx + my - common)
	case ppjoin.Cosine:
		if mx == my {
			return common / mx
		}
		return common / math.Sqrt(mx*my)
	default:
		return common
	}
}

func set(c ppjoin.Collection, i int) map[uint32]bool {
	s := map[uint32]bool{}
	for _, t := range c.Record(i) {
		s[t] = true
	}
	return s
}

// slow compares all pairs; b is nil in a self-join.
func slow(a ppjoin.Collection, b *ppjoin.Collection, o ppjoin.Options) []ppjoin.Pair {
	var out []ppjoin.Pair
	sets := func(c ppjoin.Collection) (s []map[uint32]bool) {
		for i := range c.Len() {
			s = append(s, set(c, i))
		}
		return s
	}
	alone := func(c ppjoin.Collection, i int) int {
		if c.Alone == nil {
			return 0
		}
		return int(c.Alone[i])
	}
	other := a
	if b != nil {
		other = *b
	}
	left, right := sets(a), sets(other)
	for i := range left {
		for j := range right {
			if b == nil && j <= i {
				continue
			}
			if s := slowSimilarity(o, left[i], right[j], alone(a, i), alone(other, j)); slowReaches(o, s, left[i], right[j], alone(a, i), alone(other, j)) {
				out = append(out, ppjoin.Pair{A: i, B: j, Similarity: s})
			}
		}
	}
	return out
}

func fast(t testing.TB, a ppjoin.Collection, b *ppjoin.Collection, o ppjoin.Options) ([]ppjoin.Pair, ppjoin.Counts) {
	t.Helper()
	var out []ppjoin.Pair
	emit := func(p ppjoin.Pair) error {
		out = append(out, p)
		return nil
	}
	var counts ppjoin.Counts
	var err error
	if b == nil {
		counts, err = ppjoin.Self(context.Background(), a, o, emit)
	} else {
		counts, err = ppjoin.Between(context.Background(), a, *b, o, emit)
	}
	if err != nil {
		t.Fatal(err)
	}
	if counts.Pairs != int64(len(out)) {
		t.Errorf("%+v: %d pairs counted, %d emitted", o, counts.Pairs, len(out))
	}
	steps := []int64{counts.Scanned, counts.Prefix, counts.Positional, counts.Bitmap, counts.Suffix, counts.Candidates, counts.Verified, counts.Similar}
	if !slices.IsSortedFunc(steps, func(x, y int64) int { return cmp.Compare(y, x) }) {
		t.Errorf("%+v: a filter left more than came in: %+v", o, counts)
	}
	return out, counts
}

func sorted(p []ppjoin.Pair) []ppjoin.Pair {
	p = slices.Clone(p)
	slices.SortFunc(p, func(x, y ppjoin.Pair) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return p
}

// same compares with comparing all pairs; searches are ways to find the same.
func same(t testing.TB, a ppjoin.Collection, b *ppjoin.Collection, o ppjoin.Options, searches ...ppjoin.Options) {
	t.Helper()
	want := slow(a, b, o)
	if searches == nil {
		searches = []ppjoin.Options{o}
	}
	for _, s := range searches {
		s.Measure, s.Threshold, s.Weights = o.Measure, o.Threshold, o.Weights
		if got, _ := fast(t, a, b, s); !equal(sorted(got), want) {
			s.Weights = nil
			t.Fatalf("%+v, self %v: too many\n%v\nmissing\n%v", s, b == nil, diff(sorted(got), want), diff(want, sorted(got)))
		}
	}
}

// alike reports whether the similarities of two pairs are one but for rounding.
func alike(p, q ppjoin.Pair) bool {
	return math.Abs(p.Similarity-q.Similarity) <= 1e-7*max(1, p.Similarity)
}

func equal(x, y []ppjoin.Pair) bool {
	return slices.EqualFunc(x, y, func(p, q ppjoin.Pair) bool { return p.A == q.A && p.B == q.B && alike(p, q) })
}

// diff returns what only x has.
func diff(x, y []ppjoin.Pair) []ppjoin.Pair {
	return slices.DeleteFunc(slices.Clone(x), func(p ppjoin.Pair) bool {
		return slices.ContainsFunc(y, func(q ppjoin.Pair) bool { return p.A == q.A && p.B == q.B && alike(p, q) })
	})
}

// family makes records of which some are changed copies of others.
func family(r *rand.Rand, n, universe, size int) ppjoin.Collection {
	var c ppjoin.Collection
	draw := func() uint32 { // rare and frequent tokens
		return uint32(float64(universe) * math.Pow(r.Float64(), 3))
	}
	for i := range n {
		var s []uint32
		if i > 0 && r.IntN(2) == 0 {
			s = slices.Clone(c.Record(r.IntN(i)))
			for range r.IntN(4) {
				switch {
				case len(s) > 0 && r.IntN(2) == 0:
					s = slices.Delete(s, 0, 1)
				default:
					s = append(s, draw())
				}
			}
			r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		} else {
			for range r.IntN(size + 1) {
				s = append(s, draw())
			}
		}
		c.Add(s...)
	}
	return c
}
