package tlcs

import (
	"math"
	"slices"
)

// view is what is left of a document in a round: its code points, and for the one
// at i the end of the window that starts there and the ID of the window's text. The
// ID is the index of the first equal window of the original A. It is negative if
// there is none, or if the window is cut. The last code points have no windows.
type view struct{ text, ends, ids []int32 }

// sketch is the part of a view that is kept, with its positions in the view.
type sketch struct{ text, at []int32 }

// probe looks up the windows of b in a and stores the results in c.ids. It stops as
// soon as the windows found cannot cover need code points of b.
func (c *Comparer) probe(a, b *Document, need int) bool {
	firsts := a.firsts()
	c.ids = slices.Grow(c.ids[:0], len(b.ends))
	decided, lost := 0, 0 // of the first decided code points of b, lost are in no window found so far
	last := -1            // the window of a that equals the previous window of b
	for i := range b.ends {
		if i > decided {
			decided++
			lost++
			if len(b.text)-lost < need {
				return false
			}
		}
		if last >= 0 && a.continues(last+1, b, i) {
			last++
		} else if last = int(a.has(b, i)); last < 0 {
			c.ids = append(c.ids, -1)
			continue
		}
		c.ids = append(c.ids, firsts[last])
		decided = int(b.ends[i])
	}
	if n := len(a.ends); n > len(c.marks) {
		c.marks, c.epoch = make([]uint32, n), 0
	}
	return true
}

// filter computes the filtered sketches of section 3.2: the code points covered by
// at least one window whose fingerprint occurs in both texts. In the first round
// every id of b is known to be in a.
func (c *Comparer) filter(a, b view, first bool) {
	if c.epoch > math.MaxUint32-2 {
		clear(c.marks)
		c.epoch = 0
	}
	inA, inBoth := c.epoch+1, c.epoch+2
	c.epoch += 2
	if !first {
		for _, id := range a.ids {
			if id >= 0 {
				c.marks[id] = inA
			}
		}
	}
	c.b.reset(len(b.text))
	from, to := 0, 0 // range that is covered without a gap
	for i, id := range b.ids {
		if id >= 0 && (first || c.marks[id] >= inA) {
			c.marks[id] = inBoth
			if i > to {
				c.b.keep(b, from, to)
				from = i
			}
			to = int(b.ends[i])
		}
	}
	c.b.keep(b, from, to)
	c.a.reset(len(a.text))
	from, to = 0, 0
	for i, id := range a.ids {
		if id >= 0 && c.marks[id] == inBoth {
			if i > to {
				c.a.keep(a, from, to)
				from = i
			}
			to = int(a.ends[i])
		}
	}
	c.a.keep(a, from, to)
}

func (s *sketch) reset(n int) {
	s.text, s.at = slices.Grow(s.text[:0], n), slices.Grow(s.at[:0], n)
}

// keep adds the code points of v from from to to.
func (s *sketch) keep(v view, from, to int) {
	s.text = append(s.text, v.text[from:to]...)
	n := len(s.at)
	s.at = s.at[:n+to-from]
	for i := range s.at[n:] {
		s.at[n+i] = int32(from + i)
	}
}

// cut takes the region [start, end) out of a and the code points that the
// matches have in b out of b (section 3.3, position changes).
func (c *Comparer) cut(a, b view, start, end int) (view, view) {
	c.leftA.splice(a, start, end)
	c.gone = slices.Grow(c.gone[:0], len(b.text)+1)[:len(b.text)+1]
	gone := c.gone
	clear(gone)
	for _, m := range c.matches {
		for _, at := range c.b.at[m.Y : m.Y+m.Len] {
			gone[at+1] = 1
		}
	}
	c.leftB.without(b, gone)
	return c.leftA, c.leftB
}

// splice sets v to what is left of old without the code points from start to end.
// old may be v itself.
func (v *view) splice(old view, start, end int) {
	from, to := min(start, len(old.ids)), min(end, len(old.ids))
	v.text = append(append(v.text[:0], old.text[:start]...), old.text[end:]...)
	v.ends = append(append(v.ends[:0], old.ends[:from]...), old.ends[to:]...)
	v.ids = append(append(v.ids[:0], old.ids[:from]...), old.ids[to:]...)
	if start == end {
		return
	}
	for i := from - 1; i >= 0 && int(v.ends[i]) > start; i-- {
		v.ends[i], v.ids[i] = max(int32(start), v.ends[i]-int32(end-start)), -1
	}
	for i := range v.ends[from:] {
		v.ends[from+i] -= int32(end - start)
	}
}

// without sets v to what is left of old without every code point i that has
// gone[i+1] == 1. old may be v itself.
func (v *view) without(old view, gone []int32) {
	for i := range old.text {
		gone[i+1] += gone[i] // from here on, the number of code points gone before i
	}
	text, ends, ids := v.text[:0], v.ends[:0], v.ids[:0]
	for i, r := range old.text {
		if gone[i+1] != gone[i] {
			continue
		}
		text = append(text, r)
		if i >= len(old.ids) {
			continue
		}
		end, id := old.ends[i], old.ids[i]
		if id >= 0 && gone[end] != gone[i] {
			id = -1
		}
		ends = append(ends, end-gone[end])
		ids = append(ids, id)
	}
	v.text, v.ends, v.ids = text, ends, ids
}
