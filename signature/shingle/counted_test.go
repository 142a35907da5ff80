package shingle

import (
	"cmp"
	"iter"
	"slices"
)

// Posting is the lecture's ⟨shingle value, docID⟩ (slide "Algorithm used").
type Posting[ID comparable] struct {
	Shingle uint64
	ID      ID
}

// Pair is two documents that have a shingle in common; A stands before B.
type Pair[ID comparable] struct{ A, B ID }

// Count is the lecture's ⟨ID(D_i), ID(D_j), ct_ij⟩: two documents and the number
// of shingles, or values of a sketch, that they have in common, never 0.
type Count[ID comparable] struct {
	Pair[ID]
	Common int
}

// ComparePostings orders by shingle, then ID.
func ComparePostings[ID cmp.Ordered](a, b Posting[ID]) int {
	if c := cmp.Compare(a.Shingle, b.Shingle); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// ComparePairs orders by A, then B.
func ComparePairs[ID cmp.Ordered](a, b Pair[ID]) int {
	if c := cmp.Compare(a.A, b.A); c != 0 {
		return c
	}
	return cmp.Compare(a.B, b.B)
}

// Pairs returns the first half of the counting: of postings sorted by
// shingle, then ID, each once, the pairs of documents of each shingle in turn, a
// pair as often as there are shingles in common. "This is not linear-time for
// the list of docs for one shingle value": shingles of more than longest
// documents are passed over (Broder and others 1997 leave very common ones out,
// too); 0 passes over none. It holds one list, of at most longest+1.
func Pairs[ID comparable](postings iter.Seq[Posting[ID]], longest int) iter.Seq[Pair[ID]] {
	return func(yield func(Pair[ID]) bool) {
		var list []ID
		var shingle uint64
		flush := func() bool {
			if longest > 0 && len(list) > longest {
				return true
			}
			for i, a := range list {
				for _, b := range list[i+1:] {
					if !yield(Pair[ID]{a, b}) {
						return false
					}
				}
			}
			return true
		}
		for p := range postings {
			if p.Shingle != shingle {
				if !flush() {
					return
				}
				list, shingle = list[:0], p.Shingle
			}
			if longest == 0 || len(list) <= longest {
				list = append(list, p.ID)
			}
		}
		flush()
	}
}

// Tally returns the second half: of sorted pairs, each once with how
// often it stands there.
func Tally[ID comparable](pairs iter.Seq[Pair[ID]]) iter.Seq[Count[ID]] {
	return func(yield func(Count[ID]) bool) {
		var c Count[ID]
		for p := range pairs {
			if c.Common > 0 && p != c.Pair {
				if !yield(c) {
					return
				}
				c.Common = 0
			}
			c.Pair = p
			c.Common++
		}
		if c.Common > 0 {
			yield(c)
		}
	}
}

// Counts returns the lecture's algorithm in memory: of postings in any order, each
// once, the pairs of documents with the numbers of shingles in common, ascending
// by pair. It sorts postings. Its memory is that of all pairs before they are
// tallied; with sorted runs outside of memory, call Pairs and Tally.
func Counts[ID cmp.Ordered](postings []Posting[ID], longest int) iter.Seq[Count[ID]] {
	return func(yield func(Count[ID]) bool) {
		slices.SortFunc(postings, ComparePostings)
		pairs := slices.SortedFunc(Pairs(slices.Values(postings), longest), ComparePairs)
		Tally(slices.Values(pairs))(yield)
	}
}
