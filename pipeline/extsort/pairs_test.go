package extsort

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

func TestPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	for range 200 {
		dir := t.TempDir()
		s := NewPairs(dir, 1+random.IntN(20))
		var want []Pair
		for range random.IntN(200) {
			p := Pair{random.Uint64N(8), random.Uint64N(8)}
			if random.IntN(4) == 0 {
				p[0] = random.Uint64()
			}
			want = append(want, p)
			if err := s.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, comparePairs)
		want = slices.Compact(want)
		for range 2 { // as often as it is asked to
			var got []Pair
			for p, err := range s.Sorted() {
				if err != nil {
					t.Fatal(err)
				}
				if n := len(got); n > 0 && comparePairs(got[n-1], p) > 0 {
					t.Fatalf("%v after %v", p, got[n-1])
				}
				got = append(got, p)
			}
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatalf("%v are left (%v)", left, err)
		}
	}
}
