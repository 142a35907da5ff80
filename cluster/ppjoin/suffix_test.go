package ppjoin_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/cluster/ppjoin"
)

// Without a limit of its depth the suffix filter knows the Hamming distance, or that it
// is above the limit. With one, it knows a lower bound.
func TestSuffixDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	set := func() (out []uint32) {
		for v := range uint32(40) {
			if r.IntN(3) == 0 {
				out = append(out, v)
			}
		}
		return out
	}
	above := 0
	for range 3000 {
		x, y := set(), set()
		distance := 0
		for v := range uint32(40) {
			if slices.Contains(x, v) != slices.Contains(y, v) {
				distance++
			}
		}
		for _, limit := range []int{distance / 2, distance - 1, distance, distance + 3, 80} {
			got := ppjoin.SuffixDistance(x, y, limit, 100)
			if distance <= limit && got != distance || distance > limit && got <= limit {
				t.Fatalf("%v and %v: %d with the limit %d, want %d", x, y, got, limit, distance)
			}
			if distance > limit {
				above++
			}
			for depth := range 4 {
				if got := ppjoin.SuffixDistance(x, y, limit, depth); distance <= limit && got > distance {
					t.Fatalf("%v and %v: at least %d to depth %d, but it is %d", x, y, got, depth, distance)
				}
			}
		}
	}
	if above < 1000 {
		t.Errorf("%d distances above the limit", above)
	}
}
