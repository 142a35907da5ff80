package dataflow

import (
	"iter"

	"neardup/cluster"
	"neardup/configs"
	"neardup/signature"
)

// Edge is an edge of a signature's list.
type Edge struct {
	cluster.Edge
	Signature signature.Signature
}

// EdgeSink takes what Edges makes of signature lists.
type EdgeSink struct {
	Edge func(Edge) error
	// Whole is called with the first signature of which no edge was emitted; all
	// lists before it are whole, and are counted by counts.
	Whole func(next signature.Signature, counts cluster.ListCounts) error
}

// Edges makes edges of postings, which come by signature, and returns the counts of
// all lists. concentrated reports whether the members of a list stand on few sites.
func Edges(postings iter.Seq2[cluster.Posting, error], c configs.Cluster, concentrated func([]cluster.Key) (bool, error), to EdgeSink) (cluster.ListCounts, error) {
	options := cluster.ListOptions{MaxList: c.MaxList, SiteList: c.SiteList}
	if c.Pairs() {
		options.AllPairs = c.AllPairs
	}
	var list signature.Signature // of the edges that come
	lists := cluster.NewLists(options, concentrated, func(e cluster.Edge) error { return to.Edge(Edge{e, list}) })
	read := int64(0)
	for p, err := range postings {
		if err != nil {
			return lists.Counts(), err
		}
		if err := lists.Add(p); err != nil {
			return lists.Counts(), err
		}
		list = p.Signature
		if lists.Counts().Postings == read { // p is the first of its list
			if err := to.Whole(list, lists.Counts()); err != nil {
				return lists.Counts(), err
			}
		}
		read++
	}
	err := lists.Flush()
	return lists.Counts(), err
}

// Sets makes perhaps-similar sets of edges, as the config's reading of merging
// says. Edges come by representative, then member; so do members, by their sets.
func Sets(edges iter.Seq2[cluster.Edge, error], c configs.Cluster, memory cluster.Memory, emit func(cluster.Membership) error) error {
	if c.Merge == configs.MergeDirect {
		return cluster.MergeDirect(edges, memory, emit)
	}
	return cluster.MergeFollowing(edges, memory, emit)
}

// Tally emits the pairs that have enough signatures in common: the counting of the
// lecture on near-duplicates, over sorted <document, document> pairs (slide
// "Algorithm used"). Edges come by pair, one for each common signature. It returns
// the number of different pairs.
func Tally(edges iter.Seq2[cluster.Edge, error], common int, emit func(cluster.Edge) error) (different int64, err error) {
	var last cluster.Edge
	n := 0
	for e, err := range edges {
		if err != nil {
			return different, err
		}
		if e != last || different == 0 {
			last, n = e, 0
			different++
		}
		if n++; n == common {
			if err := emit(e); err != nil {
				return different, err
			}
		}
	}
	return different, nil
}
