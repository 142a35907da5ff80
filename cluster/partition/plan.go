package partition

import (
	"cmp"
	"math"
	"slices"
)

// planner decides which pairs are verified.
type planner struct {
	g        *graph
	source   Source
	o        Options
	budget   int // pairs that may be verified
	verified int
}

// ask verifies those of the pairs that are not known, or none if they are more
// than the budget has left.
func (p *planner) ask(pairs []Pair) error {
	slices.SortFunc(pairs, Pair.compare)
	pairs = slices.Compact(pairs)
	pairs = slices.DeleteFunc(pairs, func(q Pair) bool {
		n, known := p.g.get(q.A, q.B)
		return q.A == q.B || known && !n.implied
	})
	if len(pairs) == 0 || p.verified+len(pairs) > p.budget {
		return nil
	}
	verdicts, err := p.source.Verify(pairs)
	if err != nil {
		return err
	}
	p.verified += len(pairs)
	for i, v := range verdicts {
		p.g.put(pairs[i], neighbour{near: v.Near, resemblance: float32(v.Resemblance)})
	}
	p.g.sort()
	return nil
}

// whole verifies all pairs and gives the better of two searches, unless it
// follows from the links that all pairs are near.
func (p *planner) whole() (*search, error) {
	n := int32(len(p.g.of))
	first := stars(p.g, p.o.Whole)
	var pairs []Pair
	for a := range n {
		for b := a + 1; b < n; b++ {
			pairs = append(pairs, Pair{a, b})
		}
	}
	if len(first.clusters) == 1 && len(p.conclude(slices.Clone(pairs), first)) == 0 {
		return first, p.nearest(first)
	}
	if err := p.ask(pairs); err != nil {
		return nil, err
	}
	best := stars(p.g, p.o.Whole)
	best.climb()
	if other := singles(p.g, p.o.Whole); n > 2 {
		if other.climb(); other.sum() > best.sum() {
			best = other
		}
	}
	return best, p.nearest(best)
}

// sampled verifies a part of the pairs, whose number follows that of the
// documents: each document against the centres of stars of links that are
// closest to it, and against some of its own star.
func (p *planner) sampled() (*search, error) {
	s := stars(p.g, p.o.Whole)
	var centres []int32
	for _, k := range s.clusters {
		centres = append(centres, k.centre)
	}
	slices.Sort(centres)
	if len(centres) > 1 {
		closest, err := p.source.Closest(centres, p.o.Sample)
		if err != nil {
			return nil, err
		}
		var pairs []Pair
		for x, all := range closest {
			for _, c := range all {
				pairs = append(pairs, NewPair(int32(x), c))
			}
		}
		if err := p.ask(pairs); err != nil {
			return nil, err
		}
		s = stars(p.g, p.o.Whole)
	}
	// Stars before and clusters after the search are sampled alike: what the
	// search has brought together is to be seen together.
	for range 2 {
		if err := p.sample(s); err != nil {
			return nil, err
		}
		s.climb()
	}
	for range maxRounds {
		before := p.verified
		if err := p.propose(s); err != nil {
			return nil, err
		}
		if !s.climb() && p.verified == before {
			break
		}
	}
	return s, p.nearest(s)
}

// Clusters of a large component are united in so many rounds at most, and of one
// or two so many documents are tried as their representative, unless they are
// small: what bounds the work.
const (
	maxRounds     = 6
	maxCandidates = 2
	small         = 8
)

// propose verifies what clusters need that might be united: of two that have
// more for than against each other, the documents that are likely to be near to
// all against all, and a sample of the pairs between them, since those that are
// known are mostly of documents that were near to a centre. A cluster is in one such pair at most.
func (p *planner) propose(s *search) error {
	var pairs []Pair
	done := map[int32]bool{}
	for _, u := range s.unions() {
		a, b := s.label[u.A], s.label[u.B]
		if done[a] || done[b] {
			continue
		}
		done[a], done[b] = true, true
		all := slices.Concat(s.clusters[a].members, s.clusters[b].members)
		pairs = append(pairs, p.likely(s, all)...)
		pairs = append(pairs, p.across(s.clusters[a].members, s.clusters[b].members)...)
	}
	return p.ask(pairs)
}

// across gives pairs of documents of two clusters, each of the smaller one in
// half as many as Sample says, at even distances.
func (p *planner) across(a, b []int32) (pairs []Pair) {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	if len(a) > len(b) || len(a) == len(b) && a[0] > b[0] {
		a, b = b, a
	}
	n := min(p.o.Sample/2, len(b))
	for i, x := range a {
		for j := range n {
			pairs = append(pairs, NewPair(x, b[(i+j*len(b)/n)%len(b)]))
		}
	}
	return pairs
}

// likely gives the pairs of all members of a cluster, or of two, with those of
// them that have the greatest mean of resemblances to the members that they were
// verified against, 0 of pairs that are not near.
func (p *planner) likely(s *search, members []int32) (pairs []Pair) {
	in := map[int32]bool{}
	for _, x := range members {
		in[x] = true
	}
	type candidate struct {
		x    int32
		mean float64
	}
	var all []candidate
	for _, x := range members {
		n, sum := 0, 0.0
		for _, y := range p.g.of[x] {
			if !in[y.to] {
				continue
			}
			n++
			if y.near {
				sum += float64(y.resemblance)
			}
		}
		// A doubtful pair more keeps a mean of one or two from winning.
		all = append(all, candidate{x, sum / float64(n+1)})
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.mean, a.mean), cmp.Compare(a.x, b.x)) })
	for _, c := range all[:min(maxCandidates, len(all))] {
		for _, x := range members {
			pairs = append(pairs, NewPair(x, c.x))
		}
	}
	return pairs
}

