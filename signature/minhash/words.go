package minhash

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"neardup/signature/internal/hash"
)

// Shingler makes features of texts; it keeps memory from text to text and is
// not for concurrent use.
type Shingler struct {
	W     int // words of a shingle, at least 1
	words []uint64
}

// Append appends to dst the features of a text: the hashes of its w-shingles,
// in order, repetitions included; of a text of fewer than w words, that of all
// of them. A text without words has none.
//
// A word is a run of letters, marks and numbers, in lower case; in scripts that
// are written without spaces each letter is one (Han, kana, Thai, Lao, Khmer,
// Burmese).
func (s *Shingler) Append(dst []uint64, text string) []uint64 {
	s.words = appendWords(s.words[:0], text)
	return hash.Windows(dst, s.words, max(1, s.W))
}

// What a character is to a word.
const (
	between = iota
	inside
	upper  // inside, but another character in lower case
	single // a word of its own
)

func classOf(r rune) byte {
	switch {
	case !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r):
		return between
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar), r == 'ー':
		return single
	case unicode.ToLower(r) != r:
		return upper
	}
	return inside
}

// plane has the classes of the characters up to U+FFFF.
var plane = sync.OnceValue(func() *[1 << 16]byte {
	of := new([1 << 16]byte)
	for r := range of {
		of[r] = classOf(rune(r))
	}
	return of
})

// folded is an ASCII letter or digit in lower case, and 0 for anything else.
var folded = func() (of [256]byte) {
	for c := range utf8.RuneSelf {
		if classOf(rune(c)) != between {
			of[c] = byte(unicode.ToLower(rune(c)))
		}
	}
	return of
}()

// appendWords appends the hash.String of each word of text.
func appendWords(dst []uint64, text string) []uint64 {
	classes := plane()
	state, rest, length := uint64(hash.Start), uint64(0), 0
	for i := 0; i < len(text); {
		if c := folded[text[i]]; c != 0 {
			i++
			rest = rest<<8 | uint64(c)
			if length++; length%8 == 0 {
				state, rest = hash.Block(state, rest), 0
			}
			continue
		}
		class := byte(between)
		r, size := rune(0), 1
		if text[i] >= utf8.RuneSelf {
			r, size = decode(text[i:])
			if r < 1<<16 {
				class = classes[r]
			} else {
				class = classOf(r)
			}
		}
		if class == inside || class == upper {
			if class == upper {
				r = unicode.ToLower(r)
			}
			var lower [utf8.UTFMax]byte
			for _, c := range lower[:utf8.EncodeRune(lower[:], r)] {
				rest = rest<<8 | uint64(c)
				if length++; length%8 == 0 {
					state, rest = hash.Block(state, rest), 0
				}
			}
			i += size
			continue
		}
		if length > 0 {
			dst = append(dst, hash.Finish(state, rest, length))
			state, rest, length = hash.Start, 0, 0
		}
		if class == single {
			for _, c := range []byte(text[i : i+size]) {
				rest = rest<<8 | uint64(c)
			}
			dst = append(dst, hash.Finish(hash.Start, rest, size))
			rest = 0
		}
		i += size
	}
	if length > 0 {
		dst = append(dst, hash.Finish(state, rest, length))
	}
	return dst
}

// decode is utf8.DecodeRuneInString, with three bytes from U+3000 to U+CFFF,
// most of Chinese, Japanese and Korean, done in place.
func decode(s string) (rune, int) {
	if len(s) >= 3 && s[0]-0xE3 < 10 && s[1]&0xC0 == 0x80 && s[2]&0xC0 == 0x80 {
		return rune(s[0]&0xF)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), 3
	}
	return utf8.DecodeRuneInString(s)
}
