package ppjoin

import (
	"math"
	"math/big"
)

// bounds is a measure with its threshold. It works on masses: sizes of records,
// or the rounded sums of their weights (Weights.masses).
type bounds struct {
	measure   Measure
	threshold float64
	limit     *big.Rat // the threshold exactly
	factor    float64  // for Jaccard and Cosine: the overlap needed is factor * f(|x|,|y|)
	delta     int64    // for edit and Hamming: the distance
	qDelta    int64    // for edit: the q-grams that the edits can touch
	weights   *Weights // nil: all tokens weigh 1
	unit      float64  // mass of a weight of 1
	slack     float64  // for weights: how much rounding can lower an overlap, or raise the one needed
}

func newBounds(o Options) bounds {
	b := bounds{measure: o.Measure, threshold: o.Threshold, limit: limit(o.Threshold), factor: o.Threshold, weights: o.Weights, unit: 1}
	switch o.Measure {
	case Jaccard:
		b.factor = o.Threshold / (1 + o.Threshold)
	case Hamming:
		b.delta = int64(o.Threshold)
	}
	return b
}

// ceil rounds up, and takes a value within 2⁻³⁰ above an integer for that
// integer. So bounds may be too low, never too high. 2⁻³⁰ is far above the
// rounding errors of a few operations, and far below the distance of a fraction
// from an integer.
func ceil(v float64) int64 {
	return max(1, int64(math.Ceil(v*(1-0x1p-48)-0x1p-30)))
}

// overlap returns α, the smallest overlap of two similar records that have a token
// in common: equations 1 and 2, and section 6.1.
func (b *bounds) overlap(x, y int64) int64 {
	switch b.measure {
	case Jaccard:
		return ceil(b.factor*float64(x+y) - b.slack)
	case Cosine:
		return ceil(b.factor*math.Sqrt(float64(x)*float64(y)) - b.slack)
	case Overlap:
		return ceil(b.threshold*b.unit - b.slack)
	case Hamming:
		return max(1, (x+y-b.delta+1)>>1)
	default:
		return max(1, max(x, y)-b.qDelta)
	}
}

// least returns the size of the smallest record that can be similar to one of
// size x: equation 3 and section 6.1.
func (b *bounds) least(x int64) int64 {
	switch b.measure {
	case Jaccard:
		return ceil(b.threshold*float64(x) - b.slack)
	case Cosine:
		return ceil(b.threshold*b.threshold*float64(x) - b.slack)
	case Overlap:
		return ceil(b.threshold*b.unit - b.slack)
	default:
		return max(1, x-b.delta)
	}
}

// probing returns the smallest overlap of a record with a smaller similar one
// (equation 4). The probing prefix must leave less than that.
func (b *bounds) probing(x int64) int64 { return b.overlap(x, min(x, b.least(x))) }

// indexing returns the smallest overlap of a record with a larger similar one
// (lemma 4.4).
func (b *bounds) indexing(x int64) int64 { return b.overlap(x, x) }

// similarity returns the similarity, or with Hamming the distance, of records of
// sizes x and y with the given overlap. It is symmetric in x and y.
func (b *bounds) similarity(x, y, overlap int64) float64 {
	switch {
	case b.measure == Jaccard:
		return float64(overlap) / float64(x+y-overlap)
	case b.measure == Hamming:
		return float64(x + y - 2*overlap)
	case b.measure == Cosine && x == y:
		return float64(overlap) / float64(x) // avoids the rounding of a square
	case b.measure == Cosine:
		return float64(overlap) / math.Sqrt(float64(x)*float64(y))
	default:
		return float64(overlap) / b.unit
	}
}
