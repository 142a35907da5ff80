package page

import "math"

// Namespaces.
const (
	htmlSpace = iota
	svgSpace
	mathSpace
)

const maxDepth = 512 // limit of open elements, as in the parser

// openElement is an entry of the stack of open elements.
type openElement struct {
	id      int32
	name    int32 // of a tagOther: where its name begins in the page
	is      state
	node    int32 // node that contains its content
	nameLen uint16
	tag     tag
	space   uint8
}

// state is what an open element means for its text. The upper half holds the
// element's contexts.
type state uint32

const (
	unshown    state = 1 << iota // it or an element around it is not shown
	overlaid                     // it or an element around it is an overlay
	linked                       // it or an element around it is a link
	preserved                    // line ends are kept in it
	misplaced                    // it belongs to a table's foster parent: its text would come before the table's
	breaks                       // it is shown and ends a line
	tainted                      // its end is also the end of a block that is no longer on the stack
	hiding                       // it is not shown, whatever contains it
	overlaying                   // it is an overlay, whatever contains it
	linking                      // it is a link, whatever contains it
	inUnshown                    // its parent is not shown
	inOverlaid                   // its parent is an overlay or in one
	integrates                   // a formula's annotation that contains HTML

	contextShift       = 16
	allContexts  state = 1<<32 - 1<<contextShift

	// Bits that an element's content inherits.
	handedDown = unshown | overlaid | linked | preserved | misplaced | allContexts

	// Bits that attributes set.
	hides    = unshown | hiding
	overlays = overlaid | overlaying
	links    = linked | linking
)

func (is state) contexts() context { return context(is >> contextShift) }

// within returns the state that the content of an element with that state inherits.
func within(is state) state {
	is &= handedDown
	if is&unshown != 0 {
		is |= inUnshown
	}
	if is&overlaid != 0 {
		is |= inOverlaid
	}
	return is
}

// activeElement is an entry of the list of active formatting elements.
type activeElement struct {
	id         int32
	from, till int32 // its attributes in the page
	own        state // the state that they set
	tag        tag   // tagOther for a marker
	hash       attributesHash
}

func (s *scanner) top() *openElement { return &s.open[len(s.open)-1] }

func (s *scanner) topTag() tag { return s.open[len(s.open)-1].tag }

// fosters reports whether the next content goes to the foster parent.
func (s *scanner) fosters() bool {
	return s.fostering && rules[s.topTag()]&isTablePart != 0
}

// fosterState returns the state of the foster parent's content.
func (s *scanner) fosterState() state {
	if s.contains(tagTemplate) {
		if s.open[s.template()].is&unshown == 0 {
			s.fail() // it is a shadow root, which is shown
		}
		return misplaced | unshown
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		if e := &s.open[i]; e.tag == tagTable {
			is := misplaced
			if e.is&inUnshown != 0 {
				is |= unshown
			}
			if e.is&inOverlaid != 0 {
				is |= overlaid
			}
			return is
		}
	}
	s.fail()
	return misplaced
}

// push pushes the current start tag's element.
func (s *scanner) push() {
	t := &s.tok
	s.pushElement(t.tag, htmlSpace, t.own, t.from+1, t.nameEnd-t.from-1)
}

// pushVoid adds an element without content.
func (s *scanner) pushVoid() {
	s.push()
	s.pop()
}

func (s *scanner) pushElement(t tag, space uint8, own state, name, nameLen int32) {
	if len(s.open) >= maxDepth || nameLen > math.MaxUint16 {
		s.fail()
		return
	}
	is := own | tagStates[t]
	if space != htmlSpace {
		is &^= allContexts
	}
	var in int32
	if len(s.open) > 0 {
		in = s.top().node
		if s.fosters() {
			is |= within(s.fosterState())
		} else {
			is |= within(s.top().is)
		}
	}
	if space == htmlSpace {
		if rules[t]&isBlock != 0 && is&(unshown|overlaid) == 0 {
			is |= breaks
			s.w.end()
		}
		s.count[t]++
		if nodeTags[t] && is&unshown == 0 {
			n := node{parent: in, tag: t}
			if nameLen > 0 { // otherwise it is implied
				n.names, n.hash = s.tok.names, s.tok.hash
			}
			s.nodes = append(s.nodes, n)
			in = int32(len(s.nodes) - 1)
		}
	}
	s.ids++
	s.empty = 0
	if space == htmlSpace && (t == tagPre || t == tagListing) {
		s.empty = s.ids
	}
	s.open = append(s.open, openElement{id: s.ids, node: in, name: name, nameLen: uint16(nameLen), tag: t, space: space, is: is})
}

