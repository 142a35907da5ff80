// Package radix sorts documents by the upper bits of 64-bit keys that look
// random, which brings equal keys next to each other without comparing them.
package radix

import (
	"cmp"
	"slices"
)

// Entry is a key of a document, which is named by its place.
type Entry struct {
	Key uint64
	ID  uint32
}

const (
	digit = 11 // bits of a pass: counts of 2,048 stay in the first cache
	upper = 2 * digit
)

// Sort sorts a by the given number of upper bits of the keys, 0 to 64, and
// entries that agree in them by ID. scratch is at least as long as a. Two
// passes sort by 22 bits; what agrees in them is sorted by comparison.
func Sort(a, scratch []Entry, bits int) {
	if len(a) < 1<<digit/4 { // clearing the counts would take longer
		sort(a, bits)
		return
	}
	passes(a, scratch[:len(a)])
	Runs(a, min(bits, upper), func(run []Entry) bool {
		sort(run, bits)
		return true
	})
}

// passes sorts a by the upper 22 bits; of equal ones the order stays.
func passes(a, b []Entry) {
	var low, high [1 << digit]int
	for i := range a {
		low[a[i].Key>>(64-upper)&(1<<digit-1)]++
		high[a[i].Key>>(64-digit)]++
	}
	l, h := 0, 0
	for i := range low {
		low[i], l = l, l+low[i]
		high[i], h = h, h+high[i]
	}
	for i := range a {
		d := a[i].Key >> (64 - upper) & (1<<digit - 1)
		b[low[d]] = a[i]
		low[d]++
	}
	for i := range b {
		d := b[i].Key >> (64 - digit)
		a[high[d]] = b[i]
		high[d]++
	}
}

// Runs hands the runs of two or more entries of a that agree under the given
// number of upper bits to do, as long as that returns true; a is sorted by
// them. It reports whether all returned true.
func Runs(a []Entry, bits int, do func(run []Entry) bool) bool {
	mask := upperBits(bits)
	for from := 0; from < len(a); {
		to := from + 1
		for to < len(a) && (a[to].Key^a[from].Key)&mask == 0 {
			to++
		}
		if to-from > 1 && !do(a[from:to]) {
			return false
		}
		from = to
	}
	return true
}

func sort(a []Entry, bits int) {
	mask := upperBits(bits)
	slices.SortFunc(a, func(x, y Entry) int {
		if c := cmp.Compare(x.Key&mask, y.Key&mask); c != 0 {
			return c
		}
		return cmp.Compare(x.ID, y.ID)
	})
}

// upperBits returns a mask of so many; shifting by 64 gives 0 in Go.
func upperBits(n int) uint64 { return ^(^uint64(0) >> n) }
