package page

import "slices"

// The list of active formatting elements: golang.org/x/net/html, after the
// specification, sections 13.2.4.3 and 13.2.6.4.7.

// Limits of a page. A page that exceeds them is left to the parser.
const (
	maxActive   = 1 << 10 // entries of the list
	maxAdoption = 1 << 24 // elements and entries examined for adoptions
)

// mark adds a marker to the list.
func (s *scanner) mark() {
	if len(s.active) > maxActive { // markers can pile up, and each end tag may search them
		s.fail()
	}
	s.active = append(s.active, activeElement{})
}

// clearActive removes entries back to the last marker.
func (s *scanner) clearActive() {
	for {
		n := len(s.active) - 1
		if n < 0 { // the parser would have panicked
			s.fail()
			return
		}
		t := s.active[n].tag
		s.active = s.active[:n]
		if n == 0 || t == tagOther {
			return
		}
	}
}

// reconstruct opens again the formatting elements that other elements' end tags
// closed.
func (s *scanner) reconstruct() {
	i := len(s.active) - 1
	if i < 0 || !s.closed(i) {
		return
	}
	for i > 0 && s.closed(i-1) {
		i--
	}
	for ; i < len(s.active) && !s.failed; i++ {
		e := &s.active[i]
		s.pushElement(e.tag, htmlSpace, e.own, 0, 0)
		e.id = s.ids
	}
}

// closed reports whether an entry is an element that is no longer open.
func (s *scanner) closed(i int) bool {
	e := &s.active[i]
	return e.tag != tagOther && s.index(e.id) < 0
}

// pushFormatting pushes the current start tag's formatting element.
func (s *scanner) pushFormatting() {
	s.push()
	t := &s.tok
	e := activeElement{id: s.ids, from: t.nameEnd, till: t.till, tag: t.tag, own: t.own}
	same := 0
	for i := len(s.active) - 1; i >= 0 && s.active[i].tag != tagOther; i-- {
		if s.active[i].tag == t.tag {
			same++
		}
	}
	if same >= 3 {
		s.dropIdentical(&e)
	}
	if len(s.active) > maxActive {
		s.fail()
	}
	s.active = append(s.active, e)
}

// dropIdentical is the Noah's Ark clause: at most three elements with the same name
// and attributes stay in the list.
func (s *scanner) dropIdentical(e *activeElement) {
	var identical [2]int // certainly identical, and perhaps identical
	var drop []int
	for i := len(s.active) - 1; i >= 0 && s.active[i].tag != tagOther; i-- {
		o := &s.active[i]
		if o.tag != e.tag {
			continue
		}
		switch s.sameAttributes(o, e) {
		case yes:
			if identical[0]++; identical[0] >= 3 {
				drop = append(drop, i)
			}
		case perhaps:
			identical[1]++
		}
	}
	if identical[1] > 0 && identical[0]+identical[1] >= 3 {
		s.fail()
	}
	for _, i := range drop {
		s.removeActive(i)
	}
}

type certainty uint8

const (
	no certainty = iota
	perhaps
	yes
)

// attributesHash is a hash of attributes in any order. Different hashes mean
// different attributes if both are sure.
type attributesHash struct {
	sum  uint64
	n    int // number of attributes
	done bool
	sure bool // no character references and no repeated names
}

func (s *scanner) sameAttributes(a, b *activeElement) certainty {
	if s.page[a.from:a.till] == s.page[b.from:b.till] {
		return yes
	}
	for _, e := range []*activeElement{a, b} {
		if !e.hash.done {
			e.hash = hashAttributes(s.page[e.from:e.till])
		}
	}
	switch {
	case !a.hash.sure || !b.hash.sure:
		return perhaps
	case a.hash.sum != b.hash.sum || a.hash.n != b.hash.n:
		return no
	case a.hash.n == 0:
		return yes
	}
	return perhaps
}

