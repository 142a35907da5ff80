package partition

import (
	"cmp"
	"container/heap"
	"slices"
)

// search holds a partition and improves it.
type search struct {
	g        *graph
	label    []int32 // cluster of each document
	clusters []cluster
	sums     map[int32]int64 // scratch: of each cluster, the sum of a document's pairs with its members
	large    int             // a cluster of more documents takes another document only through its centre, or the work would grow with the square
}

// cluster has its members in no order. A cluster without members is not in use.
type cluster struct {
	centre  int32
	members []int32
}

// stars returns the partition to begin with. Repeatedly, it takes the document that
// is near most of the documents that are left, together with these; among equals,
// the one with the greatest sum of resemblances, then the largest key.
func stars(g *graph, large int) *search {
	n := len(g.of)
	s := &search{g: g, label: make([]int32, n), sums: map[int32]int64{}, large: large}
	q := &starQueue{stars: make([]star, 0, n)}
	current := make([]star, n)
	for x := range g.of {
		s.label[x] = -1
		current[x] = star{centre: int32(x)}
		for _, y := range g.of[x] {
			if y.near && !y.implied {
				current[x].members++
				current[x].resemblance += float64(y.resemblance)
			}
		}
		q.stars = append(q.stars, current[x])
	}
	heap.Init(q)
	for len(q.stars) > 0 {
		top := heap.Pop(q).(star)
		c := top.centre
		if s.label[c] >= 0 {
			continue
		}
		// Members taken meanwhile make a star smaller, so it goes back into the
		// queue.
		now := star{centre: c}
		for _, y := range g.of[c] {
			if y.near && !y.implied && s.label[y.to] < 0 {
				now.members++
				now.resemblance += float64(y.resemblance)
			}
		}
		if now != top {
			heap.Push(q, now)
			continue
		}
		id := int32(len(s.clusters))
		k := cluster{centre: c, members: []int32{c}}
		s.label[c] = id
		for _, y := range g.of[c] {
			if y.near && !y.implied && s.label[y.to] < 0 {
				s.label[y.to] = id
				k.members = append(k.members, y.to)
			}
		}
		s.clusters = append(s.clusters, k)
	}
	return s
}

// singles returns the partition in which every document stands alone.
func singles(g *graph, large int) *search {
	s := &search{g: g, sums: map[int32]int64{}, large: large}
	for x := range g.of {
		s.label = append(s.label, int32(x))
		s.clusters = append(s.clusters, cluster{centre: int32(x), members: []int32{int32(x)}})
	}
	return s
}

type star struct {
	centre      int32
	members     int
	resemblance float64
}

type starQueue struct{ stars []star }

func (q *starQueue) Len() int      { return len(q.stars) }
func (q *starQueue) Swap(i, j int) { q.stars[i], q.stars[j] = q.stars[j], q.stars[i] }
func (q *starQueue) Push(x any)    { q.stars = append(q.stars, x.(star)) }
func (q *starQueue) Less(i, j int) bool {
	a, b := q.stars[i], q.stars[j]
	return cmp.Or(cmp.Compare(b.members, a.members), cmp.Compare(b.resemblance, a.resemblance), cmp.Compare(a.centre, b.centre)) < 0
}

func (q *starQueue) Pop() any {
	last := q.stars[len(q.stars)-1]
	q.stars = q.stars[:len(q.stars)-1]
	return last
}

// sum returns the partition's sum, in units.
func (s *search) sum() (sum int64) {
	for x, all := range s.g.of {
		for _, y := range all {
			if int(y.to) > x && s.label[y.to] == s.label[x] {
				sum += s.g.weight(y)
			}
		}
	}
	return sum
}

// climb improves the partition until neither moving one document nor uniting two
// clusters raises the sum. It reports whether it improved anything. It ends because
// each step raises the sum, and there are finitely many sums.
func (s *search) climb() (better bool) {
	for {
		moved := false
		for x := range int32(len(s.label)) {
			moved = s.move(x) || moved
		}
		if !moved && !s.unite() {
			return better
		}
		better = true
	}
}

