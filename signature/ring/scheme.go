package ring

import (
	"neardup/extract/text"
	"neardup/signature"
)

// NewScheme returns the Scheme of the options, for texts. It panics if they are not
// valid.
func NewScheme(o Options) signature.Scheme { return scheme{newSigner(o)} }

type scheme struct{ *signer }

func (s scheme) Sign(dst []signature.Signature, t string) []signature.Signature {
	return s.signer.Sign(dst, text.Sentences(t))
}
