package compare

import (
	"cmp"
	"hash/fnv"
	"slices"
	"sort"
)

// perCluster limits the texts of a cluster, and also the judged ones, among which
// Pairs looks for disputed pairs. So a large cluster costs no more than a small
// one.
const perCluster = 16

// Pair is a pair of texts, the smaller number first. A text with itself stands for
// two of its pages.
type Pair [2]int32

// Dispute holds two clusterings and what is known about the texts.
type Dispute struct {
	Joins, Parts Clustering            // the clustering that joins a pair, and the one that does not
	Pages        []int32               // number of pages of each text
	IDs          [][16]byte            // ID of each text, ascending
	Judged       func(text int32) bool // reports whether the text has a labelled page
	Labelled     func(Pair) bool       // reports whether the truth labels the pair
}

// disputedPair is a disputed pair with its rank.
type disputedPair struct {
	pair     Pair
	labelled bool
	turn     int // number of pairs of its cluster that come before it
	hash     uint64
}

func compareDisputed(a, b disputedPair) int {
	return cmp.Or(-compareBool(a.labelled, b.labelled), cmp.Compare(a.turn, b.turn), cmp.Compare(a.hash, b.hash),
		slices.Compare(a.pair[:], b.pair[:]))
}

// compareBool compares booleans, false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Pairs returns at most n pairs that one clustering joins and the other does not.
// Labelled pairs come first. Then one pair of each cluster comes before a second of
// any, ordered by a hash of their IDs. It considers only pairs among a few texts of
// a cluster, but finds at least one if there are any.
func (d Dispute) Pairs(n int) []Pair {
	var found []disputedPair
	keep := func() {
		sort.Slice(found, func(i, j int) bool { return compareDisputed(found[i], found[j]) < 0 })
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
	sort.Slice(out, func(i, j int) bool { return compareDisputed(out[i], out[j]) < 0 })
	out = out[:min(n, len(out))]
	for turn := range out {
		out[turn].turn = turn
	}
	return out
}

// some returns a few texts of a cluster, and a few judged ones, ascending. It takes
// them in turn from the clusters into which the other clustering splits them.
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
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.text, b.text)) < 0
	})
	turns := map[int32]int{}
	for at := range all {
		if k := d.Parts[all[at].text]; k != None { // a text without a cluster is a cluster of its own
			all[at].turn = turns[k]
			turns[k]++
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Compare(a.turn, b.turn) < 0
	})
	var out []int32
	for _, p := range all[:min(perCluster, len(all))] {
		out = append(out, p.text)
	}
	return out
}

// hash orders texts and pairs independently of their content.
func (d Dispute) hash(texts ...int32) uint64 {
	h := fnv.New64a()
	for _, i := range texts {
		_, _ = h.Write(d.IDs[i][:])
	}
	return h.Sum64()
}
