package ppjoin_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"neardup/cluster/ppjoin"
	"neardup/signature/minhash"
	"neardup/signature/shingle"
)

// The tables of TODS section 8 on the texts that NEARDUP_TEXTS names. What a
// benchmark reports is a row; cpu-ms is processor time, without tokenizing.

// BenchmarkMaxDepth is table IV.
func BenchmarkMaxDepth(b *testing.B) {
	texts := texts(b)
	for _, u := range units {
		c := collection(b, u.o, texts)
		for depth := range 8 {
			b.Run(fmt.Sprintf("%s/%d", u.name, depth), func(b *testing.B) {
				o := ppjoin.Options{Threshold: .8, Algorithm: ppjoin.PPJoinPlus, MaxDepth: depth}
				reportJoin(b, c, o)
			})
		}
	}
}

// reportJoin measures a self-join.
func reportJoin(b *testing.B, c ppjoin.Collection, o ppjoin.Options) {
	var counts ppjoin.Counts
	cpu := processorTime()
	for b.Loop() {
		var err error
		if counts, err = ppjoin.Self(context.Background(), c, o, func(ppjoin.Pair) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(milliseconds(b, processorTime()-cpu), "cpu-ms")
	b.ReportMetric(float64(counts.Prefix), "prefix")
	b.ReportMetric(float64(counts.Candidates), "candidates")
	b.ReportMetric(float64(counts.Verified), "verified")
	b.ReportMetric(float64(counts.Similar), "similar")
	b.ReportMetric(float64(counts.Pairs), "pairs")
}

func milliseconds(b *testing.B, d time.Duration) float64 {
	return float64(d.Microseconds()) / 1000 / float64(b.N)
}

// place is a pair of records.
type place struct{ a, b int }

func comparePlaces(x, y place) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) }

