package ppjoin_test

import (
	"iter"

	"neardup/cluster/internal/radix"
)

// bandKeys are the keys of the bands of min-hashes (neardup/signature/minhash;
// Xiao and others, ACM TODS 2011, section 8.1.1: "two records will be regarded as
// a candidate pair if one of their l signatures is the same"). They are those of a collection of documents, which are named by their places:
// fewer than 2^32.
type bandKeys struct {
	Documents int
	Bands     int                  // l
	Of        func(i int) []uint64 // the l keys of document i, or none; hashes, which look random
}

// bandPair is two documents, by their places; A < B.
type bandPair struct{ A, B int }

// bandBucket is the documents that share the key of a band, two or more, by their
// places, ascending.
type bandBucket struct {
	Band      int
	Documents []uint32
}

// Buckets yields the buckets band by band and in the order of keys. The
// documents of a bucket are valid until the next.
func (k bandKeys) Buckets() iter.Seq[bandBucket] {
	return func(yield func(bandBucket) bool) {
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
				return yield(bandBucket{band, members})
			}) {
				return
			}
		}
	}
}

// Pairs yields each pair of documents that share a band key once, in the order
// of Buckets, at the first band that they share.
func (k bandKeys) Pairs() iter.Seq[bandPair] {
	return func(yield func(bandPair) bool) {
		for b := range k.Buckets() {
			for i, x := range b.Documents {
				earlier := k.Of(int(x))[:b.Band]
				for _, y := range b.Documents[i+1:] {
					if !shares(earlier, k.Of(int(y))) && !yield(bandPair{int(x), int(y)}) {
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
