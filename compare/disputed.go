package compare

import (
	"cmp"
	"hash/fnv"
	"slices"
)

// perCluster bounds the texts of a cluster among which disputed pairs are looked
// for, and again the judged ones, so that a large cluster costs no more than a
// small one.
const perCluster = 16

// Pair is two texts, the smaller number first; one text twice stands for two of
// its pages.
type Pair [2]int32

// Dispute is two clusterings, and what is known of the texts.
type Dispute struct {
	Joins, Parts Clustering            // the one that joins a pair, and the one that does not
	Pages        []int32               // of each text
	IDs          [][16]byte            // of each text, in ascending order
	Judged       func(text int32) bool // it has a labelled page
	Labelled     func(Pair) bool       // the truth says what they are to each other
}

// disputedPair is a pair on its way into the order.
type disputedPair struct {
	pair     Pair
	labelled bool
	turn     int // pairs of its cluster that come before it
	hash     uint64
}

func compareDisputed(a, b disputedPair) int {
	return cmp.Or(-compareBool(a.labelled, b.labelled), cmp.Compare(a.turn, b.turn), cmp.Compare(a.hash, b.hash),
		slices.Compare(a.pair[:], b.pair[:]))
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Pairs returns at most n pairs that one clustering joins and the other does not:
// labelled pairs first, then one of each cluster before a second of any, by a
// hash of their ids. Of a cluster only pairs among a few texts are looked at,
// but one at least wherever there are some.
func (d Dispute) Pairs(n int) []Pair {
	var found []disputedPair
	keep := func() {
		slices.SortFunc(found, compareDisputed)
		found = found[:min(n, len(found))]
	}
	for cluster := range d.Joins.clusters() {
		found = append(found, d.within(cluster, n)...)
		if len(found) > 1024+2*n {
			keep()
		}
	}
	keep()
	var out []Pair
	for _, f := range found {
		out = append(out, f.pair)
	}
	return out
}

// within returns at most n disputed pairs of a cluster.
func (d Dispute) within(cluster []int32, n int) []disputedPair {
	var out []disputedPair
	add := func(p Pair) {
		out = append(out, disputedPair{pair: p, labelled: d.Labelled(p), hash: d.hash(p[0], p[1])})
	}
	some := d.some(cluster)
	for at, i := range some {
		if d.Parts[i] == None && d.Pages[i] > 1 {
			add(Pair{i, i})
		}
		for _, j := range some[at+1:] {
			if d.Parts[i] == None || d.Parts[i] != d.Parts[j] {
				add(Pair{i, j})
			}
		}
	}
	slices.SortFunc(out, compareDisputed)
	out = out[:min(n, len(out))]
	for turn := range out {
		out[turn].turn = turn
	}
	return out
}

// some returns a few texts of a cluster, and a few judged ones, in ascending
// order: by turns from each cluster that the other clustering has of them.
func (d Dispute) some(cluster []int32) []int32 {
	if len(cluster) <= perCluster {
		return cluster
	}
	var judged []int32
	for _, i := range cluster {
		if d.Judged(i) {
			judged = append(judged, i)
		}
	}
	some := append(d.byTurns(judged), d.byTurns(cluster)...)
	slices.Sort(some)
	return slices.Compact(some)
}

func (d Dispute) byTurns(texts []int32) []int32 {
	type place struct {
		text int32
		turn int
		hash uint64
	}
	all := make([]place, len(texts))
	for at, i := range texts {
		all[at] = place{text: i, hash: d.hash(i)}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.text, b.text)) })
	turns := map[int32]int{}
	for at := range all {
		if k := d.Parts[all[at].text]; k != None { // each text without a cluster is one of its own
			all[at].turn = turns[k]
			turns[k]++
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(a.turn, b.turn) })
	var out []int32
	for _, p := range all[:min(perCluster, len(all))] {
		out = append(out, p.text)
	}
	return out
}

// hash orders texts and pairs in a way that says nothing about them.
func (d Dispute) hash(texts ...int32) uint64 {
	h := fnv.New64a()
	for _, i := range texts {
		_, _ = h.Write(d.IDs[i][:])
	}
	return h.Sum64()
}
