package terms

import (
	"neardup/signature/internal/hash"
)

// Segmenter makes the hashes of the runs of w terms of texts, as words.Shingler
// does for words: Han text is split by the dictionary, other scripts as in
// Weigher.Append, and all parts of speech count alike. It reuses memory from text
// to text and is not safe for concurrent use.
type Segmenter struct {
	w       int
	weigher *Weigher
	terms   []Term
	hashes  []uint64
}

// NewSegmenter returns a Segmenter of runs of w >= 1 terms.
func NewSegmenter(w int) *Segmenter {
	one := Interval{1, 1}
	return &Segmenter{w: max(1, w), weigher: NewWeigher(Weighing{
		Intervals: Intervals{Noun: one, Verb: one, Adjective: one, Other: one, Adverb: one, Connective: one, Pronoun: one, Numeral: one},
		Heaviest:  Frequent, Scale: Linear, Frequencies: OfDictionary, MaxTerms: maxTerms,
	})}
}

// Append appends to dst the hashes of the runs of a text, in order, with
// repetitions. A text of fewer than w terms has the hash of all of them. A text
// without terms has none.
func (s *Segmenter) Append(dst []uint64, text string) []uint64 {
	s.terms, s.hashes = s.weigher.Append(s.terms[:0], text), s.hashes[:0]
	for _, t := range s.terms {
		s.hashes = append(s.hashes, t.Hash)
	}
	return hash.Windows(dst, s.hashes, s.w)
}
