package keep

import (
	"slices"
	"testing"
)

// The greedy choice takes the class that covers the most first. The two that cover the
// rest cover all that it covers, so it is dropped again.
func TestGreedyDropsWhatIsSuperfluous(t *testing.T) {
	p := &problem{of: [][]int{{0, 2, 3, 4, 5, 7, 8}, {0, 1, 2, 3, 7, 9}, {4, 5, 6, 8, 10}, {6}, {1}}}
	chosen := p.greedy([]int{0, 1, 2, 3, 4})
	slices.Sort(chosen)
	if want := []int{1, 2}; !slices.Equal(chosen, want) {
		t.Errorf("chosen %v, wanted %v", chosen, want)
	}
}
