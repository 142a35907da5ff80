package page

import (
	"math"
	"strings"
	"sync"
)

// scanText is treeText without a tree, in one pass over the bytes. If ok, it
// returns the same title, text and blocks. If not, only the parser can read the
// page exactly.
//
// It follows the tree construction of golang.org/x/net/html, state for state. Of
// the tree it keeps only the stack of open elements and the list of active
// formatting elements. That is enough as long as each node is added last in
// document order: then the text comes out in the order of the page, and an element
// only needs to know its inherited state. Two rules of the standard move nodes.
// Foster parenting moves content directly inside a table before the table. This
// does no harm while the content shows no text. The adoption agency moves a block
// out of formatting elements that end inside it. This does no harm while none of
// these hides anything, since the order stays, and the content of the block stays
// in its links. Pages for which these rules matter are left to the parser. So are
// pages with frames, with NUL bytes, with elements nested too deep, and the few
// cases marked by fail below.
func scanText(page string, max int, drop bool) (out shown, ok bool) {
	if len(page) > math.MaxInt32 || strings.IndexByte(page, 0) >= 0 {
		return shown{}, false
	}
	s := scanners.Get().(*scanner)
	defer scanners.Put(s)
	s.reset(page, max)
	s.drop = drop
	s.scan()
	if ok = !s.failed && !s.w.bad; ok {
		s.w.finish()
		nodes := compactNodes(s.nodes, s.w.blocks)
		out = shown{title: s.title, text: string(s.w.b), blocks: append([]block(nil), s.w.blocks...), nodes: nodes, cut: s.w.full, dropped: s.dropped}
	}
	s.reset("", 0)
	return out, ok
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// scanner is the state of one pass.
type scanner struct {
	page    string
	drop    bool // drop overlays
	dropped bool // an overlay had text
	w       lineWriter
	tok     scanToken

	raw    tag // the element whose end tag ends the text that follows, if any
	failed bool

	title  string
	titled bool   // a title element was seen
	nodes  []node // the first one stands for the page
	doc    string // document type as written
	asked  bool   // quirky is computed
	quirky bool   // the document type asks for the behaviour of old browsers

	mode, original mode
	modes          []mode // modes of the open templates
	open           []openElement
	count          [tagCount]int32 // number of open HTML elements, by tag
	active         []activeElement
	work           int   // work done for adoptions
	ids            int32 // element IDs given so far
	empty          int32 // ID of the open pre or listing that has no content yet, or 0
	form           int32 // ID of the current form, or 0
	fostering      bool
	head           bool // the page has a head element
	body           bool // a body start tag was seen
	ghost          bool // an element that still counts is open only in the tree
}

func (s *scanner) reset(page string, max int) {
	b, blocks := s.w.b, s.w.blocks
	if cap(b) > 4<<20 || cap(blocks) > 1<<18 {
		b, blocks = nil, nil
	}
	*s = scanner{page: page, w: lineWriter{b: b[:0], blocks: blocks[:0], max: max},
		modes: s.modes[:0], nodes: append(s.nodes[:0], node{parent: -1}), open: s.open[:0], active: s.active[:0]}
}

// fail gives up on the page.
func (s *scanner) fail() { s.failed = true }

type tokenKind uint8

const (
	textToken tokenKind = iota
	startToken
	endToken
)

// scanToken is a token as the tree construction sees it. Positions are in the page;
// implied tokens have none.
type scanToken struct {
	kind  tokenKind
	tag   tag
	own   state    // state that its attributes give to its element
	names nameBits // kinds of the words in its class, ID and role
	hash  uint32   // hash of its class
	ended bool     // the tag ends with a slash
	doubt bool     // the slash may belong to a value
	plain bool     // a text without character references

	text                string
	from, nameEnd, till int32 // a tag's bracket, the end of its name, and its end
}

// name returns a tag's name as written.
func (s *scanner) name(t *scanToken) string {
	if t.tag != tagOther {
		return tagNames[t.tag]
	}
	from := t.from + 1
	if t.kind == endToken {
		from++
	}
	return s.page[from:t.nameEnd]
}

// otherName returns the name, as written, of an element without a tag of its own.
func (s *scanner) otherName(e *openElement) string {
	return s.page[e.name : e.name+int32(e.nameLen)]
}

// scan reads the page.
func (s *scanner) scan() {
	p := s.page
	for i := 0; i >= 0 && i < len(p) && !s.failed; {
		if s.raw != tagOther {
			i = s.rawText(i)
			continue
		}
		j := i
		for {
			if p[j] != '<' {
				k := strings.IndexByte(p[j:], '<')
				if k < 0 {
					s.text(p[i:], false)
					return
				}
				j += k
			}
			if j+1 == len(p) {
				s.text(p[i:], false)
				return
			}
			if c := p[j+1]; isLetter(c) || c == '/' || c == '!' || c == '?' {
				break
			}
			j++
			if j == len(p) {
				s.text(p[i:], false)
				return
			}
		}
		if j > i {
			s.text(p[i:j], false)
		}
		i = s.markup(j)
	}
}

// markup reads what begins at the bracket at i. It returns where that ends, or -1
// if the page ends inside it.
func (s *scanner) markup(i int) int {
	p := s.page
	switch c := p[i+1]; {
	case c == '/':
		switch {
		case i+2 == len(p):
			s.text(p[i:], false)
			return -1
		case p[i+2] == '>':
			s.comment()
			return i + 3
		case isLetter(p[i+2]):
			return s.tag(endToken, i, i+2)
		}
	case c == '!':
		return s.declaration(i)
	case c != '?':
		return s.tag(startToken, i, i+1)
	}
	s.comment()
	return after(p, i+2, ">")
}

// after returns the end of the first mark from i on, or -1.
func after(p string, i int, mark string) int {
	k := strings.Index(p[i:], mark)
	if k < 0 {
		return -1
	}
	return i + k + len(mark)
}

// declaration skips a comment or a document type, and reads CDATA.
func (s *scanner) declaration(i int) int {
	p, from := s.page, i
	i += len("<!")
	switch {
	case strings.HasPrefix(p[i:], "--"):
		s.comment()
		return commentEnd(p, i+2)
	case len(p)-i >= 7 && strings.EqualFold(p[i:i+7], "doctype"):
		i = after(p, i+7, ">")
		if i > 0 && s.mode == initialMode {
			s.doc = p[from:i]
			s.mode = beforeHTMLMode
		}
		return i
	case len(s.open) > 0 && s.top().space != htmlSpace && strings.HasPrefix(p[i:], "[CDATA["):
		i += len("[CDATA[")
		end := after(p, i, "]]>")
		if end < 0 {
			s.text(p[i:], false)
			return -1
		}
		if end -= len("]]>"); end > i {
			s.text(p[i:end], false)
		}
		return end + len("]]>")
	}
	s.comment()
	return after(p, i, ">")
}

// comment adds a comment to the current element.
func (s *scanner) comment() {
	if s.mode != afterBodyMode && s.mode != afterAfterBodyMode {
		s.empty = 0
	}
}

// commentEnd returns the end of the comment whose text begins at i.
func commentEnd(p string, i int) int {
	if strings.HasPrefix(p[i:], ">") {
		return i + 1
	}
	if strings.HasPrefix(p[i:], "->") {
		return i + 2
	}
	for i < len(p) {
		k := strings.Index(p[i:], "--")
		if k < 0 {
			return -1
		}
		for i += k + 2; i < len(p) && p[i] == '-'; {
			i++
		}
		switch {
		case i == len(p):
			return -1
		case p[i] == '>':
			return i + 1
		case strings.HasPrefix(p[i:], "!>"):
			return i + 2
		case p[i] == '!' && i+1 < len(p) && p[i+1] != '-':
			i += 2
		default:
			i++
		}
	}
	return -1
}

func isLetter(c byte) bool { return c|0x20-'a' < 26 }

// text handles a text token.
func (s *scanner) text(text string, plain bool) {
	t := &s.tok
	t.kind, t.tag, t.text, t.plain = textToken, tagOther, text, plain
	s.process()
}
