// Package terms is the scheme of SimFinder: C. Gong, Y. Huang, X. Cheng, S. Bai,
// Detecting near-duplicates in large-scale short text databases, PAKDD 2008. A
// short text is a set of terms, each weighed by its part of speech and its
// frequency (section 3.1). The heaviest terms are features, and runs of features
// are fingerprints (section 3.2). Package neardup/verify/terms is the paper's
// measure.
//
// The paper segments Chinese texts. Here every text is split: Chinese by the words
// of github.com/go-ego/gse, text with spaces at the spaces, and English function
// words are known (see Weigher.Append).
package terms

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// Weighing holds the settings of the weights of terms, and the limit of terms of a
// text.
type Weighing struct {
	Intervals Intervals `json:"intervals" yaml:"intervals"` // [a, b] of each part of speech
	Heaviest  string    `json:"heaviest" yaml:"heaviest"`   // heaviest term of each part of speech: the most frequent (Frequent) or the rarest (Rare)
	Scale     string    `json:"scale" yaml:"scale"`         // scale of the frequencies: Linear or Log
	Long      bool      `json:"long" yaml:"long"`           // weights are multiplied by the term's length: equation 2
	MaxTerms  int       `json:"max_terms" yaml:"max_terms"` // limit of the terms of a text, counted from its start with repetitions

	Frequencies string       `json:"frequencies" yaml:"frequencies"` // F, F' and F(t): OfDictionary, or OfCollection
	Collection  *Frequencies `json:"-" yaml:"-"`                     // with OfCollection: those of the collection; nil: all terms count as the least frequent
}

// Values of Weighing.Heaviest.
const (
	Frequent = "frequent" // equation 1 as it is written
	Rare     = "rare"     // equation 1 with F and F' exchanged
)

// Values of Weighing.Scale.
const (
	Linear = "linear" // the paper's
	Log    = "log"    // F, F' and F(t) by their logarithms
)

// Values of Weighing.Frequencies.
const (
	OfDictionary = "dictionary"
	OfCollection = "collection" // "the background database"
)

// Interval is [a, b], the smallest and the largest weight of a part of speech.
type Interval [2]float64

// Intervals has the intervals of all parts of speech. The paper names the kinds
// and gives no numbers.
type Intervals struct {
	Noun       Interval `json:"noun" yaml:"noun"` // also names, abbreviations, words that no dictionary has
	Verb       Interval `json:"verb" yaml:"verb"`
	Adjective  Interval `json:"adjective" yaml:"adjective"`
	Other      Interval `json:"other" yaml:"other"` // idioms, times, places, scripts without spaces or dictionary
	Adverb     Interval `json:"adverb" yaml:"adverb"`
	Connective Interval `json:"connective" yaml:"connective"` // conjunctions, prepositions, particles, articles, auxiliary verbs
	Pronoun    Interval `json:"pronoun" yaml:"pronoun"`
	Numeral    Interval `json:"numeral" yaml:"numeral"` // also measure words
}

// group is a part of speech, a set G of the paper.
type group uint8

const (
	noun group = iota
	verb
	adjective
	other
	adverb
	connective
	pronoun
	numeral
	groups int = iota
)

// named returns the intervals in the order of the groups.
func (i Intervals) named() [groups]struct {
	name string
	Interval
} {
	return [groups]struct {
		name string
		Interval
	}{
		{"noun", i.Noun}, {"verb", i.Verb}, {"adjective", i.Adjective}, {"other", i.Other},
		{"adverb", i.Adverb}, {"connective", i.Connective}, {"pronoun", i.Pronoun}, {"numeral", i.Numeral},
	}
}

// Limits that keep the sum of a text's weights below 2^60.
const (
	unit      = 1 << 20 // the weight 1
	maxWeight = 1000
	maxLength = 32 // code points of a term that equation 2 counts
	maxTerms  = 1 << 24
)

// Validate returns an error that names the option out of its range.
func (o Weighing) Validate() error {
	heavy := false
	for _, i := range o.Intervals.named() {
		if !(0 <= i.Interval[0] && i.Interval[0] <= i.Interval[1] && i.Interval[1] <= maxWeight) {
			return fmt.Errorf("intervals.%s is %v, must be [a, b] with 0 <= a <= b <= %d", i.name, i.Interval, maxWeight)
		}
		heavy = heavy || i.Interval[1] > 0
	}
	switch {
	case !heavy:
		return fmt.Errorf("intervals: all are [0 0], so that no term would count")
	case o.Heaviest != Frequent && o.Heaviest != Rare:
		return fmt.Errorf("heaviest is %q, must be %q or %q", o.Heaviest, Frequent, Rare)
	case o.Scale != Linear && o.Scale != Log:
		return fmt.Errorf("scale is %q, must be %q or %q", o.Scale, Linear, Log)
	case o.Frequencies != OfDictionary && o.Frequencies != OfCollection:
		return fmt.Errorf("frequencies is %q, must be %q or %q", o.Frequencies, OfDictionary, OfCollection)
	case o.MaxTerms < 1 || o.MaxTerms > maxTerms:
		return fmt.Errorf("max_terms is %d, must be from 1 to %d", o.MaxTerms, maxTerms)
	}
	return nil
}

// Term is a term of a text: the 64-bit hash that stands for it, and its weight,
// which is positive and in steps of 2^-20, so that sums are exact.
//
// Among n different terms, some two have the same hash with a probability of
// n²/2^65: 3 in 100 million for a vocabulary of a million. The two then count as
// one term.
type Term struct {
	Hash   uint64
	Weight uint64
}

// Weigher makes weighed terms from texts. It is immutable and safe for concurrent
// use.
type Weigher struct {
	o      Weighing
	counts *Counter       // nil, unless it only counts
	base   [groups]uint64 // a
	span   [groups]uint64 // b - a
}

// NewWeigher returns a Weigher for the options. It panics if they are not valid.
func NewWeigher(o Weighing) *Weigher {
	if err := o.Validate(); err != nil {
		panic("terms: " + err.Error())
	}
	w := &Weigher{o: o}
	for g, i := range o.Intervals.named() {
		w.base[g] = uint64(math.Round(unit * i.Interval[0]))
		w.span[g] = uint64(math.Round(unit*i.Interval[1])) - w.base[g]
	}
	return w
}

// weight returns W(t) of equation 1 or 2 for a term with the given frequency, in a
// group with the given least and greatest frequencies. If these two are equal,
// which the paper leaves open, F(t) counts as the least.
//
// The length |t| is in code points, and at most maxLength. In columns a Chinese
// character would count two; numbers in Chinese texts would then count for less,
// and more texts that differ only in numbers would be near.
// docs/benchmarks/short-texts.md has the difference.
func (w *Weigher) weight(g group, term string, frequency, least, most uint64) uint64 {
	above, spread := frequency-least, most-least // F(t) - F', F - F'
	if w.o.Scale == Log {
		above, spread = logarithm(frequency)-logarithm(least), logarithm(most)-logarithm(least)
	}
	if spread == 0 {
		above, spread = 0, 1
	}
	if w.o.Heaviest == Rare {
		above = spread - above
	}
	// At most 2^30 · 2^31, as long as the dictionary's frequencies are below 2^31.
	weight := w.base[g] + w.span[g]*above/spread
	if w.o.Long {
		weight *= uint64(min(utf8.RuneCountInString(term), maxLength))
	}
	return weight
}

// logarithm returns the logarithm of x >= 1 to base 2, in steps of 2^-16. The steps
// hide the last places, in which platforms differ.
func logarithm(x uint64) uint64 { return uint64(math.Round(1 << 16 * math.Log2(float64(x)))) }
