package tlcs

// InOrder returns the length of the LCS of the sketches of x and y, in code points:
// what the two have in common in one order, in runs that are at least as wide as the
// window. The LCS of the texts is as long or longer. ok is false if it is below
// need. Unlike Compare it trusts all of the LCS, and what has moved does not count.
func (c *Comparer) InOrder(x, y *Document, need int) (n int, ok bool) {
	c.mustFit(x, y)
	docA, docB := order(x, y)
	if len(docB.text) == 0 || need > len(docB.text) || !c.probe(docA, docB, need) {
		return 0, false
	}
	a := view{docA.text, docA.ends, docA.first}
	b := view{docB.text, docB.ends, c.ids}
	c.filter(a, b, true)
	c.viewA, c.viewB = a, b
	if c.align(need, 1, c.first) != None {
		return 0, false
	}
	n = c.matched()
	return n, n >= need
}
