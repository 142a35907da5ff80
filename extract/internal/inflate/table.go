package inflate

import (
	"math/bits"
	"sync"
)

// Sizes of codes, in RFC 1951.
const (
	maxLit  = 286 // literals and lengths
	maxDist = 30
	maxBits = 15

	litBits, distBits, lengthBits = 11, 8, 7 // bits of a code that are looked up at once
)

// table has the codes by their bits, the first bit lowest. A code that is longer
// than what is looked up at once has a part of the table of its own, by its further
// bits. All codes of 15 bits for 288 symbols take at most 2,342 entries with 11 bits
// at once, and for 32 symbols 402 with 8 bits (zlib's program enough).
type table [tableSize]uint32

const tableSize = 4096

// An entry of a table has the bits of the code, the extra bits that follow, and a
// value: a literal, or what the extra bits are added to.
const (
	codeSize  = 0x1f
	extraAt   = 8
	extraSize = 0xf
	literal   = 1 << 12
	special   = 1 << 13 // the end of the block, or no code
	sub       = 1 << 14 // codes go on: at the value, by as many bits as extra bits
	valueAt   = 16

	endOfBlock = 1
)

var (
	order   = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}
	repeats = [3]struct {
		least int
		bits  uint
	}{{3, 2}, {3, 3}, {11, 7}}
	plainSymbols [19]uint32
	litSymbols   [288]uint32
	distSymbols  [32]uint32
)

func init() {
	for i := range plainSymbols {
		plainSymbols[i] = uint32(i) << valueAt
	}
	for i := range 256 {
		litSymbols[i] = uint32(i)<<valueAt | literal
	}
	litSymbols[256] = endOfBlock<<valueAt | special
	for i, length := 257, uint32(3); i < 285; i++ {
		extra := uint32(max(0, (i-261)/4))
		litSymbols[i] = length<<valueAt | extra<<extraAt
		length += 1 << extra
	}
	litSymbols[285] = longest << valueAt
	litSymbols[286], litSymbols[287] = special, special
	for i, back := 0, uint32(1); i < maxDist; i++ {
		extra := uint32(max(0, i/2-1))
		distSymbols[i] = back<<valueAt | extra<<extraAt
		back += 1 << extra
	}
	distSymbols[30], distSymbols[31] = special, special
}

type fixedTables struct{ lit, dist table }

// fixed returns the tables of the fixed codes (RFC 1951, 3.2.6).
var fixed = sync.OnceValue(func() *fixedTables {
	var lengths [288]uint8
	for i := range lengths {
		switch {
		case i < 144, i >= 280:
			lengths[i] = 8
		case i < 256:
			lengths[i] = 9
		default:
			lengths[i] = 7
		}
	}
	f := new(fixedTables)
	f.lit.make(lengths[:], litBits, litSymbols[:])
	for i := range lengths[:32] {
		lengths[i] = 5
	}
	f.dist.make(lengths[:32], distBits, distSymbols[:])
	return f
})

// make makes the table of codes with the given lengths. ok is false if the codes do
// not use all bits exactly. One code of one bit may stand alone, and there may be
// none.
func (t *table) make(lengths []uint8, first int, symbols []uint32) (ok bool) {
	var count, at [maxBits + 2]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	used, longestCode := 0, 0
	for n := 1; n <= maxBits; n++ {
		used = used<<1 + count[n]
		if count[n] > 0 {
			longestCode = n
		}
		at[n+1] = at[n] + count[n]
	}
	used >>= maxBits - longestCode
	switch {
	case longestCode == 0 || longestCode == 1 && used == 1:
		for i := range t[:1<<first] {
			t[i] = special | 1
		}
		for symbol, n := range lengths {
			for i := 0; n > 0 && i < 1<<first; i += 2 {
				t[i] = symbols[symbol] | 1
			}
		}
		return true
	case used != 1<<longestCode:
		return false
	}
	var sorted [288]uint16
	for symbol, n := range lengths {
		if n > 0 {
			sorted[at[n]] = uint16(symbol)
			at[n]++
		}
	}
	code, done, end := 0, 0, 1 // code has its first bit lowest; end is that of the table so far
	n := 0
	for n < first {
		n++
		copy(t[end:2*end], t[:end])
		end *= 2
		for range count[n] {
			t[code] = symbols[sorted[done]] | uint32(n)
			done++
			code = next(code, n)
		}
	}
	prefix, start, size := -1, 0, 0
	for n = first + 1; n <= longestCode; n++ {
		for i := range count[n] {
			if p := code & (1<<first - 1); p != prefix {
				prefix, start, size = p, end, n-first
				for room := count[n] - i; room < 1<<size; {
					size++
					room = room<<1 + count[first+size]
				}
				end = start + 1<<size
				t[p] = uint32(start)<<valueAt | uint32(size)<<extraAt | sub | special | uint32(first)
			}
			e := symbols[sorted[done]] | uint32(n-first)
			for j := start + code>>first; j < end; j += 1 << (n - first) {
				t[j] = e
			}
			done++
			code = next(code, n)
		}
	}
	return true
}

// next returns the code of n bits after another. After the last one it returns 0.
func next(code, n int) int {
	free := code ^ (1<<n - 1)
	if free == 0 {
		return 0
	}
	bit := 1 << (bits.Len(uint(free)) - 1)
	return code&(bit-1) | bit
}
