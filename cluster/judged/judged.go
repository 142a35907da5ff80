// Package judged makes clusters follow what people judged of pairs of pages:
// that these must join them, or must not. None of the papers has it; elsewhere
// it is known as clustering with must-link and cannot-link constraints.
//
// A cluster is a tree of texts: each was verified against another, up to the
// representative. The outcome depends on the clusters and the set of pairs, not
// on the order in which they are given:
//
//  1. Texts that must be joined are a group. Pairs are taken one after another,
//     those first that are in one cluster already, then by their texts; one that
//     would bring two texts that must be apart into one group is not followed.
//  2. Clusters that share a group are united, whole. The representative with the
//     largest key represents them; that of a single text counts only where there
//     are no others. From its group the other groups are reached by the fewest
//     verdicts, in a breadth-first search that goes by ids.
//  3. Of two texts that must be apart and are together, the group of one leaves,
//     with all that are reached through it: the one that is reached through the
//     other, else the one with the smaller key. Pairs that leave no choice go
//     first, then from the search's beginning to its end, then from the largest
//     key down; a pair that was parted meanwhile moves nothing.
//  4. What left is a cluster of its own. Of the former representatives in it the
//     one with the largest key represents it, else the text with that.
//  5. Verdicts inside a cluster stay, turned around where the representative is
//     now at their other end. What they do not connect, judged pairs do.
package judged

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"neardup/cluster"
)

// Text is a text of a cluster. Cluster is its representative, Against what the
// text was verified against: of a representative, itself.
type Text struct{ ID, Cluster, Against cluster.ID }

// Pair is two pages, by the texts that they have: one each, or more where several
// pages have the same name.
type Pair struct {
	A, B []cluster.ID
	Join bool // the clusters must join them all; else they must keep each of A from each of B
}

// Outcome is what became of a pair.
type Outcome byte

// The outcomes.
const (
	Followed     Outcome = iota
	SameText             // both have one text, which cannot be parted
	Contradicted         // to join them would join what other pairs part
)

// Clusters are the clusters as the closing rule left them.
type Clusters interface {
	// Of gives the representative of a text's cluster; ok is false for a text
	// that is in none.
	Of(text cluster.ID) (representative cluster.ID, ok bool, err error)
	// Texts gives the texts of a cluster.
	Texts(representative cluster.ID) ([]Text, error)
	// Key gives the key of a text.
	Key(text cluster.ID) (cluster.Key, error)
	// Replace puts texts into other clusters. They are all of some clusters, and
	// some that were in none, by Cluster, then ID; a cluster may be of one text.
	Replace(texts []Text) error
}

// Enforce makes the clusters follow the pairs, and says of each what became of
// it. Only clusters that change are asked for their texts, or might: those that
// judged pairs tie together are in memory at a time, with under 800 bytes a text.
// It takes n log n for n texts, and for each pair to be parted as many steps as
// there are such pairs on its way to the representative.
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
			pairs[i] = Pair{} // nothing to do
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

// normal is the pair with sorted texts, each once, and the smaller first.
func (p Pair) normal() Pair {
	for _, side := range []*[]cluster.ID{&p.A, &p.B} {
		*side = slices.Clone(*side)
		slices.SortFunc(*side, compareIDs)
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

// tied are clusters, and texts that are in none, that pairs tie together; the
// pairs by their places.
type tied struct {
	clusters []cluster.ID
	single   []Text
	pairs    []int
}

// bundle finds what has to be looked at together: what must be joined, and in
// that what must be apart. Texts that must be apart and are tied by nothing need
// no look, nor does a cluster in which nothing must be apart.
func bundle(pairs []Pair, c Clusters) ([]tied, error) {
	var ids []cluster.ID // clusters, and texts that are in none
	single := map[cluster.ID]bool{}
	number := map[cluster.ID]int32{} // of each, and of their judged texts
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

// follow is Enforce on texts that are all in memory: all that the pairs speak of.
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

// forest has texts numbered by their ids, and what each was verified against.
type forest struct {
	ids     []cluster.ID
	number  map[cluster.ID]int32
	against []int32
	cluster []int32
	key     func(cluster.ID) (cluster.Key, error)
	keys    map[int32]cluster.Key // those that were asked for
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

// larger tells whether a has the larger key of two texts.
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

// links are pairs of texts of a judged pair that connect all of its texts.
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
