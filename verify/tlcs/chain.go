package tlcs

import (
	"slices"

	"neardup/verify/lcs"
)

// chain computes a longest ascending chain by patience sorting.
type chain struct {
	where []int32 // by code point of A: its position in the sketch
	links []link
	tails []tail // by length: the chain of that length that ends with the smallest x
	last  int    // length of the chain made last
	runs  []lcs.Match
}

// link is a pair of positions x and y of the sketches at which equal windows start,
// and the link before it in its chain, -1 if there is none.
type link struct{ x, y, before int32 }

// tail is a chain: its last link, and the x of that link.
type tail struct{ x, link int32 }

// common returns a common subsequence of the sketches of the first round: among the
// windows that both have, the longest chain in ascending order, given by the
// windows' first code points. A window of B stands for the window of A after the
// previous match, if that is equal, and otherwise for the first equal one.
func (c *Comparer) common() []lcs.Match {
	h, idsA, idsB := &c.chain, c.viewA.ids, c.viewB.ids
	h.where = slices.Grow(h.where[:0], len(c.viewA.text))[:len(c.viewA.text)]
	for x, at := range c.a.at {
		h.where[at] = int32(x)
	}
	h.links, h.tails, h.last = h.links[:0], h.tails[:0], 0
	last := -2 // the window of A for the previous window
	for y, at := range c.b.at {
		if int(at) >= len(idsB) || idsB[at] < 0 {
			last = -2
			continue
		}
		if next := last + 1; next >= 0 && next < len(idsA) && idsA[next] == idsB[at] {
			last = next
		} else {
			last = int(idsB[at])
		}
		h.add(h.where[last], int32(y))
	}
	return h.matches()
}

// add adds a chain that ends at x and y. y must be greater than all earlier ones.
// In most cases the chain continues the one made last.
func (h *chain) add(x, y int32) {
	n := h.last
	if n > 0 && h.tails[n-1].x >= x || n < len(h.tails) && h.tails[n].x < x {
		n, _ = slices.BinarySearchFunc(h.tails, x, func(t tail, x int32) int { return int(t.x - x) })
	}
	before := int32(-1)
	if n > 0 {
		before = h.tails[n-1].link
	}
	if n == len(h.tails) {
		h.tails = append(h.tails, tail{})
	}
	h.tails[n] = tail{x, int32(len(h.links))}
	h.links = append(h.links, link{x, y, before})
	h.last = n + 1
}

// matches returns the longest chain as runs.
func (h *chain) matches() []lcs.Match {
	h.runs = h.runs[:0]
	if len(h.tails) == 0 {
		return h.runs
	}
	for i := h.tails[len(h.tails)-1].link; i >= 0; i = h.links[i].before {
		x, y := int(h.links[i].x), int(h.links[i].y)
		if n := len(h.runs) - 1; n >= 0 && h.runs[n].X == x+1 && h.runs[n].Y == y+1 {
			h.runs[n].X, h.runs[n].Y, h.runs[n].Len = x, y, h.runs[n].Len+1
			continue
		}
		h.runs = append(h.runs, lcs.Match{X: x, Y: y, Len: 1})
	}
	slices.Reverse(h.runs)
	return h.runs
}
