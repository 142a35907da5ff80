// Package signature is the second stage: it turns a document's text into
// signatures, the keys under which documents meet. Each scheme has a package
// of its own below this one.
package signature

import "encoding/binary"

// Signature is one key of a document; documents that share one are perhaps
// similar. 128 bits, as in the TLCS paper, section 3.1.
type Signature [16]byte

// Of returns the signature of a scheme that has 64 bits only. They sort as they are.
func Of(bits uint64) (s Signature) {
	binary.BigEndian.PutUint64(s[:], bits)
	return s
}

// Bits returns the bits of a signature made by Of.
func (s Signature) Bits() uint64 { return binary.BigEndian.Uint64(s[:]) }

// Scheme signs texts, one after another; it may keep memory from text to text,
// so it is for one goroutine.
type Scheme interface {
	// Sign appends the signatures of a text to dst, each once. They depend on
	// nothing but the text and the scheme's options. A text that the scheme
	// can make nothing of has none.
	Sign(dst []Signature, text string) []Signature
}
