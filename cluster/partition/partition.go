// Package partition parts documents into clusters so that these agree best with
// the verdicts on pairs: correlation clustering (Bansal, Blum, Chawla: Machine
// Learning 56, 2004) with one condition more, that a cluster has a
// representative to which every other member was verified to be near. None of
// the project's papers has it. The TLCS paper takes similarity as transitive,
// which joins what many small changes have led apart; clusters around the
// largest key cut a series of versions wherever that key happens to stand.
//
// A near pair in one cluster counts 1 for the partition, a pair in one cluster
// that was verified not to be near counts Against against it, and the partition
// with the greatest sum is wanted. Finding it is NP-hard. Search begins with the
// largest stars of near pairs, moves one document or unites two clusters as long
// as the sum rises, and ends where no such move is left; so sums are whole
// numbers, and the outcome depends on the verdicts alone.
//
// Documents that near pairs tie together are a component. One of at most Whole
// documents is verified pair by pair. In a larger one each document is verified
// against a bounded number of others, so that the work follows the number of
// documents; and no component costs more than its budget.
package partition

import (
	"fmt"
	"math"
	"slices"
)

// Verdict is what verification says of a pair.
type Verdict struct {
	Near        bool
	Resemblance float64 // from 0 to 1
}

// Pair is two documents of a component, by their numbers; A < B.
type Pair struct{ A, B int32 }

// NewPair gives the pair of two documents in either order.
func NewPair(a, b int32) Pair { return Pair{min(a, b), max(a, b)} }

func (p Pair) compare(o Pair) int {
	if p.A != o.A {
		return int(p.A) - int(o.A)
	}
	return int(p.B) - int(o.B)
}

// Link is a pair that was verified to be near.
type Link struct {
	Pair
	Resemblance float64
}

// Source verifies the pairs of a component. What it says of a pair must not
// depend on which others it is asked for.
type Source interface {
	// Verify gives the verdicts on the pairs, in their order. It may work on them
	// in parallel. No pair is asked for twice, nor one that is a link.
	Verify(pairs []Pair) ([]Verdict, error)
	// Closest gives for each document at most k of the centres, those that it is
	// worth to verify it against. It is asked in large components only.
	Closest(centres []int32, k int) ([][]int32, error)
}

// Options of a partition.
type Options struct {
	Whole   int     `yaml:"whole" json:"whole"`     // components of at most so many documents are verified pair by pair; at least 2
	Sample  int     `yaml:"sample" json:"sample"`   // in larger ones, centres and members of its cluster that a document is verified against, each; at least 2
	Against float64 `yaml:"against" json:"against"` // what a pair that is not near counts against a cluster, from 0 to 1000
	Implied float64 `yaml:"implied" json:"implied"` // in larger ones, a resemblance from which on a pair is taken to be near if it follows from those with a third; above 1: none is
}

// Validate names the first option that makes no sense.
func (o Options) Validate() error {
	switch {
	case o.Whole < 2:
		return fmt.Errorf("whole: %d, must be at least 2", o.Whole)
	case o.Sample < 2:
		return fmt.Errorf("sample: %d, must be at least 2", o.Sample)
	case !(o.Against >= 0 && o.Against <= 1000):
		return fmt.Errorf("against: %v, must be from 0 to 1000", o.Against)
	case !(o.Implied > 0):
		return fmt.Errorf("implied: %v, must be above 0", o.Implied)
	}
	return nil
}

// searchPairs is how many pairs a document must be allowed for a search to be
// worth it.
const searchPairs = 4

// unit is what a near pair counts.
const unit = 1 << 10

// Outcome is a partition of a component.
type Outcome struct {
	Centre    []int32 // by document, the representative of its cluster; a document that stands alone is its own
	Agreement float64 // near pairs within clusters less Against times the others within them, of the pairs that are known
	Verified  int     // pairs that the source was asked for
}

// Component parts the documents 0 to n-1, numbered from the largest key down,
// which links tie together. Every document is its centre, or the two were
// verified and are near. The outcome does not depend on the order of links. At
// most budget pairs are verified: where that is not enough for a search, clusters
// are stars of links.
// Memory is about 24 bytes a pair that is known and 100 a document.
func Component(n int, links []Link, s Source, o Options, budget int) (Outcome, error) {
	if n == 2 && len(links) > 0 {
		return Outcome{Centre: []int32{0, 0}, Agreement: 1}, nil
	}
	g := newGraph(n, links, int64(math.Round(o.Against*unit)))
	p := planner{g: g, source: s, o: o, budget: budget}
	var best *search
	var err error
	switch {
	case n <= o.Whole && budget >= n*(n-1)/2-len(links):
		best, err = p.whole()
	case budget < searchPairs*n:
		best = stars(g, o.Whole)
		err = p.nearest(best)
	default:
		best, err = p.sampled()
	}
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Centre: make([]int32, n), Agreement: float64(best.sum()) / unit, Verified: p.verified}
	for x := range out.Centre {
		out.Centre[x] = best.clusters[best.label[x]].centre
	}
	return out, nil
}

// neighbour is a document that another was verified against, or is near to by
// what follows from other verdicts.
type neighbour struct {
	to          int32
	near        bool
	implied     bool
	resemblance float32
}

// graph holds the pairs of a component of which a verdict is known.
type graph struct {
	of      [][]neighbour // by document, sorted by the other one
	against int64
}

func newGraph(n int, links []Link, against int64) *graph {
	g := &graph{of: make([][]neighbour, n), against: against}
	for _, l := range links {
		g.put(l.Pair, neighbour{near: true, resemblance: float32(l.Resemblance)})
	}
	g.sort()
	return g
}

// put adds a pair; sort must be called before the graph is asked.
func (g *graph) put(p Pair, what neighbour) {
	what.to = p.B
	g.of[p.A] = append(g.of[p.A], what)
	what.to = p.A
	g.of[p.B] = append(g.of[p.B], what)
}

// sort brings neighbours in order. Of a pair that is there twice a verdict goes
// before what follows from others.
func (g *graph) sort() {
	for x, all := range g.of {
		slices.SortFunc(all, func(a, b neighbour) int {
			switch {
			case a.to != b.to:
				return int(a.to) - int(b.to)
			case a.implied == b.implied:
				return 0
			case b.implied:
				return -1
			}
			return 1
		})
		g.of[x] = slices.CompactFunc(all, func(a, b neighbour) bool { return a.to == b.to })
	}
}

// get gives what is known of a pair.
func (g *graph) get(a, b int32) (neighbour, bool) {
	if len(g.of[a]) > len(g.of[b]) {
		a, b = b, a
	}
	i, found := slices.BinarySearchFunc(g.of[a], b, func(n neighbour, to int32) int { return int(n.to) - int(to) })
	if !found {
		return neighbour{}, false
	}
	return g.of[a][i], true
}

// verifiedNear tells whether the pair was verified to be near.
func (g *graph) verifiedNear(a, b int32) bool {
	n, ok := g.get(a, b)
	return ok && n.near && !n.implied
}

// weight is what a pair counts within a cluster.
func (g *graph) weight(n neighbour) int64 {
	if n.near {
		return unit
	}
	return -g.against
}
