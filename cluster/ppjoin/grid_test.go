package ppjoin_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/cluster/ppjoin"
)

// grid returns the thresholds of Jaccard and cosine: .5 to .95 in steps of .05,
// besides two thirds, which no float64 is, and 1.
func grid() []float64 {
	out := []float64{2. / 3, 1}
	for percent := 50; percent <= 95; percent += 5 {
		out = append(out, float64(percent)/100)
	}
	return out
}

// everySearch is each algorithm, PPJoin+ at MAXDEPTH 0 to 7, with and without
// bitmaps, and without weights with prefixes longer by 0 to 3.
func everySearch(weighted bool) (all []ppjoin.Options) {
	extra := 3
	if weighted {
		extra = 0
	}
	for k := range extra + 1 {
		for _, bitmaps := range []bool{false, true} {
			all = append(all,
				ppjoin.Options{Algorithm: ppjoin.AllPairs, Extra: k, Bitmaps: bitmaps},
				ppjoin.Options{Algorithm: ppjoin.PPJoin, Extra: k, Bitmaps: bitmaps})
			for depth := range 8 {
				all = append(all, ppjoin.Options{Algorithm: ppjoin.PPJoinPlus, MaxDepth: depth, Extra: k, Bitmaps: bitmaps})
			}
		}
	}
	return all
}

// TestGrid has every measure, threshold and search on sets and multisets,
// joined with themselves and with others.
func TestGrid(t *testing.T) {
	sequential(t)
	r := rand.New(rand.NewPCG(3, 4))
	sets, others := family(r, 80, 150, 30), family(r, 40, 150, 30)
	for i := range 20 { // near pairs and equal records across
		others.Add(sets.Record(i * 3)...)
	}
	multisets := ppjoin.Multiset(sets, others)
	for _, c := range []struct {
		name string
		a, b ppjoin.Collection
	}{{"sets", sets, others}, {"multisets", multisets[0], multisets[1]}} {
		for _, b := range []*ppjoin.Collection{nil, &c.b} {
			idf := ppjoin.IDF(c.a)
			if b != nil {
				idf = ppjoin.IDF(c.a, c.b)
			}
			for _, m := range []struct {
				name       string
				measure    ppjoin.Measure
				weights    *ppjoin.Weights
				thresholds []float64
			}{
				{"jaccard", ppjoin.Jaccard, nil, grid()},
				{"cosine", ppjoin.Cosine, nil, grid()},
				{"overlap", ppjoin.Overlap, nil, []float64{1, 2, 3, 5, 8, 12, 20}},
				{"jaccard idf", ppjoin.Jaccard, idf, grid()},
				{"cosine idf", ppjoin.Cosine, idf, grid()},
				{"overlap idf", ppjoin.Overlap, idf, []float64{.5, 3, 7.25, 16, 40}},
			} {
				t.Run(fmt.Sprintf("%s/%s/self=%v", c.name, m.name, b == nil), func(t *testing.T) {
					// All pairs that have anything in common, from which every threshold takes its own.
					o := ppjoin.Options{Measure: m.measure, Weights: m.weights, Threshold: 1e-9}
					all := slow(c.a, b, o)
					for _, o.Threshold = range m.thresholds {
						want := reaching(all, c.a, b, o)
						if len(want) == 0 || len(want) == len(all) && o.Threshold > 1 {
							t.Errorf("at %v %d pairs of %d: it tells nothing", o.Threshold, len(want), len(all))
						}
						for _, s := range everySearch(m.weights != nil) {
							s.Measure, s.Threshold = o.Measure, o.Threshold
							named := s // without weights, to be read
							s.Weights = o.Weights
							if got, _ := fast(t, c.a, b, s); !equal(sorted(got), want) {
								t.Fatalf("%+v: too many\n%v\nmissing\n%v", named, diff(sorted(got), want), diff(want, sorted(got)))
							}
						}
					}
				})
			}
		}
	}
}

// TestDepth: the deeper the suffix filter looks, the less it lets through.
func TestDepth(t *testing.T) {
	c := family(rand.New(rand.NewPCG(9, 10)), 1500, 300, 60)
	idf := ppjoin.IDF(c)
	for _, weights := range []*ppjoin.Weights{nil, idf} {
		var left []int64
		for depth := range 8 {
			_, counts := fast(t, c, nil, ppjoin.Options{Threshold: .8, Algorithm: ppjoin.PPJoinPlus, MaxDepth: depth, Weights: weights})
			left = append(left, counts.Suffix)
		}
		for depth := range 7 {
			if left[depth+1] > left[depth] {
				t.Errorf("weights %v: left by depth %v", weights != nil, left)
			}
		}
		if left[0] <= left[1] || left[1] <= left[3] {
			t.Errorf("weights %v: left by depth %v, want fewer at 1 than at 0, and at 3 than at 1", weights != nil, left)
		}
	}
}

