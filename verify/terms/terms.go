// Package terms compares texts by their weighted terms: the duplicate degree of
// SimFinder (C. Gong, Y. Huang, X. Cheng, S. Bai, Detecting near-duplicates in
// large-scale short text databases, PAKDD 2008, section 3.1). Package
// neardup/signature/terms makes the terms.
package terms

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"neardup/signature/terms"
	"neardup/verify"
)

// Options are the options of the measure. The paper uses Threshold 0.65 and no
// containment.
type Options struct {
	terms.Weighing `json:"-" yaml:"-"` // a setting of its own, text.terms
	Similarity     string              `json:"similarity" yaml:"similarity"`   // Weighted or Plain
	Threshold      float64             `json:"threshold" yaml:"threshold"`     // threshold of resemblance; above 1 it is never reached
	Containment    float64             `json:"containment" yaml:"containment"` // threshold; above 1 it is never reached
}

// Values of Options.Similarity.
const (
	Weighted = "weighted" // equation 4
	Plain    = "plain"    // equation 3: each term weighs the same
)

// Validate returns an error that names the option out of its range.
func (o Options) Validate() error {
	if err := o.Weighing.Validate(); err != nil {
		return err
	}
	switch {
	case o.Similarity != Weighted && o.Similarity != Plain:
		return fmt.Errorf("similarity is %q, must be %q or %q", o.Similarity, Weighted, Plain)
	case !(o.Threshold > 0):
		return fmt.Errorf("threshold is %v, must be above 0", o.Threshold)
	case !(o.Containment > 0):
		return fmt.Errorf("containment is %v, must be above 0", o.Containment)
	case o.Threshold > 1 && o.Containment > 1:
		return errors.New("threshold, containment: both above 1, so that no pair could be near")
	}
	return nil
}

// Measure is the duplicate degree with its thresholds.
type Measure struct {
	o       Options
	weigher *terms.Weigher
}

var _ verify.Measure = (*Measure)(nil)

// New returns the Measure of the options. It panics if these are not valid.
func New(o Options) *Measure {
	if err := o.Validate(); err != nil {
		panic("terms: " + err.Error())
	}
	return &Measure{o: o, weigher: terms.NewWeigher(o.Weighing)}
}

// document is S(A), the set of a text's terms, ascending by hash, and the sum
// of their weights.
type document struct {
	terms []terms.Term
	total uint64
}

// Bytes returns the approximate memory of the document.
func (d *document) Bytes() int {
	return int(unsafe.Sizeof(*d)) + cap(d.terms)*int(unsafe.Sizeof(terms.Term{}))
}

// Prepare returns the set of a text's terms. With equation 3 each term weighs 1.
// Terms of weight 0 count with neither equation.
func (m *Measure) Prepare(text string) verify.Document {
	all := m.weigher.Append(nil, text)
	slices.SortFunc(all, func(a, b terms.Term) int {
		return cmp.Or(cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Weight, b.Weight))
	})
	all = slices.CompactFunc(all, func(a, b terms.Term) bool { return a.Hash == b.Hash })
	d := &document{terms: slices.Clone(all)} // without the memory of repetitions
	for i := range d.terms {
		if m.o.Similarity == Plain {
			d.terms[i].Weight = 1
		}
		d.total += d.terms[i].Weight
	}
	return d
}

// Comparer returns a Comparer.
func (m *Measure) Comparer() verify.Comparer { return comparer{m.o} }

// comparer keeps nothing from pair to pair.
type comparer struct{ o Options }

// Compare computes d(A, B), the weight of the common terms divided by that of all
// terms (equation 4 or 3), and the containment, the weight of the common terms
// divided by that of the lighter text. In the paper near-duplicates exceed the
// threshold; here, as in the other measures, they reach it.
func (c comparer) Compare(a, b verify.Document) verify.Verdict {
	x, y := a.(*document), b.(*document)
	common := common(x.terms, y.terms)
	if common == 0 {
		return verify.Scored(0, 0, c.o.Threshold, c.o.Containment)
	}
	return verify.Scored(float64(common)/float64(x.total+y.total-common), float64(common)/float64(min(x.total, y.total)),
		c.o.Threshold, c.o.Containment)
}

// common returns the weight of the terms that both documents have. A term weighs
// the same in every text.
func common(a, b []terms.Term) uint64 {
	sum := uint64(0)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Hash < b[0].Hash:
			a = a[1:]
		case a[0].Hash > b[0].Hash:
			b = b[1:]
		default:
			sum += min(a[0].Weight, b[0].Weight)
			a, b = a[1:], b[1:]
		}
	}
	return sum
}
