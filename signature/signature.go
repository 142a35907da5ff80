// Package signature is the second stage: it turns the text of a document into
// signatures. Documents that share a signature are perhaps similar. Each scheme
// has a package of its own below this one.
package signature

import (
	"encoding/binary"
	"encoding/hex"
)

// Signature is one key of a document. Documents that share one are perhaps
// similar. It has 128 bits, as in the TLCS paper, section 3.1.
type Signature [16]byte

// Of returns a Signature with only 64 bits. Such signatures sort as the numbers do.
func Of(bits uint64) (s Signature) {
	binary.BigEndian.PutUint64(s[:], bits)
	return s
}

// Bits returns the bits of a signature made by Of.
func (s Signature) Bits() uint64 { return binary.BigEndian.Uint64(s[:]) }

// String returns the signature in hexadecimal, one made by Of with its 64 bits only.
func (s Signature) String() string {
	if [8]byte(s[8:]) == [8]byte{} {
		return hex.EncodeToString(s[:8])
	}
	return hex.EncodeToString(s[:])
}

// Scheme signs texts, one after another. It may reuse memory from text to text,
// so it is for one goroutine.
//
// A scheme may be a Tracer, too.
type Scheme interface {
	// Sign appends the signatures of a text to dst, each once. They depend only
	// on the text and the scheme's options. A text with nothing to sign has
	// none.
	Sign(dst []Signature, text string) []Signature
}
