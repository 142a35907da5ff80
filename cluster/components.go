package cluster

import (
	"iter"
	"slices"
)

// Component is a connected set of documents under links.
type Component struct {
	Keys  []Key      // from the largest down
	Pairs [][2]int32 // linked pairs, by their indexes in Keys, the smaller index first, sorted
}

// Components yields the connected components of at least two documents, by their
// largest keys, from the largest down. Repeated links are ignored. Links come in
// the order of CloseRepresentative. The caller owns each component. The graph is
// held in memory, as by CloseTransitive.
func Components(links iter.Seq2[Link, error]) iter.Seq2[Component, error] {
	return func(yield func(Component, error) bool) {
		g, err := newGraph(links)
		if err != nil {
			yield(Component{}, err)
			return
		}
		place := make([]int32, len(g.keys)) // index in its component, from 1; 0: not seen
		for root := range int32(len(g.keys)) {
			if place[root] != 0 {
				continue
			}
			if c := g.component(root, place); !yield(c, nil) {
				return
			}
		}
	}
}

// component returns the component of root, which is the first document of it to be
// seen.
func (g *graph) component(root int32, place []int32) (c Component) {
	place[root] = 1
	all := []int32{root}
	for i := 0; i < len(all); i++ {
		for _, n := range g.neighbours(all[i]) {
			if place[n] == 0 {
				place[n] = 1
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	for i, n := range all {
		place[n] = int32(i) + 1
		c.Keys = append(c.Keys, g.keys[n])
	}
	for i, n := range all {
		for _, to := range g.neighbours(n) {
			if to > n {
				c.Pairs = append(c.Pairs, [2]int32{int32(i), place[to] - 1})
			}
		}
	}
	return c
}
