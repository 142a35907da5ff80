package page

import (
	"strings"

	"golang.org/x/net/html"
)

// Characters that end a name and an attribute's name, and the white space in tags.
const (
	endsName = 1 << iota
	endsKey
	tagSpace
)

var nameByte = buildNameByte()

func buildNameByte() (class [256]uint8) {
	for _, c := range " \n\r\t\f" {
		class[c] = endsName | endsKey | tagSpace
	}
	class['/'] = endsName | endsKey
	class['>'] = endsName | endsKey
	class['='] = endsKey
	return class
}

// tag reads and handles the tag whose bracket is at from and whose name begins at
// i. It returns the end of the tag, or -1.
func (s *scanner) tag(kind tokenKind, from, i int) int {
	p := s.page
	var key uint64
	nameFrom := i
	for ; i < len(p); i++ {
		c := p[i]
		if nameByte[c]&endsName != 0 {
			break
		}
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		key = key<<8 | uint64(c)
	}
	if i == len(p) {
		return -1
	}
	t := &s.tok // assigned field by field: text, which only text tokens use, may keep its value
	t.kind, t.tag, t.from, t.nameEnd = kind, shortTag(key), int32(from), int32(i)
	if i-nameFrom > 8 {
		t.tag = lookupTag(p[nameFrom:i])
	}
	if p[i] == '>' {
		i++
		t.ended, t.doubt, t.own, t.names, t.hash = false, false, 0, 0, 0
		if t.tag == tagDialog || t.tag == tagTemplate {
			t.own = hides
		}
	} else if i = s.attributes(i); i < 0 {
		return -1
	}
	t.till = int32(i)
	if kind == startToken && rules[t.tag]&isRaw != 0 {
		s.raw = t.tag
	}
	s.process()
	return i
}

// attributes reads the attributes from i to the end of the tag. It returns that
// end, or -1. Of attributes with the same name the first counts.
func (s *scanner) attributes(i int) int {
	p, t := s.page, &s.tok
	var own state
	var style display
	open, styled, named, classed, roled, hide, popover, streamed, moded, shadow := false, false, false, false, false, false, false, false, false, false
	isNode := t.kind == startToken && nodeTags[t.tag]
	t.names, t.hash = 0, 0
	var a attribute
	for {
		for i < len(p) && nameByte[p[i]]&tagSpace != 0 {
			i++
		}
		if i >= len(p) {
			return -1
		}
		if p[i] == '>' {
			break
		}
		if a, i = readAttribute(p, i); i < 0 {
			return -1
		}
		switch a.keyEnd - a.key {
		case 2:
			if !named && isKey(p[a.key:a.keyEnd], "id") {
				named = true
				val := p[a.val:a.valEnd]
				if s.drop && overlayID(val) {
					own |= overlays
				}
				streamed = isStreamed(val)
				if isNode {
					t.names |= namesOfRaw(val)
				}
			}
		case 4:
			if isNode && !roled && isKey(p[a.key:a.keyEnd], "role") {
				roled = true
				t.names |= roleOfRaw(p[a.val:a.valEnd])
			}
			switch t.tag {
			case tagA:
				if isKey(p[a.key:a.keyEnd], "href") {
					own |= links
				}
			case tagDialog:
				open = open || isKey(p[a.key:a.keyEnd], "open")
			}
		case 5:
			switch p[a.key] | 0x20 {
			case 's':
				if !styled && isKey(p[a.key:a.keyEnd], "style") {
					styled = true
					style = displayOfRaw(p[a.val:a.valEnd])
				}
			case 'c':
				if !classed && isKey(p[a.key:a.keyEnd], "class") {
					classed = true
					val := p[a.val:a.valEnd]
					if s.drop && overlayClass(val) {
						own |= overlays
					}
					if isNode {
						t.names |= namesOfRaw(val)
						t.hash = classHashRaw(val)
					}
				}
			}
		case 6:
			hide = hide || isKey(p[a.key:a.keyEnd], "hidden")
		case 7:
			popover = popover || isKey(p[a.key:a.keyEnd], "popover")
		case 14:
			if t.tag == tagTemplate && !moded && isKey(p[a.key:a.keyEnd], "shadowrootmode") {
				moded, shadow = true, isShadowMode(decodeAttribute(p[a.val:a.valEnd]))
			}
		}
	}
	hide = hide && !streamed || popover || t.tag == tagDialog && !open
	hide = style == displayNone || hide && style != displayShown
	if t.tag == tagTemplate {
		hide = !shadow
	}
	if hide {
		own |= hides
	}
	t.ended, t.doubt = p[i-1] == '/', a.valEnd == i
	if t.tag == tagHtml || t.tag == tagBody {
		own, t.names, t.hash = 0, 0, 0
	}
	t.own = own
	return i + 1
}

// isStreamed is streamedID for an ID as written.
func isStreamed(raw string) bool {
	if strings.IndexByte(raw, '&') >= 0 {
		raw = decodeAttribute(raw)
	}
	return streamedID(raw)
}

// isKey compares an attribute's name with a name in lower case of equal length.
// Nearly all names are written in lower case.
func isKey(key, lower string) bool { return key == lower || isFolded(key, lower) }

func isFolded(key, lower string) bool {
	for i := range len(lower) {
		if key[i] != lower[i] && (key[i] != lower[i]-('a'-'A')) {
			return false
		}
	}
	return true
}

type attribute struct{ key, keyEnd, val, valEnd int }

