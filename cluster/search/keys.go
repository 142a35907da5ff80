package search

import (
	"context"
	"fmt"
	"iter"

	"neardup/cluster"
	"neardup/signature"
)

// Keys holds the settings of the search for texts that share signatures.
type Keys struct {
	MaxList   int     `yaml:"max_list" json:"max_list"`
	SiteList  int     `yaml:"site_list" json:"site_list"`
	Sites     int     `yaml:"sites" json:"sites"`
	SiteShare float64 `yaml:"site_share" json:"site_share"`
	Merge     string  `yaml:"merge" json:"merge"`
	AllPairs  int     `yaml:"all_pairs" json:"all_pairs"` // with MergePairs, as Common
	Common    int     `yaml:"common" json:"common"`
}

// How lists are merged (cluster.MergeLists).
const (
	MergeLists     = "lists"
	MergeDirect    = "direct"
	MergeFollowing = "following"
	MergePairs     = "pairs" // not at all: the pairs of a list are candidates
)

// Validate returns an error that names the first invalid setting.
func (k Keys) Validate() error {
	switch {
	case k.MaxList < 2:
		return fmt.Errorf("max_list: %d is under 2", k.MaxList)
	case k.SiteList < 0:
		return fmt.Errorf("site_list: %d is negative", k.SiteList)
	case k.Sites < 1:
		return fmt.Errorf("sites: %d is under 1", k.Sites)
	case !(k.SiteShare > 0 && k.SiteShare <= 1):
		return fmt.Errorf("site_share: %v is not in (0, 1]", k.SiteShare)
	case k.Merge != MergeLists && k.Merge != MergeDirect && k.Merge != MergeFollowing && k.Merge != MergePairs:
		return fmt.Errorf("merge: %q is neither %s, %s, %s nor %s", k.Merge, MergeLists, MergeDirect, MergeFollowing, MergePairs)
	case k.AllPairs < 0:
		return fmt.Errorf("all_pairs: %d is negative", k.AllPairs)
	case k.Common < 1:
		return fmt.Errorf("common: %d is under 1", k.Common)
	case k.Common > 1 && k.Merge != MergePairs:
		return fmt.Errorf("common: %d needs merge: %s", k.Common, MergePairs)
	}
	return nil
}

// keys implements Search for Keys. It is a type of its own so that a config can
// embed Keys without these methods.
type keys struct{ Keys }

// NewKeys returns the search for texts that share signatures.
func NewKeys(k Keys) Search {
	if k.Merge == MergePairs {
		return keys{k}
	}
	return merged{keys{k}}
}

// Emits implements Search.
func (k keys) Emits() Kind {
	if k.Merge == MergePairs {
		return Pairs
	}
	return Sets
}

const edgeSize = 2 * cluster.KeySize

// RowSize implements Mapper. A row is an edge: the representative of a list and
// another member. If common signatures are counted, each of them gives a row, which
// ends with the signature. Otherwise equal edges of several lists are one row.
func (k keys) RowSize() int {
	if k.Common > 1 {
		return edgeSize + len(signature.Signature{})
	}
	return edgeSize
}

func (k keys) options() cluster.ListOptions {
	return cluster.ListOptions{MaxList: k.MaxList, SiteList: k.SiteList}
}

// Map emits the edges of signature lists.
func (k keys) Map(in Input, out RowSink, c *Counts) error {
	options := k.options()
	if k.Merge == MergePairs {
		options.AllPairs = k.AllPairs
	}
	var list signature.Signature // signature of the edges being emitted
	row := make([]byte, 0, k.RowSize())
	lists := cluster.NewLists(options, in.Concentrated, func(e cluster.Edge) error {
		row = append(append(row[:0], e.Rep[:]...), e.Member[:]...)
		row = append(row, list[:k.RowSize()-edgeSize]...)
		return out.Row(row)
	})
	lists.Long(out.Long)
	before := c.ListCounts
	count := func() {
		c.ListCounts = before
		c.Add(lists.Counts())
	}
	read := int64(0)
	for p, err := range in.Postings {
		if err != nil {
			return err
		}
		if err := lists.Add(p); err != nil {
			return err
		}
		list = p.Signature
		if lists.Counts().Postings == read { // p begins a new list
			count()
			if err := out.Whole(list); err != nil {
				return err
			}
		}
		read++
	}
	err := lists.Flush()
	count()
	return err
}

// Find makes perhaps-similar sets from edges by the chosen merging, or emits the
// pairs that share enough lists.
func (k keys) Find(_ context.Context, in Input, out Sink, c *Counts) (err error) {
	edges := k.edges(in.Rows)
	if k.Merge == MergePairs {
		c.Edges, err = tally(edges, k.Common, func(e cluster.Edge) error { return out.Pair(e.Rep, e.Member, 0) })
		return err
	}
	counted := func(yield func(cluster.Edge, error) bool) {
		for e, err := range edges {
			c.Edges++
			if !yield(e, err) {
				return
			}
		}
	}
	merge := cluster.MergeLists
	switch k.Merge {
	case MergeDirect:
		merge = cluster.MergeDirect
	case MergeFollowing:
		merge = cluster.MergeFollowing
	}
	return merge(counted, in.Memory, out.Member)
}

// edges parses rows into edges.
func (k keys) edges(rows iter.Seq2[[]byte, error]) iter.Seq2[cluster.Edge, error] {
	return func(yield func(cluster.Edge, error) bool) {
		for row, err := range rows {
			var e cluster.Edge
			if err == nil && len(row) != k.RowSize() {
				err = fmt.Errorf("search: an edge of %d bytes", len(row))
			}
			if err == nil {
				e.Rep, e.Member = cluster.Key(row[:cluster.KeySize]), cluster.Key(row[cluster.KeySize:edgeSize])
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// tally emits the pairs that have enough signatures in common. It counts as the
// lecture on near-duplicates does (slide "Algorithm used"), over sorted <document,
// document> pairs. Edges come by pair, one for each common signature. tally returns
// the number of distinct pairs.
func tally(edges iter.Seq2[cluster.Edge, error], common int, emit func(cluster.Edge) error) (different int64, err error) {
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

// Meet implements Search.
func (k keys) Meet(t Two) Meeting {
	m := Meeting{Least: 1, Lists: true}
	if k.Merge == MergePairs {
		m.Least = k.Common
	}
	m.Candidates = t.Shared >= m.Least
	return m
}
