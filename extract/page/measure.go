package page

import (
	"unicode"
	"unicode/utf8"

	"neardup/extract/text"
)

// Classes of ASCII in a line.
const (
	markSpace uint8 = 1 << iota
	markDigit
	markCapital
	markStop  // ends a sentence if white space, a quote or the line's end follows
	markClose // may follow the end of a sentence
)

var marks = buildMarks()

func buildMarks() (class [256]uint8) {
	class[' '] = markSpace
	for c := '0'; c <= '9'; c++ {
		class[c] = markDigit
	}
	for c := 'A'; c <= 'Z'; c++ {
		class[c] = markCapital
	}
	for _, c := range ".!?;" {
		class[c] = markStop
	}
	for _, c := range `"')]` {
		class[c] = markClose
	}
	return class
}

// read measures a line that is not empty, except for its links, and returns its
// columns.
func (m *measure) read(line string) (columns int) {
	m.words = 1
	last := rune(0)
	for i := 0; i < len(line); {
		c := line[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(line[i:])
			i += n
			columns += text.RuneColumns(r)
			switch {
			case closesQuote(r):
				continue
			case endsSentence(r):
				m.stops++
			case r < 0x2000 && unicode.IsUpper(r):
				m.capitals++
			}
			last = r
			continue
		}
		i++
		columns++
		switch marks[c] {
		case 0:
		case markSpace:
			m.words++
			continue
		case markClose:
			continue
		case markDigit:
			m.digits++
		case markCapital:
			m.capitals++
		case markStop:
			if i == len(line) || marks[line[i]]&(markSpace|markClose) != 0 {
				m.stops++
			}
		}
		last = rune(c)
	}
	m.ended = last < utf8.RuneSelf && marks[uint8(last)] == markStop || last == ':' || last == '：' || endsSentence(last)
	return columns
}

// endsSentence reports whether a character outside ASCII ends a sentence.
func endsSentence(r rune) bool {
	switch r {
	case '。', '！', '？', '…', '؟', '۔', '।', '．', '｡', '；', '؛', '።', '។', '၊', '။':
		return true
	}
	return false
}

// closesQuote reports whether a character outside ASCII may follow the end of a
// sentence.
func closesQuote(r rune) bool {
	switch r {
	case '»', '”', '’', '“', '」', '』', '）', '》':
		return true
	}
	return false
}
