package partition

import (
	"cmp"
	"slices"
)

// Neighbouring returns the places of the pairs in an order in which the pairs of a
// document, and those of the documents that it is paired with, are close to each other. So few
// documents of a large component are read more than once.
func Neighbouring(pairs []Pair) []int32 {
	type end struct{ document, pair int32 }
	ends := make([]end, 0, 2*len(pairs))
	for i, p := range pairs {
		ends = append(ends, end{p.A, int32(i)}, end{p.B, int32(i)})
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.document, b.document), cmp.Compare(a.pair, b.pair)) })
	order := make([]int32, 0, len(pairs))
	placed := make([]bool, len(pairs))
	done := map[int32]bool{} // documents of which all pairs are placed
	for _, start := range pairs {
		for reached := []int32{start.A}; len(reached) > 0; reached = reached[1:] {
			x := reached[0]
			if done[x] {
				continue
			}
			done[x] = true
			first, _ := slices.BinarySearchFunc(ends, x, func(e end, x int32) int { return cmp.Compare(e.document, x) })
			for _, e := range ends[first:] {
				if e.document != x {
					break
				}
				if p := pairs[e.pair]; !placed[e.pair] {
					placed[e.pair] = true
					order, reached = append(order, e.pair), append(reached, p.A+p.B-x)
				}
			}
		}
	}
	return order
}
