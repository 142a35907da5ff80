package tlcs

import (
	"math"
	"slices"
)

// view is what is left of a document in a round: the code points, and for the
// one at i the end of the window that starts there and its fingerprint as a
// slot of A's table, below 0 if A does not have it or if the window is cut.
// Fewer windows than code points: the rest have none.
type view struct{ text, ends, ids []int32 }

// sketch is the part of a view that is kept, and where in the view it is.
type sketch struct{ text, at []int32 }

// probe looks the windows of b up in a's table, into c.ids. It gives up as soon
// as those found cannot cover need code points of b.
func (c *Comparer) probe(a, b *Document, need int) bool {
	c.ids = slices.Grow(c.ids[:0], len(b.slots))
	decided, lost := 0, 0 // of the first decided code points of b, lost are in no window found
	for i, slot := range b.slots {
		if i > decided {
			decided++
			lost++
			if len(b.text)-lost < need {
				return false
			}
		}
		print := b.table[slot]
		id := a.find(print)
		if a.table[id] != print {
			c.ids = append(c.ids, -1)
			continue
		}
		c.ids = append(c.ids, int32(id))
		decided = int(b.ends[i])
	}
	if n := len(a.table); n > len(c.marks) {
		c.marks, c.epoch = make([]uint32, n), 0
	}
	return true
}

// filter computes the filtered sketches of section 3.2: the code points
// covered by at least one window whose fingerprint occurs in both texts. In
// the first round every id of b is known to be in a.
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
	for i, id := range b.ids {
		if id >= 0 && (first || c.marks[id] >= inA) {
			c.marks[id] = inBoth
			c.b.keep(b, i)
		}
	}
	c.a.reset(len(a.text))
	for i, id := range a.ids {
		if id >= 0 && c.marks[id] == inBoth {
			c.a.keep(a, i)
		}
	}
}

func (s *sketch) reset(n int) {
	s.text, s.at = slices.Grow(s.text[:0], n), slices.Grow(s.at[:0], n)
}

// keep adds what window i of v has beyond the windows before it.
func (s *sketch) keep(v view, i int) {
	from, to := i, int(v.ends[i])
	if n := len(s.at); n > 0 {
		from = max(from, int(s.at[n-1])+1)
	}
	for ; from < to; from++ {
		s.text = append(s.text, v.text[from])
		s.at = append(s.at, int32(from))
	}
}

// cut takes the region [start, end) out of a and the code points that the
// matches have in b out of b (section 3.3, position changes).
func (c *Comparer) cut(a, b view, start, end int) (view, view) {
	gone := c.nothing(len(a.text))
	for i := start; i < end; i++ {
		gone[i+1] = 1
	}
	c.leftA.without(a, gone)
	gone = c.nothing(len(b.text))
	for _, m := range c.matches {
		for _, at := range c.b.at[m.Y : m.Y+m.Len] {
			gone[at+1] = 1
		}
	}
	c.leftB.without(b, gone)
	return c.leftA, c.leftB
}

func (c *Comparer) nothing(n int) []int32 {
	c.gone = slices.Grow(c.gone[:0], n+1)[:n+1]
	clear(c.gone)
	return c.gone
}

// without makes v what is left of old, which may be v itself, when every code
// point i with gone[i+1] == 1 is taken out.
func (v *view) without(old view, gone []int32) {
	for i := range old.text {
		gone[i+1] += gone[i] // from here on the number gone before i
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
