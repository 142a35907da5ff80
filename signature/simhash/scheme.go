package simhash

import (
	"fmt"

	"neardup/signature"
	"neardup/signature/words"
)

// Options are the options of the scheme. In the lecture (slide "Term-based
// signature with SimHash") terms are weighed by their frequency: Words 1 and Weight
// words.Count. The TLCS paper, section 4, states neither.
type Options struct {
	Words  int    `json:"words" yaml:"words"`   // words of a feature; 1: single words
	Weight string `json:"weight" yaml:"weight"` // weight of a feature that occurs n times: words.Count, Log or One
}

// Validate returns an error that names the option out of its range.
func (o Options) Validate() error {
	if o.Words < 1 {
		return fmt.Errorf("words is %d, must be at least 1", o.Words)
	}
	_, err := words.Weigher(o.Weight)
	return err
}

// scheme is the signature.Scheme of a text's simhash.
type scheme struct {
	o        Options
	weigh    func(n int) uint32
	shingler words.Shingler
	features []uint64 // scratch memory, reused from text to text
}

// NewScheme returns the Scheme for the options. It panics if they are not valid. A
// text has one signature of 64 bits, see signature.Of; a text without words has
// none. Texts are compared by the number of bits in which they differ, see
// Distance. A text of fewer than Words words has one feature, which is all of it.
func NewScheme(o Options) signature.Scheme {
	if err := o.Validate(); err != nil {
		panic("simhash: " + err.Error())
	}
	weigh, _ := words.Weigher(o.Weight)
	return &scheme{o: o, weigh: weigh, shingler: words.Shingler{W: o.Words}}
}

func (s *scheme) Sign(dst []signature.Signature, text string) []signature.Signature {
	s.features = s.shingler.Append(s.features[:0], text)
	print, ok := s.fingerprint()
	if !ok {
		return dst
	}
	return append(dst, signature.Of(print))
}

func (s *scheme) fingerprint() (uint64, bool) {
	if s.o.Weight == words.Count { // repetitions add up, so the features need no sorting
		return OfHashes(s.features)
	}
	var total sum
	for hash, n := range words.Counted(s.features) {
		total.Add(hash, s.weigh(n))
	}
	return total.Signature()
}
