package ring

import (
	"neardup/extract/text"
	"neardup/signature"
)

// NewScheme makes a Signer of valid options, for texts in place of sentences;
// it panics on others.
func NewScheme(o Options) signature.Scheme { return scheme{New(o)} }

type scheme struct{ *Signer }

func (s scheme) Sign(dst []signature.Signature, t string) []signature.Signature {
	return s.Signer.Sign(dst, text.Sentences(t))
}
