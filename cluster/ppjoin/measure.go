package ppjoin

import "math"

// bounds is a measure with its threshold. It works on masses: sizes of records,
// or the sums of their weights in steps of 2⁻²⁰.
type bounds struct {
	measure   Measure
	threshold float64
	factor    float64 // of Jaccard and Cosine: the overlap needed is factor * f(|x|,|y|)
	delta     int64   // of edit: the distance
	qDelta    int64   // of edit: the q-grams that it can touch
	unit      float64 // steps of a weight of 1
}

func newBounds(o Options) bounds {
	b := bounds{measure: o.Measure, threshold: o.Threshold, factor: o.Threshold, unit: 1}
	switch {
	case o.Measure == Jaccard:
		b.factor = o.Threshold / (1 + o.Threshold)
	case o.Measure == Overlap && o.Weights != nil:
		b.unit = weightSteps
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

// overlap returns α, the smallest overlap of two similar records: equation 1 and
// section 6.1.
func (b *bounds) overlap(x, y int64) int64 {
	switch b.measure {
	case Jaccard:
		return ceil(b.factor * float64(x+y))
	case Cosine:
		return ceil(b.factor * math.Sqrt(float64(x)*float64(y)))
	case Overlap:
		return ceil(b.threshold * b.unit)
	default:
		return max(1, max(x, y)-b.qDelta)
	}
}

// least returns the size of the smallest record that can be similar to one of
// size x: equation 3 and section 6.1.
func (b *bounds) least(x int64) int64 {
	switch b.measure {
	case Jaccard:
		return ceil(b.threshold * float64(x))
	case Cosine:
		return ceil(b.threshold * b.threshold * float64(x))
	case Overlap:
		return ceil(b.threshold * b.unit)
	default:
		return max(1, x-b.delta)
	}
}

// probing returns the smallest overlap of a record with a smaller similar one
// (equation 4). The probing prefix must leave less than that.
func (b *bounds) probing(x int64) int64 { return b.overlap(x, min(x, b.least(x))) }

// indexing returns the same for a larger one (lemma 4.4).
func (b *bounds) indexing(x int64) int64 { return b.overlap(x, x) }

// similarity returns the similarity of records of sizes x and y with the given
// overlap, and whether it reaches the threshold. Both are symmetric in x and y.
func (b *bounds) similarity(x, y, overlap int64) (s float64, ok bool) {
	switch b.measure {
	case Jaccard:
		s = float64(overlap) / float64(x+y-overlap)
	case Cosine:
		s = float64(overlap) / math.Sqrt(float64(x)*float64(y))
		if x == y {
			s = float64(overlap) / float64(x) // avoids the rounding of a square
		}
	case Overlap:
		s = float64(overlap) / b.unit
	}
	return s, overlap > 0 && s >= b.threshold
}
