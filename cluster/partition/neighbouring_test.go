package partition

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The pairs of documents that are paired with each other stand together, whatever their
// numbers.
func TestNeighbouring(t *testing.T) {
	const clusters, each = 50, 20
	rng := rand.New(rand.NewPCG(8, 17))
	numbers := rng.Perm(clusters * each)
	of := make([]int, clusters*each) // cluster of each document
	var pairs []Pair
	for c := range clusters {
		members := numbers[c*each : (c+1)*each]
		for i, m := range members {
			of[m] = c
			pairs = append(pairs, NewPair(int32(m), int32(members[(i+1)%each])), NewPair(int32(m), int32(members[(i+7)%each])))
		}
	}
	slices.SortFunc(pairs, func(a, b Pair) int { return int(a.A-b.A)*clusters*each + int(a.B-b.B) })
	order := Neighbouring(pairs)
	changes := 0
	for i := range order {
		if i > 0 && of[pairs[order[i]].A] != of[pairs[order[i-1]].A] {
			changes++
		}
	}
	if changes != clusters-1 {
		t.Errorf("the cluster changes %d times", changes)
	}
	slices.Sort(order)
	for i, p := range order {
		if int(p) != i {
			t.Fatalf("%d pairs in order, and %d is not among them", len(order), i)
		}
	}
}

// All pairs of a star have one document in common. Work for each pair of these pairs
// would take minutes.
func TestNeighbouringStar(t *testing.T) {
	const n = 300_000
	pairs := make([]Pair, n)
	for i := range pairs {
		pairs[i] = Pair{0, int32(i + 1)}
	}
	for i, p := range Neighbouring(pairs) {
		if int(p) != i {
			t.Fatalf("pair %d is at %d", p, i)
		}
	}
}
