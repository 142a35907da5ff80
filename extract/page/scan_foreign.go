package page

import (
	"strings"

	"golang.org/x/net/html"
)

// Drawings and formulas: golang.org/x/net/html, after the specification,
// section 13.2.6.5.

// inForeign reports whether the token is handled by the rules of foreign content.
func (s *scanner) inForeign() bool {
	if len(s.open) == 0 {
		return false
	}
	e := s.top()
	if e.space == htmlSpace {
		return false
	}
	t := &s.tok
	start := t.kind == startToken
	if e.space == mathSpace {
		switch e.tag {
		case tagMi, tagMo, tagMn, tagMs, tagMtext:
			if t.kind == textToken || start && t.tag != tagMglyph && t.tag != tagMalignmark {
				return false
			}
		case tagAnnotationXML:
			if start && t.tag == tagSvg {
				return false
			}
		}
	}
	return t.kind == endToken || !e.integratesHTML()
}

func (e *openElement) integratesHTML() bool {
	switch e.space {
	case mathSpace:
		return e.is&integrates != 0
	case svgSpace:
		return rules[e.tag]&stopsSVG != 0
	}
	return false
}

func (e *openElement) integratesText() bool {
	return e.space == mathSpace && e.tag != tagAnnotationXML && rules[e.tag]&stopsMath != 0
}

func (s *scanner) foreign() bool {
	t := &s.tok
	switch t.kind {
	case textToken:
		s.emit()
	case endToken:
		return s.endForeign()
	case startToken:
		if s.breaksOut() {
			for i := len(s.open) - 1; i >= 0; i-- {
				if e := &s.open[i]; e.space == htmlSpace || e.integratesHTML() || e.integratesText() {
					s.popTo(i + 1)
					break
				}
			}
			return s.step()
		}
		s.pushForeign(s.top().space)
		s.raw = tagOther
	}
	return true
}

// pushForeign pushes the current start tag's element with a namespace.
func (s *scanner) pushForeign(space uint8) {
	t := &s.tok
	s.pushElement(t.tag, space, t.own&^links, t.from+1, t.nameEnd-t.from-1)
	if space == mathSpace && t.tag == tagAnnotationXML {
		encoding := s.attribute("encoding")
		if strings.EqualFold(encoding, "text/html") || strings.EqualFold(encoding, "application/xhtml+xml") {
			s.top().is |= integrates
		}
	}
	if s.selfClosing() {
		s.pop()
	}
}

// attribute returns an attribute of the current start tag.
func (s *scanner) attribute(key string) string {
	if s.tok.till == 0 { // an implied token
		return ""
	}
	return attributeOf(s.page[s.tok.from:s.tok.till], key)
}

// breaksOut reports whether a start tag ends foreign content.
func (s *scanner) breaksOut() bool {
	t := &s.tok
	if t.tag != tagFont {
		return rules[t.tag]&isBreakout != 0
	}
	z := html.NewTokenizer(strings.NewReader(s.page[t.from:t.till]))
	z.Next()
	for _, a := range z.Token().Attr {
		if a.Key == "color" || a.Key == "face" || a.Key == "size" {
			return true
		}
	}
	return false
}

func (s *scanner) endForeign() bool {
	for i := len(s.open) - 1; i >= 0; i-- {
		if s.sameName(&s.open[i]) {
			s.popTo(i)
			return true
		}
		if i > 0 && s.open[i-1].space == htmlSpace {
			break
		}
	}
	return s.step()
}

// sameName reports whether the element has the name of the current tag, in any
// case.
func (s *scanner) sameName(e *openElement) bool {
	if e.tag != tagOther && s.tok.tag != tagOther {
		return e.tag == s.tok.tag
	}
	name := tagNames[e.tag]
	if e.tag == tagOther {
		name = s.otherName(e)
	}
	return strings.EqualFold(name, s.name(&s.tok))
}
