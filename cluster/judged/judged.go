// Package judged makes clusters follow people's judgements that a pair of pages
// must be in one cluster, or must not be. None of the papers has this. It is known
// as clustering with must-link and cannot-link constraints.
//
// A cluster is a tree of texts: each was verified against another, up to the
// representative. The result depends on the clusters and the set of pairs, not on
// the order in which they are given:
//
//  1. Texts that must be joined form a group. Pairs that are already in one cluster
//     come first, then the others by their texts. A pair is not followed if it would
//     bring two texts that must be apart into one group.
//  2. Clusters that share a group are united whole. The representative with the
//     largest key represents them; that of a single text counts only if there are no
//     others. A breadth-first search by IDs starts from its group and reaches the
//     other groups through the fewest verdicts.
//  3. If two texts that must be apart are together, the group of one leaves, with
//     all groups that were reached through it. If one group was reached through the
//     other, that one leaves; otherwise the one with the smaller key. Pairs that leave
//     no choice go first, then pairs from the search's beginning to its end, then from
//     the largest key down. A pair that is already apart by then moves nothing.
//  4. What left becomes a cluster of its own. The former representative with the
//     largest key represents it; if it has none, the text with the largest key.
//  5. Verdicts inside a cluster stay. A verdict is turned around if the
//     representative is now at its other end. Judged pairs connect what verdicts do
//     not.
package judged

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"

	"neardup/cluster"
)

// Text is a text of a cluster. Cluster is its representative. Against is the text
// that it was verified against; for a representative, itself.
type Text struct{ ID, Cluster, Against cluster.ID }

// Pair is a pair of pages, by their texts: one each, or more if several pages have
// the same name.
type Pair struct {
	A, B []cluster.ID
	Join bool // the clusters must join all of them; otherwise they must keep each of A apart from each of B
}

// Outcome is what happened to a pair.
type Outcome byte

// The outcomes.
const (
	Followed     Outcome = iota
	SameText             // both have the same text, which cannot be separated
	Contradicted         // joining them would join what other pairs keep apart
)

// Clusters are the clusters as the closing rule left them.
type Clusters interface {
	// Of returns the representative of a text's cluster. ok is false if the text is
	// in none.
	Of(text cluster.ID) (representative cluster.ID, ok bool, err error)
	// Texts returns the texts of a cluster.
	Texts(representative cluster.ID) ([]Text, error)
	// Key returns the key of a text.
	Key(text cluster.ID) (cluster.Key, error)
	// Replace puts texts into other clusters. texts are all texts of some clusters,
	// and some that were in none, sorted by Cluster, then ID. A cluster may have a
	// single text.
	Replace(texts []Text) error
}

