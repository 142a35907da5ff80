package tlcs

import (
	"slices"

	"neardup/verify/lcs"
)

// chain holds what common needs.
type chain struct {
	where []int32 // by code points of A: where they are in its sketch
	links []link
	tails []int32 // the link that ends the chain of a given length with the least x
	runs  []lcs.Match
}

// link is a code point at x and y of the sketches at which equal windows
// start, and the link before it in a longest chain.
type link struct{ x, y, before int32 }

// common is a common subsequence of the sketches of the first round: of the
// windows that both have the longest chain in ascending order, by the code
// points they start with. A window of B stands for the one of A that continues
// the window before, if that is equal, or else for the first that is.
func (c *Comparer) common() []lcs.Match {
	h := &c.chain
	h.where = slices.Grow(h.where[:0], len(c.viewA.text))[:len(c.viewA.text)]
	for x, at := range c.a.at {
		h.where[at] = int32(x)
	}
	h.links, h.tails = h.links[:0], h.tails[:0]
	last := -1
	for y := range c.b.at {
		id := c.window(&c.viewB, &c.b, y)
		if id < 0 {
			last = -1
			continue
		}
		if last >= 0 && c.window(&c.viewA, &c.a, last+1) == id {
			last++
		} else {
			last = int(h.where[id])
		}
		h.add(int32(last), int32(y))
	}
	return h.matches()
}

// window is the first window of A that is the same as the one that starts at i
// of a sketch, -1 if none does that is in both texts.
func (c *Comparer) window(v *view, s *sketch, i int) int32 {
	if i < len(s.at) && int(s.at[i]) < len(v.ids) {
		if id := v.ids[s.at[i]]; id >= 0 && c.marks[id] == c.epoch {
			return id
		}
	}
	return -1
}

// add is a step of patience sorting.
func (h *chain) add(x, y int32) {
	length := len(h.tails)
	if length > 0 && h.links[h.tails[length-1]].x >= x {
		length, _ = slices.BinarySearchFunc(h.tails, x, func(l, x int32) int { return int(h.links[l].x - x) })
	}
	before := int32(-1)
	if length > 0 {
		before = h.tails[length-1]
	}
	if length == len(h.tails) {
		h.tails = append(h.tails, 0)
	}
	h.tails[length] = int32(len(h.links))
	h.links = append(h.links, link{x, y, before})
}

// matches is the longest chain in runs.
func (h *chain) matches() []lcs.Match {
	h.runs = h.runs[:0]
	if len(h.tails) == 0 {
		return h.runs
	}
	for i := h.tails[len(h.tails)-1]; i >= 0; i = h.links[i].before {
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
