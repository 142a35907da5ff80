package shingle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 200 {
		longest := []int{0, 0, 1, 3, 8}[round%5]
		documents := map[string]map[uint64]bool{}
		lists := map[uint64]int{}
		var postings []Posting[string]
		for i := range r.IntN(15) {
			id := fmt.Sprint("page", i)
			documents[id] = map[uint64]bool{}
			for range r.IntN(30) {
				x := uint64(r.IntN(40))
				if !documents[id][x] {
					documents[id][x] = true
					lists[x]++
					postings = append(postings, Posting[string]{x, id})
				}
			}
		}
		want := map[Count[string]]bool{}
		for a := range documents {
			for b := range documents {
				n := 0
				for x := range documents[a] {
					if documents[b][x] && (longest == 0 || lists[x] <= longest) {
						n++
					}
				}
				if a < b && n > 0 {
					want[Count[string]{Pair[string]{a, b}, n}] = true
				}
			}
		}
		r.Shuffle(len(postings), func(i, j int) { postings[i], postings[j] = postings[j], postings[i] })
		got := slices.Collect(Counts(postings, longest))
		seen := map[Count[string]]bool{}
		for _, c := range got {
			seen[c] = true
		}
		if len(got) != len(want) || !maps.Equal(seen, want) {
			t.Fatalf("%v\nwant %v", got, want)
		}
		if !slices.IsSortedFunc(got, func(a, b Count[string]) int { return ComparePairs(a.Pair, b.Pair) }) {
			t.Fatalf("%v are not in order", got)
		}
		for range Counts(postings, longest) { // stops when asked to
			break
		}
		for range Pairs(slices.Values(postings), longest) {
			break
		}
	}
}

// The counts of the lecture, from sketches to resemblances.
func TestCountsOfSketches(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	a, b := planted(r, 70, 10, 20)
	var postings []Posting[int]
	for id, s := range []Set{a, b} {
		for _, x := range Smallest(s, 1000).Values {
			postings = append(postings, Posting[int]{x, id})
		}
	}
	got := slices.Collect(Counts(postings, 0))
	if want := []Count[int]{{Pair[int]{0, 1}, 70}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func BenchmarkCounts(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	var postings []Posting[int]
	for id := range 1000 {
		for range 200 {
			postings = append(postings, Posting[int]{uint64(r.IntN(50_000)), id})
		}
	}
	slices.SortFunc(postings, ComparePostings)
	postings = slices.Compact(postings)
	for b.Loop() {
		for range Counts(slices.Clone(postings), 100) {
		}
	}
}

func BenchmarkSketch(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 4))
	s, _ := planted(r, 1000, 0, 0)
	b.Run("min-wise", func(b *testing.B) {
		for b.Loop() {
			MinWise(s, Permutations)
		}
	})
	b.Run("mod", func(b *testing.B) {
		for b.Loop() {
			sampleOf(s, Modulus)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	words := make([]string, 1000)
	for i := range words {
		words[i] = fmt.Sprint("word", i%700)
	}
	for b.Loop() {
		Of(words, Words)
	}
}
