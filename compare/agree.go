package compare

import "iter"

// Clustering holds the cluster of each text, numbered from 0, or None.
type Clustering []int32

// None means no cluster.
const None = -1

// Agreement counts the pairs of pages that the methods A and B join. A method joins
// two pages if it has them in one cluster.
type Agreement struct {
	A       string  `json:"a"`
	B       string  `json:"b"`
	Both    int64   `json:"both"`
	OnlyA   int64   `json:"only_a"`
	OnlyB   int64   `json:"only_b"`
	Jaccard float64 `json:"jaccard"` // share of the pairs that both join, of those that at least one joins; 1 if there are none
}

// NewAgreement returns the agreement from the numbers of pairs that each method
// joins, and that both join.
func NewAgreement(a, b string, joinedA, joinedB, both int64) Agreement {
	g := Agreement{A: a, B: b, Both: both, OnlyA: joinedA - both, OnlyB: joinedB - both, Jaccard: 1}
	if all := joinedA + joinedB - both; all > 0 {
		g.Jaccard = float64(both) / float64(all)
	}
	return g
}

// Joined returns the number of pairs of pages in one cluster; text i has pages[i].
func (c Clustering) Joined(pages []int32) int64 {
	sum := int64(0)
	for cluster := range c.clusters() {
		n := int64(0)
		for _, i := range cluster {
			n += int64(pages[i])
		}
		sum += pairs(n)
	}
	return sum
}

// JoinedByBoth returns the number of pairs of pages that are in one cluster of a
// and in one cluster of b. It sums over the contingency table of the two, so time
// and memory grow with the number of texts, not of pairs.
func JoinedByBoth(a, b Clustering, pages []int32) int64 {
	sum := int64(0)
	common := map[int32]int64{} // pages that a cluster of a and each cluster of b have in common
	for cluster := range a.clusters() {
		clear(common)
		for _, i := range cluster {
			if b[i] != None {
				common[b[i]] += int64(pages[i])
			}
		}
		for _, n := range common {
			sum += pairs(n)
		}
	}
	return sum
}

func pairs(n int64) int64 { return n * (n - 1) / 2 }

// clusters yields the texts of each cluster, in order. A slice is valid until the
// next step.
func (c Clustering) clusters() iter.Seq[[]int32] {
	return func(yield func([]int32) bool) {
		last := int32(None)
		for _, k := range c {
			last = max(last, k)
		}
		ends := make([]int, last+2) // end of the previous cluster
		for _, k := range c {
			if k != None {
				ends[k+1]++
			}
		}
		for k := range last + 1 {
			ends[k+1] += ends[k]
		}
		texts := make([]int32, ends[last+1])
		for i, k := range c {
			if k != None {
				texts[ends[k]] = int32(i)
				ends[k]++
			}
		}
		begin := 0
		for k := range last + 1 {
			if !yield(texts[begin:ends[k]]) {
				return
			}
			begin = ends[k]
		}
	}
}
