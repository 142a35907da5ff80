package ppjoin_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/cluster/ppjoin"
)

// preciseSimilarity is slowSimilarity with 200 bits and no limit of the exponents.
func preciseSimilarity(o ppjoin.Options, x, y map[uint32]bool) *big.Float {
	number := func() *big.Float { return new(big.Float).SetPrec(200) }
	frequencies, records := logarithms(o)
	sum := func(s, and map[uint32]bool) *big.Float {
		total := number()
		for t := range s {
			if !and[t] {
				continue
			}
			w := number()
			if frequencies != nil {
				w.Sub(slowLog(records), slowLog(frequencies[t]))
			} else {
				w.SetFloat64(o.Weights.Of(t))
			}
			if o.Measure == ppjoin.Cosine {
				w.Mul(w, w)
			}
			total.Add(total, w)
		}
		return total
	}
	common, mx, my := sum(x, y), sum(x, x), sum(y, y)
	if common.Sign() == 0 {
		return common
	}
	switch o.Measure {
	case ppjoin.Jaccard:
		return number().Quo(common, number().Sub(number().Add(mx, my), common))
	case ppjoin.Cosine:
		return number().Quo(common, number().Sqrt(number().Mul(mx, my)))
	default:
		return common
	}
}

// TestPreciseSimilarities: weights that rounding to masses changes a lot, and whose
// squares are 0 as float64, have the similarities of the definition; it does not
// matter which ids the tokens have and how many workers there are.
func TestPreciseSimilarities(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	compared := 0
	for round := range 12 {
		var c ppjoin.Collection
		records, universe := 40, 40
		if round == 0 {
			records, universe = 800, 800 // so that workers share them
		}
		for range records {
			var s []uint32
			for range 1 + r.IntN(6) {
				s = append(s, uint32(r.IntN(universe)))
			}
			c.Add(s...)
		}
		for i := range 20 { // of nearly all records
			c.Tokens = append(c.Tokens, uint32(universe+i%2))
			c.Ends[len(c.Ends)-1]++
		}
		values := make([]float64, universe+2)
		for i := range values {
			values[i] = math.Pow(10, []float64{-170, -12, -7, -4, 3}[r.IntN(2+round%4)]) * (1 + r.Float64()/64)
		}
		at := r.Perm(len(values)) // other ids of the tokens
		renamed := ppjoin.Collection{Ends: c.Ends}
		moved := make([]float64, len(values))
		for i, v := range values {
			moved[at[i]] = v
		}
		for _, id := range c.Tokens {
			renamed.Tokens = append(renamed.Tokens, uint32(at[id]))
		}
		for _, measure := range []ppjoin.Measure{ppjoin.Jaccard, ppjoin.Cosine, ppjoin.Overlap} {
			for _, w := range [][2]*ppjoin.Weights{{ppjoin.Given(values), ppjoin.Given(moved)}, {ppjoin.IDF(c), ppjoin.IDF(renamed)}} {
				o := ppjoin.Options{Measure: measure, Threshold: 1e-9, Weights: w[0], Algorithm: ppjoin.Algorithm(round % 3), MaxDepth: 2}
				pairs, _ := fast(t, c, nil, o)
				found := map[[2]int]float64{}
				for _, p := range pairs {
					found[[2]int{p.A, p.B}] = p.Similarity
				}
				for i := range min(c.Len(), 300) {
					for j := range i {
						want, _ := preciseSimilarity(o, set(c, i), set(c, j)).Float64()
						got, ok := found[[2]int{j, i}]
						if ok != (want >= o.Threshold) || ok && math.Abs(got-want) > 2e-9*want {
							t.Fatalf("round %d, %+v: %v and %v have %v, want %v", round, o.Measure, c.Record(j), c.Record(i), got, want)
						}
						if ok {
							compared++
						}
					}
				}
				other := o
				other.Weights, other.Workers = w[1], 3
				if again, _ := fast(t, renamed, nil, other); !slices.Equal(sorted(again), sorted(pairs)) {
					t.Errorf("round %d, measure %d: other similarities with other ids", round, measure)
				}
			}
		}
	}
	if compared < 5_000 {
		t.Errorf("%d pairs tell little", compared)
	}
}

// TestRoundedWeights: similarities of weights that are next to nothing beside the
// heaviest, or in themselves.
func TestRoundedWeights(t *testing.T) {
	heavy := make([]uint32, 1000)
	values := make([]float64, 1002)
	for i := range heavy {
		heavy[i], values[i+2] = uint32(i+2), 1024
	}
	values[0], values[1] = .0005, .0007
	for _, test := range []struct {
		name    string
		values  []float64
		records [][]uint32
		want    []ppjoin.Pair
	}{
		{"small", []float64{1e-7, 2e-7, 4e-7}, [][]uint32{{0, 1}, {0}, {0, 1, 2}, {1, 2}}, []ppjoin.Pair{
			{A: 0, B: 1, Similarity: math.Sqrt(1. / 5)}, {A: 0, B: 2, Similarity: math.Sqrt(5. / 21)}, {A: 0, B: 3, Similarity: math.Sqrt(4. / 25)},
			{A: 1, B: 2, Similarity: math.Sqrt(1. / 21)}, {A: 2, B: 3, Similarity: math.Sqrt(20. / 21)}}},
		{"beside heavy ones", values, [][]uint32{heavy, {0, 1}, {0}}, []ppjoin.Pair{{A: 1, B: 2, Similarity: 5 / math.Sqrt(74)}}},
		{"square 0", []float64{1e-170, 1e-170}, [][]uint32{{0, 1}, {0}, {0, 1}}, []ppjoin.Pair{
			{A: 0, B: 1, Similarity: math.Sqrt(.5)}, {A: 0, B: 2, Similarity: 1}, {A: 1, B: 2, Similarity: math.Sqrt(.5)}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c ppjoin.Collection
			for _, r := range test.records {
				c.Add(r...)
			}
			o := ppjoin.Options{Measure: ppjoin.Cosine, Threshold: 1e-8, Weights: ppjoin.Given(test.values)}
			pairs, _ := fast(t, c, nil, o)
			ok := slices.EqualFunc(sorted(pairs), test.want, func(p, q ppjoin.Pair) bool {
				return p.A == q.A && p.B == q.B && math.Abs(p.Similarity-q.Similarity) < 1e-15
			})
			if !ok {
				t.Errorf("%s: %v, want %v", fmt.Sprint(test.records), sorted(pairs), test.want)
			}
		})
	}
}
