// Package cluster is the third stage: it reads signatures in order and groups
// the documents that share them into perhaps-similar sets (TLCS paper,
// section 3.1). All functions take and return sorted sequences, so they run on
// sorted runs of any size.
package cluster

import (
	"bytes"
	"encoding/binary"
	"math"
)

// ID identifies a text: the first 128 bits of a digest of it.
type ID [16]byte

// KeySize is the length of a Key in bytes.
const KeySize = 20

// Key is a document's sorting key, the paper's <W, id>: its weight W (the
// number of its signatures, or a given page quality), then its id. The bytes of
// keys sort from the largest key to the smallest: the weight is inverted, and of
// equal weights the smaller id is the larger key.
type Key [KeySize]byte

// NewKey returns the key of a document of weight w >= 0. A weight that is negative
// or not a number counts as 0.
func NewKey(w float32, id ID) Key {
	if !(w > 0) {
		w = 0
	}
	var k Key
	binary.BigEndian.PutUint32(k[:4], ^math.Float32bits(w))
	copy(k[4:], id[:])
	return k
}

// ID returns the text that the key belongs to.
func (k Key) ID() ID { return ID(k[4:]) }

// Weight returns the document's weight W.
func (k Key) Weight() float32 { return math.Float32frombits(^binary.BigEndian.Uint32(k[:4])) }

// Compare orders keys from the largest (first) to the smallest.
func (k Key) Compare(o Key) int { return bytes.Compare(k[:], o[:]) }
