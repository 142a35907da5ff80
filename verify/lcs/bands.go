package lcs

import (
	"math/bits"
	"slices"
)

// The table is computed in tiles of stripBits columns (elements of a) and
// groupRows rows (elements of b). A strip is a column of tiles; it is computed
// from the top, four words of state in registers.
const (
	stripWords = 4
	stripBits  = 64 * stripWords
	groupRows  = 64

	bandWords = 2 << 20 // about what may be kept of a band: 16 MiB
)

// row is the state of a strip after a row of it: bit i of the strip is 0 where
// the length L rises from column i to column i+1 of the strip.
type row [stripWords]uint64

var flat = row{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}

// bands computes the table within a band, wide enough for all edit scripts of
// at most w operations, for growing w.
//
// # The band
//
// Let f(x, y) be D(x, y) plus the difference in length between a[x:] and
// b[y:]. A script of at most w operations only goes through points with
// f <= w. A pass takes the strips from left to right; of each it computes the
// groups of rows from lo to hi, where by what is known on the line between the
// strip and the last one (below) a path with f <= w can be. A path does not
// enter from above the region so made, nor from the left below the last
// strip's end: there the state starts flat and the carries are 0, which is to
// say that L is what the edge of the region brings along. So the pass computes
// exactly the best path of those that stay within the region.
//
// The region holds all paths of at most w operations, by induction over the
// strips. Such a path leaves the last strip at rows whose f, as computed, is
// at most w, so it enters this one not above the first of these: that is lo.
// From (x, y) it can go down to a diagonal k = y-x and still come back to the
// last, len(b)-len(a), in time, only if
//
//	D(x, y) + (k - (y-x)) + (k - (len(b)-len(a))) <= w
//	k <= (w + len(b)-len(a))/2 - x + L(x, y)
//
// and L grows with y, so the lowest of the rows gives hi. When no row is left,
// or the D that comes out in the corner is more than w, all scripts are longer
// than w. Otherwise that D is the true one, since no path is shorter.
//
// The walk asks whether L[x-1][y] == L[x][y] at points of optimal paths only.
// These lie in the region, so L[x][y] is the true one there. If the answer is
// yes in the whole table, an optimal path goes through (x-1, y), which is then
// in the region with its true value too; if it is no, a value that is too small
// or a point that is not in the region says no as well.
//
// L is looked at only where groups meet. As f changes by -2, 0 or 2 from row to
// row, between two rows that are h apart it is at least their mean less h. So a
// row where f is at most w keeps the group above it as well, if that is in the
// region: the paths in question are never on the topmost row of a strip, but 0.
//
// # Memory
//
// Rows are not kept. For the walk, a pass keeps the state of the strip on top of
// every span-th group and the carries on the left of every span-th strip: from
// these, any block of span by span tiles can be computed again, and the walk
// goes through few of them. span is 1 until that would be more than bandWords.
type bands struct {
	symbols  symbols
	idA, idB []int32 // a and b, in symbols; b is filled up to a whole group with what is not in a
	lenB     int
	least    int   // no D is less: as if order did not matter
	masks    []row // by symbol: 0 where it is in the strip that is laid out, else 1
	laid     int   // which strip that is, -1 if none
	carry    []uint64
	span     int
	strips   []strip
	kept     []uint64
	// The block last computed again: its first strip and group, and after each
	// of its rows, strip by strip, the state.
	blockStrip, blockGroup int
	block                  []row
}

// strip tells what a pass computed of a strip, and where in kept it left the
// carries into these groups, if any, and the states on top of some of them.
type strip struct{ lo, hi, carries, states int }

// search computes the band for a sufficient w, not more than maxD; if there is
// none it returns false. The first w to try is given, and the least span to
// use. The sequences are those of intern, neither of them empty.
func (s *bands) search(maxD, w, span int) bool {
	n, m := len(s.idA), s.lenB
	gap := max(n-m, m-n)
	for w = max(w, s.least); ; {
		w = min(w, maxD)
		if s.least > w {
			return false
		}
		s.setSpan(w, span)
		d, reached := s.pass(w)
		if d <= w {
			return true
		}
		if w == maxD {
			return false
		}
		w = min(gap+widened(w-gap, reached, n), d)
	}
}

// widened guesses how much more than the difference in length w must be, where
// slack was enough for part of n columns: as much for each column of the rest,
// and a little more, but not more than eight times as much. A pass that ends
// early costs little, about the square of its part of one that succeeds.
func widened(slack, part, n int) int {
	guess := 8 * slack
	if part > 0 {
		guess = min(guess, slack*n/part*9/8)
	}
	return max(guess, slack+slack/3+stripBits)
}

