package tlcs

// InOrder returns the length of the LCS of the sketches of x and y, in code points:
// what the two share in one order, in runs that are at least as wide as the window.
// The LCS of the whole texts is at least as long. ok is false if it is below need.
// Unlike Compare, InOrder trusts the whole LCS and does not count what has moved.
func (c *Comparer) InOrder(x, y *Document, need int) (n int, ok bool) {
	c.mustFit(x, y)
	docA, docB := order(x, y)
	if len(docB.text) == 0 || need > len(docB.text) || !c.probe(docA, docB, need) {
		return 0, false
	}
	a := view{docA.text, docA.ends, docA.firsts()}
	b := view{docB.text, docB.ends, c.ids}
	c.filter(a, b, true)
	c.viewA, c.viewB = a, b
	if c.align(need, 1, c.first) != None {
		return 0, false
	}
	n = c.matched()
	return n, n >= need
}
