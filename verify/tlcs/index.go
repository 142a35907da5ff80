package tlcs

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sort"
)

// seed places windows in tables at random, so that a hostile text cannot choose
// windows that collide. Results do not depend on it.
var seed = rand.Uint64() | 1

// Index holds the windows of many documents. It bounds how much of another document
// the sketch against each of them can keep (section 3.2), without comparing them
// one by one. In a set of pages from one template this ends nearly all comparisons
// before they begin.
//
// A window that few of the documents have counts for these documents only. One that
// more have counts for all documents, so that the work for a document does not grow
// with their number. Windows with equal fingerprints count as equal, which can only
// raise a bound.
type Index struct {
	limit int // limit of the windows that are held
	docs  int
	full  bool
	thin  bool // it holds a sample of the windows

	slots []slot // an open-addressing table, at most half full
	used  int
	lists [][]int32
}

// slot has a window's fingerprint, and the document that has the window, or the place
// of these documents in lists. It is free if the fingerprint is 0. The two are beside
// each other, since to look one up costs little but the wait for memory.
type slot struct {
	print uint32
	head  int32
}

const (
	common     = -1 << 31 // a head: in more than commonFrom documents
	commonFrom = 8
)

// NewIndex returns an Index of at most limit windows, at 16 bytes each. Documents
// that are added when it is full have no bounds.
func NewIndex(limit int) *Index {
	x := &Index{limit: limit}
	x.grow(1 << 10)
	return x
}

// thinBy is the number of windows that each window of a thin index stands for.
const thinBy = 16

// NewThinIndex returns an Index of a sixteenth of the windows, chosen by their
// fingerprints. It tells which documents have much in common with another, but
// gives no bounds.
func NewThinIndex(limit int) *Index {
	x := NewIndex(limit)
	x.thin = true
	return x
}

// leavesOut reports whether the index leaves out the windows with a fingerprint.
// Other bits decide that than those that give the slot.
func (x *Index) leavesOut(print uint32) bool {
	return x.thin && print*0x9e3779b1>>28 != 0
}

// Len returns the number of documents that have bounds. It is 0 for a nil Index.
func (x *Index) Len() int {
	if x == nil {
		return 0
	}
	return x.docs
}

// Add adds a document, unless the index is full.
func (x *Index) Add(d *Document) {
	room := len(d.ends)
	if x.thin {
		room /= thinBy
	}
	if x.full = x.full || x.used+room > x.limit; x.full {
		return
	}
	doc := int32(x.docs)
	x.docs++
	for _, print := range d.prints {
		if x.leavesOut(print) {
			continue
		}
		if 2*(x.used+1) > len(x.slots) {
			x.grow(2 * len(x.slots))
		}
		print = short(print)
		at := x.find(print)
		switch head := at.head; {
		case at.print == 0:
			*at = slot{print, doc}
			x.used++
		case head == common:
		case head >= 0:
			if head != doc { // not a second window of the document with the same fingerprint
				at.head = ^int32(len(x.lists))
				x.lists = append(x.lists, []int32{head, doc})
			}
		default:
			list := &x.lists[^head]
			switch n := len(*list); {
			case (*list)[n-1] == doc:
			case n == commonFrom:
				*list, at.head = nil, common
			default:
				*list = append(*list, doc)
			}
		}
	}
}

// short returns the form of a fingerprint that the index stores. It is never 0.
func short(print uint32) uint32 { return print | 1 }

// find returns the slot of a fingerprint, or the free slot for it.
func (x *Index) find(print uint32) *slot {
	i := x.place(print)
	for x.slots[i].print != print && x.slots[i].print != 0 {
		if i++; i == len(x.slots) {
			i = 0
		}
	}
	return &x.slots[i]
}

// place returns the place in the table from which a fingerprint is searched.
func (x *Index) place(print uint32) int {
	hi, _ := bits.Mul64(uint64(print)*seed, uint64(len(x.slots)))
	return int(hi)
}

func (x *Index) grow(n int) {
	old := x.slots
	x.slots = make([]slot, n)
	for _, s := range old {
		if s.print != 0 {
			*x.find(s.print) = s
		}
	}
}

// Bounds holds the bounds of one document against those of an Index.
type Bounds struct {
	common int     // code points in windows that any document may have
	shared int     // number of these windows
	each   []int32 // by document: code points in windows that count for it only
	ends   []int32 // by document: end of the last of these windows
	few    []int32 // documents that have such windows
}

