package cluster

import (
	"math"
	"testing"
)

func TestKeysSortByWeightThenID(t *testing.T) {
	small, large := ID{1}, ID{2}
	descending := []Key{NewKey(float32(math.Inf(1)), large), NewKey(112, small), NewKey(112, large), NewKey(0.5, small), NewKey(0, small)}
	for i, k := range descending[1:] {
		if descending[i].Compare(k) >= 0 {
			t.Errorf("%v does not come before %v", descending[i], k)
		}
	}
	for _, w := range []float32{0, 0.5, 112} {
		if k := NewKey(w, large); k.Weight() != w || k.ID() != large {
			t.Errorf("weight %v and id %v: key of %v and %v", w, large, k.Weight(), k.ID())
		}
	}
	for _, w := range []float32{-1, float32(math.Inf(-1)), float32(math.NaN()), float32(math.Copysign(0, -1))} {
		if k := NewKey(w, small); k != NewKey(0, small) {
			t.Errorf("weight %v counts as %v", w, k.Weight())
		}
	}
}
