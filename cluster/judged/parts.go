package judged

import (
	"cmp"
	"errors"
	"slices"
	"sort"

	"neardup/cluster"
)

// none stands for no text.
const none = -1

// lists is a list of texts for each text, all in one slice.
type lists struct{ first, all []int32 }

// newLists returns lists in which the second of each pair is in the list of the
// first, in the order of the pairs.
func newLists(n int, pairs [][2]int32) lists {
	l := lists{make([]int32, n+1), make([]int32, len(pairs))}
	for _, p := range pairs {
		l.first[p[0]+1]++
	}
	for i := range n {
		l.first[i+1] += l.first[i]
	}
	at := slices.Clone(l.first)
	for _, p := range pairs {
		l.all[at[p[0]]] = p[1]
		at[p[0]]++
	}
	return l
}

func (l lists) of(i int32) []int32 { return l.all[l.first[i]:l.first[i+1]] }

// search is the breadth-first search through groups. A group is indexed by the text
// that stands for it; other texts have no entries.
type search struct {
	order []int32
	up    []int32 // the group that each was reached from; for the start, itself
	depth []int32
}

// search searches each component of united clusters, starting from the group of its
// representative.
func (f *forest) search(g *groups, links [][2]int32) (*search, error) {
	n := len(f.ids)
	whole := newSets(n)
	var near, members [][2]int32
	for i, a := range f.against {
		i := int32(i)
		members = append(members, [2]int32{g.find(i), i})
		if a != i {
			whole.unite(a, i)
			near = append(near, [2]int32{a, i}, [2]int32{i, a})
		}
	}
	for _, l := range links {
		whole.unite(l[0], l[1])
	}
	begin, err := f.representatives(whole)
	if err != nil {
		return nil, err
	}
	sort.Slice(near, func(i, j int) bool {
		a, b := near[i], near[j]
		return cmp.Compare(a[1], b[1]) < 0
	})
	neighbours, texts := newLists(n, near), newLists(n, members)
	s := &search{up: make([]int32, n), depth: make([]int32, n)}
	for i := range s.up {
		s.up[i] = none
	}
	for _, first := range begin {
		if first == none {
			continue
		}
		if f.against[first] != first {
			return nil, errors.New("judged: texts that are verified against each other in a circle")
		}
		root := g.find(first)
		s.up[root] = root
		next := len(s.order)
		s.order = append(s.order, root)
		for ; next < len(s.order); next++ {
			group := s.order[next]
			for _, t := range texts.of(group) {
				for _, o := range neighbours.of(t) {
					if o := g.find(o); s.up[o] == none {
						s.up[o], s.depth[o] = group, s.depth[group]+1
						s.order = append(s.order, o)
					}
				}
			}
		}
	}
	return s, nil
}

// largest returns for each set the text with the largest key among those for which
// in is true, indexed by the text that stands for the set. It looks up no key if
// there is only one such text.
func (f *forest) largest(of sets, in func(int32) bool) ([]int32, error) {
	out := make([]int32, len(of))
	for i := range out {
		out[i] = none
	}
	for i := range of {
		i := int32(i)
		if !in(i) {
			continue
		}
		best := &out[of.find(i)]
		if *best != none {
			larger, err := f.larger(i, *best)
			if err != nil {
				return nil, err
			}
			if !larger {
				continue
			}
		}
		*best = i
	}
	return out, nil
}

// opposed is a pair of groups that must be apart.
type opposed struct {
	leaves, stays int32
	free          bool        // either may leave
	key           cluster.Key // of the group that leaves, if free
}

// part separates groups that must be apart: steps 2 and 3 of the package's
// description. It returns for each text one that stands for its part.
func (f *forest) part(g *groups, links [][2]int32) (sets, error) {
	s, err := f.search(g, links)
	if err != nil {
		return nil, err
	}
	// On the way from an opposed group to the start, only other opposed groups and
	// the start count.
	n := len(f.ids)
	up, cut := make([]int32, n), make([]bool, n)
	for _, x := range s.order {
		above := s.up[x]
		if up[x] = above; s.up[above] != above && len(g.enemies[above]) == 0 {
			up[x] = up[above]
		}
	}
	top := func(x int32) int32 { // returns the top of the part that x is in
		for !cut[x] && up[x] != x {
			x = up[x]
		}
		return x
	}
	all, err := f.opposed(g, s, up)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if top(o.leaves) == top(o.stays) {
			cut[o.leaves] = true
		}
	}
	parts := newSets(n)
	for _, x := range s.order {
		if !cut[x] {
			parts.unite(s.up[x], x)
		}
	}
	for i := range f.ids {
		parts.unite(g.find(int32(i)), int32(i))
	}
	return parts, nil
}

// opposed returns the pairs of groups that must be apart and are reached from the
// same start, in the order in which they are separated.
func (f *forest) opposed(g *groups, s *search, up []int32) (all []opposed, err error) {
	walk := func(x, depth int32) int32 {
		for s.depth[x] > depth {
			x = up[x]
		}
		return x
	}
	first, err := f.largest(g.sets, func(i int32) bool { return len(g.enemies[g.find(i)]) > 0 })
	if err != nil {
		return nil, err
	}
	for x, enemies := range g.enemies {
		for y := range enemies {
			if walk(x, 0) != walk(y, 0) || s.depth[x] > s.depth[y] || s.depth[x] == s.depth[y] && x > y {
				continue // nothing connects them, or the pair comes as y and x
			}
			o := opposed{leaves: y, stays: x}
			if o.free = walk(y, s.depth[x]) != x; o.free {
				larger, err := f.larger(first[y], first[x])
				if err != nil {
					return nil, err
				}
				if larger {
					o.leaves, o.stays = x, y
				}
				o.key = f.keys[first[o.leaves]]
			}
			all = append(all, o)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(compareBool(a.free, b.free), cmp.Compare(s.depth[a.leaves], s.depth[b.leaves]), a.key.Compare(b.key)) < 0
	})
	return all, nil
}
