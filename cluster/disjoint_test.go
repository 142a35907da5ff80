package cluster

import (
	"math/rand/v2"
	"testing"
)

// Against sets that are renumbered at every union.
func TestDisjoint(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 5))
		n := 1 + rng.IntN(40)
		d, want := NewDisjoint(n), make([]uint32, n)
		for i := range want {
			want[i] = uint32(i)
		}
		for range rng.IntN(2 * n) {
			a, b := rng.IntN(n), rng.IntN(n)
			d.Unite(uint32(a), uint32(b))
			from, to := max(want[a], want[b]), min(want[a], want[b])
			for i := range want {
				if want[i] == from {
					want[i] = to
				}
			}
			if x := rng.IntN(n); d.Of(uint32(x)) != want[x] {
				t.Fatalf("seed %d: %d is in the set of %d, want %d", seed, x, d.Of(uint32(x)), want[x])
			}
		}
		for i := range want {
			if d.Of(uint32(i)) != want[i] {
				t.Fatalf("seed %d: %d is in the set of %d, want %d", seed, i, d.Of(uint32(i)), want[i])
			}
		}
	}
}