// Bound sets b to the bounds of d against the documents of the index. It does not
// change the index, so goroutines can share the index.
func (x *Index) Bound(d *Document, b *Bounds) {
	b.common, b.shared = 0, 0
	for _, doc := range b.few {
		b.each[doc], b.ends[doc] = 0, 0
	}
	b.few = b.few[:0]
	if more := x.docs - len(b.each); more > 0 {
		b.each, b.ends = append(b.each, make([]int32, more)...), append(b.ends, make([]int32, more)...)
	}
	end := int32(0)
	var slots [together]slot
	for first := 0; first < len(d.prints); first += together {
		for i, s := range x.slotsOf(d.prints[first:min(first+together, len(d.prints))], &slots) {
			start, till := int32(first+i), d.ends[first+i]
			switch head := s.head; {
			case s.print == 0:
			case head == common:
				b.common += int(till - max(start, end))
				b.shared++
				end = till
			case head >= 0:
				b.add(head, start, till)
			default:
				for _, doc := range x.lists[^head] {
					b.add(doc, start, till)
				}
			}
		}
	}
}

// together is the number of windows that are looked up together.
const together = 16

// slotsOf copies the slots of up to together fingerprints to slots, and returns those in
// use. One that the index does not have, or leaves out, has a free slot. All first places
// are read before any is looked at, so that the waits for memory overlap.
func (x *Index) slotsOf(prints []uint32, slots *[together]slot) []slot {
	for i, print := range prints {
		if slots[i] = (slot{}); !x.leavesOut(print) {
			slots[i] = x.slots[x.place(short(print))]
		}
	}
	for i, print := range prints {
		if print = short(print); slots[i].print != print && slots[i].print != 0 {
			slots[i] = *x.find(print)
		}
	}
	return slots[:len(prints)]
}

// Kept returns the number of code points in windows that the document has and that
// few documents of the index have.
func (b *Bounds) Kept(doc int) int { return int(b.each[doc]) }

// Few returns the documents whose Kept is not 0.
func (b *Bounds) Few() []int32 { return b.few }

// Longest returns the length of the longest document of a thin index, in code points,
// that may be near the one with these bounds although it is not one of Few. length is
// that of the latter. The windows that all documents may have are estimated from the
// sample; a longer document is near once in thousands of times.
func (b *Bounds) Longest(o *Options, length int) int {
	if b.shared == 0 {
		return 0
	}
	// Three standard deviations of the sample, and as many windows as can all be
	// missing in it.
	all := thinBy*b.shared + int(3*thinBy*math.Sqrt(float64(b.shared))) + 8*thinBy
	return longest(o, all, length)
}

// Reach tells by its length alone whether a document without windows of its own in
// common with another may be near it.
type Reach struct {
	from, to int // lengths that Rejects does not reject by length
	longest  int // length from which on it rejects
}

// Reach returns the reach of a document of this length, in code points.
func (b *Bounds) Reach(o *Options, length int) (r Reach) {
	if length == 0 {
		return r
	}
	r.from = 1 + sort.Search(length-1, func(n int) bool { return o.reached(n+1, length, n+1) })
	r.to = length + sort.Search(math.MaxInt32-length, func(n int) bool { return !o.reached(length, length+n+1, length) })
	r.longest = longest(o, b.common, length)
	return r
}

// longest returns the length of the longest document that can be near one of this
// length if it has so many code points in common with it, or more.
func longest(o *Options, common, length int) int {
	return sort.Search(math.MaxInt32, func(n int) bool {
		t, short := float64(common), min(n+1, length)
		return common < short && t/float64(short) < o.Containment && t/float64(length+n+1-common) < o.Resemblance
	})
}

// Rejects is Bounds.Rejects for a document whose Kept is 0. It returns None for some
// that Bounds.Rejects rejects.
func (r *Reach) Rejects(other int) Stage {
	switch {
	case other < r.from || other > r.to:
		return ByLength
	case other > r.longest:
		return BySketch
	}
	return None
}

func (b *Bounds) add(doc, start, till int32) {
	if b.each[doc] == 0 {
		b.few = append(b.few, doc)
	}
	b.each[doc] += till - max(start, b.ends[doc])
	b.ends[doc] = till
}

// Rejects returns the check by which Compare would reject the pair of the document
// with these bounds and a document of the index, if the bounds alone decide that.
// The lengths are those of the two documents, in code points.
func (b *Bounds) Rejects(o *Options, doc, length, other int) Stage {
	lenA, lenB := max(length, other), min(length, other)
	have := b.common + int(b.each[doc])
	switch { // computes need without searching for it
	case lenB == 0 || !o.reached(lenB, lenA, lenB):
		return ByLength
	case have < lenB && !o.reached(have, lenA, lenB):
		return BySketch
	}
	return None
}
