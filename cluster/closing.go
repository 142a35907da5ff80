package cluster

import (
	"errors"
	"iter"
	"math"
	"slices"
)

// Link is a pair of documents that were verified to be near-duplicates. Leader has
// the larger key.
type Link struct{ Leader, Member Key }

// Assignment puts a document into the cluster of a representative, because of the
// verdict on it and Against. If Against is another member, the document is only
// "linked". A representative is not assigned to its own cluster.
type Assignment struct{ Cluster, Member, Against Key }

// CloseRepresentative makes clusters whose members were all verified against the
// representative. It departs from the paper, which takes similarity as transitive
// and names the chains of small changes that this brings as its fourth source of
// false positives. This closing has no chains. It goes down the keys: a document
// joins the largest representative that it has a link to, otherwise it is a
// representative. So a document linked only to documents that have joined others
// stands alone.
//
// Links must be sorted by Leader, then Member, from the largest key down;
// repetitions are ignored. Assignments come by Cluster, then Member, from the
// largest down. CloseRepresentative reads links once, with two queues of
// messages, each with the given memory: one as in MergeDirect, one that sorts the
// outcome.
func CloseRepresentative(links iter.Seq2[Link, error], memory Memory, emit func(Assignment) error) (err error) {
	emit = emitting("assignment", emit)
	joined := newQueue(memory)
	defer func() {
		if closed := joined.close(); err == nil {
			err = closed
		}
	}()
	err = sweep("link", edges(links), memory, visitor{
		key: func(x, representative Key, ok bool) (Key, bool, error) {
			if ok {
				return Key{}, false, joined.push(Message{To: representative, Value: x})
			}
			return x, true, nil
		},
	})
	if err != nil {
		return err
	}
	for _, ok := joined.next(); ok; _, ok = joined.next() {
		m, err := joined.pop()
		if err != nil {
			return err
		}
		if err := emit(Assignment{Cluster: m.To, Member: m.Value, Against: m.To}); err != nil {
			return err
		}
	}
	return nil
}

// CloseTransitive takes similarity as transitive, as the paper does: clusters
// are the connected components, and the largest key represents each. Against
// is a document's predecessor in a breadth-first search from the representative
// that takes neighbours from the largest key down. So the evidence leads to the
// representative in as few verdicts as possible.
//
// Links and assignments have the orders of CloseRepresentative. The graph is in
// memory: less than 100 bytes for each document and 20 for each link.
func CloseTransitive(links iter.Seq2[Link, error], emit func(Assignment) error) error {
	emit = emitting("assignment", emit)
	g, err := newGraph(links)
	if err != nil {
		return err
	}
	const unseen = -1
	against := make([]int32, len(g.keys))
	for i := range against {
		against[i] = unseen
	}
	var component []int32 // in the order of the search, then of the keys
	for root := range int32(len(g.keys)) {
		if against[root] != unseen {
			continue
		}
		against[root] = root
		component = append(component[:0], root)
		for i := 0; i < len(component); i++ {
			for _, n := range g.neighbours(component[i]) {
				if against[n] == unseen {
					against[n] = component[i]
					component = append(component, n)
				}
			}
		}
		slices.Sort(component)
		for _, m := range component[1:] {
			if err := emit(Assignment{Cluster: g.keys[root], Member: g.keys[m], Against: g.keys[against[m]]}); err != nil {
				return err
			}
		}
	}
	return nil
}

// graph has documents numbered from the largest key down, and each one's
// neighbours in that order, all in one slice.
type graph struct {
	keys  []Key
	first []int // start of each document's neighbours, and the end
	to    []int32
}

func (g *graph) neighbours(i int32) []int32 { return g.to[g.first[i]:g.first[i+1]] }

func newGraph(links iter.Seq2[Link, error]) (*graph, error) {
	keys, pairs, err := number(links)
	if err != nil {
		return nil, err
	}
	g := &graph{keys: keys, first: make([]int, len(keys)+1), to: make([]int32, 2*len(pairs))}
	for _, p := range pairs {
		g.first[p[0]]++
		g.first[p[1]]++
	}
	for i, sum := 0, 0; i < len(g.first); i++ {
		g.first[i], sum = sum, sum+g.first[i]
	}
	// Pairs are sorted, so those in which a document is the member come before
	// those in which it leads: its neighbours arrive from the largest down.
	for _, p := range pairs {
		for i, at := range p {
			g.to[g.first[at]] = p[1-i]
			g.first[at]++
		}
	}
	copy(g.first[1:], g.first) // each had moved to the start of the next
	g.first[0] = 0
	return g, nil
}

// number reads links as pairs of dense numbers, in the order of the keys.
func number(links iter.Seq2[Link, error]) (keys []Key, pairs [][2]int32, err error) {
	numbers := map[Key]int32{} // first in order of appearance
	of := func(k Key) int32 {
		n, ok := numbers[k]
		if !ok {
			n = int32(len(keys))
			numbers[k] = n
			keys = append(keys, k)
		}
		return n
	}
	for e, err := range ordered("link", edges(links)) {
		if err != nil {
			return nil, nil, err
		}
		if len(keys) > math.MaxInt32-2 {
			return nil, nil, errors.New("cluster: more than 2^31 documents have links")
		}
		pairs = append(pairs, [2]int32{of(e.Rep), of(e.Member)})
	}
	slices.SortFunc(keys, Key.Compare)
	rank := make([]int32, len(keys))
	for i, k := range keys {
		rank[numbers[k]] = int32(i)
	}
	for i, p := range pairs {
		pairs[i] = [2]int32{rank[p[0]], rank[p[1]]}
	}
	return keys, pairs, nil
}

// edges returns links as edges.
func edges(links iter.Seq2[Link, error]) iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		for l, err := range links {
			if !yield(Edge{Rep: l.Leader, Member: l.Member}, err) {
				return
			}
		}
	}
}
