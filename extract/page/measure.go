package page

import (
	"unicode"
	"unicode/utf8"

	"neardup/extract/text"
)

// lanes has the counts that an ASCII character adds to those of a line, 16 bits each:
// spaces, digits, capitals, and characters that end a sentence if white space, a
// quote or the line's end follows.
var lanes = buildLanes()

const (
	laneSpace   uint64 = 1
	laneDigit   uint64 = 1 << 16
	laneCapital uint64 = 1 << 32
	laneStop    uint64 = 1 << 48

	laneRoom = 1<<16 - 1 // characters that lanes can count
)

func buildLanes() (of [utf8.RuneSelf]uint64) {
	of[' '] = laneSpace
	for c := '0'; c <= '9'; c++ {
		of[c] = laneDigit
	}
	for c := 'A'; c <= 'Z'; c++ {
		of[c] = laneCapital
	}
	for _, c := range ".!?;" {
		of[c] = laneStop
	}
	return of
}

// closes reports whether an ASCII character may follow the end of a sentence.
func closes(c byte) bool {
	switch c {
	case '"', '\'', ')', ']':
		return true
	}
	return false
}

// read measures a line that is not empty, except for its links, and returns its
// columns.
func (m *measure) read(line string) (columns int) {
	m.words = 1
	for i := 0; i < len(line); {
		if line[i] < utf8.RuneSelf {
			var counts uint64
			start := i
			for end := min(len(line), start+laneRoom); i < end && line[i] < utf8.RuneSelf; i++ {
				c := line[i]
				counts += lanes[c]
				if lanes[c] == laneStop && i+1 < len(line) && line[i+1] != ' ' && !closes(line[i+1]) {
					counts -= laneStop
				}
			}
			columns += i - start
			m.words += int32(uint16(counts))
			m.digits += int32(uint16(counts >> 16))
			m.capitals += int32(uint16(counts >> 32))
			m.stops += int32(counts >> 48)
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		i += n
		columns += text.RuneColumns(r)
		switch {
		case endsSentence(r):
			m.stops++
		case r < 0x2000 && unicode.IsUpper(r):
			m.capitals++
		}
	}
	m.ended = ends(line)
	return columns
}

// ends reports whether the last character of a line ends a sentence, quotes and
// spaces left out.
func ends(line string) bool {
	for len(line) > 0 {
		r, n := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-n]
		switch {
		case r >= utf8.RuneSelf:
			if !closesQuote(r) {
				return r == '：' || endsSentence(r)
			}
		case r != ' ' && !closes(byte(r)):
			return r == ':' || lanes[r] == laneStop
		}
	}
	return false
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