// self returns a self-join's pairs, in order.
func self(tb testing.TB, c ppjoin.Collection, o ppjoin.Options) (out []place) {
	if _, err := ppjoin.Self(context.Background(), c, o, func(p ppjoin.Pair) error {
		out = append(out, place{p.A, p.B})
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	slices.SortFunc(out, comparePlaces)
	return out
}

// distinct returns a collection with each record once: "Exact duplicates in the
// datasets are removed after tokenizing" (section 8.1.1). Records without
// tokens are left out, too.
func distinct(c ppjoin.Collection) (out ppjoin.Collection) {
	seen := map[string]bool{}
	var key []byte
	for i := range c.Len() {
		s := slices.Clone(c.Record(i))
		slices.Sort(s)
		s = slices.Compact(s)
		key = key[:0]
		for _, t := range s {
			key = append(key, byte(t), byte(t>>8), byte(t>>16), byte(t>>24))
		}
		if len(s) > 0 && !seen[string(key)] {
			seen[string(key)] = true
			out.Add(s...)
		}
	}
	return out
}

// features returns the tokens of the records as numbers that look random, which
// permutations of them need.
func features(c ppjoin.Collection) [][]uint64 {
	out := make([][]uint64, c.Len())
	for i := range out {
		for _, t := range c.Record(i) {
			x := uint64(t)*0x9e3779b97f4a7c15 + 1
			x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
			x = (x ^ x>>27) * 0x94d049bb133111eb
			out[i] = append(out[i], x^x>>31)
		}
	}
	return out
}

// BenchmarkApproximate is table VII: how much of the exact join (qp) joins of
// samples find, and what they cost.
//
//   - qa, qp: AllPairs and PPJoin+ on all tokens;
//   - sp: PPJoin+ on 32 shingles of 4 bytes a record, the least under each of
//     32 permutations, as sets at the same threshold;
//   - estimate: the same shingles, and the pairs whose estimated resemblance,
//     the share of permutations that agree, reaches the threshold, found by a
//     join of what that asks for, t·32 in common;
//   - ql: LSH for a recall of 95% (equation of section 8.1.1, k = 5), candidates
//     verified on all tokens, so that its precision is 1.
//
// precision and recall are those of section 8.1.8. sign-ms is what making the
// samples costs, which the paper counts as preprocessing.
func BenchmarkApproximate(b *testing.B) {
	const permutations = 32
	texts := texts(b)
	for _, u := range units {
		o := u.o
		o.Alone = false
		c := distinct(collection(b, o, texts))
		all := features(c)
		start := processorTime()
		var sketches ppjoin.Collection
		for _, f := range all {
			values := shingle.MinWise(shingle.NewSet(slices.Clone(f)), permutations).Values
			var four []uint32
			for i, v := range values {
				four = append(four, uint32(v>>32)&^(permutations-1)|uint32(i)) // of its permutation, as it can only agree there
			}
			sketches.Add(four...)
		}
		sketching := processorTime() - start
		for _, threshold := range []float64{.95, .9, .85, .8} {
			exact := ppjoin.Options{Threshold: threshold, Algorithm: ppjoin.PPJoinPlus, MaxDepth: 3}
			truth := self(b, c, exact)
			lsh := minhash.LSH{Rows: 5, Bands: minhash.Bands(threshold, minhash.Recall, 5)}
			for _, m := range []struct {
				name  string
				signs bool // which is measured by ql only, in its own time
				pairs func() ([]place, time.Duration)
			}{
				{"qa", false, func() ([]place, time.Duration) {
					return self(b, c, ppjoin.Options{Threshold: threshold, Algorithm: ppjoin.AllPairs}), 0
				}},
				{"qp", false, func() ([]place, time.Duration) { return self(b, c, exact), 0 }},
				{"sp", true, func() ([]place, time.Duration) {
					return self(b, sketches, ppjoin.Options{Threshold: threshold, Algorithm: ppjoin.PPJoinPlus, MaxDepth: 2}), sketching
				}},
				{"estimate", true, func() ([]place, time.Duration) {
					return self(b, sketches, ppjoin.Options{Measure: ppjoin.Overlap, Threshold: threshold * permutations}), sketching
				}},
				{"ql", true, func() ([]place, time.Duration) { return byLSH(c, all, lsh, threshold) }},
			} {
				b.Run(fmt.Sprintf("%s/%v/%s", u.name, threshold, m.name), func(b *testing.B) {
					var found []place
					var signing time.Duration
					start := processorTime()
					for b.Loop() {
						var sign time.Duration
						found, sign = m.pairs()
						signing += sign
					}
					spent := processorTime() - start
					if m.name == "ql" {
						spent -= signing
					}
					both := 0
					for _, p := range found {
						if _, ok := slices.BinarySearchFunc(truth, p, comparePlaces); ok {
							both++
						}
					}
					if len(found) > 0 {
						b.ReportMetric(float64(both)/float64(len(found)), "precision")
					}
					if len(truth) > 0 {
						b.ReportMetric(float64(both)/float64(len(truth)), "recall")
					}
					b.ReportMetric(float64(len(found)), "pairs")
					b.ReportMetric(milliseconds(b, spent), "cpu-ms")
					if m.signs {
						b.ReportMetric(milliseconds(b, signing), "sign-ms")
					}
				})
			}
		}
	}
}

// byLSH is the pairs of records that share a band and are similar, and what
// signing them took.
func byLSH(c ppjoin.Collection, all [][]uint64, lsh minhash.LSH, threshold float64) (out []place, signing time.Duration) {
	start := processorTime()
	signer := minhash.New(lsh.Components(), 1)
	keys := make([][]uint64, len(all))
	var signature []uint32
	for i, f := range all {
		signature = signer.Sign(signature[:0], f)
		keys[i] = lsh.AppendKeys(nil, signature)
	}
	signing = processorTime() - start
	sets := make([]shingle.Set, len(all)) // sorted when first compared
	sorted := func(i int) shingle.Set {
		if sets[i] == nil {
			sets[i] = shingle.NewSet(slices.Clone(all[i]))
		}
		return sets[i]
	}
	index := bandKeys{Documents: len(keys), Bands: lsh.Bands, Of: func(i int) []uint64 { return keys[i] }}
	for p := range index.Pairs() {
		a, b := int(p.A), int(p.B)
		if resemblance(sorted(a), sorted(b)) >= threshold {
			out = append(out, place{min(a, b), max(a, b)})
		}
	}
	slices.SortFunc(out, comparePlaces)
	return out, signing
}
