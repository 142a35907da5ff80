package rarity

import "slices"

// Index holds the sentences of many texts. It tells which of them share a sentence with
// another text that few of them have, and how much the others can share with it at most.
// In a set of pages from one template this ends nearly all comparisons before they begin,
// and takes no text.
//
// A sentence that more than commonFrom of the texts have counts for all of them, so that
// the work for a text does not grow with their number.
type Index struct {
	limit int // sentences that are held
	held  int
	texts int
	full  bool
	of    map[uint64]int32 // by the key of a sentence: the text that has it, the place of these texts in lists, or common
	lists [][]int32
}

const (
	common     = -1 << 31
	commonFrom = 32
)

// SentenceBytes is about the memory that an Index takes for each sentence of a text.
const SentenceBytes = 32

// NewIndex returns an Index of at most limit sentences. Texts that are added when it is
// full have no bounds.
func NewIndex(limit int) *Index { return &Index{limit: limit, of: map[uint64]int32{}} }

// Len returns the number of texts that have bounds. It is 0 for a nil Index.
func (x *Index) Len() int {
	if x == nil {
		return 0
	}
	return x.texts
}

// Add adds a text by its readings, unless the index is full.
func (x *Index) Add(readings ...Text) {
	for _, r := range readings {
		x.held += len(r.units)
	}
	if x.full = x.full || x.held > x.limit; x.full {
		return
	}
	text := int32(x.texts)
	x.texts++
	for _, r := range readings {
		for _, u := range r.units {
			x.add(u.key, text)
		}
	}
}

func (x *Index) add(key uint64, text int32) {
	head, found := x.of[key]
	switch {
	case !found:
		x.of[key] = text
	case head == common || head == text: // it is in another reading of the text, too
	case head >= 0:
		x.of[key] = ^int32(len(x.lists))
		x.lists = append(x.lists, []int32{head, text})
	default:
		list := &x.lists[^head]
		switch n := len(*list); {
		case (*list)[n-1] == text:
		case n == commonFrom:
			*list, x.of[key] = nil, common
		default:
			*list = append(*list, text)
		}
	}
}

// Bounds are what a text can share with those of an Index.
type Bounds struct {
	Few    []int32   // the texts that have a sentence of it that few of them have, ascending
	Common []Weights // of each reading: weights of its sentences that any text may have
	Digest uint64    // of the keys of these sentences
}

// digest adds a number to the digest. It mixes as splitmix64 does.
func (b *Bounds) digest(x uint64) {
	x = (b.Digest ^ x) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	b.Digest = x ^ x>>31
}

// Bound sets b to the bounds of a text, given by its readings. It does not change the
// index, so goroutines can share the index.
func (x *Index) Bound(b *Bounds, readings ...Text) {
	b.Few, b.Common, b.Digest = b.Few[:0], append(b.Common[:0], make([]Weights, len(readings))...), 0
	for i, r := range readings {
		b.digest(uint64(i))
		for _, u := range r.units {
			head, found := x.of[u.key]
			switch {
			case !found:
			case head == common:
				b.Common[i].add(u)
				b.digest(u.key)
			case head >= 0:
				b.Few = append(b.Few, head)
			default:
				b.Few = append(b.Few, x.lists[^head]...)
			}
		}
	}
	slices.Sort(b.Few)
	b.Few = slices.Compact(b.Few)
}