// intern prepares the symbols of a and b.
func (s *bands) intern(a, b []int32) {
	s.symbols.reset()
	s.idA = slices.Grow(s.idA[:0], len(a))[:len(a)]
	groups := (len(b) + groupRows - 1) / groupRows
	s.idB = slices.Grow(s.idB[:0], groups*groupRows)[:groups*groupRows]
	s.symbols.add(s.idA, a)
	both := s.symbols.take(s.idB, b)
	clear(s.idB[len(b):])
	s.lenB = len(b)
	s.masks = slices.Grow(s.masks[:0], len(s.symbols.elements))[:len(s.symbols.elements)]
	for i := range s.masks {
		s.masks[i] = flat
	}
	s.laid = -1
	s.carry = slices.Grow(s.carry[:0], groups)[:groups]
	s.block, s.blockStrip = s.block[:0], -1
	s.least = len(a) + len(b) - 2*both
}

// lay makes masks those of strip t.
func (s *bands) lay(t int) {
	if s.laid == t {
		return
	}
	if s.laid >= 0 {
		for _, id := range s.columns(s.laid) {
			s.masks[id] = flat
		}
	}
	s.laid = t
	for i, id := range s.columns(t) {
		s.masks[id][i/64] &^= 1 << (i % 64)
	}
}

func (s *bands) columns(t int) []int32 {
	return s.idA[t*stripBits : min((t+1)*stripBits, len(s.idA))]
}

func (s *bands) rows(g int) *[groupRows]int32 {
	return (*[groupRows]int32)(s.idB[g*groupRows:])
}

// pass computes the band of w and returns the D found, or an impossible one if
// the band ended before the corner, after the given number of columns.
func (s *bands) pass(w int) (d, reached int) {
	n, m := len(s.idA), s.lenB
	impossible := n + m + 1
	if w < max(n-m, m-n) {
		return impossible, 0
	}
	s.strips, s.kept = s.strips[:0], s.kept[:0]
	groups := (m + groupRows - 1) / groupRows
	top, bottom := 0, 0 // L on the left edge of the strip, at the rows of lo and hi
	lo, known := 0, 0   // the carries into this strip are known for groups before that, else 0
	for x := 0; x < n; {
		t := x / stripBits
		next := min(x+stripBits, n)
		hi := (w+m-n)/2 - x + bottom + next // rows
		hi = min((hi+groupRows-1)/groupRows, groups)
		if lo >= hi {
			return impossible, x
		}
		if from := max(lo, known); from < hi {
			clear(s.carry[from:hi])
		}
		s.computeStrip(t, lo, hi)
		known, x = hi, next

		// On the line at x, L and f from row to row, counted in groups.
		l, y := top, min(lo*groupRows, m)
		f := x + y - 2*l + abs(n-x-m+y)
		found := false
		for g := lo; g < hi; g++ {
			l1, y1 := l+bits.OnesCount64(s.carry[g]), min(y+groupRows, m)
			f1 := x + y1 - 2*l1 + abs(n-x-m+y1)
			if f+f1 <= 2*(w+y1-y) {
				if !found {
					found, lo, top = true, g, l
				}
				bottom = l1
			}
			f, l, y = f1, l1, y1
		}
		if !found {
			return impossible, x
		}
		if x == n && y == m {
			return n + m - 2*l, n
		}
	}
	return impossible, n
}

func abs(x int) int { return max(x, -x) }

// setSpan chooses span, not less than least, such that a band of w is kept in
// bandWords, or else such that a block is not much smaller than that.
func (s *bands) setSpan(w, least int) {
	for s.span = least; s.words(w) > bandWords && s.words(w) > 8*stripWords*s.blockRows(); {
		s.span *= 2
	}
	s.kept = slices.Grow(s.kept[:0], s.words(w))
}

// words returns a bound for the number of words to keep of a band of w.
func (s *bands) words(w int) int {
	strips := (len(s.idA) + stripBits - 1) / stripBits
	groups := min(s.lenB, w+stripBits)/groupRows + 3
	return (strips/s.span+1)*groups + strips*(groups/s.span+1)*stripWords
}

// blockRows returns the number of states in a block.
func (s *bands) blockRows() int { return s.span * s.span * groupRows }

// computeStrip computes groups lo to hi of strip t; carry holds those on its
// left, and then those on its right.
func (s *bands) computeStrip(t, lo, hi int) {
	s.lay(t)
	rec := strip{lo: lo, hi: hi, carries: -1}
	if t%s.span == 0 {
		rec.carries = len(s.kept)
		s.kept = append(s.kept, s.carry[lo:hi]...)
	}
	rec.states = len(s.kept)
	s.strips = append(s.strips, rec)
	state := flat
	for g := lo; g < hi; g++ {
		if g%s.span == 0 {
			s.kept = append(s.kept, state[:]...)
		}
		s.carry[g] = state.pass(s.masks, s.rows(g), s.carry[g])
	}
}