// hashAttributes hashes what follows a tag's name.
func hashAttributes(p string) attributesHash {
	const prime, basis = 1099511628211, 14695981039346656037 // FNV-1a
	h := attributesHash{done: true, sure: true}
	var keys []uint64
	for i := 0; i < len(p); {
		if c := p[i]; c == '>' {
			break
		} else if nameByte[c]&tagSpace != 0 {
			i++
			continue
		}
		var a attribute
		if a, i = readAttribute(p, i); i < 0 {
			break
		}
		if a.key == a.keyEnd {
			continue
		}
		sum := uint64(basis)
		for _, c := range []byte(p[a.key:a.keyEnd]) {
			if c-'A' < 26 {
				c += 'a' - 'A'
			}
			sum = (sum ^ uint64(c)) * prime
		}
		if len(keys) == 16 || slices.Contains(keys, sum) {
			h.sure = false
			break
		}
		keys = append(keys, sum)
		sum *= prime
		for _, c := range []byte(p[a.val:a.valEnd]) {
			if c == '&' || c == '\r' {
				h.sure = false
			}
			sum = (sum ^ uint64(c)) * prime
		}
		h.sum += sum
		h.n++
	}
	return h
}

// endFormatting handles the end tag of a formatting element: the adoption agency
// algorithm. If that moves a block out of the elements that end inside it, updating
// the stack and the list is enough, because what moves is last in the tree before
// and after. The content of the block stays as it is as long as no element that the
// block leaves hides content or breaks a line: a copy of the ending element is put
// around it, inside the block.
func (s *scanner) endFormatting(t tag) {
	if e := s.top(); e.tag == t && s.activeIndex(e.id) < 0 {
		s.pop()
		return
	}
	for range 8 {
		fi := len(s.active) - 1
		for fi >= 0 && s.active[fi].tag != tagOther && s.active[fi].tag != t {
			fi--
		}
		if fi < 0 || s.active[fi].tag == tagOther {
			s.endOther()
			return
		}
		at := s.index(s.active[fi].id)
		if at < 0 {
			s.removeActive(fi)
			return
		}
		if s.find(defaultScope, t) < 0 {
			return
		}
		furthest := at
		for furthest < len(s.open) && !s.open[furthest].special() {
			furthest++
		}
		if furthest == len(s.open) {
			s.popTo(at)
			s.removeActive(fi)
			return
		}
		if !s.canAdopt(at, furthest) {
			s.fail()
			return
		}
		s.adopt(fi, at, furthest)
		if s.failed {
			return
		}
	}
}

// canAdopt reports whether the block may leave the elements from at on without
// changing what is shown.
func (s *scanner) canAdopt(at, block int) bool {
	if s.work += len(s.open) + len(s.active); s.work > maxAdoption {
		return false
	}
	above := &s.open[at-1]
	if rules[above.tag]&isTablePart != 0 {
		return false
	}
	if above.is&unshown != 0 {
		return true
	}
	if s.ghost {
		return false
	}
	for _, e := range s.open[at:block] {
		if e.is&(hiding|overlaying|breaks|tainted) != 0 || e.space != htmlSpace {
			return false
		}
	}
	return true
}

// adopt performs steps 12 to 20 of the algorithm on the stack and the list.
func (s *scanner) adopt(fi, at, furthest int) {
	formatting, block := s.active[fi], s.open[furthest]
	bookmark, first := fi, true
	for x, j := furthest-1, 1; s.open[x].id != formatting.id; x, j = x-1, j+1 {
		ni := s.activeIndex(s.open[x].id)
		switch {
		case ni < 0:
			s.discard(x)
			continue
		case j > 3: // the parser leaves it open where it is no longer the last
			s.fail()
			return
		}
		s.ids++ // a clone takes its place
		s.open[x].id, s.active[ni].id = s.ids, s.ids
		if first {
			bookmark, first = ni+1, false
		}
	}
	if fi = s.activeIndex(formatting.id); fi < bookmark {
		bookmark--
	}
	s.removeActive(fi)
	s.ids++
	formatting.id = s.ids
	s.active = slices.Insert(s.active, bookmark, formatting)

	s.empty = 0
	s.discard(at)
	furthest = s.index(block.id)
	for i := at; i <= furthest; i++ { // they are no longer in a link that ends
		e := &s.open[i]
		e.is &^= linked
		if e.is&linking != 0 || s.open[i-1].is&linked != 0 {
			e.is |= linked
		}
	}
	is := within(s.open[furthest].is) | formatting.own
	s.count[formatting.tag]++
	s.open = slices.Insert(s.open, furthest+1, openElement{id: formatting.id, node: s.open[furthest].node, tag: formatting.tag, is: is})
}
