package ring

import (
	"encoding/binary"
	"math"
	"math/bits"

	"neardup/signature"
)

// unit is the weight 1 in fixed point. Weights are integers, so their sums are
// exact and depend neither on the order of the sentences nor on the platform's
// rounding. Rounding to the nearest 1/1024 also hides the last places of the
// logarithm, in which platforms differ. The tests check that no width up to 2^20
// comes near a tie.
const unit = 1024

// weights holds the weights of short sentences, by width.
type weights struct {
	scheme string
	short  [1024]uint32
}

func newWeights(scheme string) weights {
	w := weights{scheme: scheme}
	for l := 1; l < len(w.short); l++ {
		w.short[l] = w.compute(l)
	}
	return w
}

// of returns the weight of a sentence of l >= 1 columns, less than 2^16.
func (w *weights) of(l int) uint32 {
	if l < len(w.short) {
		return w.short[l]
	}
	return w.compute(l)
}

func (w *weights) compute(l int) uint32 {
	if w.scheme == None {
		return 1
	}
	return uint32(math.Round(unit * (1 + math.Log(float64(l)))))
}

// project returns the paper's projection: in each of 128 positions every 1-bit
// adds its fingerprint's weight and every 0-bit subtracts it, and the signature
// has a 1 where the sum is positive. That is where the 1-bits weigh more than
// half of the total.
//
// The sums of all positions are built at once, bit-sliced: plane j holds bit j
// of 64 counters, and adding a weight to the counters under the 1-bits of a
// fingerprint is one full adder a plane. Counters start at 2^p minus the least
// winning sum, with 2^p > total, so that plane p ends as the result.
func project(chosen []fingerprint) signature.Signature {
	if len(chosen) == 3 {
		return projectThree(&chosen[0], &chosen[1], &chosen[2])
	}
	return projectAny(chosen)
}

func projectAny(chosen []fingerprint) signature.Signature {
	var total uint32 // at most 2^12 weights below 2^16
	for i := range chosen {
		total += chosen[i].weight
	}
	p := bits.Len32(total)
	start := uint64(1)<<p - uint64(total/2+1)
	var hi, lo [32]uint64
	for j := range p {
		fill := -(start >> j & 1)
		hi[j], lo[j] = fill, fill
	}
	for i := range chosen {
		f := &chosen[i]
		var carryHi, carryLo uint64
		for j := range p + 1 {
			mask := -uint64(f.weight >> j & 1)
			hi[j], carryHi = add(hi[j], f.hi&mask, carryHi)
			lo[j], carryLo = add(lo[j], f.lo&mask, carryLo)
		}
	}
	return signatureOf(hi[p], lo[p])
}

func signatureOf(hi, lo uint64) (s signature.Signature) {
	binary.BigEndian.PutUint64(s[:8], hi)
	binary.BigEndian.PutUint64(s[8:], lo)
	return s
}

// projectThree is projectAny for three fingerprints, the default number. A position
// is 1 if all fingerprints of a subset that outweighs the rest have a 1 there.
func projectThree(a, b, c *fingerprint) signature.Signature {
	half := (a.weight + b.weight + c.weight) / 2
	wins := func(weight uint32) uint64 { // all ones if weight > half
		return uint64(int64(uint64(half)-uint64(weight)) >> 63)
	}
	onlyA, onlyB, onlyC := wins(a.weight), wins(b.weight), wins(c.weight)
	ab, ac, bc := wins(a.weight+b.weight), wins(a.weight+c.weight), wins(b.weight+c.weight)
	plane := func(a, b, c uint64) uint64 {
		return a&(onlyA|b&(ab|c)|c&ac) | b&(onlyB|c&bc) | c&onlyC
	}
	return signatureOf(plane(a.hi, b.hi, c.hi), plane(a.lo, b.lo, c.lo))
}

// add is 64 full adders.
func add(a, b, carry uint64) (sum, out uint64) {
	x := a ^ b
	return x ^ carry, a&b | x&carry
}
