package lcs

import (
	"math"
	"math/bits"
)

const (
	// beside computes this many rows more than it must, above and below.
	besideMargin = 128
	// besideShare is what part of the table it computes at most.
	besideShare = 4
	// Tables of fewer cells than this are computed without a look beside the
	// hint's subsequence, which would cost about as much.
	besideFrom = 1 << 24
)

// beside computes the table beside a common subsequence only: in each strip the
// rows between the last match before it and the first after it, with a margin.
// The best path there gives a D that is not less than the true one, and mostly
// little more; it is a w for which one pass is enough. It gives up when that
// would be too much of the table, as where the matches leave a large part open.
//
// Whatever the matches are, at offset in both sequences, the rows go down from
// strip to strip and overlap, so there is a path and the bound holds.
func (s *bands) beside(common []Match, offset int) (d int, ok bool) {
	n, m := len(s.idA), s.lenB
	groups := (m + groupRows - 1) / groupRows
	budget := (n + stripBits - 1) / stripBits * groups / besideShare
	s.strips, s.kept, s.span = s.strips[:0], s.kept[:0], math.MaxInt // keeps next to nothing
	l, lo, known := 0, 0, 0                                          // as in pass
	y := 0                                                           // rows up to the last match before the strip
	for t, x := 0, 0; x < n; t++ {
		x = min(x+stripBits, n)
		from, to := y, m
		for len(common) > 0 && to == m {
			next := common[0]
			next.X, next.Y = next.X-offset, next.Y-offset
			if before := min(next.Len, x-next.X); before > 0 {
				y = min(max(y, next.Y+before), m)
			}
			if next.X+next.Len > x {
				to = min(max(y, next.Y+x-next.X, next.Y), m)
				break
			}
			common = common[1:]
		}
		if x == n {
			to = m
		}
		for ; lo < (from-besideMargin)/groupRows; lo++ {
			l += bits.OnesCount64(s.carry[lo])
		}
		hi := max(known, (min(to+besideMargin, m)+groupRows-1)/groupRows)
		if budget -= hi - lo; budget < 0 {
			return 0, false
		}
		clear(s.carry[known:hi])
		s.computeStrip(t, lo, hi)
		known = hi
	}
	for _, rises := range s.carry[lo:] {
		l += bits.OnesCount64(rises)
	}
	return n + m - 2*l, true
}
