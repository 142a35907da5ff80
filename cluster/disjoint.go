package cluster

// Disjoint is a forest of disjoint sets of the numbers below its length (Galler and
// Fischer, An improved equivalence algorithm, CACM 1964). It takes four bytes a
// number, and no more. Element x is the parent of x: a smaller number of its set, or
// x itself. So a root is the smallest number of its set. That rule takes the place of
// union by rank, which would need memory for ranks; with path halving (Tarjan and van
// Leeuwen, JACM 1984) an operation still takes logarithmic time on average.
type Disjoint []uint32

// NewDisjoint returns a forest in which each number is a set of its own.
func NewDisjoint(n int) Disjoint {
	d := make(Disjoint, n)
	for i := range d {
		d[i] = uint32(i)
	}
	return d
}

// Of returns the smallest number of the set that x belongs to.
func (d Disjoint) Of(x uint32) uint32 {
	for d[x] != x {
		d[x] = d[d[x]]
		x = d[x]
	}
	return x
}

// Unite makes one set of the sets of a and b.
func (d Disjoint) Unite(a, b uint32) {
	a, b = d.Of(a), d.Of(b)
	d[max(a, b)] = min(a, b)
}
