package partition

import (
	"slices"
	"testing"
)

// Only verdicts imply something, and count as known: what they imply does not.
func TestImpliedIsNotKnown(t *testing.T) {
	const centre = 5
	g := newGraph(6, []Link{{NewPair(0, centre), 0.9}, {NewPair(1, centre), 0.8}, {NewPair(3, centre), 0.7}, {NewPair(0, 1), 0.85}}, 1)
	g.put(NewPair(2, centre), neighbour{near: true, resemblance: 0.75, implied: true})
	g.put(NewPair(4, centre), neighbour{})
	g.put(NewPair(0, 2), neighbour{near: true, resemblance: 0.65, implied: true})
	g.put(NewPair(0, 3), neighbour{})
	g.sort()
	p := &planner{g: g}
	for _, c := range []struct {
		q    Pair
		want float64
	}{{NewPair(0, 1), 0.7}, {NewPair(0, 3), 0.6}, {NewPair(1, 2), 0}, {NewPair(2, 3), 0}, {NewPair(0, 4), 0}} {
		if got := p.implied(c.q, centre); got < c.want-1e-6 || got > c.want+1e-6 {
			t.Errorf("%v: %v is implied, wanted %v", c.q, got, c.want)
		}
	}
	away := make([]float64, 3)
	if others := []int32{0, 1, 3}; !g.knows(0, others, away) || slices.ContainsFunc(away, func(d float64) bool { return d < 0 || d > 1 }) || away[0] != 0 || away[2] != 1 {
		t.Errorf("0 knows %v", away)
	}
	if g.knows(0, []int32{0, 1, 2}, away) {
		t.Error("what is implied counts as verified")
	}
	if g.knows(1, []int32{0, 1, 3}, away) {
		t.Error("a pair that was not verified counts as verified")
	}
}
