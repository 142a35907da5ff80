// Package simhash computes Charikar's simhash (Similarity estimation techniques
// from rounding algorithms, STOC 2002) in the form of the lecture on finding
// near-duplicate documents (slide "Term-based signature with SimHash"). The TLCS
// paper compares its method with it (section 4). A signature has 64 bits and is
// made from the weighted features of a document. The more similar two documents
// are, the more bits agree. Package neardup/cluster/hamming finds the pairs.
package simhash

import (
	"math/bits"
)

// Thresholds on the number of bits in which two signatures differ.
const (
	// Bits of a signature: "A vector of 64 bits was stored for each document"
	// (TLCS paper, section 4).
	Bits = 64
	// Distance of the TLCS paper, section 4: "the threshold of the number of
	// agreeing bits was set to 59, which reaches the highest precision with a
	// certain recall".
	Distance = Bits - 59
	// DistanceManku is that of Manku, Jain, Das Sarma: Detecting near-duplicates
	// for web crawling, WWW 2007, section 4 (k = 3 for 64 bits), which the TLCS
	// paper cites for the search.
	DistanceManku = 3
)

// Feature is a term, word or shingle of a document: a hash that stands for it,
// whose bits must look random (the lecture: "each term → random f-dim vector t over
// {-1, 1}"), and a weight, such as its number of occurrences. A feature may come in
// parts, whose weights add up.
type Feature struct {
	Hash   uint64
	Weight uint32
}

// unit is the weight 1 of FixedPoint, as in neardup/signature/ring: sums of
// integers depend neither on their order nor on the machine.
const unit = 1024

// sum adds up features. The zero value has none. Neither their order nor their
// splitting into parts changes the signature. Weights must sum to less than 2^63.
//
// In the lecture v(k) = Σ t_j(k)·w(j), and s(k) = 1 if v(k) > 0, else 0. With p the
// weight of the features that have a 1 in bit k and total the weight of all, v = p
// - (total-p), so a bit is 1 if 2p > total. The 64 sums p are built at once,
// bit-sliced: plane i holds bit i of all of them. A weight is added by one ripple
// of carries for each of its 1-bits, from the plane of that bit on.
type sum struct {
	planes [Bits]uint64
	total  uint64
}

// Add adds a feature.
func (s *sum) Add(hash uint64, weight uint32) {
	s.total += uint64(weight)
	for ; weight != 0; weight &= weight - 1 {
		s.ripple(bits.TrailingZeros32(weight), hash)
	}
}

// Signature returns the simhash. It reports false if no feature has any weight. Such a
// document must not be compared with others.
func (s *sum) Signature() (uint64, bool) {
	// Compares p with total/2, rounded down, from the lowest plane to the highest:
	// a higher plane overrules the lower ones.
	half := s.total / 2
	greater := uint64(0)
	for i, p := range s.planes {
		if half>>i&1 == 0 {
			greater |= p
		} else {
			greater &= p
		}
	}
	return greater, s.total > 0
}

// OfHashes returns the signature of a document in which each of the hashes weighs
// one. Repetitions add up, so that words weigh by their frequency.
//
// Seven hashes are added at a time, by four full adders that turn them into three
// numbers.
func OfHashes(hashes []uint64) (uint64, bool) {
	var s sum
	s.total = uint64(len(hashes))
	for ; len(hashes) >= 7; hashes = hashes[7:] {
		h := hashes[:7]
		a, twoA := add(h[0], h[1], h[2])
		b, twoB := add(h[3], h[4], h[5])
		one, twoC := add(a, b, h[6])
		two, four := add(twoA, twoB, twoC)
		s.ripple(0, one)
		s.ripple(1, two)
		s.ripple(2, four)
	}
	for _, h := range hashes {
		s.ripple(0, h)
	}
	return s.Signature()
}

// ripple adds 2^i to the sums under the 1-bits of carry.
func (s *sum) ripple(i int, carry uint64) {
	for ; carry != 0; i++ {
		p := &s.planes[i&(Bits-1)]
		*p, carry = *p^carry, *p&carry
	}
}

// add is 64 full adders in parallel.
func add(a, b, c uint64) (sum, carry uint64) {
	x := a ^ b
	return x ^ c, a&b | x&c
}

// Differ returns the number of bits in which two signatures differ, their Hamming
// distance.
func Differ(a, b uint64) int { return bits.OnesCount64(a ^ b) }
