// Package reduce finds the records to leave out of an archive file: those that a
// keep list drops, and those that belong to them. The rest is a sequence of ranges
// of the file, byte for byte. The package is pure.
package reduce

import (
	"io"
	"slices"
	"sort"

	"neardup/extract"
)

// Record is a record of a file, in the file's order.
type Record struct {
	extract.Description
	Offset int64 // of the record, or of the compressed member that it starts in
	Size   int64 // bytes in the file; 0: its compressed member holds more, so it cannot be left out
}

// Companions returns, for each record, the index of the dropped record that it
// belongs to, or -1.
//
// A request or metadata record belongs to a capture if one names the other by
// WARC-Concurrent-To, directly or through a third such record. If neither names any
// other record, it belongs to an adjacent capture with its target URI and date,
// with only such records between them. It is left out only if it belongs to no
// capture of the file that stays.
func Companions(records []Record, dropped func(i int) bool) []int {
	of := make([]int, len(records))
	l, near := link(records, dropped), beside(records, dropped)
	for i, r := range records {
		if of[i] = -1; !r.Accompanies() {
			continue
		}
		var c captured
		if len(r.ConcurrentTo) > 0 || l.names[r.RecordID] {
			c = l.of[l.root(i)]
		} else {
			c = near[i]
		}
		if c.any && !c.stay {
			of[i] = c.first
		}
	}
	return of
}

// captured is what is known of some captures.
type captured struct {
	first int  // index of the first
	any   bool // there are some
	stay  bool // one of them stays
}

func (c captured) and(o captured) captured {
	switch {
	case !c.any:
		return o
	case !o.any:
		return c
	}
	return captured{min(c.first, o.first), true, c.stay || o.stay}
}

// links are the links of a file's records by WARC-Concurrent-To. Hostile files have many
// records of one ID, so records are linked to IDs, not to each other.
type links struct {
	with   map[string]captured // captures with an ID
	naming map[string]captured // captures that name an ID
	names  map[string]bool     // IDs that a record names
	parent []int               // of records that accompany captures: the linked ones have one root
	of     []captured          // by root
}

func link(records []Record, dropped func(i int) bool) *links {
	l := &links{with: map[string]captured{}, naming: map[string]captured{}, names: map[string]bool{}, parent: make([]int, len(records)), of: make([]captured, len(records))}
	accompany := map[string][]int{} // by ID
	for i, r := range records {
		l.parent[i] = i
		for _, id := range r.ConcurrentTo {
			l.names[id] = true
		}
		switch {
		case r.Captures():
			c := captured{i, true, !dropped(i)}
			l.with[r.RecordID] = l.with[r.RecordID].and(c)
			for _, id := range r.ConcurrentTo {
				l.naming[id] = l.naming[id].and(c)
			}
		case r.Accompanies():
			accompany[r.RecordID] = append(accompany[r.RecordID], i)
		}
	}
	delete(l.with, "")
	delete(accompany, "")
	for i, r := range records {
		if !r.Accompanies() {
			continue
		}
		for _, id := range r.ConcurrentTo {
			for _, j := range accompany[id] {
				l.parent[l.root(j)] = l.root(i)
			}
			if len(accompany[id]) > 1 {
				accompany[id] = accompany[id][:1] // the others have its root
			}
		}
	}
	for i, r := range records {
		if !r.Accompanies() {
			continue
		}
		all := captured{}
		if r.RecordID != "" {
			all = l.naming[r.RecordID]
		}
		for _, id := range r.ConcurrentTo {
			all = all.and(l.with[id])
		}
		root := l.root(i)
		l.of[root] = l.of[root].and(all)
	}
	return l
}

func (l *links) root(i int) int {
	for l.parent[i] != i {
		l.parent[i] = l.parent[l.parent[i]]
		i = l.parent[i]
	}
	return i
}

// beside returns, for each record, the captures before and after it that have its target
// URI and date, with only accompanying records between them.
func beside(records []Record, dropped func(i int) bool) []captured {
	from := func(i, j int, of []captured) captured { // those of i beyond its neighbour j
		switch {
		case j < 0 || j >= len(records) || records[j].URI != records[i].URI || records[j].Date != records[i].Date || records[i].URI == "":
			return captured{}
		case records[j].Captures():
			return captured{j, true, !dropped(j)}
		case records[j].Accompanies():
			return of[j]
		}
		return captured{}
	}
	before, after := make([]captured, len(records)), make([]captured, len(records))
	for i := range records {
		before[i] = from(i, i-1, before)
	}
	for i := len(records) - 1; i >= 0; i-- {
		after[i] = from(i, i+1, after)
	}
	for i := range before {
		before[i] = before[i].and(after[i])
	}
	return before
}

// Range is a range of bytes, from Start up to End.
type Range struct{ Start, End int64 }

// Without is a file without some ranges. The ranges are sorted and do not overlap.
type Without struct {
	f     io.ReaderAt
	parts []part // parts that are left
	size  int64
}

type part struct{ from, at, n int64 } // the n bytes from the file's offset from are at offset at

// NewWithout returns f, a file of size bytes, without the ranges.
func NewWithout(f io.ReaderAt, size int64, ranges []Range) *Without {
	w := &Without{f: f}
	from := int64(0)
	for _, r := range append(slices.Clone(ranges), Range{size, size}) {
		if start := min(r.Start, size); start > from {
			w.parts = append(w.parts, part{from, w.size, start - from})
			w.size += start - from
		}
		from = max(from, min(r.End, size))
	}
	return w
}

// Size returns the number of bytes that are left.
func (w *Without) Size() int64 { return w.size }

// ReadAt implements io.ReaderAt.
func (w *Without) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		i := sort.Search(len(w.parts), func(i int) bool { return w.parts[i].at+w.parts[i].n > at })
		if i == len(w.parts) {
			return n, io.EOF
		}
		in := at - w.parts[i].at
		want := min(int64(len(p)-n), w.parts[i].n-in)
		m, err := w.f.ReadAt(p[n:n+int(want)], w.parts[i].from+in)
		n, at = n+m, at+int64(m)
		if int64(m) < want {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return n, err
		}
	}
	return n, nil
}
