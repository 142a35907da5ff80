package ring

import (
	"crypto/md5"

	"neardup/extract/text"
	"neardup/signature"
)

// Origin says how a signature of a document was made.
type Origin struct {
	Signature signature.Signature
	Whole     bool  // made of all sentences, see Whole; then there is no rotation
	Rotation  int   // number of bytes to the left
	Class     int   // residue of the chosen fingerprints
	Sentences []int // positions of the chosen sentences in the document, from the smallest fingerprint up
}

// Trace returns the origins of the signatures of Sign, by rotation and class. A
// signature made twice is there twice.
func (s *Signer) Trace(sentences []text.Sentence) (out []Origin) {
	var places []int // of the sentences that count
	seen := map[[md5.Size]byte]bool{}
	for i, sentence := range sentences {
		if print := md5.Sum([]byte(sentence.Text)); sentence.Columns > s.o.MinColumns && !seen[print] {
			seen[print] = true
			places = append(places, i)
		}
	}
	s.watch = func(rotation, class int, made signature.Signature) {
		o := Origin{Signature: made, Rotation: rotation, Class: class}
		for _, f := range s.chosen {
			o.Sentences = append(o.Sentences, places[f.position])
		}
		out = append(out, o)
	}
	made := s.Sign(nil, sentences)
	s.watch = nil
	if len(out) == 0 && len(made) > 0 {
		out = append(out, Origin{Signature: made[0], Whole: true})
		for i := range sentences {
			out[0].Sentences = append(out[0].Sentences, i)
		}
	}
	return out
}

// Counted returns the number of sentences that count: different ones wider than
// MinColumns.
func (s *Signer) Counted(sentences []text.Sentence) int {
	s.fingerprint(sentences)
	return len(s.prints)
}
