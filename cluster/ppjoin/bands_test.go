package ppjoin_test

import (
	"cmp"
	"iter"
	"slices"
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
		entries := make([]keyed, 0, k.Documents)
		var members []uint32
		for band := range k.Bands {
			entries = entries[:0]
			for i := range k.Documents {
				if keys := k.Of(i); len(keys) > 0 {
					entries = append(entries, keyed{keys[band], uint32(i)})
				}
			}
			if !runs(entries, 64, func(run []keyed) bool {
				members = members[:0]
				for _, e := range run {
					members = append(members, e.id)
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

// keyed is a key with the number of what has it.
type keyed struct {
	key uint64
	id  uint32
}

// runs sorts entries by so many upper bits, then by number, and hands those of two
// or more that agree in these bits to do, as long as that returns true. It reports
// whether all returned true.
func runs(entries []keyed, bits int, do func(run []keyed) bool) bool {
	upper := func(e keyed) uint64 { return e.key >> (64 - bits) }
	slices.SortFunc(entries, func(a, b keyed) int { return cmp.Or(cmp.Compare(upper(a), upper(b)), cmp.Compare(a.id, b.id)) })
	for from := 0; from < len(entries); {
		to := from + 1
		for to < len(entries) && upper(entries[to]) == upper(entries[from]) {
			to++
		}
		if to-from > 1 && !do(entries[from:to]) {
			return false
		}
		from = to
	}
	return true
}
