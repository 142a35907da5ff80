// Package lcs computes a longest common subsequence of two sequences, and
// which one does not depend on how it was computed.
//
// # The alignment
//
// There are many longest common subsequences. This package always gives the
// same one, a function of the two sequences alone:
//
//  1. the prefix that a and b share is matched;
//  2. the suffix that the rest shares is matched;
//  3. of what is left, the table of the textbook is walked back from its last
//     corner: where L[x][y] is the length for a[:x] and b[:y], stop if x or y
//     is 0; else match a[x-1] with b[y-1] if they are equal; else leave out
//     a[x-1] if L[x-1][y] == L[x][y]; else leave out b[y-1].
//
// (To match equal elements is never a loss, and of two unequal ones it is
// always possible to leave out one, so the walk is on optimal paths only.)
// Elements that follow one another in both are so matched as one run for as
// long as they are equal.
//
// # The algorithms
//
// A short edit script is found by the greedy algorithm of Myers, "An O(ND)
// Difference Algorithm and Its Variations", Algorithmica 1 (1986), section 4
// (greedy.go). When that turns out to be more work, the table is computed 64
// cells at a time in bit vectors, after Crochemore, Iliopoulos, Pinzon and
// Reid, "A fast and practical bit-vector algorithm for the longest common
// subsequence problem" (2001), in the form of Hyyrö, "Bit-parallel LCS-length
// computation revisited" (2004), and only in the band where a script of the
// length looked for can be (bands.go). Both are exact and know enough of the
// table for the walk above; so whichever runs, the matches are the same.
package lcs

import "slices"

// Match is a run of Len equal elements, a[X:X+Len] == b[Y:Y+Len].
type Match struct{ X, Y, Len int }

// Hint is what a caller knows about a pair beforehand. It changes the speed and
// never the result, so it may be wrong. The zero value knows nothing.
type Hint struct {
	// D is about the length of the shortest edit script, better a little more than
	// less; 0 if unknown.
	D int
	// Common returns some common subsequence, in the form of Matches; the longer,
	// the better. It returns nil if it has none. It is called only where it helps.
	Common func() []Match
}

// Solver holds scratch memory, reused from call to call: about 20 bytes for an
// element, 60 for each distinct one, and for the bands up to 16 MiB. (Only
// where hundreds of thousands of elements have nothing in common is it more:
// 46 MiB for the bands at a million.) The zero value is ready; it is not safe
// for concurrent use.
type Solver struct {
	path   path
	greedy greedy
	bands  bands
}

// Matches appends to dst the longest common subsequence of a and b that the
// package comment defines, as runs in ascending order, runs that touch in both
// sequences being one. If the shortest edit script (insertions and deletions)
// is longer than maxD, ok is false and dst is returned as it was; a negative
// maxD is no limit. Together they must be shorter than 2^31.
func (s *Solver) Matches(dst []Match, a, b []int32, maxD int, hint Hint) (m []Match, ok bool) {
	if maxD < 0 {
		maxD = len(a) + len(b)
	}
	if max(len(a)-len(b), len(b)-len(a)) > maxD {
		return dst, false
	}
	p := prefix(a, b)
	a, b = a[p:], b[p:]
	q := suffix(a, b)
	a, b = a[:len(a)-q], b[:len(b)-q]
	s.path = path{runs: dst, from: len(dst), offset: p}
	s.path.add(len(a), len(b), q)
	ok = s.middle(a, b, maxD, hint)
	s.path.add(-p, -p, p)
	m, s.path.runs = s.path.runs, nil
	if !ok {
		return m[:len(dst)], false
	}
	slices.Reverse(m[len(dst):])
	return m, true
}

// middle adds the matches of a and b, of which neither the first nor the last
// elements are equal.
//
// Greedy search comes first, unless the difference in length alone, or the D of
// the hint, is too much for it. If it has not come to the end after half the time that one pass over
// the narrowest band takes, it goes on for up to six times as long if that
// seems to be enough; then the bands take over.
func (s *Solver) middle(a, b []int32, maxD int, hint Hint) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a)+len(b) <= maxD
	}
	first, whole := stripBits, len(a)+len(b) // a narrower band costs as much
	budget := min(min(len(b), stripBits)*len(a)/stripBits/2+8, greedyBudget)
	if least := max(len(a)-len(b), len(b)-len(a), hint.D); least*least/2 <= 6*budget {
		g := &s.greedy
		g.reset()
		reached := g.search(a, b, maxD, budget)
		if guess := estimate(g.d, reached, whole); g.d < maxD && reached < whole && guess*guess/2 <= 6*budget {
			reached = g.search(a, b, maxD, 5*budget)
		}
		switch {
		case reached == whole:
			g.walk(&s.path, a, b)
			return true
		case g.d == maxD:
			return false
		}
		first = max(first, estimate(g.d, reached, whole))
	}
	s.bands.intern(a, b)
	if !s.bands.search(maxD, s.firstWidth(first, hint), 1) {
		return false
	}
	s.bands.walk(&s.path, a, b)
	return true
}

// firstWidth returns the width that the bands begin with, at best one that is known to
// be enough, else what greedy search guesses.
func (s *Solver) firstWidth(guess int, hint Hint) int {
	n, m := len(s.bands.idA), s.bands.lenB
	switch {
	case hint.D > 0:
		return max(hint.D, stripBits)
	case hint.Common != nil && n*m >= besideFrom:
		if d, ok := s.bands.beside(hint.Common(), s.path.offset); ok {
			return max(d, stripBits)
		}
	}
	return max(guess, s.bands.least+stripBits)
}

// greedyBudget limits what greedy search keeps, 6 times 4 bytes each.
const greedyBudget = 1 << 18

// estimate guesses at D where a search has covered part of whole with d edits:
// as many for the rest, and a little more, but not more than four times d.
func estimate(d, part, whole int) int {
	guess := 4 * d
	if part > 0 {
		guess = min(guess, d+d/8+d*(whole-part)/part*9/8)
	}
	return max(guess, d+d/4+1)
}

// path collects runs from last to first.
type path struct {
	runs   []Match
	from   int // runs[from:] belongs to this call
	offset int // of both coordinates
}

// add puts a run of n matches at (x, y) before the runs that are there.
func (p *path) add(x, y, n int) {
	if n == 0 {
		return
	}
	x, y = x+p.offset, y+p.offset
	if i := len(p.runs) - 1; i >= p.from {
		if m := &p.runs[i]; m.X == x+n && m.Y == y+n {
			m.X, m.Y, m.Len = x, y, m.Len+n
			return
		}
	}
	p.runs = append(p.runs, Match{x, y, n})
}

// prefix returns the length of the common prefix, looked for in steps of four.
func prefix(a, b []int32) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+4 <= n; i += 4 {
		p, q := a[i:i+4:i+4], b[i:i+4:i+4]
		if (p[0]^q[0])|(p[1]^q[1])|(p[2]^q[2])|(p[3]^q[3]) != 0 {
			break
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func suffix(a, b []int32) int {
	n := min(len(a), len(b))
	a, b = a[len(a)-n:], b[len(b)-n:]
	i := n
	for ; i >= 4; i -= 4 {
		p, q := a[i-4:i:i], b[i-4:i:i]
		if (p[0]^q[0])|(p[1]^q[1])|(p[2]^q[2])|(p[3]^q[3]) != 0 {
			break
		}
	}
	for i > 0 && a[i-1] == b[i-1] {
		i--
	}
	return n - i
}
