package dataflow

import (
	"iter"
	"slices"

	"neardup/cluster"
	"neardup/cluster/partition"
	"neardup/configs"
	"neardup/pipeline/closing"
	"neardup/pipeline/extsort"
	"neardup/pipeline/rows"
)

// Component is a connected component of texts under links.
type Component struct {
	Keys   []cluster.Key // from the largest down
	Links  []partition.Link
	Scores []rows.Score // scores of the links: the text of the smaller key as seen from the other
}

// Components yields the components of the near pairs that link texts, by their
// largest keys, from the largest down. Those of more than max_links links it gives to
// large instead. Pairs come as closing.ByComponent takes them.
func Components(dir string, near iter.Seq2[rows.Link, error], c configs.Verify, large *Large) iter.Seq2[Component, error] {
	return componentsOf(closing.ByComponent(dir, closing.Linking(near, c)), c, large)
}

// ComponentsOf yields the components whose rows come sorted, each row once, as Components
// does.
func ComponentsOf(sorted iter.Seq2[extsort.Entry, error], c configs.Verify, large *Large) iter.Seq2[Component, error] {
	return componentsOf(closing.TiedLinks(sorted), c, large)
}

// componentsOf yields the components of links that are sorted by them.
func componentsOf(sorted iter.Seq2[closing.Tied, error], c configs.Verify, large *Large) iter.Seq2[Component, error] {
	return func(yield func(Component, error) bool) {
		var links []closing.Tied // of one component; none of one that is large
		var last cluster.Key
		n := 0 // its links
		for l, err := range sorted {
			if n > 0 && err == nil && l.Component != last {
				if len(links) > 0 && !yield(componentOf(links), nil) {
					return
				}
				links, n = links[:0], 0
			}
			if last, n = l.Component, n+1; err == nil && c.Partition.TooLarge(n) {
				err = large.add(append(links, l)...)
				links = links[:0]
			} else {
				links = append(links, l)
			}
			if err != nil {
				yield(Component{}, err)
				return
			}
		}
		if len(links) > 0 {
			yield(componentOf(links), nil)
		}
	}
}

// componentOf returns the component with these links, which are sorted.
func componentOf(links []closing.Tied) (c Component) {
	for _, l := range links {
		c.Keys = append(c.Keys, l.Leader, l.Member)
	}
	slices.SortFunc(c.Keys, cluster.Key.Compare)
	c.Keys = slices.Clip(slices.Compact(c.Keys))
	place := func(k cluster.Key) int32 {
		i, _ := slices.BinarySearchFunc(c.Keys, k, cluster.Key.Compare)
		return int32(i)
	}
	for _, l := range links {
		c.Links = append(c.Links, partition.Link{Pair: partition.Pair{A: place(l.Leader), B: place(l.Member)}, Resemblance: l.Score.Resemblance})
		c.Scores = append(c.Scores, l.Score)
	}
	return c
}
