package keep

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"

	"neardup/report"
)

// exact is the largest number of candidates for which all sets are tried.
const exact = 16

// solve marks the smallest set of further classes as surviving such that a
// surviving class covers every node, and every URI has one. This is set cover. It
// is solved separately for the parts that no candidates connect. A part of at most
// exact candidates is solved exactly: among its smallest sets, the one whose
// members the policy prefers wins. In a larger part the candidate that covers the
// most is taken first; among equals, the one that the policy prefers (the greedy
// algorithm; Johnson 1974, Chvátal 1979). Then those that the others made
// superfluous are dropped. Captures that survive because of revisits do not count.
func (x *chooser) solve() {
	p := x.problem()
	for _, part := range p.parts() {
		var chosen []int
		if len(part) <= exact {
			chosen = p.smallest(part)
		} else {
			chosen = p.greedy(part)
		}
		slices.Sort(chosen)
		for _, c := range chosen {
			x.survive(p.classes[c], report.WhyScore) // choices finds the actual reason
		}
	}
}

// problem is the part of the set cover that is left.
type problem struct {
	classes []int   // classes that may survive, in the order of the policy
	of      [][]int // by class: elements that it covers, sorted
	by      [][]int // by element: classes that cover it
}

// problem returns the elements that are not covered yet: nodes and URIs.
func (x *chooser) problem() *problem {
	open := make([]int, len(x.nodes)+len(x.uris)) // number of each element; -1: it is covered
	p := &problem{}
	element := func(i int, covered bool) {
		open[i] = -1
		if !covered {
			open[i] = len(p.by)
			p.by = append(p.by, nil)
		}
	}
	for i, o := range x.nodes {
		element(i, x.isCovered(o))
	}
	for i, of := range x.uris {
		element(len(x.nodes)+i, slices.ContainsFunc(of, func(n int) bool { return x.classes[n].survives }))
	}
	for n, c := range x.classes {
		if c.survives {
			continue
		}
		var of []int
		if c.stands() {
			of = append(of, open[c.node])
			for _, e := range x.nodes[c.node].to {
				of = append(of, open[e.node])
			}
		}
		if c.uri >= 0 {
			of = append(of, open[len(x.nodes)+c.uri])
		}
		of = slices.DeleteFunc(of, func(e int) bool { return e < 0 })
		if len(of) == 0 {
			continue
		}
		slices.Sort(of)
		for _, e := range of {
			p.by[e] = append(p.by[e], len(p.classes))
		}
		p.classes, p.of = append(p.classes, n), append(p.of, of)
	}
	return p
}

// isCovered reports whether a surviving class stands for the node. If no class of a
// node can stand for others, all of it has survived.
func (x *chooser) isCovered(o *node) bool {
	return o.kept >= 0 || slices.ContainsFunc(o.from, func(e edge) bool { return x.nodes[e.node].kept >= 0 }) ||
		!slices.ContainsFunc(o.classes, func(n int) bool { return !x.classes[n].survives })
}

// parts returns the connected parts, each sorted.
func (p *problem) parts() (parts [][]int) {
	seen, seenElement := make([]bool, len(p.classes)), make([]bool, len(p.by))
	for first := range p.classes {
		if seen[first] {
			continue
		}
		seen[first] = true
		part := []int{first}
		for i := 0; i < len(part); i++ {
			for _, e := range p.of[part[i]] {
				if seenElement[e] {
					continue
				}
				seenElement[e] = true
				for _, c := range p.by[e] {
					if !seen[c] {
						seen[c] = true
						part = append(part, c)
					}
				}
			}
		}
		slices.Sort(part)
		parts = append(parts, part)
	}
	return parts
}

// smallest returns the lexically first of the smallest sets that cover all elements
// of a part.
func (p *problem) smallest(part []int) []int {
	number := map[int]int{}
	masks := make([]uint64, len(part))
	all := uint64(0)
	for _, c := range part {
		for _, e := range p.of[c] {
			if _, ok := number[e]; !ok {
				number[e] = len(number)
			}
		}
	}
	if len(number) > 64 {
		return p.greedy(part)
	}
	for i, c := range part {
		for _, e := range p.of[c] {
			masks[i] |= 1 << number[e]
		}
		all |= masks[i]
	}
	best := uint(0)
	key := func(set uint) (size int, order uint) { // the lexically first set has the largest order
		return bits.OnesCount(set), bits.Reverse(set)
	}
	for set := uint(1); set < 1<<len(part); set++ {
		size, order := key(set)
		if bestSize, bestOrder := key(best); best != 0 && (size > bestSize || size == bestSize && order < bestOrder) {
			continue
		}
		covered := uint64(0)
		for s := set; s != 0; s &= s - 1 {
			covered |= masks[bits.TrailingZeros(s)]
		}
		if covered == all {
			best = set
		}
	}
	var chosen []int
	for s := best; s != 0; s &= s - 1 {
		chosen = append(chosen, part[bits.TrailingZeros(s)])
	}
	return chosen
}

// greedy returns a set that covers all elements of a part.
func (p *problem) greedy(part []int) (chosen []int) {
	times := map[int]int{} // by element: how many of chosen cover it
	gain := func(c int) (n int) {
		for _, e := range p.of[c] {
			if times[e] == 0 {
				n++
			}
		}
		return n
	}
	h := &candidates{}
	for _, c := range part {
		*h = append(*h, candidate{c, len(p.of[c])})
	}
	heap.Init(h)
	for h.Len() > 0 { // gains only decrease
		top := (*h)[0]
		if now := gain(top.class); now < top.gain {
			(*h)[0].gain = now
			if now == 0 {
				heap.Pop(h)
			} else {
				heap.Fix(h, 0)
			}
			continue
		}
		heap.Pop(h)
		chosen = append(chosen, top.class)
		for _, e := range p.of[top.class] {
			times[e]++
		}
	}
	for i := len(chosen) - 1; i >= 0; i-- {
		of := p.of[chosen[i]]
		if slices.ContainsFunc(of, func(e int) bool { return times[e] == 1 }) {
			continue
		}
		for _, e := range of {
			times[e]--
		}
		chosen = slices.Delete(chosen, i, i+1)
	}
	return chosen
}

// candidate is a class with the number of elements that it covered when it was last
// counted.
type candidate struct{ class, gain int }

// candidates is a heap with the candidate that covers the most on top.
type candidates []candidate

func (h candidates) Len() int { return len(h) }
func (h candidates) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[j].gain, h[i].gain), cmp.Compare(h[i].class, h[j].class)) < 0
}
func (h candidates) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *candidates) Push(c any)   { *h = append(*h, c.(candidate)) }
func (h *candidates) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
