package judged

import (
	"cmp"
	"slices"
	"sort"
)

// sets is a disjoint-set forest over numbers. Each number points towards the one
// that stands for its set.
type sets []int32

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

func (s sets) find(i int32) int32 {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

// unite unites the sets of a and b. The number that stands for a's set then stands
// for both. unite reports whether they were two sets.
func (s sets) unite(a, b int32) bool {
	a, b = s.find(a), s.find(b)
	s[b] = a
	return a != b
}

// groups is a partition of texts into those that must be joined.
type groups struct {
	sets
	enemies map[int32]map[int32]bool // of each set, the sets that it must be kept apart from
}

func (g *groups) oppose(a, b int32) {
	for range 2 {
		if g.enemies[a] == nil {
			g.enemies[a] = map[int32]bool{}
		}
		g.enemies[a][b] = true
		a, b = b, a
	}
}

// join unites the groups of a and b. It adds the group with fewer enemies to the
// other, so that an enemy changes its group a logarithmic number of times.
func (g *groups) join(a, b int32) {
	a, b = g.find(a), g.find(b)
	if a == b {
		return
	}
	if len(g.enemies[a]) < len(g.enemies[b]) {
		a, b = b, a
	}
	g.unite(a, b)
	for e := range g.enemies[b] {
		delete(g.enemies[e], b)
		g.oppose(a, e)
	}
	delete(g.enemies, b)
}

// mayJoin reports whether joining the pairs keeps apart all sets that must be
// apart.
func (g *groups) mayJoin(of [][2]int32) bool {
	var roots []int32
	for _, l := range of {
		roots = append(roots, g.find(l[0]), g.find(l[1]))
	}
	slices.Sort(roots)
	roots = slices.Compact(roots)
	for i, a := range roots {
		for _, b := range roots[:i] {
			if g.enemies[a][b] {
				return false
			}
		}
	}
	return true
}

// join makes the groups: step 1 of the package's description. links are the links
// of the pairs that are followed, in the order in which they were taken.
func (f *forest) join(pairs []Pair) (g *groups, links [][2]int32, outcomes []Outcome, err error) {
	g = &groups{newSets(len(f.ids)), map[int32]map[int32]bool{}}
	outcomes = make([]Outcome, len(pairs))
	type joined struct {
		place  int
		links  [][2]int32
		across bool // clusters differ
	}
	var joins []joined
	for i, p := range pairs {
		l, err := f.links(p)
		if err != nil {
			return nil, nil, nil, err
		}
		if p.Join {
			across := slices.ContainsFunc(l, func(l [2]int32) bool { return f.cluster[l[0]] != f.cluster[l[1]] })
			joins = append(joins, joined{i, l, across})
			continue
		}
		for _, a := range p.A {
			for _, b := range p.B {
				g.oppose(f.number[a], f.number[b])
			}
		}
	}
	sort.Slice(joins, func(i, j int) bool {
		x, y := joins[i], joins[j]
		return cmp.Or(compareBool(x.across, y.across), pairs[x.place].compare(pairs[y.place])) < 0
	})
	for _, j := range joins {
		if !g.mayJoin(j.links) {
			outcomes[j.place] = Contradicted
			continue
		}
		for _, l := range j.links {
			g.join(l[0], l[1])
		}
		links = append(links, j.links...)
	}
	return g, links, outcomes, nil
}

// compareBool compares booleans, false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
