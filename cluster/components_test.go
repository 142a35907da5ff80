package cluster

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// Against a search that begins anew at every document.
func TestComponents(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := 2 + rng.IntN(30)
		var keys []Key
		for i := range n {
			keys = append(keys, NewKey(float32(rng.IntN(4)), ID{byte(i), byte(seed)}))
		}
		slices.SortFunc(keys, Key.Compare)
		near := map[[2]int]bool{}
		var links []Link
		for range rng.IntN(n + 5) {
			a, b := rng.IntN(n), rng.IntN(n)
			if a == b {
				continue
			}
			p := [2]int{min(a, b), max(a, b)}
			near[p] = true
			links = append(links, Link{keys[p[0]], keys[p[1]]})
		}
		slices.SortFunc(links, func(a, b Link) int {
			if c := a.Leader.Compare(b.Leader); c != 0 {
				return c
			}
			return a.Member.Compare(b.Member)
		})
		reach := func(from int) (out []int) {
			seen := map[int]bool{from: true}
			for grew := true; grew; {
				grew = false
				for p := range near {
					if seen[p[0]] != seen[p[1]] {
						seen[p[0]], seen[p[1]], grew = true, true, true
					}
				}
			}
			for i := range n {
				if seen[i] {
					out = append(out, i)
				}
			}
			return out
		}
		var want []Component
		for i := range n {
			of := reach(i)
			if of[0] != i || len(of) == 1 {
				continue
			}
			var c Component
			for x, a := range of {
				c.Keys = append(c.Keys, keys[a])
				for y, b := range of {
					if near[[2]int{a, b}] {
						c.Pairs = append(c.Pairs, [2]int32{int32(x), int32(y)})
					}
				}
			}
			want = append(want, c)
		}
		var got []Component
		for c, err := range Components(linkSeq(links)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c)
		}
		if !slices.EqualFunc(got, want, func(a, b Component) bool {
			return slices.Equal(a.Keys, b.Keys) && slices.Equal(a.Pairs, b.Pairs)
		}) {
			t.Fatalf("seed %d: got %v, want %v", seed, got, want)
		}
	}
}

func TestComponentsGivesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	for _, err := range Components(func(yield func(Link, error) bool) { yield(Link{}, broken) }) {
		if !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
		return
	}
	t.Error("no error")
}

func linkSeq(links []Link) func(yield func(Link, error) bool) {
	return func(yield func(Link, error) bool) {
		for _, l := range links {
			if !yield(l, nil) {
				return
			}
		}
	}
}
