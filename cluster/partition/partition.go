// Package partition divides documents into clusters that agree best with the
// verdicts on pairs. This is correlation clustering (Bansal, Blum, Chawla: Machine
// Learning 56, 2004) with one more condition: every cluster has a representative,
// and every other member was verified to be near it. None of the project's papers
// has this. The TLCS paper takes similarity as transitive, which joins documents
// that many small changes have led apart. Clusters around the largest key cut a
// series of versions wherever that key happens to stand.
//
// A near pair within a cluster adds 1 to the partition's sum. A pair within a
// cluster that was verified not to be near subtracts Against. The partition with
// the greatest sum is wanted. Finding it is NP-hard. The search begins with the
// largest stars of near pairs. It moves one document or unites two clusters as long
// as the sum rises, and ends when no such move is left. Sums are whole numbers, so
// the result depends on the verdicts alone.
//
// Documents that near pairs connect form a component. In a component of at most
// Whole documents every pair is verified. In a larger one each document is verified
// against a bounded number of others, so that the work grows with the number of
// documents. No component costs more than its budget.
package partition

import (
	"fmt"
	"math"
	"slices"
)

// Verdict is the result of verifying a pair.
type Verdict struct {
	Near        bool
	Resemblance float64 // from 0 to 1
}

// Pair is a pair of documents of a component, by their numbers. A < B.
type Pair struct{ A, B int32 }

// NewPair returns the pair of two documents, given in either order.
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

// Source verifies the pairs of a component. Its verdict on a pair must not depend
// on which other pairs it verifies.
type Source interface {
	// Verify returns the verdicts on the pairs, in order. It may work on them in
	// parallel. It is called at most once for each pair, and never for a link.
	Verify(pairs []Pair) ([]Verdict, error)
	// Closest returns for each document at most k of the centres: those that are
	// worth verifying it against. It is called for large components only.
	Closest(centres []int32, k int) ([][]int32, error)
}

// Options are the options of a partition.
type Options struct {
	Whole   int     `yaml:"whole" json:"whole"`     // every pair of components of at most so many documents is verified; at least 2
	Sample  int     `yaml:"sample" json:"sample"`   // in larger components, a document is verified against so many centres and so many members of its cluster; at least 2
	Against float64 `yaml:"against" json:"against"` // what a pair in a cluster that is not near subtracts, from 0 to 1000
	Implied float64 `yaml:"implied" json:"implied"` // in larger components, a pair counts as near if verdicts with a third document imply at least this resemblance; above 1: no pair does
	// A component of more than MaxLinks links is too large, since a search takes memory for
	// each; 0: none is. Callers see to it.
	MaxLinks int `yaml:"max_links" json:"max_links"`
}

// TooLarge reports whether a component of so many links is too large to be partitioned.
func (o Options) TooLarge(links int) bool { return o.MaxLinks > 0 && links > o.MaxLinks }

// Validate returns an error that names the first invalid option.
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
	case o.MaxLinks < 0:
		return fmt.Errorf("max_links: %d is negative", o.MaxLinks)
	}
	return nil
}

// searchPairs is the number of pairs per document that the budget must allow for a
// search to be worthwhile.
const searchPairs = 4

// unit is the weight of a near pair.
const unit = 1 << 10

// Outcome is a partition of a component.
type Outcome struct {
	Centre    []int32 // representative of each document's cluster; a document that stands alone is its own
	Agreement float64 // of the known pairs: near pairs within clusters, less Against times the other pairs within them
	Verified  int     // number of pairs that the source verified
}

// Component partitions the documents 0 to n-1, which are numbered from the largest
// key down and connected by links. Every document is its own centre, or was
// verified to be near its centre. The result does not depend on the order of links.
// At most budget pairs are verified; if that is too few for a search, clusters are
// stars of links. Memory is about 24 bytes for each known pair and 100 for each
// document.
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

// neighbour is a document that another was verified against, or whose nearness to
// it other verdicts imply.
type neighbour struct {
	to          int32
	near        bool
	implied     bool
	resemblance float32
}

// graph holds the pairs of a component whose verdicts are known.
type graph struct {
	of      [][]neighbour // neighbours of each document, sorted by document
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

// put adds a pair. sort must be called before the graph is read.
func (g *graph) put(p Pair, what neighbour) {
	what.to = p.B
	g.of[p.A] = append(g.of[p.A], what)
	what.to = p.A
	g.of[p.B] = append(g.of[p.B], what)
}

// sort sorts the neighbours. If a pair is there twice, its verdict is kept, not
// what other verdicts imply.
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

// get returns what is known about a pair.
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

// verifiedNear reports whether the pair was verified to be near.
func (g *graph) verifiedNear(a, b int32) bool {
	n, ok := g.get(a, b)
	return ok && n.near && !n.implied
}

// weight returns what a pair adds to the sum if it is within a cluster.
func (g *graph) weight(n neighbour) int64 {
	if n.near {
		return unit
	}
	return -g.against
}
