package ppjoin_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"neardup/cluster/ppjoin"
)

// slowHamming compares all pairs by the definition of section 2.1.
func slowHamming(a ppjoin.Collection, b *ppjoin.Collection, limit int) (out []ppjoin.Pair) {
	other := a
	if b != nil {
		other = *b
	}
	for i := range a.Len() {
		for j := range other.Len() {
			x, y := set(a, i), set(other, j)
			if b == nil && j <= i || len(x) == 0 || len(y) == 0 {
				continue
			}
			distance := 0
			for t := range x {
				if !y[t] {
					distance++
				}
			}
			for t := range y {
				if !x[t] {
					distance++
				}
			}
			if distance <= limit {
				out = append(out, ppjoin.Pair{A: i, B: j, Similarity: float64(distance)})
			}
		}
	}
	return out
}

// Every search finds the pairs within a Hamming distance, also those that have
// nothing in common.
func TestHamming(t *testing.T) {
	sequential(t)
	r := rand.New(rand.NewPCG(5, 6))
	sets, others := family(r, 90, 40, 9), family(r, 60, 40, 9)
	multisets := ppjoin.Multiset(sets, others)
	for _, c := range []struct {
		name string
		a, b ppjoin.Collection
	}{{"sets", sets, others}, {"multisets", multisets[0], multisets[1]}} {
		for _, b := range []*ppjoin.Collection{nil, &c.b} {
			short, pairs := int64(0), 0
			for limit := range 10 {
				want := slowHamming(c.a, b, limit)
				pairs += len(want)
				for _, s := range everySearch(false) {
					s.Measure, s.Threshold = ppjoin.Hamming, float64(limit)
					got, counts := fast(t, c.a, b, s)
					if short += counts.Short; !equal(sorted(got), want) {
						t.Fatalf("%s, self %v, %+v: too many\n%v\nmissing\n%v", c.name, b == nil, s, diff(sorted(got), want), diff(want, sorted(got)))
					}
				}
			}
			if short == 0 || pairs < 100 {
				t.Errorf("%s, self %v: %d pairs, %d of them without a common token: it tells nothing", c.name, b == nil, pairs, short)
			}
		}
	}
}

// Lone tokens that are only counted are part of the distance.
func TestHammingWithLoneTokens(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	listed := family(r, 60, 15, 6)
	all := ppjoin.Collection{}
	listed.Alone = make([]uint32, listed.Len())
	next := uint32(1000)
	for i := range listed.Len() {
		record := listed.Record(i)
		listed.Alone[i] = uint32(r.IntN(3))
		for range listed.Alone[i] {
			next++
			record = append(record[:len(record):len(record)], next)
		}
		all.Add(record...)
	}
	for limit := range 8 {
		want := slowHamming(all, nil, limit)
		for _, workers := range []int{1, 3} {
			got, _ := fast(t, listed, nil, ppjoin.Options{Measure: ppjoin.Hamming, Threshold: float64(limit), Workers: workers})
			if !equal(sorted(got), want) {
				t.Fatalf("distance %d: %v, want %v", limit, sorted(got), want)
			}
		}
	}
}

func TestHammingMistakes(t *testing.T) {
	c := family(rand.New(rand.NewPCG(1, 1)), 5, 9, 5)
	for name, o := range map[string]ppjoin.Options{
		"below 0":  {Measure: ppjoin.Hamming, Threshold: -1},
		"half":     {Measure: ppjoin.Hamming, Threshold: 1.5},
		"huge":     {Measure: ppjoin.Hamming, Threshold: 1e18},
		"weighted": {Measure: ppjoin.Hamming, Threshold: 1, Weights: ppjoin.IDF(c)},
	} {
		if _, err := ppjoin.Self(t.Context(), c, o, func(ppjoin.Pair) error { return nil }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	stop := fmt.Errorf("enough")
	var tiny ppjoin.Collection
	tiny.Add(1)
	tiny.Add(2)
	if _, err := ppjoin.Self(t.Context(), tiny, ppjoin.Options{Measure: ppjoin.Hamming, Threshold: 2}, func(ppjoin.Pair) error { return stop }); err != stop {
		t.Errorf("the error of emit is %v", err)
	}
}
