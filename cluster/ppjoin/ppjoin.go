// Package ppjoin finds all pairs of records (sets of tokens) whose similarity is
// at least a threshold. The result is exact, whatever the filters. The package
// follows the PPJoin paper (C. Xiao, W. Wang, X. Lin, J. X. Yu, G. Wang,
// Efficient Similarity Joins for Near Duplicate Detection, TODS 2011; a shorter
// form at WWW 2008), except for its parts about databases:
//
//   - AllPairs: size filter, prefix filter, indexing prefix (3, lemma 4.4);
//   - PPJoin: besides, positional filter and the verification that goes on
//     from the prefixes (4, algorithms 1 and 2), longer prefixes (corollary 4.7);
//   - PPJoin+: besides, suffix filter (5, algorithms 3 to 5);
//   - Jaccard, overlap, cosine, Hamming distance (2.1), edit distance (6.1),
//     weights (6.2, algorithms 6 and 7), two collections (7.4.2).
//
// It departs from the paper in four places:
//
//   - Equal records are joined once. The paper removes them beforehand.
//   - Tokens that no other record has are counted, not kept. The document
//     frequency ordering would put them in front, where they match nothing.
//   - There is a bitmap filter (E. Sandes, G. Teodoro, A. Melo, Bitmap filter:
//     Speeding up exact set similarity joins with bitwise operations,
//     Information Systems 2020).
//   - The index is built before it is probed, so that several workers can
//     probe it.
package ppjoin

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Measure is a similarity of two sets. With weights, the sum of the weights of a
// set's tokens replaces its size.
type Measure int

// The measures of section 2.1. A record without tokens is similar to none.
const (
	Jaccard Measure = iota // |x∩y| / |x∪y|
	Cosine                 // |x∩y| / √(|x||y|); weighted: of the vectors that have a token's weight where it occurs
	Overlap                // |x∩y|, "not normalized"
	Hamming                // |x∪y| - |x∩y|, a distance: the threshold is its maximum; only without weights
	edit                   // q-grams shared; see Edit
)

// Algorithm is a way to find candidates.
type Algorithm int

// The algorithms compared in section 8.
const (
	PPJoin Algorithm = iota
	PPJoinPlus
	AllPairs
)

// Collection is a list of records. The tokens of a record may come in any order.
// Repetitions count once (Multiset makes them tokens of their own). Dense ids
// cost least.
type Collection struct {
	Tokens []uint32
	Ends   []int    // end of record i in Tokens
	Alone  []uint32 // number of further tokens of record i that no other record has; nil: none
}

// Len returns the number of records.
func (c Collection) Len() int { return len(c.Ends) }

// Record returns the listed tokens of record i.
func (c Collection) Record(i int) []uint32 {
	if i == 0 {
		return c.Tokens[:c.Ends[0]]
	}
	return c.Tokens[c.Ends[i-1]:c.Ends[i]]
}

func (c Collection) validate() error {
	if c.Alone != nil && len(c.Alone) != len(c.Ends) {
		return fmt.Errorf("ppjoin: %d records, but %d counts of lone tokens", len(c.Ends), len(c.Alone))
	}
	start := 0
	for i, end := range c.Ends {
		if end < start || end > len(c.Tokens) {
			return fmt.Errorf("ppjoin: record %d ends at %d, after one that ends at %d, of %d tokens", i, end, start, len(c.Tokens))
		}
		start = end
	}
	return nil
}

// Options are the options of a join.
type Options struct {
	Measure   Measure
	Threshold float64  // smallest similarity of a pair; at most 1, except for Overlap. Up to 15 digits count as a decimal: .8 is four fifths
	Weights   *Weights // nil: all tokens weigh 1

	Algorithm Algorithm
	MaxDepth  int  // depth of the suffix filter's recursion (5.2); "the optimal MAXDEPTH value ranges from 2 to 5"
	Extra     int  // further tokens of each prefix, k of corollary 4.7; only without weights
	Bitmaps   bool // filter by bitmaps; does nothing with weights

	Workers int // number of goroutines that probe; it changes neither the pairs nor their order
}

// Validate returns an error that names the option out of its range.
func (o Options) Validate() error {
	switch {
	case o.Measure < Jaccard || o.Measure > Hamming:
		return fmt.Errorf("ppjoin: measure is %d, must be Jaccard, Cosine, Overlap or Hamming", o.Measure)
	case o.Measure == Hamming && !(o.Threshold >= 0 && o.Threshold <= maxDistance && o.Threshold == math.Trunc(o.Threshold)):
		return fmt.Errorf("ppjoin: threshold is %v, must be a whole number from 0 to %d", o.Threshold, maxDistance)
	case o.Measure == Hamming && o.Weights != nil:
		return errors.New("ppjoin: the Hamming distance is of tokens without weights")
	case o.Measure == Hamming:
		return o.validateSearch(false)
	case !(o.Threshold > 0) || math.IsInf(o.Threshold, 1):
		return fmt.Errorf("ppjoin: threshold is %v, must be above 0", o.Threshold)
	case o.Measure != Overlap && o.Threshold > 1:
		return fmt.Errorf("ppjoin: threshold is %v, must be at most 1", o.Threshold)
	}
	if o.Weights != nil {
		if err := o.Weights.validate(o.Measure); err != nil {
			return err
		}
	}
	return o.validateSearch(o.Weights != nil)
}

