package partition

import (
	"cmp"
	"slices"
)

// planner decides which pairs are verified.
type planner struct {
	g        *graph
	source   Source
	o        Options
	verified int
}

// ask verifies those of the pairs that are not known.
func (p *planner) ask(pairs []Pair) error {
	slices.SortFunc(pairs, Pair.compare)
	pairs = slices.Compact(pairs)
	pairs = slices.DeleteFunc(pairs, func(q Pair) bool {
		n, known := p.g.get(q.A, q.B)
		return q.A == q.B || known && !n.implied
	})
	if len(pairs) == 0 {
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

// whole verifies all pairs and gives the better of two searches.
func (p *planner) whole() (*search, error) {
	n := int32(len(p.g.of))
	var pairs []Pair
	for a := range n {
		for b := a + 1; b < n; b++ {
			pairs = append(pairs, Pair{a, b})
		}
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
	best.recentre()
	return best, nil
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

// Clusters of a large component are united in so many rounds at most, and of two
// so many documents are tried as their representative: what bounds the work.
const (
	maxRounds     = 6
	maxCandidates = 2
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
		pairs = append(pairs, p.likely(s, all, a, b, maxCandidates)...)
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
func (p *planner) likely(s *search, members []int32, a, b int32, candidates int) (pairs []Pair) {
	type candidate struct {
		x    int32
		mean float64
	}
	var all []candidate
	for _, x := range members {
		n, sum := 0, 0.0
		for _, y := range p.g.of[x] {
			if l := s.label[y.to]; l != a && l != b {
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
	for _, c := range all[:min(candidates, len(all))] {
		for _, x := range members {
			pairs = append(pairs, NewPair(x, c.x))
		}
	}
	return pairs
}

// sample verifies each document against some of its cluster, those at even
// distances in the order of the members, unless it follows from the verdicts
// against the centre that the two are near: 1 less the resemblance by the LCS
// is a metric (the Steinhaus transform of the edit distance), and the
// resemblance of a near pair is at most that by the LCS.
func (p *planner) sample(s *search) error {
	type conclusion struct {
		Pair
		neighbour
	}
	var pairs []Pair
	var implied []conclusion
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
				q := NewPair(x, m[(i+step)%len(m)])
				if least := p.implied(q, k.centre); least >= p.o.Implied {
					implied = append(implied, conclusion{q, neighbour{near: true, implied: true, resemblance: float32(least)}})
				} else {
					pairs = append(pairs, q)
				}
			}
		}
	}
	for _, c := range implied {
		p.g.put(c.Pair, c.neighbour)
	}
	p.g.sort()
	return p.ask(pairs)
}

// implied is the least resemblance by the LCS that a pair has by the verdicts
// against the centre of its cluster; 0 if these say nothing.
func (p *planner) implied(q Pair, centre int32) float64 {
	a, known := p.g.get(q.A, centre)
	b, alsoKnown := p.g.get(q.B, centre)
	if !known || !alsoKnown || !a.near || !b.near || a.implied || b.implied {
		return 0
	}
	return float64(a.resemblance) + float64(b.resemblance) - 1
}

// nearest looks for a better representative of each cluster: the document that
// is likely to be nearest to all is verified against all.
func (p *planner) nearest(s *search) error {
	var pairs []Pair
	for i, k := range s.clusters {
		if len(k.members) < 3 {
			continue
		}
		pairs = append(pairs, p.likely(s, k.members, int32(i), int32(i), 1)...)
	}
	if err := p.ask(pairs); err != nil {
		return err
	}
	s.recentre()
	return nil
}
