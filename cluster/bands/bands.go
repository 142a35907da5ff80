// Package bands finds the documents that share one of several keys, such as
// the bands of a MinHash signature (neardup/signature/minhash; Xiao and others,
// ACM TODS 2011, section 8.1.1: "two records will be regarded as a candidate
// pair if one of their l signatures is the same").
package bands

import (
	"iter"

	"neardup/cluster/internal/radix"
)

// Keys are those of a collection of documents, which are named by their places:
// fewer than 2^32.
type Keys struct {
	Documents int
	Bands     int                  // l
	Of        func(i int) []uint64 // the l keys of document i, or none; hashes, which look random
}

// Pair is two documents, by their places; A < B.
type Pair struct{ A, B int }

// Bucket is the documents that share the key of a band, two or more, by their
// places, ascending.
type Bucket struct {
	Band      int
	Documents []uint32
}

// Buckets yields the buckets band by band and in the order of keys. The
// documents of a bucket are valid until the next.
func (k Keys) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		entries, scratch := make([]radix.Entry, 0, k.Documents), make([]radix.Entry, k.Documents)
		var members []uint32
		for band := range k.Bands {
			entries = entries[:0]
			for i := range k.Documents {
				if keys := k.Of(i); len(keys) > 0 {
					entries = append(entries, radix.Entry{Key: keys[band], ID: uint32(i)})
				}
			}
			radix.Sort(entries, scratch, 64)
			if !radix.Runs(entries, 64, func(run []radix.Entry) bool {
				members = members[:0]
				for _, e := range run {
					members = append(members, e.ID)
				}
				return yield(Bucket{band, members})
			}) {
				return
			}
		}
	}
}

// Pairs yields each pair of documents that share a band key once, in the order
// of Buckets, at the first band that they share.
func (k Keys) Pairs() iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		for b := range k.Buckets() {
			for i, x := range b.Documents {
				earlier := k.Of(int(x))[:b.Band]
				for _, y := range b.Documents[i+1:] {
					if !shares(earlier, k.Of(int(y))) && !yield(Pair{int(x), int(y)}) {
						return
					}
				}
			}
		}
	}
}

// shares reports whether b starts with a place where it is equal to a.
func shares(a, b []uint64) bool {
	for i, v := range a {
		if v == b[i] {
			return true
		}
	}
	return false
}