// Enforce makes the clusters follow the pairs, and returns the outcome of each. It
// reads the texts only of clusters that change or might change. At a time it holds
// the clusters that judged pairs connect, with under 800 bytes for each text. It
// takes n log n steps for n texts. Each pair to be kept apart takes as many steps
// as there are such pairs on its way to the representative.
func Enforce(pairs []Pair, c Clusters) ([]Outcome, error) {
	pairs = slices.Clone(pairs)
	out := make([]Outcome, len(pairs))
	for i, p := range pairs {
		pairs[i] = p.normal()
		same := slices.ContainsFunc(p.A, func(t cluster.ID) bool { return slices.Contains(p.B, t) })
		if !p.Join && same {
			out[i] = SameText
		}
		if len(p.A) == 0 || len(p.B) == 0 || !p.Join && same {
			pairs[i] = Pair{} // same text: nothing to do
		}
	}
	bundles, err := bundle(pairs, c)
	if err != nil {
		return nil, err
	}
	for _, b := range bundles {
		texts := b.single
		for _, representative := range b.clusters {
			of, err := c.Texts(representative)
			if err != nil {
				return nil, err
			}
			texts = append(texts, of...)
		}
		var tied []Pair
		for _, i := range b.pairs {
			tied = append(tied, pairs[i])
		}
		now, outcomes, err := follow(texts, tied, c.Key)
		if err != nil {
			return nil, err
		}
		for i, outcome := range outcomes {
			out[b.pairs[i]] = outcome
		}
		if err := c.Replace(now); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func compareIDs(a, b cluster.ID) int { return bytes.Compare(a[:], b[:]) }

// normal returns the pair with each side sorted and without repeats, and the
// smaller side first.
func (p Pair) normal() Pair {
	for _, side := range []*[]cluster.ID{&p.A, &p.B} {
		*side = slices.Clone(*side)
		sort.Slice(*side, func(i, j int) bool { return compareIDs((*side)[i], (*side)[j]) < 0 })
		*side = slices.Compact(*side)
	}
	if slices.CompareFunc(p.A, p.B, compareIDs) > 0 {
		p.A, p.B = p.B, p.A
	}
	return p
}

func (p Pair) compare(o Pair) int {
	return cmp.Or(slices.CompareFunc(p.A, o.A, compareIDs), slices.CompareFunc(p.B, o.B, compareIDs))
}

// tied holds clusters, and texts in none, that pairs connect, with the indexes of
// the pairs.
type tied struct {
	clusters []cluster.ID
	single   []Text
	pairs    []int
}

// bundle finds what must be handled together: what must be joined, and what must be
// apart within that. Texts that must be apart and that nothing connects need no
// work, nor does a cluster in which nothing must be apart.
func bundle(pairs []Pair, c Clusters) ([]tied, error) {
	var ids []cluster.ID // clusters, and texts in none
	single := map[cluster.ID]bool{}
	number := map[cluster.ID]int32{} // index in ids of each, and of their judged texts
	var s sets
	of := func(t cluster.ID) (int32, error) {
		if n, ok := number[t]; ok {
			return n, nil
		}
		representative, ok, err := c.Of(t)
		if err != nil {
			return 0, err
		}
		if !ok {
			representative = t
			single[t] = true
		}
		n, known := number[representative]
		if !known {
			n = int32(len(ids))
			ids, s = append(ids, representative), append(s, n)
			number[representative] = n
		}
		number[t] = n
		return n, nil
	}
	places := make([][]int32, len(pairs))
	for i, p := range pairs {
		for _, t := range slices.Concat(p.A, p.B) {
			n, err := of(t)
			if err != nil {
				return nil, err
			}
			places[i] = append(places[i], n)
		}
		if p.Join || len(places[i]) > 2 {
			for _, n := range places[i] {
				s.unite(places[i][0], n)
			}
		}
	}
	byRoot := map[int32]*tied{}
	work := map[int32]bool{} // by root
	var roots []int32
	for i, p := range pairs {
		if len(places[i]) == 0 || s.find(places[i][0]) != s.find(places[i][1]) {
			continue
		}
		root := s.find(places[i][0])
		if byRoot[root] == nil {
			byRoot[root] = &tied{}
			roots = append(roots, root)
		}
		byRoot[root].pairs = append(byRoot[root].pairs, i)
		work[root] = work[root] || !p.Join || slices.ContainsFunc(places[i], func(n int32) bool { return n != places[i][0] })
	}
	for n, id := range ids {
		b := byRoot[s.find(int32(n))]
		switch {
		case b == nil:
		case single[id]:
			b.single = append(b.single, Text{id, id, id})
		default:
			b.clusters = append(b.clusters, id)
		}
	}
	var out []tied
	for _, root := range roots {
		if work[root] {
			out = append(out, *byRoot[root])
		}
	}
	return out, nil
}

// follow is Enforce for texts in memory. texts are all texts that the pairs
// concern.
func follow(texts []Text, pairs []Pair, key func(cluster.ID) (cluster.Key, error)) ([]Text, []Outcome, error) {
	f, err := newForest(texts, key)
	if err != nil {
		return nil, nil, err
	}
	groups, links, outcomes, err := f.join(pairs)
	if err != nil {
		return nil, nil, err
	}
	parts, err := f.part(groups, links)
	if err != nil {
		return nil, nil, err
	}
	out, err := f.connect(parts, links)
	return out, outcomes, err
}

// forest numbers texts by their IDs and has the text that each was verified
// against.
type forest struct {
	ids     []cluster.ID
	number  map[cluster.ID]int32
	against []int32
	cluster []int32
	key     func(cluster.ID) (cluster.Key, error)
	keys    map[int32]cluster.Key // keys asked for so far
}

func newForest(texts []Text, key func(cluster.ID) (cluster.Key, error)) (*forest, error) {
	texts = slices.SortedFunc(slices.Values(texts), func(a, b Text) int { return compareIDs(a.ID, b.ID) })
	n := len(texts)
	f := &forest{number: make(map[cluster.ID]int32, n), against: make([]int32, n), cluster: make([]int32, n),
		key: key, keys: map[int32]cluster.Key{}}
	for i, t := range texts {
		f.ids = append(f.ids, t.ID)
		f.number[t.ID] = int32(i)
	}
	for i, t := range texts {
		var known, in bool
		f.against[i], known = f.number[t.Against]
		f.cluster[i], in = f.number[t.Cluster]
		if !known || !in || texts[f.against[i]].Cluster != t.Cluster {
			return nil, fmt.Errorf("judged: text %x is verified against one that is not in its cluster", t.ID)
		}
	}
	return f, nil
}

// larger reports whether a has a larger key than b.
func (f *forest) larger(a, b int32) (bool, error) {
	var keys [2]cluster.Key
	for i, t := range [2]int32{a, b} {
		k, ok := f.keys[t]
		if !ok {
			var err error
			if k, err = f.key(f.ids[t]); err != nil {
				return false, err
			}
			f.keys[t] = k
		}
		keys[i] = k
	}
	return keys[0].Compare(keys[1]) < 0, nil
}

// links returns pairs of texts that connect all texts of a judged pair.
func (f *forest) links(p Pair) (out [][2]int32, err error) {
	var numbers [2][]int32
	for i, side := range [2][]cluster.ID{p.A, p.B} {
		for _, t := range side {
			n, ok := f.number[t]
			if !ok {
				return nil, fmt.Errorf("judged: text %x is not there", t)
			}
			numbers[i] = append(numbers[i], n)
		}
	}
	for _, b := range numbers[1] {
		out = append(out, [2]int32{numbers[0][0], b})
	}
	for _, a := range numbers[0][1:] {
		out = append(out, [2]int32{a, numbers[1][0]})
	}
	return out, nil
}
