package minhash

import (
	"fmt"
	"slices"

	"neardup/signature"
	"neardup/signature/words"
)

// Options are the options of the scheme. The TODS paper, section 8.1.1, uses Recall
// 0.95 and, for words, Rows 4 or 5. Threshold is the wanted similarity: the Jaccard
// coefficient of the sets of shingles.
type Options struct {
	Words     int     `json:"words" yaml:"words"`         // words of a shingle; the paper's tokens are words: 1
	Rows      int     `json:"rows" yaml:"rows"`           // k: components of a band; rows times bands at most 65536
	Bands     int     `json:"bands" yaml:"bands"`         // l: signatures of a text; 0: as many as Threshold and Recall need
	Threshold float64 `json:"threshold" yaml:"threshold"` // smallest similarity of pairs to be found, above 0, at most 1
	Recall    float64 `json:"recall" yaml:"recall"`       // share of pairs at the threshold that are found, between 0 and 1
}

// Validate returns an error that names the option out of its range. Threshold
// and Recall may have any value if Bands are given.
func (o Options) Validate() error {
	switch {
	case o.Words < 1:
		return fmt.Errorf("words is %d, must be at least 1", o.Words)
	case o.Rows < 1:
		return fmt.Errorf("rows is %d, must be at least 1", o.Rows)
	case o.Bands < 0:
		return fmt.Errorf("bands is %d, must be at least 0", o.Bands)
	case o.Bands == 0 && !(o.Threshold > 0 && o.Threshold <= 1):
		return fmt.Errorf("threshold is %v, must be above 0 and at most 1", o.Threshold)
	case o.Bands == 0 && !(o.Recall > 0 && o.Recall < 1):
		return fmt.Errorf("recall is %v, must be between 0 and 1", o.Recall)
	}
	return o.LSH().Validate()
}

// LSH returns the bands: the given number, or the paper's l, see Bands. Its
// Candidate and Miss are the curves of the false positives and negatives.
func (o Options) LSH() LSH {
	if o.Bands > 0 {
		return LSH{Rows: o.Rows, Bands: o.Bands}
	}
	return LSH{Rows: o.Rows, Bands: Bands(o.Threshold, o.Recall, o.Rows)}
}

// scheme is the signature.Scheme of a text's bands.
type scheme struct {
	lsh      LSH
	shingler words.Shingler
	signer   *Signer

	// Scratch memory, reused from text to text.
	features  []uint64
	signature []uint32
	keys      []uint64
}

// NewScheme returns the Scheme for the options. It panics if they are not valid. A
// text's signatures are the keys of its bands, ascending. A text of fewer than
// Words words has one shingle, which is all of it. A text without words has no
// signature.
func NewScheme(o Options) signature.Scheme {
	if err := o.Validate(); err != nil {
		panic("minhash: " + err.Error())
	}
	lsh := o.LSH()
	return &scheme{lsh: lsh, shingler: words.Shingler{W: o.Words}, signer: New(lsh.Components(), 0)}
}

func (s *scheme) Sign(dst []signature.Signature, text string) []signature.Signature {
	s.features = s.shingler.Append(s.features[:0], text)
	s.signature = s.signer.Sign(s.signature[:0], s.features)
	s.keys = s.lsh.AppendKeys(s.keys[:0], s.signature)
	slices.Sort(s.keys)
	for _, key := range slices.Compact(s.keys) {
		dst = append(dst, signature.Of(key))
	}
	return dst
}