func (o Options) validateSearch(weighted bool) error {
	switch {
	case o.Algorithm < PPJoin || o.Algorithm > AllPairs:
		return fmt.Errorf("ppjoin: algorithm is %d, must be PPJoin, PPJoinPlus or AllPairs", o.Algorithm)
	case o.MaxDepth < 0:
		return fmt.Errorf("ppjoin: max depth is %d, must not be negative", o.MaxDepth)
	case o.Extra < 0:
		return fmt.Errorf("ppjoin: extra is %d, must not be negative", o.Extra)
	case o.Extra > 0 && weighted:
		return errors.New("ppjoin: longer prefixes (extra) are for tokens without weights")
	}
	return nil
}

// maxDistance limits the Hamming distance. Sizes are below 2³¹.
const maxDistance = 1 << 30

// Pair is a pair of similar records, by their indexes in the collections. In a
// self-join A < B; else A is of the first collection.
type Pair struct {
	A, B       int
	Similarity float64 // with Hamming: the distance
}

// Counts are the pairs that each filter left. They count distinct records and their
// pairs: equal records are joined as one, and only Pairs counts all of them.
type Counts struct {
	Records  int64 `json:"records" yaml:"records"`   // of all collections, including equal ones
	Distinct int64 `json:"distinct" yaml:"distinct"` // without equal ones
	Probing  int64 `json:"probing" yaml:"probing"`   // of those, records with enough tokens that others have

	Postings int64 `json:"postings" yaml:"postings"` // tokens of the indexing prefixes
	Scanned  int64 `json:"scanned" yaml:"scanned"`   // postings read by probing prefixes, after the size filter

	Prefix     int64 `json:"prefix" yaml:"prefix"`         // pairs that share a token of the prefixes: candidates of AllPairs
	Positional int64 `json:"positional" yaml:"positional"` // of those, left by the positional filter: candidates of PPJoin
	Bitmap     int64 `json:"bitmap" yaml:"bitmap"`         // of those, left by the bitmaps
	Suffix     int64 `json:"suffix" yaml:"suffix"`         // of those, left by the suffix filter: candidates of PPJoin+
	Candidates int64 `json:"candidates" yaml:"candidates"` // of those, left after reading the prefixes: the paper's candidate size
	Verified   int64 `json:"verified" yaml:"verified"`     // of those, pairs whose overlap was computed
	Similar    int64 `json:"similar" yaml:"similar"`       // of those, similar
	Short      int64 `json:"short,omitempty" yaml:"short"` // with Hamming: similar pairs so small that they share no token; not among those above
	Pairs      int64 `json:"pairs" yaml:"pairs"`           // emitted
}

func (c *Counts) add(o Counts) {
	c.Scanned += o.Scanned
	c.Prefix += o.Prefix
	c.Positional += o.Positional
	c.Bitmap += o.Bitmap
	c.Suffix += o.Suffix
	c.Candidates += o.Candidates
	c.Verified += o.Verified
	c.Similar += o.Similar
	c.Short += o.Short
	c.Pairs += o.Pairs
}

// Self emits all similar pairs of a collection, each once, by the larger record,
// smaller ones first. The order depends only on the measure and on which records
// are equal, not on ids, algorithm or workers. Self returns emit's first error.
// It ends with ctx and leaves no goroutine behind.
func Self(ctx context.Context, c Collection, o Options, emit func(Pair) error) (Counts, error) {
	return run(ctx, []Collection{c}, o, emit)
}

// Between is Self for pairs of a record of a and one of b. As in section 7.4.2, the
// two are one collection of which only pairs across count.
func Between(ctx context.Context, a, b Collection, o Options, emit func(Pair) error) (Counts, error) {
	return run(ctx, []Collection{a, b}, o, emit)
}

func run(ctx context.Context, cs []Collection, o Options, emit func(Pair) error) (Counts, error) {
	if err := o.Validate(); err != nil {
		return Counts{}, err
	}
	for _, c := range cs {
		if err := c.validate(); err != nil {
			return Counts{}, err
		}
		if o.Weights != nil && c.Alone != nil {
			return Counts{}, errors.New("ppjoin: lone tokens that are only counted have no weights")
		}
	}
	short, pairs, err := disjoint(ctx, cs, o, emit)
	if err != nil {
		return Counts{}, err
	}
	t, err := newTable(ctx, cs, o, newBounds(o), true)
	if err != nil {
		return Counts{}, err
	}
	t.counts.Short, t.counts.Pairs = short, pairs
	return t.join(ctx, emit)
}
