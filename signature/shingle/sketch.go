package shingle

import (
	"slices"

	"neardup/signature/internal/hash"
	"neardup/signature/minhash"
)

// Sketch is a sample of a document's shingles. It is comparable with sketches of
// the same kind and the same number or modulus.
type Sketch struct {
	Values []uint64 `json:"values"` // the sample
	Size   int      `json:"size"`   // |S(D)|, from which containment is estimated
}

// MinWise returns the lecture's sketch (slides 15 and 16): for each of m permutations
// Π_i, in the order of i, the shingle of D that is the smallest, which the
// lecture names by x(Π_i, D), its place in Π_i(D). A set without shingles has no
// values. m is from 1 to minhash.MaxComponents.
//
// The permutations are those of neardup/signature/minhash, times of arrival,
// which costs |S| + m·ln(m) steps in place of m·|S|: documents of megabytes have
// a million shingles. A value is a hash of the shingle and i, so that values of
// different permutations do not meet.
func MinWise(s Set, m int) Sketch { return minWise(minhash.New(m, 0), s) }

func minWise(signer *minhash.Signer, s Set) Sketch {
	values := signer.First(nil, s)
	for i, x := range values {
		values[i] = hash.At(x, i)
	}
	return Sketch{Values: values, Size: len(s)}
}

// sampleOf returns the sketch of the shingles that are 0 modulo m ≥ 1: "sketch
// formed by taking shingle hash values mod some selected m" (slide "Variations of
// shingling"). Its size is proportional to the document's: about |S|/m values,
// ascending, and possibly none for a short document.
func sampleOf(s Set, m uint64) Sketch {
	out := Sketch{Size: len(s)}
	for _, x := range s {
		if x%m == 0 {
			out.Values = append(out.Values, x)
		}
	}
	return out
}

// ModOrLeast is sampleOf, except that if no shingle is 0 modulo m it returns the
// smallest shingle. So short documents are not lost, and are not taken for each
// other. This is not in the lecture.
func ModOrLeast(s Set, m uint64) Sketch {
	out := sampleOf(s, m)
	if len(out.Values) == 0 {
		out.Values = slices.Clone(s[:min(1, len(s))])
	}
	return out
}

// Smallest returns the sketch of the n smallest shingles, ascending, or of all
// shingles if there are fewer (Broder: On the resemblance and containment of
// documents, 1997, section 3, MIN_s).
func Smallest(s Set, n int) Sketch {
	return Sketch{Values: slices.Clone(s[:min(n, len(s))]), Size: len(s)}
}

// ResemblanceMinWise estimates the resemblance from two sketches of MinWise: "P
// (x(Π, A) = x(Π, B)) as |ψ(A) ∩ ψ(B)| / m" (slide 17). A permutation's minimum is
// compared only with that of the same permutation. The estimate is unbiased, with
// variance r(1-r)/m.
func ResemblanceMinWise(a, b Sketch) float64 {
	if len(a.Values) != len(b.Values) {
		return 0 // one document is empty
	}
	equal := 0
	for i, v := range a.Values {
		if v == b.Values[i] {
			equal++
		}
	}
	return ratio(equal, len(a.Values))
}

// ContainmentMinWise estimates the containment of A in B from sketches of MinWise,
// see contained. It is 0 if the sketches have nothing in common, which is frequent
// for a short A in a long B.
func ContainmentMinWise(a, b Sketch) float64 { return contained(ResemblanceMinWise(a, b), a, b) }

// ResemblanceSmallest estimates the resemblance from two sketches of Smallest with
// the same n: the share of the n smallest values of their union, which are a random
// sample of A ∪ B, that both have (Broder 1997, theorem 1). The estimate is
// unbiased.
func ResemblanceSmallest(a, b Sketch, n int) float64 {
	x, y := a.Values, b.Values
	common, union := 0, 0
	for ; union < n && (len(x) > 0 || len(y) > 0); union++ {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0] < y[0]:
			x = x[1:]
		case len(x) == 0 || y[0] < x[0]:
			y = y[1:]
		default:
			common++
			x, y = x[1:], y[1:]
		}
	}
	return ratio(common, union)
}

// ContainmentSmallest estimates the containment of A in B from sketches of Smallest
// with the same n, see contained.
func ContainmentSmallest(a, b Sketch, n int) float64 {
	return contained(ResemblanceSmallest(a, b, n), a, b)
}

// contained returns |A ∩ B| / |A| for a resemblance r: |A ∩ B| = r·|A ∪ B| =
// r/(1+r)·(|A|+|B|). It is not linear in r, so its bias is of the order of the
// variance of r. It is not cut off at 1, which would add to the bias.
func contained(r float64, a, b Sketch) float64 {
	if a.Size == 0 {
		return 0
	}
	return r / (1 + r) * float64(a.Size+b.Size) / float64(a.Size)
}
