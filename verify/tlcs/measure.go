package tlcs

import "neardup/verify/lcs"

// The strain-away and reserve rates (TLCS paper, section 4, figure 7) are computed
// from the lengths below. No verdict needs all of them: Compare stops as soon as
// the pair is decided.

// SketchLengths returns the lengths of both filtered sketches, x's and y's.
func (c *Comparer) SketchLengths(x, y *Document) (lenX, lenY int) {
	c.mustFit(x, y)
	a, b := order(x, y)
	if len(b.text) == 0 {
		return 0, 0
	}
	c.probe(a, b, 0)
	c.filter(view{a.text, a.ends, a.firsts()}, view{b.text, b.ends, c.ids}, true)
	if a == x {
		return len(c.a.text), len(c.b.text)
	}
	return len(c.b.text), len(c.a.text)
}

// TLCSLength returns the length of the first round's TLCS, whatever the thresholds.
// For documents prepared with a window of 1 this is the TLCS of the unfiltered
// texts: such sketches lose only characters that the other text does not have at
// all.
func (c *Comparer) TLCSLength(x, y *Document) int {
	c.mustFit(x, y)
	a, b := order(x, y)
	if len(b.text) == 0 {
		return 0
	}
	c.probe(a, b, 0)
	viewA, viewB := view{a.text, a.ends, a.firsts()}, view{b.text, b.ends, c.ids}
	c.filter(viewA, viewB, true)
	c.matches, _ = c.solver.Matches(c.matches[:0], c.a.text, c.b.text, len(c.a.text)+len(c.b.text), lcs.Hint{})
	if c.o.Trustable {
		c.clip(c.o.region(c.edits(len(viewA.text), len(viewB.text))))
	}
	return c.matched()
}
