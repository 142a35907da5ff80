package ppjoin_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 200 {
		l := 1 + r.IntN(4)
		n := r.IntN(60)
		keys := make([][]uint64, n)
		for i := range keys {
			if r.IntN(10) > 0 {
				for range l {
					k := uint64(r.IntN(20))
					if round%2 == 0 {
						k = k<<60 | k // differ in the bits of the radix sort, too
					}
					keys[i] = append(keys[i], k)
				}
			}
		}
		all := bandKeys{n, l, func(i int) []uint64 { return keys[i] }}
		want := map[bandPair]bool{}
		buckets := map[string]bool{}
		for band := range l {
			lists := map[uint64][]uint32{}
			for i, k := range keys {
				if len(k) > 0 {
					lists[k[band]] = append(lists[k[band]], uint32(i))
				}
			}
			for _, l := range lists {
				if len(l) > 1 {
					buckets[fmt.Sprint(band, l)] = true
				}
				for i, a := range l {
					for _, b := range l[i+1:] {
						want[bandPair{int(a), int(b)}] = true
					}
				}
			}
		}
		got := slices.Collect(all.Pairs())
		seen := map[bandPair]bool{}
		for _, p := range got {
			if seen[p] || p.A >= p.B {
				t.Fatalf("%v is there twice or the wrong way around", p)
			}
			seen[p] = true
		}
		if !maps.Equal(seen, want) {
			t.Fatalf("%v\nwant %v", seen, want)
		}
		for b := range all.Buckets() {
			if k := fmt.Sprint(b.Band, b.Documents); !buckets[k] {
				t.Fatalf("%s is no bucket, or is there twice", k)
			} else {
				delete(buckets, k)
			}
		}
		if len(buckets) > 0 {
			t.Fatalf("buckets missing: %v", buckets)
		}
		if !slices.Equal(got, slices.Collect(all.Pairs())) {
			t.Fatal("another order the second time")
		}
		for p := range all.Pairs() { // stops when asked to
			if p != got[0] {
				t.Fatal("another first pair")
			}
			break
		}
	}
}
