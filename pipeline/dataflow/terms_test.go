package dataflow

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/pipeline/extsort"
	"neardup/signature/terms"
)

// Counts of texts in parts sum up to those of all texts; of the terms that occur
// once, one of each part of speech is left.
func TestSumTerms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	want := map[uint64]int{}
	var counts []extsort.Pair
	for range 500 {
		term, n := uint64(r.IntN(200)), 1+r.IntN(2)
		if term < 30 && want[term] > 0 {
			continue // most of the first terms occur once
		}
		want[term] += n
		counts = append(counts, extsort.Pair{term, uint64(n<<3) | term%8})
	}
	slices.SortFunc(counts, func(a, b extsort.Pair) int { return slices.Compare(a[:], b[:]) })
	all := func(yield func(extsort.Pair, error) bool) {
		for _, p := range counts {
			if !yield(p, nil) {
				return
			}
		}
	}
	got, once := map[uint64]int{}, map[uint64]int{}
	if err := SumTerms(all, func(term uint64, n terms.Count) error {
		if got[term] != 0 || n.Group() != int(term%8) {
			t.Errorf("%d comes twice, or of part of speech %d", term, n.Group())
		}
		if got[term] = n.Times(); n.Times() == 1 {
			once[term%8]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	left := 0
	for term, n := range want {
		if n == 1 && got[term] == 0 {
			left++
			got[term] = 1
			if once[term%8] != 1 {
				t.Errorf("%d terms of part of speech %d occur once", once[term%8], term%8)
			}
		}
	}
	if !maps.Equal(got, want) || left == 0 {
		t.Errorf("%v, want %v; %d left out", got, want, left)
	}
	stop := errors.New("enough")
	if err := SumTerms(all, func(uint64, terms.Count) error { return stop }); err != stop {
		t.Error(err)
	}
	if err := SumTerms(func(func(extsort.Pair, error) bool) {}, func(uint64, terms.Count) error { return stop }); err != nil {
		t.Error(err)
	}
}