// move moves x to the cluster where it adds the most, if that is more than in its
// own. It reports whether it did.
func (s *search) move(x int32) bool {
	from := s.label[x]
	clear(s.sums)
	var near []int32 // clusters with documents that x is near
	for _, y := range s.g.of[x] {
		to := s.label[y.to]
		s.sums[to] += s.g.weight(y)
		if y.near && to != from {
			near = append(near, to)
		}
	}
	alone := len(s.clusters[from].members) == 1
	best, target, centre := s.sums[from], from, int32(-1)
	if !alone && best < 0 {
		best, target, centre = 0, -1, x
	}
	slices.SortFunc(near, func(a, b int32) int { return cmp.Compare(s.clusters[a].centre, s.clusters[b].centre) })
	for _, to := range slices.Compact(near) {
		if s.sums[to] <= best {
			continue
		}
		if c, ok := s.centreWith(to, x); ok {
			best, target, centre = s.sums[to], to, c
		}
	}
	if target == from {
		return false
	}
	left := slices.DeleteFunc(slices.Clone(s.clusters[from].members), func(m int32) bool { return m == x })
	stays := s.clusters[from].centre
	if stays == x && len(left) > 0 {
		var ok bool
		if stays, ok = s.centreOf(left); !ok {
			return false // the rest would have no representative
		}
	}
	s.clusters[from] = cluster{stays, left}
	if target < 0 {
		target = s.added()
	}
	s.clusters[target].members = append(s.clusters[target].members, x)
	s.clusters[target].centre = centre
	s.label[x] = target
	return true
}

// added returns a new cluster.
func (s *search) added() int32 {
	s.clusters = append(s.clusters, cluster{})
	return int32(len(s.clusters) - 1)
}

// centreWith returns a document that is near all others of a cluster and x. ok is
// false if there is none.
func (s *search) centreWith(to, x int32) (int32, bool) {
	k := s.clusters[to]
	if s.g.verifiedNear(k.centre, x) {
		return k.centre, true
	}
	if len(k.members) >= s.large {
		return 0, false
	}
	return s.centreOf(append(slices.Clone(k.members), x))
}

// centreOf returns the centre of members: of those verified to be near each of the
// others, the one with the greatest sum of resemblances, then the largest key. ok
// is false if there is none.
func (s *search) centreOf(members []int32) (centre int32, ok bool) {
	in := make(map[int32]bool, len(members))
	for _, m := range members {
		in[m] = true
	}
	var best float64
	for _, m := range members {
		if len(s.g.of[m]) < len(members)-1 {
			continue
		}
		n, sum := 1, 0.0
		for _, y := range s.g.of[m] {
			if y.near && !y.implied && in[y.to] {
				n++
				sum += float64(y.resemblance)
			}
		}
		if n == len(members) && (!ok || sum > best || sum == best && m < centre) {
			centre, best, ok = m, sum, true
		}
	}
	return centre, ok
}

// union is a pair of clusters, by their centres, with more known pairs for their
// union than against it.
type union struct {
	Pair
	gain int64
}

// unions returns all of them, those that add the most first.
func (s *search) unions() []union {
	between := map[Pair]int64{}
	for x, all := range s.g.of {
		for _, y := range all {
			if a, b := s.label[x], s.label[y.to]; int(y.to) > x && a != b {
				between[NewPair(s.clusters[a].centre, s.clusters[b].centre)] += s.g.weight(y)
			}
		}
	}
	var unions []union
	for p, gain := range between {
		if gain > 0 {
			unions = append(unions, union{p, gain})
		}
	}
	slices.SortFunc(unions, func(a, b union) int { return cmp.Or(cmp.Compare(b.gain, a.gain), a.compare(b.Pair)) })
	return unions
}

// unite unites pairs of clusters for which some document was verified to be near
// all others. It reports whether there was such a pair.
func (s *search) unite() (united bool) {
	done := map[int32]bool{} // clusters that have changed
	for _, u := range s.unions() {
		a, b := s.label[u.A], s.label[u.B]
		if done[a] || done[b] {
			continue
		}
		all := slices.Concat(s.clusters[a].members, s.clusters[b].members)
		centre, ok := s.centreOf(all)
		if !ok {
			continue
		}
		for _, m := range s.clusters[b].members {
			s.label[m] = a
		}
		s.clusters[a], s.clusters[b] = cluster{centre, all}, cluster{}
		done[a], done[b], united = true, true, true
	}
	return united
}

// recentre makes the document that is nearest to all others the centre of each
// cluster.
func (s *search) recentre() {
	for i, k := range s.clusters {
		if len(k.members) > 1 {
			if c, ok := s.centreOf(k.members); ok {
				s.clusters[i].centre = c
			}
		}
	}
}
