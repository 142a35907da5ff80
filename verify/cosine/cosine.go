// Package cosine compares texts by the cosine of their term vectors. The TLCS
// paper, section 4, compares its own measure with this one: Cosine within the
// perhaps-similar sets, over 0.95.
package cosine

import (
	"fmt"
	"math"

	"neardup/signature/terms"
	"neardup/signature/words"
	"neardup/verify"
)

// Options are the options of the measure. The TLCS paper uses a cosine of 0.95; a
// pair must exceed it there and reach it here. The paper's terms are words with
// their frequency; it finds Chinese words by segmentation.
type Options struct {
	Terms  string  `json:"terms" yaml:"terms"`   // what a word is: Letters or Segmented
	Words  int     `json:"words" yaml:"words"`   // words of a term; 1: single words
	Weight string  `json:"weight" yaml:"weight"` // weight of a term that occurs n times: words.Count, Log or One
	Cosine float64 `json:"cosine" yaml:"cosine"` // smallest cosine of near pairs, above 0, at most 1
}

// Values of Options.Terms.
const (
	Letters   = "letters"   // runs of letters; in scripts without spaces each letter (package words)
	Segmented = "segmented" // Chinese is segmented by a dictionary (package terms)
)

// Validate returns an error that names the option out of its range.
func (o Options) Validate() error {
	switch {
	case o.Terms != Letters && o.Terms != Segmented:
		return fmt.Errorf("terms is %q, must be %q or %q", o.Terms, Letters, Segmented)
	case o.Words < 1:
		return fmt.Errorf("words is %d, must be at least 1", o.Words)
	case !(o.Cosine > 0 && o.Cosine <= 1):
		return fmt.Errorf("cosine is %v, must be above 0 and at most 1", o.Cosine)
	}
	_, err := words.Weigher(o.Weight)
	return err
}

// measure is the verify.Measure. It needs no scratch memory, so it is its own
// Comparer.
type measure struct {
	o     Options
	weigh func(n int) uint32
}

// document is a term vector. Its sums are integers, so they do not depend on the
// order and are exact for texts of fewer than 2^32 words.
type document struct {
	terms   []uint64 // hashes, ascending
	weights []uint32 // of the terms, in the units of words.Weigher
	sum     uint64   // sum of the weights
	squares uint64   // sum of their squares
}

// Bytes returns the memory of the terms and weights, the slice headers and the
// sums.
func (d *document) Bytes() int { return 8*cap(d.terms) + 4*cap(d.weights) + 64 }

// New returns the Measure of the options. It panics if they are not valid. A text
// of fewer than Words words has one term, which is all of it.
//
// The resemblance is the cosine, Σ w_A·w_B / √(Σ w_A² · Σ w_B²) over the terms. The
// containment is not in the paper: it is the share of the lighter text's weight
// that the heavier one also has, Σ min(w_A, w_B) / Σ w of the text with the smaller
// sum of weights. It decides nothing.
func New(o Options) verify.Measure {
	if err := o.Validate(); err != nil {
		panic("cosine: " + err.Error())
	}
	weigh, _ := words.Weigher(o.Weight)
	return &measure{o, weigh}
}

func (m *measure) Prepare(text string) verify.Document {
	var shingles []uint64
	if m.o.Terms == Segmented {
		shingles = terms.NewSegmenter(m.o.Words).Append(nil, text)
	} else {
		shingler := words.Shingler{W: m.o.Words}
		shingles = shingler.Append(nil, text)
	}
	n := 0
	for range words.Counted(shingles) {
		n++
	}
	d := &document{terms: make([]uint64, 0, n), weights: make([]uint32, 0, n)}
	for term, count := range words.Counted(shingles) {
		w := m.weigh(count)
		d.terms, d.weights = append(d.terms, term), append(d.weights, w)
		d.sum += uint64(w)
		d.squares += uint64(w) * uint64(w)
	}
	return d
}

func (m *measure) Comparer() verify.Comparer { return m }

// Compare takes one step for each term of both documents.
func (m *measure) Compare(x, y verify.Document) verify.Verdict {
	a, b := x.(*document), y.(*document)
	if a.sum == 0 || b.sum == 0 {
		return verify.Scored(0, 0, m.o.Cosine, never)
	}
	var product, common uint64
	for i, j := 0, 0; i < len(a.terms) && j < len(b.terms); {
		switch {
		case a.terms[i] < b.terms[j]:
			i++
		case a.terms[i] > b.terms[j]:
			j++
		default:
			v, w := uint64(a.weights[i]), uint64(b.weights[j])
			product += v * w
			common += min(v, w)
			i, j = i+1, j+1
		}
	}
	// The root of the square of a float64 is that float64 again, so equal documents
	// score 1. Only sums above 2^53, which are rounded, could give more.
	cosine := min(1, float64(product)/math.Sqrt(float64(a.squares)*float64(b.squares)))
	return verify.Scored(cosine, float64(common)/float64(min(a.sum, b.sum)), m.o.Cosine, never)
}

const never = 2 // threshold of containment that is never reached
