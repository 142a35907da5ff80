package ring

import (
	"crypto/md5"

	"neardup/extract/text"
	"neardup/signature"
)

// Trace implements signature.Tracer.
func (s scheme) Trace(t string) signature.Trace { return s.signer.Trace(text.Sentences(t)) }

// Trace returns the origins of the signatures of Sign, by rotation and class. The
// chosen sentences are in the order of their fingerprints.
func (s *signer) Trace(sentences []text.Sentence) (t signature.Trace) {
	seen, least := map[[md5.Size]byte]bool{}, s.count(sentences)
	for i, sentence := range sentences {
		read, columns := s.reading(sentence)
		if print := md5.Sum(read); columns > least && !seen[print] {
			seen[print] = true
			t.Counted, t.Prints = append(t.Counted, i), append(t.Prints, print)
		}
	}
	s.watch = func(rotation, class int, made signature.Signature) {
		o := signature.Origin{Signature: made, Rotation: rotation, Class: class}
		if rotation == few {
			o.Rotation, o.Few = 0, true
		}
		for _, f := range s.chosen {
			o.Sentences = append(o.Sentences, t.Counted[f.position])
		}
		t.Origins = append(t.Origins, o)
	}
	made := s.Sign(nil, sentences)
	s.watch = nil
	if len(t.Origins) == 0 && len(made) > 0 {
		whole := signature.Origin{Signature: made[0], Whole: true}
		for i := range sentences {
			whole.Sentences = append(whole.Sentences, i)
		}
		t.Origins = append(t.Origins, whole)
	}
	return t
}
