// Package lcs computes a longest common subsequence by the difference
// algorithm of Myers, "An O(ND) Difference Algorithm and Its Variations",
// Algorithmica 1 (1986), in the linear-space form of section 4b: forward and
// reverse searches meet on the middle snake of a shortest edit script, which
// cuts the problem in two. It is exact; there are no heuristics.
//
// Departures: the ends that both sequences share are taken off before every
// search; diagonals that can no longer lie on a shortest path are dropped, so
// no point ever leaves the grid; and a search can be given a limit on D.
package lcs

import "math"

// Match is a run of Len equal elements, a[X:X+Len] == b[Y:Y+Len].
type Match struct{ X, Y, Len int }

// Solver holds the scratch memory of the search, reused from call to call. The
// zero value is ready; it is not safe for concurrent use.
type Solver struct {
	fwd, rev []int32 // V of the paper: the furthest x on every diagonal
	out      []Match
	from     int // out[from:] belongs to this call
}

// Matches appends to dst a longest common subsequence of a and b as runs in
// ascending order, runs that touch in both sequences being one. If the
// shortest edit script (insertions and deletions) is longer than maxD, ok is
// false, dst is returned as it was, and the search has ended early; a negative
// maxD is no limit. The answer is a function of a and b alone. Together they
// must be shorter than 2^31.
func (s *Solver) Matches(dst []Match, a, b []int32, maxD int) (m []Match, ok bool) {
	if n := len(a) + len(b) + 3; n > len(s.fwd) {
		n += n / 4
		s.fwd, s.rev = make([]int32, n), make([]int32, n)
	}
	s.out, s.from = dst, len(dst)
	ok = s.solve(a, b, 0, 0, maxD)
	m, s.out = s.out, nil
	if !ok {
		m = m[:len(dst)]
	}
	return m, ok
}

// solve emits the matches of a and b, which start at (x, y) in the whole grid.
// Each level halves D (the halves have ceil(D/2) and floor(D/2) edits), and
// D < 2 leaves nothing to split, so the recursion is at most 1+log2(D) deep.
func (s *Solver) solve(a, b []int32, x, y, maxD int) bool {
	p := prefix(a, b)
	s.emit(x, y, p)
	a, b, x, y = a[p:], b[p:], x+p, y+p
	q := suffix(a, b)
	a, b = a[:len(a)-q], b[:len(b)-q]
	if len(a) == 0 || len(b) == 0 {
		if maxD >= 0 && len(a)+len(b) > maxD {
			return false
		}
	} else {
		i, j, ok := s.split(a, b, maxD)
		if !ok {
			return false
		}
		s.solve(a[:i], b[:j], x, y, -1)
		s.solve(a[i:], b[j:], x+i, y+j, -1)
	}
	s.emit(x+len(a), y+len(b), q)
	return true
}

// emit adds a run of n matches at (x, y), joined to the last run if it
// continues it.
func (s *Solver) emit(x, y, n int) {
	if n == 0 {
		return
	}
	if i := len(s.out) - 1; i >= s.from {
		if m := &s.out[i]; m.X+m.Len == x && m.Y+m.Len == y {
			m.Len += n
			return
		}
	}
	s.out = append(s.out, Match{x, y, n})
}

func prefix(a, b []int32) int {
	b = b[:min(len(a), len(b))]
	for i := range b {
		if a[i] != b[i] {
			return i
		}
	}
	return len(b)
}

func suffix(a, b []int32) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	for i := n - 1; i >= 0; i-- {
		if a[i] != b[i] {
			return n - 1 - i
		}
	}
	return n
}

// band is the range of diagonals that a search went through in its last round,
// as indexes into V. A side is walled once the search has reached the far edge
// of the grid there: a path through the diagonals beyond would have to come
// back over the point on the edge, which is already reached more cheaply, so
// from then on the band shrinks on that side instead of growing.
type band struct {
	lo, hi         int
	loWall, hiWall bool
}

// next widens or narrows b for another round; none fills the cells beside it.
func (b *band) next(v []int32, none int32) {
	if b.loWall {
		b.lo++
	} else {
		b.lo--
		v[b.lo-1] = none
	}
	if b.hiWall {
		b.hi--
	} else {
		b.hi++
		v[b.hi+1] = none
	}
}

// span is the number of diagonals to compare with, 0 when check is false.
func (b *band) span(check bool) uint {
	if !check {
		return 0
	}
	return uint(b.hi - b.lo + 1)
}

// split returns a point where a shortest path can be cut in two: the end of
// the middle snake on the side of the search that found it. The first and the
// last elements of a and b differ and neither is empty, hence D >= 2, and each
// half gets at least one edit.
//
// D has the parity of |a|-|b|. When that is odd the searches meet in a forward
// round d with D = 2d-1, else in a reverse round d with D = 2d (lemma 3), so
// the limit is known to be broken before the round begins.
func (s *Solver) split(a, b []int32, maxD int) (x, y int, ok bool) {
	n, m := len(a), len(b)
	off := m + 1 // diagonal k = x-y is at V[k+off], -m <= k <= n, one spare cell on either side
	f, r := s.fwd[:n+m+3], s.rev[:n+m+3]
	odd := (n - m) & 1
	fb, rb := band{lo: off, hi: off}, band{lo: n - m + off, hi: n - m + off}
	f[fb.lo], r[rb.lo] = 0, int32(n)
	for d := 1; ; d++ {
		if maxD >= 0 && 2*d-odd > maxD {
			return 0, 0, false
		}
		fb.next(f, -1)
		if x, y, ok = forward(a, b, f, r, &fb, rb.lo, rb.span(odd == 1)); ok {
			return x, y, true
		}
		rb.next(r, math.MaxInt32)
		if x, y, ok = reverse(a, b, f, r, &rb, fb.lo, fb.span(odd == 0)); ok {
			return x, y, true
		}
	}
}

// forward does one round of the forward search and reports the point where it
// overlaps the reverse paths on the span diagonals from rlo.
func forward(a, b, f, r []int32, band *band, rlo int, span uint) (int, int, bool) {
	off, lo, hi := len(b)+1, band.lo, band.hi
	left := f[lo-1]
	for i := lo; i <= hi; i += 2 {
		right := f[i+1]
		x := int(max(left+1, right))
		left = right
		y := x - i + off
		for uint(x) < uint(len(a)) && uint(y) < uint(len(b)) && a[x] == b[y] {
			x++
			y++
		}
		f[i] = int32(x)
		if uint(i-rlo) < span && int(r[i]) <= x {
			return x, y, true
		}
		if y == len(b) {
			band.lo, band.loWall = i, true
		}
		if x == len(a) {
			band.hi, band.hiWall = i, true
			break
		}
	}
	return 0, 0, false
}

// reverse is forward, mirrored.
func reverse(a, b, f, r []int32, band *band, flo int, span uint) (int, int, bool) {
	off, lo, hi := len(b)+1, band.lo, band.hi
	left := r[lo-1]
	for i := lo; i <= hi; i += 2 {
		right := r[i+1]
		x := int(min(left, right-1))
		left = right
		y := x - i + off
		for uint(x-1) < uint(len(a)) && uint(y-1) < uint(len(b)) && a[x-1] == b[y-1] {
			x--
			y--
		}
		r[i] = int32(x)
		if uint(i-flo) < span && int(f[i]) >= x {
			return x, y, true
		}
		if x == 0 {
			band.lo, band.loWall = i, true
		}
		if y == 0 {
			band.hi, band.hiWall = i, true
			break
		}
	}
	return 0, 0, false
}