// readAttribute reads the attribute, or the stray slash, at i. It returns the end,
// or -1 if the page ends first.
func readAttribute(p string, i int) (a attribute, next int) {
	a.key = i
	if p[i] == '=' { // the first character of a name may be anything
		i++
	}
	for i < len(p) && nameByte[p[i]]&endsKey == 0 {
		i++
	}
	a.keyEnd, a.val, a.valEnd = i, i, i
	for i < len(p) && nameByte[p[i]]&tagSpace != 0 {
		i++
	}
	if i >= len(p) {
		return a, -1
	}
	if p[i] == '/' {
		return a, i + 1
	}
	if p[i] != '=' {
		return a, i
	}
	for i++; i < len(p) && nameByte[p[i]]&tagSpace != 0; {
		i++
	}
	if i >= len(p) {
		return a, -1
	}
	switch q := p[i]; q {
	case '>':
		return a, i
	case '"', '\'':
		i++
		n := strings.IndexByte(p[i:], q)
		if n < 0 {
			return a, -1
		}
		a.val, a.valEnd = i, i+n
		return a, i + n + 1
	}
	a.val = i
	for i < len(p) && nameByte[p[i]]&tagSpace == 0 && p[i] != '>' {
		i++
	}
	if i >= len(p) {
		return a, -1
	}
	a.valEnd = i
	return a, i
}

// displayOfRaw is displayOf for a style attribute as written.
func displayOfRaw(raw string) display {
	if strings.IndexByte(raw, '&') >= 0 {
		raw = strings.ReplaceAll(raw, "&quot;", `"`)
		if strings.IndexByte(raw, '&') >= 0 {
			return displayOf(decodeAttribute(raw))
		}
	}
	// The properties that displayOf checks end in ay and ty. Most do not. A comment may
	// stand behind the name.
	for rest := raw; ; {
		n := strings.IndexByte(rest, ':')
		if n < 0 {
			return displayUnsaid
		}
		k := n - 1
		for k >= 0 && rest[k] <= ' ' {
			k--
		}
		if k > 0 && (rest[k]|0x20 == 'y' && (rest[k-1]|0x20 == 'a' || rest[k-1]|0x20 == 't') || rest[k] == '/' || rest[k] >= 0x80) {
			return displayOf(raw)
		}
		rest = rest[n+1:]
	}
}

// decodeAttribute returns the value of an attribute as written.
func decodeAttribute(raw string) string {
	return attributeOf(`<a x="`+strings.ReplaceAll(raw, `"`, "&quot;")+`">`, "x")
}

// attributeOf returns an attribute of a start tag. It uses the tokenizer, so it is
// for rare cases.
func attributeOf(startTag, key string) (value string) {
	z := html.NewTokenizer(strings.NewReader(startTag))
	z.Next()
	for _, a := range z.Token().Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// selfClosing reports whether the current start tag closes itself.
func (s *scanner) selfClosing() bool {
	if !s.tok.ended || !s.tok.doubt {
		return s.tok.ended
	}
	z := html.NewTokenizer(strings.NewReader(s.page[s.tok.from:s.tok.till]))
	return z.Next() == html.SelfClosingTagToken
}

// rawText reads from i the text that only the end tag of s.raw ends. It returns
// where that tag begins, or -1.
func (s *scanner) rawText(i int) int {
	p, t := s.page, s.raw
	s.raw = tagOther
	end := -1
	switch t {
	case tagPlaintext:
	case tagScript:
		end = scriptEnd(p, i)
	default:
		end = rawEnd(p, i, tagNames[t])
	}
	if end < 0 {
		end = len(p)
	}
	if end > i {
		s.text(p[i:end], t != tagTextarea && t != tagTitle)
	}
	return end
}

// rawEnd returns where the first end tag of that name from i on begins, or -1.
func rawEnd(p string, i int, name string) int {
	for {
		k := strings.Index(p[i:], "</")
		if k < 0 {
			return -1
		}
		i += k + len("</")
		if isEndTag(p, i, name) {
			return i - len("</")
		}
	}
}

// isEndTag reports whether the complete name of an end tag is at i.
func isEndTag(p string, i int, name string) bool {
	end := i + len(name)
	return end < len(p) && isKey(p[i:end], name) && nameByte[p[end]]&endsName != 0
}

// scriptEnd returns where the end tag of the script that begins at i begins, or -1.
// A script can hide its end tag in an HTML comment after a script start tag.
func scriptEnd(p string, i int) int {
	for i < len(p) {
		k := strings.IndexByte(p[i:], '<')
		if k < 0 {
			return -1
		}
		i += k + 1
		if i < len(p) && p[i] == '/' {
			i++
			if isEndTag(p, i, "script") {
				return i - len("</")
			}
		} else if strings.HasPrefix(p[i:], "!--") {
			var found bool
			if i, found = escapedScript(p, i+len("!--")); found {
				return i
			}
		}
	}
	return -1
}

// escapedScript reads what follows the start of a comment in a script. It
// returns where the comment ends, or where the end tag found in it begins.
func escapedScript(p string, i int) (next int, found bool) {
	double := false // a script start tag was seen
	for dashes := 2; i < len(p); {
		c := p[i]
		i++
		switch {
		case c == '-':
			dashes++
			continue
		case c == '>' && dashes >= 2:
			return i, false
		case c == '<' && i < len(p):
			switch {
			case p[i] == '/':
				i++
				if isEndTag(p, i, "script") {
					if !double {
						return i - len("</"), true
					}
					i += len("script>")
					double = false
				}
			case double:
			case isLetter(p[i]):
				n := 0
				for n < len("script") && i < len(p) && p[i]|0x20 == "script"[n] && isLetter(p[i]) {
					i++
					n++
				}
				if n == len("script") && i < len(p) && nameByte[p[i]]&endsName != 0 {
					i++
					double = true
				}
			default:
				return i, false
			}
		}
		dashes = 0
	}
	return len(p), false
}
