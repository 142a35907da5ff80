package partition

import (
	"cmp"
	"math"
	"slices"
)

// planner chooses the pairs that are verified.
type planner struct {
	g        *graph
	source   Source
	o        Options
	budget   int // pairs that may still be verified
	verified int
}

// ask verifies the pairs that are not known. If they exceed the rest of the budget,
// it verifies none.
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

// whole verifies all pairs and returns the better of two searches. If the links
// already imply that all pairs are near, it verifies none.
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

// sampled verifies a sample of the pairs, whose size grows with the number of
// documents: each document against the closest centres of stars of links, and
// against some members of its own star.
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
	// The stars before the search and the clusters after it are sampled alike, so
	// that the members that the search has brought together are verified against
	// each other.
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

// Bounds of the work in a large component: the rounds of uniting clusters, and the
// documents that are tried as representative of one or two clusters that are not
// small.
const (
	maxRounds     = 6
	maxCandidates = 2
	small         = 8
)

// propose verifies the pairs that are needed to unite clusters. For two clusters
// with more known pairs for a union than against it, these are the pairs of the
// documents that are likely to be near all members, with all members, and a sample
// of the pairs between the two. The sample is needed because the known pairs are
// mostly of documents near a centre. A cluster is in at most one such union.
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

// across returns pairs of documents of two clusters: each document of the smaller
// one with half of Sample documents of the other, at even distances.
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

// likely returns the pairs of all members of one or two clusters with the most
// likely representatives: the members with the greatest mean resemblance to the
// members that they were verified against, where a pair that is not near counts 0.
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
		// Adding one pair of resemblance 0 keeps a mean of one or two pairs from
		// winning.
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

// sample verifies each document against some members of its cluster, at even
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

// conclude marks the pairs of one cluster that are near by the verdicts on both
// against the centre, and returns the others. This holds because 1 minus the
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

// implied returns the least resemblance by the LCS that a pair must have by the
// verdicts against another document, or 0 if these imply nothing.
func (p *planner) implied(q Pair, centre int32) float64 {
	a, known := p.g.get(q.A, centre)
	b, alsoKnown := p.g.get(q.B, centre)
	if !known || !alsoKnown || !a.near || !b.near || a.implied || b.implied {
		return 0
	}
	return float64(a.resemblance) + float64(b.resemblance) - 1
}

// nearest finds the document of each cluster that is nearest to all others, as
// trimed does (Newling, Fleuret: A sub-quadratic exact medoid algorithm, AISTATS
// 2017). The sum of a document's distances to all others is at least the sum of the
// differences between its distance to a third document and theirs. The document
// that could be nearest by that bound is verified against all others, again and
// again, until no other could be nearer.
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

// nearer returns the member that could be nearer to all others than the centre is.
// ok is false if none could.
func (p *planner) nearer(k cluster) (int32, bool) {
	m := slices.Sorted(slices.Values(k.members))
	if len(m) < 3 {
		return 0, false
	}
	bound := make([]float64, len(m)) // lower bound of each member's sum of distances
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
		bound[at] = math.Inf(1) // already verified against all others: it is the centre or never will be
	}
	best := 0
	for i := range m {
		if bound[i] < bound[best] {
			best = i
		}
	}
	return m[best], bound[best] < least-1e-6
}

// knows sets away to the distances of a document from each of the others. It
// returns false if one of these pairs was not verified.
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

// differences returns for each number the sum of its absolute differences from all
// numbers.
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
