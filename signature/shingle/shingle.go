// Package shingle compares documents by their w-shingles: Broder, Glassman,
// Manasse, Zweig, Syntactic clustering of the web, WWW 1997, as presented in the
// lecture on finding near-duplicate documents (slides 11 to 30). It computes
// resemblance and containment, exactly and by sketches of three kinds, and counts
// common shingles over sorted ⟨shingle, document⟩ pairs.
package shingle

import (
	"slices"
)

// Numbers of the lecture.
const (
	// Words of a shingle: "10-word shingles" (slide "Original experiments").
	Words = 10
	// Permutations of a sketch: "text: m=20" (slide "Sketch of shingles").
	Permutations = 20
	// Modulus of sketches of about "4% shingles" (slide "Original
	// experiments"): values that are 0 modulo 25.
	Modulus = 25
	// Threshold of resemblance: "Using threshold t = 50%" (same slide).
	Threshold = 0.5
)

// Set is the w-shingling S(D, w) of a document, "the set of unique w-shingles
// of D", each as a 64-bit hash: H(D), "1-to-1 map each shingle to integer in
// fixed, large range R = [0, 2^64-1]". Ascending, each once. Two different
// shingles have the same hash with a probability of about 2^-64.
type Set []uint64

// NewSet returns the set of hashes from elsewhere. It takes over the slice.
// Sketches are samples only if the hashes look random.
func NewSet(hashes []uint64) Set {
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// Common returns |A ∩ B|.
func Common(a, b Set) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
