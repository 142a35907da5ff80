package text

import (
	"unicode"
	"unicode/utf8"
)

// Letters appends the letters, marks and numbers of s to dst, in lower case. They are what
// a sentence says, however it is typeset: with straight or curly quotation marks, other
// dashes and spaces, soft hyphens, or in capitals. Lower case is that of single letters, so
// the German SS is not ß.
func Letters(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if l := letters[c]; l != 0 {
				dst = append(dst, byte(l))
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case int(r) < len(letters):
			r = letters[r]
		case r >= 0x2000 && r <= 0x206F: // punctuation
			continue
		case r >= 0x4E00 && r <= 0x9FFF: // most of Chinese
			dst = append(dst, s[i-n:i]...)
			continue
		default:
			r = letterOf(r)
		}
		if r != 0 {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// letters has what letterOf says of the characters that are one or two bytes in UTF-8.
var letters = func() (of [0x800]rune) {
	for r := range of {
		of[r] = letterOf(rune(r))
	}
	return of
}()

// letterOf returns what counts of a character, or 0.
func letterOf(r rune) rune {
	if !isWord(r) || unicode.Is(unicode.Variation_Selector, r) {
		return 0
	}
	if r = unicode.ToLower(r); r == 'ς' { // as σ is written at the end of a word
		return 'σ'
	}
	return r
}

// LettersColumns returns the width of a sentence of these Letters, with a space or other
// punctuation for each five narrow ones, as in ordinary text. It depends on the letters
// alone, and can be compared with the width of sentences.
func LettersColumns(letters []byte) int {
	narrow, wide := 0, 0
	for i := 0; i < len(letters); {
		if letters[i] < utf8.RuneSelf {
			narrow++
			i++
			continue
		}
		r, n := utf8.DecodeRune(letters[i:])
		if RuneColumns(r) == 2 {
			wide++
		} else {
			narrow++
		}
		i += n
	}
	return narrow + narrow/5 + 2*wide
}