// sample verifies each document against some of its cluster, those at even
// distances in the order of the members.
func (p *planner) sample(s *search) error {
	var pairs []Pair
	for _, k := range s.clusters {
		m := slices.Clone(k.members)
		slices.Sort(m)
		steps := p.o.Sample / 2
		for j := 1; j <= steps; j++ {
			step := max(j, j*len(m)/(2*steps+1))
			if 2*step > len(m) {
				break
			}
			for i, x := range m {
				pairs = append(pairs, NewPair(x, m[(i+step)%len(m)]))
			}
		}
	}
	return p.ask(p.conclude(pairs, s))
}

// conclude notes of which pairs of one cluster it follows from the verdicts
// against the centre that they are near, and gives the others. 1 less the
// resemblance by the LCS is a metric (the Steinhaus transform of the edit
// distance), and the resemblance of a near pair is at most that by the LCS.
func (p *planner) conclude(pairs []Pair, s *search) (open []Pair) {
	type conclusion struct {
		Pair
		neighbour
	}
	var all []conclusion
	for _, q := range pairs {
		if l := s.label[q.A]; l == s.label[q.B] {
			if least := p.implied(q, s.clusters[l].centre); least >= p.o.Implied {
				all = append(all, conclusion{q, neighbour{near: true, implied: true, resemblance: float32(least)}})
				continue
			}
		}
		open = append(open, q)
	}
	for _, c := range all {
		p.g.put(c.Pair, c.neighbour)
	}
	p.g.sort()
	return open
}

// implied is the least resemblance by the LCS that a pair has by the verdicts
// against another document; 0 if these say nothing.
func (p *planner) implied(q Pair, centre int32) float64 {
	a, known := p.g.get(q.A, centre)
	b, alsoKnown := p.g.get(q.B, centre)
	if !known || !alsoKnown || !a.near || !b.near || a.implied || b.implied {
		return 0
	}
	return float64(a.resemblance) + float64(b.resemblance) - 1
}

// nearest looks for the document of each cluster that is nearest to all others,
// as trimed does (Newling, Fleuret: A sub-quadratic exact medoid algorithm,
// AISTATS 2017): what a document is away from all others in sum is at least the
// sum of the differences between its distance from a third and theirs. The one
// that could be nearest by that is verified against all, again and again, unless
// none could.
func (p *planner) nearest(s *search) error {
	s.recentre()
	for round := 0; ; round++ {
		var pairs []Pair
		for _, k := range s.clusters {
			if round >= maxCandidates && len(k.members) > small {
				continue
			}
			if c, ok := p.nearer(k); ok {
				for _, x := range k.members {
					pairs = append(pairs, NewPair(x, c))
				}
			}
		}
		if len(pairs) == 0 {
			return nil
		}
		before := p.verified
		if err := p.ask(pairs); err != nil || p.verified == before {
			return err
		}
		s.recentre()
	}
}

// nearer gives the member that could be nearer to all others than the centre is.
func (p *planner) nearer(k cluster) (int32, bool) {
	m := slices.Sorted(slices.Values(k.members))
	if len(m) < 3 {
		return 0, false
	}
	bound := make([]float64, len(m)) // by member, the least sum of distances
	least := 0.0                     // sum of distances of the centre
	away := make([]float64, len(m))
	for _, third := range m {
		if !p.g.knows(third, m, away) {
			continue
		}
		sum := 0.0
		for _, d := range away {
			sum += d
		}
		if third == k.centre {
			least = sum
		}
		for i, total := range differences(away) {
			bound[i] = max(bound[i], total)
		}
		at, _ := slices.BinarySearch(m, third)
		bound[at] = math.Inf(1) // it was verified against all: it is the centre or none
	}
	best := 0
	for i := range m {
		if bound[i] < bound[best] {
			best = i
		}
	}
	return m[best], bound[best] < least-1e-6
}

// knows sets away to the distances of a document from each of the others; it is
// false if one of them was not verified.
func (g *graph) knows(x int32, others []int32, away []float64) bool {
	if len(g.of[x]) < len(others)-1 {
		return false
	}
	for i, y := range others {
		if away[i] = 0; x == y {
			continue
		}
		n, ok := g.get(x, y)
		if !ok || n.implied {
			return false
		}
		away[i] = 1
		if n.near {
			away[i] = 1 - float64(n.resemblance)
		}
	}
	return true
}

// differences gives for each number the sum of its differences from all.
func differences(numbers []float64) []float64 {
	order := make([]int, len(numbers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
	total := 0.0
	for _, x := range numbers {
		total += x
	}
	out := make([]float64, len(numbers))
	below := 0.0
	for i, at := range order {
		x := numbers[at]
		above := total - below - x
		out[at] = x*float64(i) - below + above - x*float64(len(numbers)-1-i)
		below += x
	}
	return out
}
