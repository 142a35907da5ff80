package tlcs

import (
	"math/bits"
	"math/rand/v2"
)

// seed places windows in the table at random, so that a hostile text cannot choose
// windows that collide.
var seed = rand.Uint64() | 1

// Index holds the windows of many documents. It bounds how much of another document
// the sketch against each of them can keep (section 3.2), without comparing them
// one by one. In a set of pages made from one template, that ends nearly all
// comparisons before they begin.
//
// A window that few of the documents have counts for these. One that more have
// counts for all, so that the work for a document does not grow with their number.
// Windows with equal fingerprints count as equal, which can only raise a bound.
type Index struct {
	limit int // limit of the windows held
	docs  int
	full  bool

	// Open addressing, at most half full: the fingerprint, and the document that
	// has it, or the place of these documents in lists. 0 is free.
	prints []uint32
	heads  []int32
	used   int
	lists  [][]int32
}

const (
	common     = -1 << 31 // a head: in more than commonFrom documents
	commonFrom = 8
)

// NewIndex returns an Index that holds at most limit windows, in 16 bytes each.
// Documents added when it is full have no bounds.
func NewIndex(limit int) *Index {
	x := &Index{limit: limit}
	x.grow(1 << 10)
	return x
}

// Len returns the number of documents that have bounds; none in a nil Index.
func (x *Index) Len() int {
	if x == nil {
		return 0
	}
	return x.docs
}

// Add adds a document, unless the index is full.
func (x *Index) Add(d *Document) {
	if x.full = x.full || x.used+len(d.ends) > x.limit; x.full {
		return
	}
	doc := int32(x.docs)
	x.docs++
	for w, first := range d.first {
		if int(first) != w {
			continue
		}
		if 2*(x.used+1) > len(x.prints) {
			x.grow(2 * len(x.prints))
		}
		print := short(d.prints[w])
		i := x.find(print)
		switch head := x.heads[i]; {
		case x.prints[i] == 0:
			x.prints[i], x.heads[i] = print, doc
			x.used++
		case head == common:
		case head >= 0:
			if head != doc { // two windows of the document have one fingerprint
				x.heads[i] = ^int32(len(x.lists))
				x.lists = append(x.lists, []int32{head, doc})
			}
		default:
			list := &x.lists[^head]
			switch n := len(*list); {
			case (*list)[n-1] == doc:
			case n == commonFrom:
				*list, x.heads[i] = nil, common
			default:
				*list = append(*list, doc)
			}
		}
	}
}

// short returns a fingerprint as the index keeps it, never 0.
func short(print uint32) uint32 { return print | 1 }

// find returns the slot that a fingerprint is in, or the free one for it.
func (x *Index) find(print uint32) int {
	hi, _ := bits.Mul64(uint64(print)*seed, uint64(len(x.prints)))
	i := int(hi)
	for x.prints[i] != print && x.prints[i] != 0 {
		if i++; i == len(x.prints) {
			i = 0
		}
	}
	return i
}

func (x *Index) grow(n int) {
	prints, heads := x.prints, x.heads
	x.prints, x.heads = make([]uint32, n), make([]int32, n)
	for i, print := range prints {
		if print != 0 {
			at := x.find(print)
			x.prints[at], x.heads[at] = print, heads[i]
		}
	}
}

// Bounds has the bounds of one document against those of an Index.
type Bounds struct {
	common int     // code points in windows that any document may have
	each   []int32 // by document: code points in its own windows
	ends   []int32 // by document: end of the last of them
}

// Bound sets b to the bounds of d against the documents of the index. It does not
// change the index, so goroutines can share that.
func (x *Index) Bound(d *Document, b *Bounds) {
	b.common = 0
	b.each, b.ends = zeros(b.each, x.docs), zeros(b.ends, x.docs)
	end := int32(0)
	for i, print := range d.prints {
		start, till := int32(i), d.ends[i]
		at := x.find(short(print))
		if x.prints[at] == 0 {
			continue
		}
		switch head := x.heads[at]; {
		case head == common:
			b.common += int(till - max(start, end))
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

// Kept is the number of code points in windows that the document has, of those
// that stand in few documents of the index.
func (b *Bounds) Kept(doc int) int { return int(b.each[doc]) }

func (b *Bounds) add(doc, start, till int32) {
	b.each[doc] += till - max(start, b.ends[doc])
	b.ends[doc] = till
}

func zeros(s []int32, n int) []int32 {
	if cap(s) < n {
		return make([]int32, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// Rejects returns the check that rejects the pair of the document with these bounds
// and a document of the index, as Compare would, if the bounds alone decide it. The
// lengths are those of the two.
func (b *Bounds) Rejects(o *Options, doc, length, other int) Stage {
	lenA, lenB := max(length, other), min(length, other)
	need := o.need(lenA, lenB)
	switch {
	case lenB == 0 || need > lenB:
		return ByLength
	case b.common+int(b.each[doc]) < need:
		return BySketch
	}
	return None
}
