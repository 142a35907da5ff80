package words

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// Counted sorts hashes and yields each once, ascending, with its number of
// occurrences.
func Counted(hashes []uint64) iter.Seq2[uint64, int] {
	return func(yield func(hash uint64, n int) bool) {
		slices.Sort(hashes)
		for start, i := 0, 1; i <= len(hashes); i++ {
			if i < len(hashes) && hashes[i] == hashes[start] {
				continue
			}
			if !yield(hashes[start], i-start) {
				return
			}
			start = i
		}
	}
}

// The weights of a term that occurs n times, by name.
const (
	Count = "count" // n: the lecture's "vector w of term freq." (slide "Term-based signature with SimHash")
	Log   = "log"   // 1 + ln(n), as the TLCS paper, section 3.1, weighs sentences by their length
	One   = "one"   // 1: whether the text has it
)

// unit is the weight 1 of Log, as in neardup/signature/ring: sums of integers
// depend neither on their order nor on the machine, and rounding to 1/1024
// hides the last places of the logarithm, in which platforms differ.
const unit = 1024

// Weigher returns the weight of that name, of n ≥ 1: in units of 1, of Log in
// units of 1/1024. Weights of n < 2^32 are exact or, of Log, rounded; above, it
// is that of 2^32-1.
func Weigher(name string) (func(n int) uint32, error) {
	switch name {
	case Count:
		return func(n int) uint32 { return uint32(min(n, math.MaxUint32)) }, nil
	case Log:
		return func(n int) uint32 {
			if n == 1 {
				return unit
			}
			return uint32(math.Round(unit * (1 + math.Log(float64(min(n, math.MaxUint32))))))
		}, nil
	case One:
		return func(int) uint32 { return 1 }, nil
	}
	return nil, fmt.Errorf("weight is %q, must be %q, %q or %q", name, Count, Log, One)
}