// TestTexts compares a sample of the texts that NEARDUP_TEXTS names with
// comparing all, by every measure.
func TestTexts(t *testing.T) {
	all := sample(texts(t), 2000)
	edited := sample(all, 600)
	for _, u := range units {
		o := u.o
		o.Alone = false
		for _, repeats := range []bool{false, true} {
			o.Repeats = repeats
			c := collection(t, o, all)
			if repeats {
				c = ppjoin.Multiset(c)[0]
			}
			c = bounded(c)
			half := c.Len() / 2
			first := ppjoin.Collection{Tokens: c.Tokens, Ends: c.Ends[:half]}
			var second ppjoin.Collection
			for i := half; i < c.Len(); i++ {
				second.Add(c.Record(i)...)
			}
			idf := ppjoin.IDF(c)
			pairs := 0
			for _, m := range []ppjoin.Options{
				{Measure: ppjoin.Jaccard}, {Measure: ppjoin.Cosine}, {Measure: ppjoin.Overlap},
				{Measure: ppjoin.Jaccard, Weights: idf}, {Measure: ppjoin.Cosine, Weights: idf},
			} {
				scale := 1.
				if m.Measure == ppjoin.Overlap {
					scale = 20
				}
				m.Threshold = .5 * scale
				allWithin, allAcross := bySorting(c, nil, m), bySorting(first, &second, m)
				for _, threshold := range []float64{.5, .8, .95} {
					m.Threshold = threshold * scale
					within, across := reaching(allWithin, c, nil, m), reaching(allAcross, first, &second, m)
					pairs += len(within)
					for _, s := range []ppjoin.Options{{Algorithm: ppjoin.AllPairs}, {Bitmaps: true, Workers: 2},
						{Algorithm: ppjoin.PPJoinPlus, MaxDepth: 2}, {Algorithm: ppjoin.PPJoinPlus, MaxDepth: 5, Bitmaps: true}} {
						s.Measure, s.Threshold, s.Weights = m.Measure, m.Threshold, m.Weights
						if got, _ := fast(t, c, nil, s); !equal(sorted(got), within) {
							t.Errorf("%s, measure %d at %v, algorithm %d: %d pairs, want %d", u.name, m.Measure, m.Threshold, s.Algorithm, len(got), len(within))
						}
						if got, _ := fast(t, first, &second, s); !equal(sorted(got), across) {
							t.Errorf("%s, measure %d at %v, algorithm %d: %d pairs of two, want %d", u.name, m.Measure, m.Threshold, s.Algorithm, len(got), len(across))
						}
					}
				}
			}
			t.Logf("%s, repeats %v: %d records, %d pairs over all measures and thresholds", u.name, repeats, c.Len(), pairs)
		}
	}
	if slices.ContainsFunc(edited, func(s string) bool { return len(s) > 2000 }) {
		t.Log("texts too long to compare all of them by edit distance")
		return
	}
	for _, most := range []int{1, 3} {
		want := slowEdit(edited, nil, most)
		for _, o := range []ppjoin.EditOptions{{Algorithm: ppjoin.AllPairs}, {Bitmaps: true}, {Algorithm: ppjoin.PPJoinPlus, MaxDepth: 3}} {
			o.Distance = most
			if got := editPairs(t, edited, nil, o); !slices.Equal(got, want) {
				t.Errorf("edit distance %d, algorithm %d: %d pairs, want %d", most, o.Algorithm, len(got), len(want))
			}
		}
		t.Logf("edit distance %d: %d texts, %d pairs", most, len(edited), len(want))
	}
}

// reaching returns the pairs at the threshold or above.
func reaching(pairs []ppjoin.Pair, a ppjoin.Collection, b *ppjoin.Collection, o ppjoin.Options) []ppjoin.Pair {
	other := a
	if b != nil {
		other = *b
	}
	return slices.DeleteFunc(slices.Clone(pairs), func(p ppjoin.Pair) bool {
		return !slowReaches(o, p.Similarity, set(a, p.A), set(other, p.B), 0, 0)
	})
}

// sample returns runs of 50 texts, spread over all: near-duplicates often stand
// close together.
func sample(texts []string, n int) (out []string) {
	const run = 50
	if len(texts) <= n {
		return texts
	}
	for i := range n / run {
		from := i * (len(texts) - run) / (n/run - 1)
		out = append(out, texts[from:from+run]...)
	}
	return out
}

// bounded leaves as many records as can be compared one with another in 2³⁰
// steps, every one of them if that is all.
func bounded(c ppjoin.Collection) ppjoin.Collection {
	for n := c.Len(); n > 1; n = n * 3 / 4 {
		if part := (ppjoin.Collection{Tokens: c.Tokens[:c.Ends[n-1]], Ends: c.Ends[:n]}); len(part.Tokens)*n <= 1<<30 {
			return part
		}
	}
	return c
}

// bySorting is slow for larger collections: by merging sorted records.
func bySorting(a ppjoin.Collection, b *ppjoin.Collection, o ppjoin.Options) (out []ppjoin.Pair) {
	read := func(c ppjoin.Collection) (records [][]uint32, masses []float64) {
		for i := range c.Len() {
			s := slices.Clone(c.Record(i))
			slices.Sort(s)
			s = slices.Compact(s)
			mass := 0.
			for _, t := range s {
				mass += weightOf(o, t)
			}
			records, masses = append(records, s), append(masses, mass)
		}
		return records, masses
	}
	x, massX := read(a)
	y, massY := x, massX
	if b != nil {
		y, massY = read(*b)
	}
	for i := range x {
		from := 0
		if b == nil {
			from = i + 1
		}
		for j := from; j < len(y); j++ {
			common := 0.
			for u, v := x[i], y[j]; len(u) > 0 && len(v) > 0; {
				switch {
				case u[0] < v[0]:
					u = u[1:]
				case u[0] > v[0]:
					v = v[1:]
				default:
					common += weightOf(o, u[0])
					u, v = u[1:], v[1:]
				}
			}
			if s := similarity(o, common, massX[i], massY[j]); s > 0 && s >= o.Threshold {
				out = append(out, ppjoin.Pair{A: i, B: j, Similarity: s})
			}
		}
	}
	return out
}
