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

// Names of the weights of a term that occurs n times.
const (
	Count = "count" // n: the lecture's "vector w of term freq." (slide "Term-based signature with SimHash")
	Log   = "log"   // 1 + ln(n), as the TLCS paper, section 3.1, weighs sentences by their length
	One   = "one"   // 1: whether the text has it
)

// unit is the weight 1 of Log, as in neardup/signature/ring. Sums of integers
// depend neither on their order nor on the machine, and rounding to 1/1024 hides
// the last places of the logarithm, in which platforms differ.
const unit = 1024

// Weigher returns the weight function of that name, for n ≥ 1. Its unit is 1, for
// Log 1/1024. Weights of n < 2^32 are exact, for Log rounded; greater n have the
// weight of 2^32-1.
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
