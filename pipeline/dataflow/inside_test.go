package dataflow

import "testing"

func TestLongTextsTakeFewerPairsButSome(t *testing.T) {
	for length, want := range map[int]int{0: 8, 10_000: 8, 12_000: 5, 38_000: 4, 10_000_000: 4} {
		if other, part := otherShare(length), partShare(length); other != want || part != want {
			t.Errorf("a text of %d characters takes %d leaders and %d pairs, want %d", length, other, part, want)
		}
	}
}
