package page

import (
	_ "embed"
	"math/bits"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Overlays are what consent managers and similar scripts lay over a page. They are
// removed from its text by name, not by their words, since a page may be about
// cookies. This needs only a start tag, which the scanner and the tree see alike.

//go:embed overlays.txt
var overlayList string

var overlayIDs, overlayClasses = buildOverlays(overlayList)

// nameSet is a set of names with a fast rejection of most others.
type nameSet struct {
	names   map[string]bool
	lengths [256]uint64 // by first byte: a bit for each length of the names that begin with it
}

func buildOverlays(list string) (ids, classes nameSet) {
	ids.names, classes.names = map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(line, " ")
		switch {
		case strings.HasPrefix(name, "#"):
			ids.add(name[1:])
		case strings.HasPrefix(name, "."):
			classes.add(name[1:])
		}
	}
	return ids, classes
}

func (s *nameSet) add(name string) {
	s.names[name] = true
	s.lengths[name[0]] |= 1 << len(name)
}

func (s *nameSet) has(name string) bool {
	return name != "" && s.lengths[name[0]]>>len(name)&1 != 0 && s.names[name]
}

// hasToken reports whether one of the tokens of a class attribute is in the set.
func (s *nameSet) hasToken(class string) bool {
	for token := range strings.FieldsFuncSeq(class, func(r rune) bool { return r <= ' ' }) {
		if s.has(token) {
			return true
		}
	}
	return false
}

// overlay reports whether the element's ID or one of its classes is that of an
// overlay. The whole page never is one.
func overlay(n *html.Node) bool {
	if n.DataAtom == atom.Html || n.DataAtom == atom.Body {
		return false
	}
	for _, a := range n.Attr {
		if a.Key == "id" && overlayIDs.has(a.Val) || a.Key == "class" && overlayClasses.hasToken(a.Val) {
			return true
		}
	}
	return false
}

// overlayID reports whether an ID, as written, is that of an overlay.
func overlayID(raw string) bool {
	if strings.IndexByte(raw, '&') >= 0 {
		raw = decodeAttribute(raw)
	}
	return overlayIDs.has(raw)
}

// overlayClass reports whether a class attribute, as written, has an overlay's
// class.
func overlayClass(raw string) bool {
	for i := 0; i < len(raw); {
		end := tokenEnd(raw, i)
		if end < len(raw) && raw[end] == '&' {
			return overlayClasses.hasToken(decodeAttribute(raw))
		}
		if overlayClasses.has(raw[i:end]) {
			return true
		}
		i = end + 1
	}
	return false
}

// tokenEnd returns the index of the first white space or & from i on. Pages have as
// much text in classes as in visible text, so this examines eight bytes at a time:
// S. E. Anderson, Bit Twiddling Hacks, "Determine if a word has a byte less than
// n". The lowest hit is right; those above it may not be.
func tokenEnd(s string, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		x := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		and := x ^ '&'*ones // zero where the byte is &
		if found := ((x-(' '+1)*ones)&^x | (and-ones)&^and) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(s) && s[i] > ' ' && s[i] != '&' {
		i++
	}
	return i
}
