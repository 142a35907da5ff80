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
			if c = lower[c]; c != 0 {
				dst = append(dst, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r >= 0x4E00 && r <= 0x9FFF { // most of Chinese
			dst = append(dst, s[i:i+n]...)
		} else if isWord(r) && !unicode.Is(unicode.Variation_Selector, r) {
			if r = unicode.ToLower(r); r == 'ς' { // as σ is written at the end of a word
				r = 'σ'
			}
			dst = utf8.AppendRune(dst, r)
		}
		i += n
	}
	return dst
}

// lower has the letters and digits of ASCII in lower case, and 0 for all others.
var lower = func() (of [utf8.RuneSelf]byte) {
	for c := range of {
		if isWord(rune(c)) {
			of[c] = byte(unicode.ToLower(rune(c)))
		}
	}
	return of
}()

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
