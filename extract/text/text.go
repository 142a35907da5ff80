// Package text has the units in which every stage measures a page: columns (for the
// paper's bytes, see docs/papers.md), lines that are visible blocks, and sentences
// between punctuation.
package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// firstWide is below every wide character.
const firstWide = 0x1100

// RuneColumns returns the width of r in half-width columns: 2 for a wide character
// (Chinese, Japanese, Korean, full-width forms), 1 for any other. The TLCS
// paper counts bytes of GBK, where ASCII takes one and a Chinese character
// two; columns carry its constants over to Unicode.
func RuneColumns(r rune) int {
	switch {
	case r < firstWide, r >= 0x1160 && r <= 0x2319: // the latter has the dashes and quotation marks
		return 1
	case r >= 0x4E00 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7A3, r >= 0x3041 && r <= 0x3096, r >= 0x3099 && r <= 0x30FF,
		r >= 0x3000 && r <= 0x303E, r >= 0xFF01 && r <= 0xFF60: // punctuation of the scripts before, and letters of their width
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Columns returns the width of s in half-width columns.
func Columns(s string) int {
	n := asciiPrefix(s)
	for _, r := range s[n:] {
		if r < firstWide {
			n++
		} else {
			n += RuneColumns(r)
		}
	}
	return n
}

// asciiPrefix returns the length of the ASCII prefix of s.
func asciiPrefix(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return i
		}
	}
	return len(s)
}

// Cut returns the longest prefix of s that is at most max columns wide, never
// inside a code point. A max of 0 or less means no limit.
func Cut(s string, max int) string {
	if max <= 0 || len(s) <= max { // a code point is never wider than its UTF-8 encoding is long
		return s
	}
	n := 0
	for i, r := range s {
		n += RuneColumns(r)
		if n > max {
			return s[:i]
		}
	}
	return s
}

// Sentence is a piece of text between two punctuation marks or line ends, trimmed,
// with its width.
type Sentence struct {
	Text    string
	Columns int
}

// Sentences splits text at line ends and at punctuation that ends sentences and
// clauses in any script (Unicode's Terminal_Punctuation: full stops, commas,
// dandas, Arabic, Ethiopic, CJK and full-width marks). An ASCII mark or an ellipsis
// splits only before white space or the end of a line, also with closing quotes and
// brackets in between, so that "1.81", "10:30" and addresses stay whole. The numbers
// of notes behind a mark, such as [12], are part of no sentence. Beside a
// wide letter that is not Korean an ASCII mark always splits, since Chinese and
// Japanese have no spaces. Thai, Lao, Khmer and Burmese have few marks; there a
// space splits behind minSpaced bytes. TLCS paper, section 3.1: "visible text blocks
// are partitioned by punctuations to produce sentences". Sentences without a letter
// or digit are dropped.
func Sentences(text string) []Sentence {
	var out []Sentence
	for s := range Each(text) {
		out = append(out, Sentence{Text: s, Columns: Columns(s)})
	}
	return out
}

// Each yields the texts of the Sentences.
func Each(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start := 0; start < len(text); {
			end, next := cut(text, start)
			if s, ok := trim(text[start:end]); ok && !yield(s) {
				return
			}
			start = next
		}
	}
}

// minSpaced is the least length of a sentence that a space ends, in bytes: 24 letters and
// marks, of which about 18 take a column. Shorter ones are often no clause, and of up to 16
// columns have no signature.
const minSpaced = 72

// cut returns the end of the sentence that starts at start, and the position after
// the mark that ends it.
func cut(text string, start int) (end, next int) {
	for i := start; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if ascii[c] == mayCut {
				if c == '\n' {
					return i, i + 1
				}
				if after := i + 1 + notes(text[i+1:]); ends(text[after:]) || besideWide(text, i) {
					return i, after
				}
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if always := terminal(r); always || r == '…' {
			if after := i + n + notes(text[i+n:]); always || ends(text[after:]) {
				return i, after
			}
		}
		if i += n; i-start >= minSpaced && i < len(text) && text[i] == ' ' && spaced(r) {
			return i, i + 1
		}
	}
	return len(text), len(text)
}

// class is the role of an ASCII character in splitting.
type class byte

const (
	other  class = iota
	word         // a letter or digit
	mayCut       // a line end, or punctuation that splits before white space
	closes       // a closing quote or bracket
)

var ascii = func() (of [utf8.RuneSelf]class) {
	for c := range of {
		if isWord(rune(c)) {
			of[c] = word
		}
	}
	for _, c := range "\n.,:;!?" {
		of[c] = mayCut
	}
	for _, c := range "\"')]}" {
		of[c] = closes
	}
	return of
}()

// terminal reports whether r, which is not ASCII, is Terminal_Punctuation. It asks
// the tables only in ranges where they have entries.
func terminal(r rune) bool {
	switch {
	case r < 0x037E, r >= 0x3003 && r < 0xA4FE, r >= 0xABEC && r < 0xFE12:
		return false
	}
	return unicode.Is(unicode.Terminal_Punctuation, r)
}

// Note returns the length of the number of a note, such as [12], at the start of s, or 0.
func Note(s string) int {
	for i := 1; i < len(s) && i <= 4 && s[0] == '['; i++ {
		if c := s[i]; c == ']' && i > 1 {
			return i + 1
		} else if c < '0' || c > '9' {
			break
		}
	}
	return 0
}

// notes returns the length of the numbers of notes at the start of s.
func notes(s string) (length int) {
	for n := Note(s); n > 0; n = Note(s[length:]) {
		length += n
	}
	return length
}

// ends reports whether only closing quotes and brackets stand between the start of
// s and white space or the end.
func ends(s string) bool {
	for _, r := range s {
		switch {
		case r == ' ' || r == '\n':
			return true
		case r < utf8.RuneSelf && ascii[r] != closes, r >= utf8.RuneSelf && !unicode.In(r, unicode.Pe, unicode.Pf, unicode.Pi):
			return false
		}
	}
	return true
}

// besideWide reports whether a wide letter stands before or after the byte at i. Those of
// Korean, which has spaces, do not count.
func besideWide(s string, i int) bool {
	wide := func(r rune) bool {
		return r >= utf8.RuneSelf && RuneColumns(r) == 2 && unicode.IsLetter(r) && !unicode.Is(unicode.Hangul, r)
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	return wide(before) || wide(after)
}

// spaced reports whether r is of a script in which spaces stand between clauses, not
// between words.
func spaced(r rune) bool {
	return r >= '\u0E00' && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Myanmar, unicode.Khmer)
}

// isWord reports whether r is a letter, mark or number.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// trim removes leading and trailing characters of s that are neither letters, marks
// nor numbers. ok is false if nothing is left.
func trim(s string) (string, bool) {
	from := 0
	for ; ; from++ {
		if from == len(s) {
			return "", false
		}
		if s[from] >= utf8.RuneSelf || ascii[s[from]] == word {
			break
		}
	}
	to := len(s) // after the last character that is kept or not ASCII
	for s[to-1] < utf8.RuneSelf && ascii[s[to-1]] != word {
		to--
	}
	s = s[from:to]
	if s[0] >= utf8.RuneSelf {
		if from = strings.IndexFunc(s, isWord); from < 0 {
			return "", false
		}
		s = s[from:]
	}
	if s[len(s)-1] >= utf8.RuneSelf {
		s = strings.TrimRightFunc(s, func(r rune) bool { return !isWord(r) })
	}
	return s, true
}
