package shingle

import (
	"neardup/signature/internal/hash"
	"slices"
)

// What the lecture has and the scheme does at once, or not at all: the oracles
// of the scheme and of the measure, one step after another.

// Of returns the shingling of a document of the given words, w ≥ 1 to a shingle. A
// document of fewer words, but of some, has one shingle, all of it; one without
// words has none.
func Of(words []string, w int) Set {
	hashes := make([]uint64, len(words))
	for i, s := range words {
		hashes[i] = hash.String(s)
	}
	return NewSet(hash.Windows(nil, hashes, max(1, w)))
}

// Resemblance is r(A, B) = |S(A) ∩ S(B)| / |S(A) ∪ S(B)|, the Jaccard
// coefficient; 1 - r is a metric. What has no shingles resembles nothing: 0.
func Resemblance(a, b Set) float64 {
	common := Common(a, b)
	return ratio(common, len(a)+len(b)-common)
}

// Containment of A in B is c(A, B) = |S(A) ∩ S(B)| / |S(A)|; of nothing, 0.
func Containment(a, b Set) float64 { return ratio(Common(a, b), len(a)) }

// ResemblanceMod estimates the resemblance as that of the samples. It is
// |∩|/|∪| of a random sample of the union, so unbiased where that has a value;
// where it has none, 0.
func ResemblanceMod(a, b Sketch) float64 { return Resemblance(a.Values, b.Values) }

// ContainmentMod estimates the containment of A in B as that of the samples: of
// the three kinds of sketches the one that is made for it. Unbiased where the
// sample of A has a value; where it has none, 0.
func ContainmentMod(a, b Sketch) float64 { return Containment(a.Values, b.Values) }

// Super returns the meta-sketch (slide "More efficient: supershingles"): "Sort
// shingle values of a sketch", then "Compute the shingling of the sequence of
// shingle values", w values to a supershingle. "Documents with ≥ 1 supershingle
// in common => similar". A sketch of fewer than w values has none: "Problems
// with small documents".
func Super(s Sketch, w int) Set {
	if w < 1 || len(s.Values) < w {
		return nil
	}
	return NewSet(hash.Windows(nil, slices.Sorted(slices.Values(s.Values)), w))
}
