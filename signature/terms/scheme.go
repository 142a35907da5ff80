package terms

import (
	"cmp"
	"fmt"
	"slices"

	"neardup/signature"
	"neardup/signature/internal/hash"
)

// Options are the options of the scheme. The paper uses Gram 3, Extra 3 and
// Threshold 0.65, and no limit of features.
type Options struct {
	Weighing    `json:"-" yaml:"-"` // is a setting of its own
	Threshold   float64             `json:"threshold" yaml:"threshold"`       // θ of inequality 5
	Gram        int                 `json:"gram" yaml:"gram"`                 // N: contiguous features of a fingerprint
	Extra       int                 `json:"extra" yaml:"extra"`               // features beyond the k of inequality 5
	MaxFeatures int                 `json:"max_features" yaml:"max_features"` // limit of the features of a text; 0: none
	Order       string              `json:"order" yaml:"order"`               // the order in which features are contiguous: ByText or ByWeight
}

// Values of Options.Order.
const (
	ByText   = "text"   // order of their first occurrences in the text
	ByWeight = "weight" // descending weight
)

// maxGram limits Gram. It is far above any useful value.
const maxGram = 1000

// Validate returns an error that names the option out of its range.
func (o Options) Validate() error {
	if err := o.Weighing.Validate(); err != nil {
		return err
	}
	switch {
	case !(o.Threshold > 0 && o.Threshold <= 1):
		return fmt.Errorf("threshold is %v, must be in (0, 1]", o.Threshold)
	case o.Gram < 1 || o.Gram > maxGram:
		return fmt.Errorf("gram is %d, must be from 1 to %d", o.Gram, maxGram)
	case o.Extra < 0:
		return fmt.Errorf("extra is %d, must be at least 0", o.Extra)
	case o.MaxFeatures != 0 && o.MaxFeatures < o.Gram:
		return fmt.Errorf("max_features is %d, must be 0 or at least gram, %d", o.MaxFeatures, o.Gram)
	case o.Order != ByText && o.Order != ByWeight:
		return fmt.Errorf("order is %q, must be %q or %q", o.Order, ByText, ByWeight)
	}
	return nil
}

// Scheme makes fingerprints of texts, one after another; it is not safe for
// concurrent use.
type Scheme struct {
	o       Options
	weigher *Weigher

	// Scratch memory, reused from text to text.
	terms  []Term
	placed []placedTerm
	hashes []uint64
	prints []uint64
}

var _ signature.Scheme = (*Scheme)(nil)

// placedTerm is a term with the index of its first occurrence among the terms of
// its text.
type placedTerm struct {
	Term
	place int
}

// New returns a Scheme for the options. It panics if they are not valid.
func New(o Options) *Scheme {
	if err := o.Validate(); err != nil {
		panic("terms: " + err.Error())
	}
	return &Scheme{o: o, weigher: NewWeigher(o.Weighing)}
}

// Sign appends the fingerprints of a text to dst, ascending, without repeats.
//
// The distinct terms are sorted by descending weight. Terms of equal weight are
// sorted by their hashes, which is arbitrary but the same in every text. k is the
// smallest number of terms that hold more than θ of the weight (inequality 5). The
// first λ = k + Extra terms, or all, are features. Each N contiguous features make
// a fingerprint.
//
// The paper does not say in which order features are contiguous; see Options.Order.
// A text of fewer than N features has one fingerprint of all of them, so that it
// meets texts with exactly the same features. A text without terms has none.
func (s *Scheme) Sign(dst []signature.Signature, text string) []signature.Signature {
	s.hashes = s.hashes[:0]
	for _, t := range s.features(text) {
		s.hashes = append(s.hashes, t.Hash)
	}
	s.prints = hash.Windows(s.prints[:0], s.hashes, s.o.Gram)
	slices.Sort(s.prints)
	for _, p := range slices.Compact(s.prints) {
		dst = append(dst, signature.Of(p))
	}
	return dst
}

// features returns the features of a text, in the order in which they are
// contiguous.
func (s *Scheme) features(text string) []placedTerm {
	s.terms = s.weigher.Append(s.terms[:0], text)
	s.placed = s.placed[:0]
	for i, t := range s.terms {
		s.placed = append(s.placed, placedTerm{t, i})
	}
	slices.SortFunc(s.placed, func(a, b placedTerm) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.place, b.place))
	})
	features := slices.CompactFunc(s.placed, func(a, b placedTerm) bool { return a.Term == b.Term })
	features = features[:s.count(features)]
	if s.o.Order == ByText {
		slices.SortFunc(features, func(a, b placedTerm) int { return cmp.Compare(a.place, b.place) })
	}
	return features
}

// count returns λ for terms in order of descending weight.
func (s *Scheme) count(terms []placedTerm) int {
	total := uint64(0)
	for _, t := range terms {
		total += t.Weight
	}
	k, sum := 0, uint64(0)
	for k < len(terms) && !(float64(sum)/float64(total) > s.o.Threshold) {
		sum += terms[k].Weight
		k++
	}
	n := len(terms)
	if s.o.Extra < n-k {
		n = k + s.o.Extra
	}
	if s.o.MaxFeatures > 0 {
		n = min(n, s.o.MaxFeatures)
	}
	return n
}
