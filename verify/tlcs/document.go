package tlcs

import (
	"math/bits"
	"unicode/utf8"

	"neardup/extract/text"
)

// Document is a text prepared for comparison: its code points and the
// fingerprints of its windows. It is immutable and can be shared.
//
// Window i starts at code point i and is the shortest run from there that is
// at least as wide as the sliding window; near the end, where no run is, there
// is no window. A text narrower than one window counts as a single window, so
// that equal short texts still match (ours; the paper has no such texts).
type Document struct {
	window int
	text   []int32
	ends   []int32  // window i is text[i:ends[i]]
	slots  []int32  // where in table the fingerprint of window i is
	table  []uint64 // the distinct fingerprints, open addressing, at most half full; 0 is free
}

// Fingerprints are Karp and Rabin's: a window read as a number to a fixed base
// modulo the Mersenne prime 2^61-1, rolled along the text. The paper uses
// Rabin's (1981) over GF(2). A collision can only keep more text in a sketch,
// never lengthen the LCS, which compares the characters themselves.
const (
	prime   = 1<<61 - 1
	base    = 0x14a3_6cf5_9d8b_27e1 // any number below prime with no structure
	scatter = 0x9e37_79b9_7f4a_7c15 // spreads the small fingerprints of short windows over the table
)

// digit is never 0, so that a shorter window is not a longer one with leading
// zeros.
func digit(c int32) uint64 { return uint64(uint32(c)) + 1 }

// mul is x*y mod prime, for x and y below it.
func mul(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return reduce(lo&prime + (hi<<3 | lo>>61))
}

// reduce is x mod prime, for x below twice that.
func reduce(x uint64) uint64 {
	if x >= prime {
		x -= prime
	}
	return x
}

// Prepare makes a Document of s for a sliding window of the given width in
// half-width columns, at least 1.
func Prepare(s string, window int) *Document {
	n := utf8.RuneCountInString(s)
	d := &Document{
		window: window,
		text:   make([]int32, 0, n),
		ends:   make([]int32, 0, n),
		slots:  make([]int32, 0, n),
		table:  make([]uint64, 2*n),
	}
	for _, r := range s {
		d.text = append(d.text, r)
	}
	power := make([]uint64, 1, min(n, window)+1) // of base; a code point has at least one column
	power[0] = 1
	var hash uint64
	end, columns := 0, 0
	for i, c := range d.text {
		for columns < window && end < n {
			hash = reduce(mul(hash, base) + digit(d.text[end]))
			columns += text.RuneColumns(d.text[end])
			end++
		}
		if columns < window && i > 0 {
			break
		}
		d.add(end, hash)
		for len(power) < end-i {
			power = append(power, mul(power[len(power)-1], base))
		}
		hash = reduce(hash + prime - mul(digit(c), power[end-i-1]))
		columns -= text.RuneColumns(c)
	}
	return d
}

// add appends a window.
func (d *Document) add(end int, hash uint64) {
	print := hash + 1 // 0 marks free slots
	slot := d.find(print)
	d.table[slot] = print
	d.ends = append(d.ends, int32(end))
	d.slots = append(d.slots, int32(slot))
}

// find returns the slot that a fingerprint is in, or the free one that it
// would be put in.
func (d *Document) find(print uint64) int {
	t := d.table
	home, _ := bits.Mul64(print*scatter, uint64(len(t)))
	i := int(home)
	for t[i] != print && t[i] != 0 {
		if i++; i == len(t) {
			i = 0
		}
	}
	return i
}

// Text is the text in code points, not to be changed.
func (d *Document) Text() []int32 { return d.text }

// Len is the length of the text in code points.
func (d *Document) Len() int { return len(d.text) }

// Bytes is about the memory that d holds.
func (d *Document) Bytes() int {
	const header = 4*24 + 8
	return header + 4*(cap(d.text)+cap(d.ends)+cap(d.slots)) + 8*cap(d.table)
}
