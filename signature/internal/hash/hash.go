// Package hash has the 64-bit hash functions that the signature schemes share. They
// never change, so that old signatures match new ones. None of them resists
// deliberate collisions.
package hash

import "math/bits"

// Odd constants without a pattern: the fractions of the golden ratio and of
// the square roots of 2, 3 and 5, with the last bit set.
const (
	golden = 0x9e3779b97f4a7c15
	Start  = 0x6a09e667f3bcc909 // the state before the first byte
	block  = 0xbb67ae8584caa73b
	finish = 0x3c6ef372fe94f82b
	base   = 0xa54ff53a5f1d36f1
)

// Mix returns a permutation of the 64-bit integers that looks random: the
// finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom
// number generators, OOPSLA 2014, figure 14, with Stafford's variant 13).
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// At returns the i-th number of the SplitMix64 generator that starts at x.
func At(x uint64, i int) uint64 { return Mix(x + uint64(i+1)*golden) }

// Block adds eight bytes, first byte highest, to the state of a string.
func Block(state, eight uint64) uint64 {
	hi, lo := bits.Mul64(state^eight, block)
	return hi ^ lo
}

// Finish ends a string of length bytes, of which the last length mod 8, first
// byte highest, have not been taken as a block.
func Finish(state, rest uint64, length int) uint64 {
	hi, lo := bits.Mul64(state^(rest|uint64(length)<<56), finish)
	return hi ^ lo
}

// String returns the hash of s: multiply and fold, eight bytes at a time.
func String(s string) uint64 {
	state, rest := uint64(Start), uint64(0)
	for i := range len(s) {
		rest = rest<<8 | uint64(s[i])
		if i%8 == 7 {
			state, rest = Block(state, rest), 0
		}
	}
	return Finish(state, rest, len(s))
}

// Windows appends to dst the hash of each run of w of the given hashes, in
// order. If there are fewer than w, but at least one, it appends the hash of
// all of them. w is at least 1.
//
// It is a polynomial modulo 2^64 over the hashes that rolls by one at a time
// (Karp, Rabin 1987), then Mix. The terms are random numbers, so that two
// different runs meet with a probability of about 2^-64.
func Windows(dst, hashes []uint64, w int) []uint64 {
	if len(hashes) == 0 {
		return dst
	}
	w = min(w, len(hashes))
	sum, drop := uint64(0), uint64(1)
	for _, h := range hashes[:w] {
		sum = sum*base + h
		drop *= base
	}
	dst = append(dst, Mix(sum))
	ahead := hashes[w:]
	for i, old := range hashes[:len(ahead)] {
		sum = sum*base + ahead[i] - old*drop
		dst = append(dst, Mix(sum))
	}
	return dst
}
