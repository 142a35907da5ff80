package simhash

import "math"

// FixedPoint makes an integer of a weight such as tf-idf: multiples of 1/1024,
// rounded. What is not positive weighs nothing, and no weight is more than
// 2^22 - 1/1024. All weights of a document must be in the same units.
func FixedPoint(weight float64) uint32 {
	switch w := math.Round(unit * weight); {
	case !(w > 0):
		return 0
	case w >= math.MaxUint32:
		return math.MaxUint32
	default:
		return uint32(w)
	}
}

// Of returns the signature of a document.
func Of(features []Feature) (uint64, bool) {
	var s sum
	for _, f := range features {
		s.Add(f.Hash, f.Weight)
	}
	return s.Signature()
}

// Agree returns the number of bits in which two signatures agree.
func Agree(a, b uint64) int { return Bits - Differ(a, b) }

// Cosine estimates the cosine of two documents' feature vectors from the
// number of bits in which their signatures differ: a bit differs with
// probability θ/π, θ the angle between them (Charikar 2002, section 3).
func Cosine(differ int) float64 { return math.Cos(math.Pi * float64(differ) / Bits) }