func (s *scanner) pop() {
	n := len(s.open) - 1
	if n < 0 { // the parser would have panicked
		s.fail()
		return
	}
	e := &s.open[n]
	if e.is&(breaks|tainted) != 0 {
		s.w.end()
	}
	if e.space == htmlSpace {
		s.count[e.tag]--
	}
	s.open = s.open[:n]
}

// popTo pops elements until n are open.
func (s *scanner) popTo(n int) {
	for len(s.open) > n {
		s.pop()
	}
}

// remove removes an element from the stack. In the tree it still contains those
// above it.
func (s *scanner) remove(i int) {
	if i == len(s.open)-1 {
		s.pop()
		return
	}
	e := s.open[i]
	if e.is&(breaks|tainted) != 0 {
		s.open[i+1].is |= tainted
		s.ghost = true
	}
	if e.is&(hiding|overlaying|linking) != 0 {
		s.ghost = true
	}
	s.discard(i)
}

// discard removes an element from the stack whose place in the tree does not
// matter.
func (s *scanner) discard(i int) {
	if e := &s.open[i]; e.space == htmlSpace {
		s.count[e.tag]--
	}
	s.open = append(s.open[:i], s.open[i+1:]...)
}

func (s *scanner) contains(t tag) bool { return s.count[t] > 0 }

// index returns the index of an element on the stack, or -1.
func (s *scanner) index(id int32) int {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.open[i].id == id {
			return i
		}
	}
	return -1
}

// activeIndex returns the index of an element in the list of active formatting
// elements, or -1.
func (s *scanner) activeIndex(id int32) int {
	for i := len(s.active) - 1; i >= 0; i-- {
		if s.active[i].id == id {
			return i
		}
	}
	return -1
}

func (s *scanner) removeActive(i int) {
	s.active = append(s.active[:i], s.active[i+1:]...)
}

// special reports whether the element is special.
func (e *openElement) special() bool {
	switch e.space {
	case mathSpace:
		return rules[e.tag]&stopsMath != 0
	case svgSpace:
		return rules[e.tag]&stopsSVG != 0
	}
	return rules[e.tag]&isSpecial != 0
}

// stops reports whether the element ends a scope.
func (e *openElement) stops(bounds rule) bool {
	if e.space == htmlSpace {
		return rules[e.tag]&bounds != 0
	}
	if bounds&stopsScope == 0 {
		return false
	}
	return e.special()
}

// Scopes.
const (
	defaultScope = stopsScope
	listScope    = stopsScope | stopsList
	buttonScope  = stopsScope | stopsButton
	tableScope   = stopsTable
)

// find returns the index of the topmost element of that name in scope, or -1.
func (s *scanner) find(scope rule, t tag) int {
	if s.count[t] == 0 {
		return -1
	}
	for i := len(s.open) - 1; i >= 0; i-- {
		e := &s.open[i]
		if e.tag == t && e.space == htmlSpace {
			return i
		}
		if e.stops(scope) {
			return -1
		}
	}
	return -1
}

// findAny is find for several names.
func (s *scanner) findAny(scope, names rule) int {
	for i := len(s.open) - 1; i >= 0; i-- {
		e := &s.open[i]
		if rules[e.tag]&names != 0 && e.space == htmlSpace {
			return i
		}
		if e.stops(scope) {
			return -1
		}
	}
	return -1
}

// close pops the topmost element of that name in scope, if there is one.
func (s *scanner) close(scope rule, t tag) bool {
	i := s.find(scope, t)
	if i >= 0 {
		s.popTo(i)
	}
	return i >= 0
}

// clearTo pops elements down to one with one of the names.
func (s *scanner) clearTo(names rule, also tag) {
	for i := len(s.open) - 1; i >= 0; i-- {
		t := s.open[i].tag
		if rules[t]&names != 0 || t == also || t == tagHtml || t == tagTemplate {
			s.popTo(i + 1)
			return
		}
	}
}

// imply pops the elements whose end tags may be omitted.
func (s *scanner) imply(except tag) {
	for len(s.open) > 0 {
		if t := s.topTag(); rules[t]&isImplied == 0 || t == except {
			return
		}
		s.pop()
	}
}
