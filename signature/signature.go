// Package signature is the second stage: it turns the text of a document into
// signatures. Documents that share a signature are perhaps similar. Each scheme
// has a package of its own below this one.
package signature

import "encoding/binary"

// Signature is one key of a document. Documents that share one are perhaps
// similar. It has 128 bits, as in the TLCS paper, section 3.1.
type Signature [16]byte

// Of returns the signature for a scheme with only 64 bits. Signatures sort as
// these numbers do.
func Of(bits uint64) (s Signature) {
	binary.BigEndian.PutUint64(s[:], bits)
	return s
}

// Bits returns the bits of a signature made by Of.
func (s Signature) Bits() uint64 { return binary.BigEndian.Uint64(s[:]) }

// Scheme signs texts, one after another. It may reuse memory from text to text,
// so it is for one goroutine.
type Scheme interface {
	// Sign appends the signatures of a text to dst, each once. They depend only
	// on the text and the scheme's options. A text with nothing to sign has
	// none.
	Sign(dst []Signature, text string) []Signature
}
