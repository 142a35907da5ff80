package lcs

import "slices"

// greedy is the algorithm of figure 2 of Myers' paper. Round d finds, on every
// diagonal k = x-y that it can reach, the furthest x for which the distance
// D(x, y) of a[:x] and b[:y] is at most d. Along a diagonal D never falls, so
// the rounds together tell D of every point with D <= d: all that the walk
// back asks of the table, L[x][y] being (x+y-D(x,y))/2.
//
// Departures: every round is kept, not only the last (the paper does so too,
// for the script); no point leaves the grid; and the search gives up when it
// has done more work than its budget.
type greedy struct {
	d int     // the last round
	v []int32 // round d is v[d(d+1)/2:][:d+1], diagonals -d, -d+2 ... d
}

// round returns the part of v that belongs to round d.
func (g *greedy) round(d int) []int32 {
	from := d * (d + 1) / 2
	return g.v[from : from+d+1]
}

// reset begins a search: in round 0 there is nothing to match.
func (g *greedy) reset() { g.d, g.v = 0, append(g.v[:0], 0) }

// search does rounds up to maxD and returns the largest x+y of the last one,
// d. That is len(a)+len(b) if and only if d is the length of the shortest edit
// script; then, and when the budget is spent, it stops. It can go on with
// another budget. a[0] != b[0].
//
// The budget is in visits of a diagonal; sixteen steps along one count as one.
func (g *greedy) search(a, b []int32, maxD, budget int) (reached int) {
	for g.d < maxD && budget > 0 {
		g.d++
		g.v = slices.Grow(g.v, g.d+1)[:len(g.v)+g.d+1]
		var steps int
		steps, reached = advance(a, b, g.d, g.round(g.d-1), g.round(g.d))
		if reached == len(a)+len(b) {
			break
		}
		budget -= g.d + 1 + steps/16
	}
	return reached
}

// advance makes round d out of the one before it: steps is how far it went
// along diagonals, reached the largest x+y. Diagonals beside the grid get -1.
func advance(a, b []int32, d int, last, next []int32) (steps, reached int) {
	for i := range next {
		k := 2*i - d
		if k < -len(b) || k > len(a) {
			next[i] = -1
			continue
		}
		x := -1
		if i < len(last) {
			x = int(last[i]) // from diagonal k+1, by an insertion
		}
		if i > 0 {
			x = max(x, int(last[i-1])+1) // from diagonal k-1, by a deletion
		}
		// A point beyond the edge has a neighbour on the edge in k, at the
		// same distance or nearer than that.
		end := min(len(a), len(b)+k)
		x = min(x, end)
		from := x
		if x < end {
			p, q := a[x:end], b[x-k:end-k]
			q = q[:len(p)]
			j := 0
			for j < len(p) && p[j] == q[j] {
				j++
			}
			x += j
		}
		next[i] = int32(x)
		steps += x - from
		reached = max(reached, 2*x-k)
	}
	return steps, reached
}

// walk adds the matches after a search that has found a script.
func (g *greedy) walk(p *path, a, b []int32) {
	x, y, d := len(a), len(b), g.d
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
		// D(x-1, y) is d-1 or d+1; x-y is at most d.
		d--
		last := g.round(d)
		if k := x - 1 - y; k >= -d && x-1 <= int(last[(k+d)/2]) {
			x--
		} else {
			y--
		}
	}
}
