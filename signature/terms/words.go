package terms

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"neardup/signature/internal/hash"
)

// chunk limits the code points that are segmented at once. Distances are added as
// 32-bit floats, which would lose their differences on very long runs.
const chunk = 512

// Append appends to dst the terms of a text in order, with repetitions but without
// terms of weight 0. A text of white space, punctuation and symbols has no terms.
// The terms depend only on the text and the options.
//
//   - Runs of Han characters, simplified and traditional, are split by the
//     dictionary along the path of the greatest product of frequencies. A character
//     that starts no word is a term. The dictionary gives the part of speech and
//     F(t). It replaces the paper's background database, so that signing needs no
//     pass over the collection and new crawls change nothing.
//   - A run of letters, marks and digits of other scripts is a word, in lower case
//     and half width. Digits alone are numerals, English function words have their
//     own part of speech, and any other word is a noun. The dictionary has no
//     frequency for them, so each counts as the least frequent.
//   - Thai, Lao, Khmer, Burmese and hiragana have neither spaces nor a dictionary
//     here, so each two neighbouring characters are a term. Single characters would
//     be too few to tell texts apart. Hiragana count as particles.
//
// Bytes that are not UTF-8 separate terms.
func (w *Weigher) Append(dst []Term, text string) []Term {
	classes := plane()
	for i, left := 0, w.o.MaxTerms; i < len(text) && left > 0; {
		class, size := classAt(classes, text[i:])
		start := i
		switch i += size; class {
		case letter, upper:
			folds := class == upper
			for i < len(text) {
				class, size = classAt(classes, text[i:])
				if class != letter && class != upper && class != mark {
					break
				}
				folds = folds || class == upper
				i += size
			}
			word := text[start:i]
			if folds {
				word = strings.Map(fold, word)
			}
			dst = w.word(dst, word)
			left--
		case han:
			for n := 1; i < len(text) && n < chunk; n++ {
				if class, size = classAt(classes, text[i:]); class != han {
					break
				}
				i += size
			}
			dst, left = w.segment(dst, text[start:i], left)
		case paired:
			last, alone := start, true
			for i < len(text) && left > 0 {
				if class, size = classAt(classes, text[i:]); class != paired {
					break
				}
				dst = w.pair(dst, text[last:i+size])
				last, alone = i, false
				i += size
				left--
			}
			if alone {
				dst = w.pair(dst, text[start:i])
				left--
			}
		}
	}
	return dst
}

// segment appends at most left terms of a run of Han characters, and returns how
// many are left after that.
func (w *Weigher) segment(dst []Term, run string, left int) ([]Term, int) {
	d := dictionary()
	var room [chunk]piece
	for _, p := range d.segment(room[:0], run) {
		if left == 0 {
			break
		}
		left--
		g := p.group
		dst = w.add(dst, g, p.text, max(d.least[g], uint64(p.frequency)), d.least[g], d.most[g])
	}
	return dst, left
}

// word appends a word of a script with spaces.
func (w *Weigher) word(dst []Term, word string) []Term {
	g := noun
	if is, ok := english[word]; ok {
		g = is
	} else if strings.IndexFunc(word, notNumber) < 0 {
		g = numeral
	}
	return w.unknown(dst, g, word)
}

func notNumber(r rune) bool { return !unicode.IsNumber(r) }

// pair appends two neighbouring characters, or a lone one.
func (w *Weigher) pair(dst []Term, term string) []Term {
	g := other
	if r, _ := utf8.DecodeRuneInString(term); unicode.Is(unicode.Hiragana, r) {
		g = connective
	}
	return w.unknown(dst, g, term)
}

// unknown appends a term without a frequency. It "counts as the least frequently
// used" of its group, so the other frequencies do not matter.
func (w *Weigher) unknown(dst []Term, g group, term string) []Term {
	return w.add(dst, g, term, 1, 1, 2)
}

// add appends a term with its frequency and those of its group, which those of a
// collection replace. A Weigher that counts only counts it.
func (w *Weigher) add(dst []Term, g group, term string, frequency, least, most uint64) []Term {
	h := hash.String(term)
	switch {
	case w.counts != nil:
		w.counts.add(g, h)
		return dst
	case w.o.Frequencies == OfCollection:
		frequency, least, most = w.o.Collection.of(g, h)
	}
	weight := w.weight(g, term, frequency, least, most)
	if weight == 0 {
		return dst
	}
	return append(dst, Term{Hash: h, Weight: weight})
}

// Roles of a character in terms.
const (
	between = iota
	letter  // or a digit
	upper   // a letter or digit that fold changes
	mark    // belongs to the letter before it
	han
	paired
)

func classOf(r rune) byte {
	switch {
	case unicode.Is(unicode.Han, r):
		return han
	case !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r):
		return between
	case unicode.In(r, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return paired
	case unicode.IsMark(r):
		return mark
	case fold(r) != r:
		return upper
	}
	return letter
}

// fold returns a character in lower case and, for ASCII, half width. Characters
// that share an upper case fold to the same one (ς to σ).
func fold(r rune) rune {
	if r >= '！' && r <= '～' {
		r -= '！' - '!'
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// plane has the classes of the characters up to U+FFFF.
var plane = sync.OnceValue(func() *[1 << 16]byte {
	of := new([1 << 16]byte)
	for r := range of {
		of[r] = classOf(rune(r))
	}
	return of
})

// classAt returns the class of the character that text starts with, and its length
// in bytes.
func classAt(classes *[1 << 16]byte, text string) (class byte, size int) {
	if c := text[0]; c < utf8.RuneSelf {
		return classes[c], 1
	}
	r, size := utf8.DecodeRuneInString(text)
	if r < 1<<16 {
		return classes[r], size
	}
	return classOf(r), size
}