// pass takes r through a group of rows. The carries are the rises of L from
// row to row, the first in the highest bit: in on the left of the strip, out on
// its right. Each row takes a bit of them from above and adds one below.
//
// Hyyrö: V' = (V + (V & M)) | (V & ^M). The masks are ^M, and V & M is what the
// latter leaves of V: so the compiler needs the fewest registers.
func (r *row) pass(masks []row, ids *[groupRows]int32, carries uint64) uint64 {
	v0, v1, v2, v3 := r[0], r[1], r[2], r[3]
	for _, id := range ids[:] {
		m := &masks[id]
		w0, w1, w2, w3 := v0&m[0], v1&m[1], v2&m[2], v3&m[3]
		u0, u1, u2, u3 := v0^w0, v1^w1, v2^w2, v3^w3
		var c uint64
		carries, c = bits.Add64(carries, carries, 0)
		v0, c = bits.Add64(u0, v0, c)
		v1, c = bits.Add64(u1, v1, c)
		v2, c = bits.Add64(u2, v2, c)
		v3, c = bits.Add64(u3, v3, c)
		carries, _ = bits.Add64(carries, 0, c)
		v0, v1, v2, v3 = v0|w0, v1|w1, v2|w2, v3|w3
	}
	r[0], r[1], r[2], r[3] = v0, v1, v2, v3
	return carries
}

// trace is pass, and leaves the state after every row in states.
func (r *row) trace(masks []row, ids *[groupRows]int32, carries uint64, states *[groupRows]row) uint64 {
	v0, v1, v2, v3 := r[0], r[1], r[2], r[3]
	for i, id := range ids[:] {
		m := &masks[id]
		w0, w1, w2, w3 := v0&m[0], v1&m[1], v2&m[2], v3&m[3]
		u0, u1, u2, u3 := v0^w0, v1^w1, v2^w2, v3^w3
		var c uint64
		carries, c = bits.Add64(carries, carries, 0)
		v0, c = bits.Add64(u0, v0, c)
		v1, c = bits.Add64(u1, v1, c)
		v2, c = bits.Add64(u2, v2, c)
		v3, c = bits.Add64(u3, v3, c)
		carries, _ = bits.Add64(carries, 0, c)
		v0, v1, v2, v3 = v0|w0, v1|w1, v2|w2, v3|w3
		states[i] = row{v0, v1, v2, v3}
	}
	r[0], r[1], r[2], r[3] = v0, v1, v2, v3
	return carries
}

// recompute makes block the one that holds strip t and group g, as far as they,
// which is all that the walk can still need of it.
func (s *bands) recompute(t, g int) {
	s.blockStrip, s.blockGroup = t-t%s.span, g-g%s.span
	s.block = slices.Grow(s.block[:0], s.blockRows())[:s.blockRows()]
	known := 0
	for i := s.blockStrip; i <= t; i++ {
		rec := &s.strips[i]
		lo, hi := max(rec.lo, s.blockGroup), min(rec.hi, g+1)
		from := max(lo, known)
		known = hi
		if lo >= hi {
			continue
		}
		if rec.carries >= 0 {
			copy(s.carry[lo:hi], s.kept[rec.carries+lo-rec.lo:])
		} else if from < hi {
			clear(s.carry[from:hi])
		}
		state := flat
		if lo > rec.lo { // then lo is on top of the block
			above := (rec.lo + s.span - 1) / s.span
			copy(state[:], s.kept[rec.states+(lo/s.span-above)*stripWords:])
		}
		s.lay(i)
		for j := lo; j < hi; j++ {
			s.carry[j] = state.trace(s.masks, s.rows(j), s.carry[j], (*[groupRows]row)(s.block[s.at(i, j*groupRows):]))
		}
	}
}

// at returns the index in block of the state of strip t after row y.
func (s *bands) at(t, y int) int {
	return (t-s.blockStrip)*s.span*groupRows + y - s.blockGroup*groupRows
}

// walk adds the matches after a search that succeeded.
func (s *bands) walk(p *path, a, b []int32) {
	x, y := len(a), len(b)
	for {
		end := x
		for x > 0 && y > 0 && a[x-1] == b[y-1] {
			x--
			y--
		}
		p.add(x, y, end-x)
		if x == 0 || y == 0 {
			return
		}
		t, g := (x-1)/stripBits, (y-1)/groupRows
		if t < s.blockStrip || g < s.blockGroup || s.blockStrip < 0 {
			s.recompute(t, g)
		}
		state := &s.block[s.at(t, y-1)]
		if i := (x - 1) % stripBits; state[i/64]>>(i%64)&1 != 0 {
			x--
		} else {
			y--
		}
	}
}
