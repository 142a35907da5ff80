package extsort

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// Pairs are sorted whatever their first numbers are: hashes, hashes with equal first
// bits, or few different numbers.
func TestSortPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(33, 34))
	for name, first := range map[string]func() uint64{
		"hashes":        random.Uint64,
		"small numbers": func() uint64 { return random.Uint64N(1000) },
		"large numbers": func() uint64 { return ^random.Uint64N(1000) },
		"two numbers":   func() uint64 { return random.Uint64N(2) << 63 },
		"one number":    func() uint64 { return 7 },
	} {
		for _, n := range []int{0, 1, inBucket, 2*inBucket - 1, 2 * inBucket, 100, 5000, 40_000} {
			pairs := make([]Pair, n)
			for i := range pairs {
				pairs[i] = Pair{first(), random.Uint64N(50)}
			}
			want := slices.Clone(pairs)
			slices.SortFunc(want, comparePairs)
			if SortPairs(pairs); !slices.Equal(pairs, want) {
				t.Errorf("%d pairs of %s are not sorted", n, name)
			}
		}
	}
}

func BenchmarkSortPairs(b *testing.B) {
	random := rand.New(rand.NewPCG(35, 36))
	hashes := make([]Pair, 300_000)
	for i := range hashes {
		hashes[i] = Pair{random.Uint64(), random.Uint64()}
	}
	pairs := make([]Pair, len(hashes))
	for b.Loop() {
		copy(pairs, hashes)
		SortPairs(pairs)
	}
}

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
