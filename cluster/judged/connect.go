package judged

import (
	"cmp"
	"errors"
	"sort"
)

// connect makes clusters from the parts: steps 4 and 5 of the package's
// description.
func (f *forest) connect(parts sets, links [][2]int32) ([]Text, error) {
	n := len(f.ids)
	connected := newSets(n)
	var edges [][2]int32
	add := func(a, b int32) {
		if connected.unite(a, b) {
			edges = append(edges, [2]int32{a, b}, [2]int32{b, a})
		}
	}
	for i, a := range f.against {
		if i := int32(i); parts.find(i) == parts.find(a) {
			add(a, i)
		}
	}
	for _, l := range links {
		add(l[0], l[1])
	}
	represents, err := f.representatives(parts)
	if err != nil {
		return nil, err
	}
	neighbours := newLists(n, edges)
	out := make([]Text, 0, n)
	seen := make([]bool, n)
	var queue [][2]int32 // texts, each with the one that it is against
	for _, first := range represents {
		if first == none {
			continue
		}
		seen[first] = true
		queue = append(queue[:0], [2]int32{first, first})
		for next := 0; next < len(queue); next++ {
			t := queue[next][0]
			out = append(out, Text{f.ids[t], f.ids[first], f.ids[queue[next][1]]})
			for _, o := range neighbours.of(t) {
				if !seen[o] {
					seen[o] = true
					queue = append(queue, [2]int32{o, t})
				}
			}
		}
	}
	if len(out) != n {
		return nil, errors.New("judged: a part that nothing connects")
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return cmp.Or(compareIDs(a.Cluster, b.Cluster), compareIDs(a.ID, b.ID)) < 0
	})
	return out, nil
}

// representatives returns the representative of each part, indexed by the text that
// stands for the part. It is the representative with the largest key among those of
// clusters of several texts in the part. So a text that joins a cluster changes
// nothing for the others. If there is none, any text of the part may represent it.
func (f *forest) representatives(parts sets) ([]int32, error) {
	represents, has := make([]bool, len(f.ids)), make([]bool, len(f.ids)) // has is indexed by part
	for i, of := range f.cluster {
		if i := int32(i); of != i {
			represents[of] = true
			has[parts.find(of)] = true
		}
	}
	return f.largest(parts, func(i int32) bool { return represents[i] || !has[parts.find(i)] })
}
