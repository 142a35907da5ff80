package tlcs

import (
	"math/bits"
	"slices"
	"sync"
	"unicode/utf8"

	"neardup/extract/text"
)

// Document is a text prepared for comparison: its code points and the fingerprints
// of its windows. Goroutines can share it.
//
// Window i starts at code point i and is the shortest run from there that is at
// least as wide as the sliding window. Near the end of the text, where no run is
// that wide, there is no window. A text narrower than one window counts as a single
// window, so that equal short texts match. The paper has no such texts.
type Document struct {
	window int
	text   []int32
	ends   []int32  // window i is text[i:ends[i]]
	prints []uint32 // its fingerprint

	// What finds windows is made on the first call of firsts, since many documents are
	// only looked up in others.
	made  sync.Once
	first []int32 // by window: the first window that is the same text

	// Both find windows by their fingerprints.
	table []int32  // open addressing, at most half full: 1 + a first window; 0 is free
	seen  []uint64 // one bit per fingerprint, with eight times as many bits as windows
}

// Fingerprints follow Karp and Rabin: a window is read as a number to a fixed base,
// rolled along the text, modulo 2^64 and cut to 32 bits. The paper uses Rabin's
// fingerprints (1981) over GF(2) and trusts them. Ours only say where to look:
// windows are equal if their code points are.
const (
	base    = 0x14a3_6cf5_9d8b_27e1 // any odd number with no structure
	scatter = 0x9e37_79b9_7f4a_7c15 // moves the digits of short windows up into the bits that are kept
)

// digit is never 0. Otherwise a shorter window would equal a longer one with leading
// zeros.
func digit(c int32) uint64 { return uint64(uint32(c)) + 1 }

// samePrints is how many different windows with one fingerprint a Document finds, so
// that a hostile text, which can choose them, does not have all of its windows compared
// with each other. Of other texts, hardly any has two of them.
const samePrints = 64

// DocumentBytes is the approximate memory of a Document for each code point.
const DocumentBytes = 25

// Prepare returns the Document of s for a sliding window of the given width in
// half-width columns, at least 1.
func Prepare(s string, window int) *Document {
	n := utf8.RuneCountInString(s)
	d := &Document{window: window, text: make([]int32, n), ends: make([]int32, 0, n), prints: make([]uint32, 0, n)}
	widths := make([]byte, n) // of the code points, in columns
	i, all := 0, 0
	for _, r := range s {
		columns := text.RuneColumns(r)
		d.text[i], widths[i] = r, byte(columns)
		all += columns
		i++
	}
	if all > n {
		d.windows(widths)
	} else {
		d.narrowWindows()
	}
	return d
}

// windows finds the ends of the windows and their fingerprints.
func (d *Document) windows(widths []byte) {
	n := len(d.text)
	power := make([]uint64, 1, min(n, d.window)+1) // of base; a code point has at least one column
	power[0] = 1
	var hash uint64
	end, columns := 0, 0
	for i, c := range d.text {
		for columns < d.window && end < n {
			hash = hash*base + digit(d.text[end])
			columns += int(widths[end])
			end++
		}
		if columns < d.window && i > 0 {
			break
		}
		d.ends, d.prints = append(d.ends, int32(end)), append(d.prints, uint32(hash*scatter>>32))
		for len(power) < end-i {
			power = append(power, power[len(power)-1]*base)
		}
		hash -= digit(c) * power[end-i-1]
		columns -= int(widths[i])
	}
}

// narrowWindows is windows for a text whose code points have one column each, as most
// texts have: then all windows have the same number of code points.
func (d *Document) narrowWindows() {
	n, size := len(d.text), min(len(d.text), d.window)
	if n == 0 {
		return
	}
	hash, power := uint64(0), uint64(1)
	for _, c := range d.text[:size] {
		hash = hash*base + digit(c)
		power *= base
	}
	d.ends, d.prints = d.ends[:n-size+1], d.prints[:n-size+1]
	d.ends[0], d.prints[0] = int32(size), uint32(hash*scatter>>32)
	gone := d.text[:n-size]
	for i, c := range d.text[size:] {
		hash = hash*base + digit(c) - digit(gone[i])*power
		d.ends[i+1], d.prints[i+1] = int32(size+i+1), uint32(hash*scatter>>32)
	}
}

// firsts returns for each window the first one that is the same text. It must be called
// before has.
func (d *Document) firsts() []int32 {
	d.made.Do(d.index)
	return d.first
}

// index finds the first of the windows that are the same text, and makes what finds
// windows by their fingerprints.
func (d *Document) index() {
	n := len(d.text)
	d.first, d.table, d.seen = make([]int32, len(d.ends)), make([]int32, 2*n), make([]uint64, (n+7)/8)
	for i, print := range d.prints {
		first, slot := d.find(d, i)
		if first < 0 {
			first = int32(i)
			if slot >= 0 {
				d.table[slot] = first + 1
				bit := d.bit(print)
				d.seen[bit/64] |= 1 << (bit % 64)
			}
		}
		d.first[i] = first
	}
}

// slot returns where the search for a fingerprint begins.
func (d *Document) slot(print uint32) int {
	hi, _ := bits.Mul64(uint64(print)*seed, uint64(len(d.table)))
	return int(hi)
}

// bit returns the position of a fingerprint in seen.
func (d *Document) bit(print uint32) uint64 {
	hi, _ := bits.Mul64(uint64(print)*seed, uint64(64*len(d.seen)))
	return hi
}

// find returns the first window of d that is equal to window i of o. If there is
// none, it returns -1 and the slot where the window would go, or -1 if samePrints
// windows have its fingerprint already.
func (d *Document) find(o *Document, i int) (first int32, slot int) {
	print, same := o.prints[i], 0
	slot = d.slot(print)
	for d.table[slot] != 0 {
		if first = d.table[slot] - 1; d.prints[first] == print {
			if slices.Equal(d.text[first:d.ends[first]], o.text[i:o.ends[i]]) {
				return first, slot
			}
			if same++; same == samePrints {
				return -1, -1
			}
		}
		if slot++; slot == len(d.table) {
			slot = 0
		}
	}
	return -1, slot
}

// has is find, but fast if there is no equal window.
func (d *Document) has(o *Document, i int) int32 {
	if bit := d.bit(o.prints[i]); d.seen[bit/64]>>(bit%64)&1 == 0 {
		return -1
	}
	first, _ := d.find(o, i)
	return first
}

// continues reports whether window w of d equals window i of o, given that the
// windows before these are equal.
func (d *Document) continues(w int, o *Document, i int) bool {
	return w < len(d.ends) && int(d.ends[w])-w == int(o.ends[i])-i &&
		slices.Equal(d.text[d.ends[w-1]:d.ends[w]], o.text[o.ends[i-1]:o.ends[i]])
}

// Len returns the length of the text in code points.
func (d *Document) Len() int { return len(d.text) }
