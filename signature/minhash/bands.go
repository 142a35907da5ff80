package minhash

import (
	"cmp"
	"iter"
	"slices"

	"neardup/signature/internal/hash"
)

// AppendKeys appends the l band keys of a signature to dst; a document without
// a signature has none. A key hashes k components and the number of their
// band, so that keys of different bands do not meet: one key space, or one
// index in a store, does for all. Two documents that differ in a band share its
// key with a probability of about 2^-64.
func (c LSH) AppendKeys(dst []uint64, signature []uint32) []uint64 {
	for band := 0; len(signature) >= c.Rows; band++ {
		key := hash.At(hash.Start, band)
		for _, v := range signature[:c.Rows] {
			key = hash.Block(key, uint64(v))
		}
		dst = append(dst, hash.Mix(key))
		signature = signature[c.Rows:]
	}
	return dst
}

// Pair is two documents, by their places; A < B.
type Pair struct{ A, B int }

// Bucket is the documents that share the key of a band, two or more, by their
// places, ascending.
type Bucket struct {
	Band      int
	Documents []uint32
}

// Buckets yields the buckets of n documents, fewer than 2^32, band by band and
// in the order of keys. keys(i) gives the band keys of document i: l of them,
// or none. The documents of a bucket are valid until the next.
//
// A band is sorted by the upper bits of its keys, as many as documents need,
// by two passes of a radix sort; keys that agree in them are compared whole.
func (c LSH) Buckets(n int, keys func(i int) []uint64) iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		a, b := make([]posting, 0, n), make([]posting, n)
		var members []uint32
		for band := range c.Bands {
			a = a[:0]
			for i := range n {
				if k := keys(i); len(k) > 0 {
					a = append(a, posting{k[band], uint32(i)})
				}
			}
			radix(a, b[:len(a)])
			for from := 0; from < len(a); {
				to := from + 1
				for to < len(a) && a[to].key>>sorted == a[from].key>>sorted {
					to++
				}
				if to-from > 1 {
					slices.SortFunc(a[from:to], comparePostings)
				}
				for from < to {
					first := from
					for from < to && a[from].key == a[first].key {
						from++
					}
					if from-first == 1 {
						continue
					}
					members = members[:0]
					for _, p := range a[first:from] {
						members = append(members, p.document)
					}
					if !yield(Bucket{band, members}) {
						return
					}
				}
			}
		}
	}
}

// Pairs yields each pair of documents that share a band key once, in the order
// of Buckets, at the first band that they share.
func (c LSH) Pairs(n int, keys func(i int) []uint64) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		for b := range c.Buckets(n, keys) {
			for i, x := range b.Documents {
				earlier := keys(int(x))[:b.Band]
				for _, y := range b.Documents[i+1:] {
					if !shares(earlier, keys(int(y))) && !yield(Pair{int(x), int(y)}) {
						return
					}
				}
			}
		}
	}
}

// shares tells whether b starts with a place where it is equal to a.
func shares(a, b []uint64) bool {
	for i, v := range a {
		if v == b[i] {
			return true
		}
	}
	return false
}

type posting struct {
	key      uint64
	document uint32
}

func comparePostings(a, b posting) int {
	if c := cmp.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Compare(a.document, b.document)
}

const (
	digit  = 11           // bits of a pass: counts of 2,048 stay in the cache
	sorted = 64 - 2*digit // keys are sorted without so many lower bits
)

// radix sorts a by the upper 22 bits of the keys; documents keep their order.
// b is of the same length.
func radix(a, b []posting) {
	var low, high [1 << digit]int
	for i := range a {
		low[a[i].key>>sorted&(1<<digit-1)]++
		high[a[i].key>>(64-digit)]++
	}
	at, up := 0, 0
	for i := range low {
		low[i], at = at, at+low[i]
		high[i], up = up, up+high[i]
	}
	for i := range a {
		d := a[i].key >> sorted & (1<<digit - 1)
		b[low[d]] = a[i]
		low[d]++
	}
	for i := range b {
		d := b[i].key >> (64 - digit)
		a[high[d]] = b[i]
		high[d]++
	}
}
