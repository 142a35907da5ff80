package page

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// lineWriter writes the same as lines, but copies runs of plain characters at once.
type lineWriter struct {
	b      []byte
	blocks []block // the end of the last one is set by finish
	at     state   // state of the element with the text that is being written
	node   int32   // node that contains it

	line  bool // the current line has text
	space bool // white space is due before more text
	max   int
	full  bool
	bad   bool // the text is not UTF-8
}

// Classes of bytes in text.
const (
	plainByte  = iota // ASCII that is written as it is
	otherByte         // white space, and characters without width
	ampersand         // may start a character reference
	beyondByte        // part of a character outside ASCII
)

var byteClass = buildByteClass()

func buildByteClass() (class [256]uint8) {
	for c := range class {
		switch {
		case c >= utf8.RuneSelf:
			class[c] = beyondByte
		case c <= ' ' || c == 0x7f:
			class[c] = otherByte
		case c == '&':
			class[c] = ampersand
		}
	}
	return class
}

// text adds s, the content of an element with that state. Character references in s
// are decoded unless raw is set.
func (w *lineWriter) text(s string, raw bool, at state) {
	w.at = at
	breaks := at&preserved != 0
	for i := 0; i < len(s) && !w.full && !w.bad; {
		c := s[i]
		switch byteClass[c] {
		case otherByte:
			switch {
			case breaks && (c == '\n' || c == '\r'):
				w.end()
			case c == ' ' || '\t' <= c && c <= '\r':
				w.space = w.line
			}
			i++
		case ampersand:
			if raw {
				w.run(s[i : i+1])
				i++
			} else {
				i += w.reference(s[i:], breaks)
			}
		default:
			if n := plainRun(s[i:]); n > 0 {
				w.run(s[i : i+n])
				i += n
				continue
			}
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				w.bad = true
				return
			}
			w.rune(r, n, breaks)
			i += n
		}
	}
}

// plainRun returns the length of the prefix of s that is written as it is:
// characters with a width, and single spaces between them.
func plainRun(s string) int {
	i := 0
	for i < len(s) {
		switch byteClass[s[i]] {
		case plainByte:
			i++
			continue
		case beyondByte:
			if r, n := utf8.DecodeRuneInString(s[i:]); n > 1 && plainRune(r) {
				i += n
				continue
			}
		case otherByte:
			if i > 0 && s[i] == ' ' && i+1 < len(s) && byteClass[s[i+1]] == plainByte {
				i += 2
				continue
			}
		}
		break
	}
	return i
}

// plainRune reports whether r is surely neither white space nor without width. It
// is true for most characters outside ASCII.
func plainRune(r rune) bool {
	return r > 0x3000 && r != '\ufeff' || 0xad < r && r < 0x1680 || 0x2070 <= r && r < 0x3000
}

// run writes characters with a width, and single spaces between them.
func (w *lineWriter) run(s string) {
	if len(w.b)+len(s)+2 > w.max {
		for _, r := range s {
			if w.rune(r, utf8.RuneLen(r), false); w.full {
				return
			}
		}
		return
	}
	w.gap()
	w.b = append(w.b, s...)
	if w.at&linked != 0 {
		w.blocks[len(w.blocks)-1].links += int32(len(s) - strings.Count(s, " "))
	}
}

func (w *lineWriter) gap() {
	switch {
	case w.space:
		w.b = append(w.b, ' ')
		w.space = false
	case !w.line:
		if len(w.b) > 0 {
			w.finish()
			w.b = append(w.b, '\n')
		}
		w.blocks = append(w.blocks, block{in: w.at.contexts(), node: w.node})
		w.line = true
	}
}

// finish sets the end of the last line.
func (w *lineWriter) finish() {
	if n := len(w.blocks); n > 0 {
		w.blocks[n-1].end = int32(len(w.b))
	}
}

// rune writes one character of n bytes, in the same way as lines.
func (w *lineWriter) rune(r rune, n int, breaks bool) {
	switch {
	case w.full:
		return
	case breaks && (r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029'):
		w.end()
		return
	case r == ' ' || r != 0 && unicode.IsSpace(r):
		w.space = w.line
		return
	case r < ' ' || r == 0x7f || r == '\u00ad' || r == '\u200b' || r == '\u2060' || r == '\ufeff':
		return
	}
	if len(w.b)+n+1 > w.max {
		w.full = true
		return
	}
	w.gap()
	w.b = utf8.AppendRune(w.b, r)
	if w.at&linked != 0 {
		w.blocks[len(w.blocks)-1].links += int32(n)
	}
}

// end ends the current line.
func (w *lineWriter) end() { w.line, w.space = false, false }

// reference writes the character reference that s starts with, or the text that
// only looks like one, and returns its length. What follows the run of letters and
// digits cannot change its meaning.
func (w *lineWriter) reference(s string, breaks bool) int {
	n := 1
	if n < len(s) && s[n] == '#' {
		n++
	}
	for n < len(s) && (s[n]|0x20-'a' < 26 || s[n]-'0' < 10) {
		n++
	}
	if n < len(s) && s[n] == ';' {
		n++
	}
	name := s[:n]
	if n == 1 {
		w.run(name)
		return n
	}
	value, ok := references[name]
	if !ok {
		value = html.UnescapeString(name)
	}
	for _, r := range value {
		w.rune(r, utf8.RuneLen(r), breaks)
	}
	return n
}

// references are the common character references. Looking them up here saves
// copies.
var references = buildReferences()

func buildReferences() map[string]string {
	m := map[string]string{}
	for name := range strings.FieldsSeq(`amp lt gt quot nbsp copy reg laquo raquo middot sect deg euro pound times trade bull
		ndash mdash lsquo rsquo ldquo rdquo sbquo bdquo hellip rarr larr uarr darr lsaquo rsaquo ensp emsp thinsp shy
		agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml ntilde
		ograve oacute ocirc otilde ouml oslash ugrave uacute ucirc uuml szlig Agrave Aacute Auml Aring Ccedil Egrave
		Eacute Ntilde Oacute Ouml Oslash Uacute Uuml #32 #34 #38 #39 #039 #160 #169 #171 #187 #8211 #8212 #8216 #8217
		#8220 #8221 #8226 #8230 #8594 #xa0 #xA0 #x27 #x2F`) {
		m["&"+name+";"] = html.UnescapeString("&" + name + ";")
	}
	return m
}

// isBlank reports whether the text token is only white space, as the standard
// defines it.
func isBlank(s string, raw bool) bool {
	for i := range len(s) {
		switch s[i] {
		case ' ', '\t', '\n', '\f', '\r':
		case '&':
			return !raw && strings.Trim(html.UnescapeString(s[i:]), " \t\n\f\r") == ""
		default:
			return false
		}
	}
	return true
}
