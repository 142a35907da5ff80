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
	byID := map[string][]int{}
	named := map[string]bool{}
	for i, r := range records {
		of[i] = -1
		if r.RecordID != "" {
			byID[r.RecordID] = append(byID[r.RecordID], i)
		}
		for _, id := range r.ConcurrentTo {
			named[id] = true
		}
	}
	links := make([][]int, len(records))
	for i, r := range records {
		for _, id := range r.ConcurrentTo {
			for _, j := range byID[id] {
				links[i], links[j] = append(links[i], j), append(links[j], i)
			}
		}
	}
	for i, r := range records {
		if !r.Accompanies() {
			continue
		}
		var captures []int
		if len(r.ConcurrentTo) > 0 || named[r.RecordID] {
			captures = linked(records, links, i)
		} else {
			captures = beside(records, i)
		}
		if len(captures) > 0 && !slices.ContainsFunc(captures, func(c int) bool { return !dropped(c) }) {
			of[i] = captures[0]
		}
	}
	return of
}

// linked returns the captures that a record is linked to, directly or through
// records that accompany captures.
func linked(records []Record, links [][]int, from int) (captures []int) {
	seen := map[int]bool{from: true}
	for todo := []int{from}; len(todo) > 0; {
		i := todo[0]
		todo = todo[1:]
		for _, j := range links[i] {
			if seen[j] {
				continue
			}
			seen[j] = true
			switch {
			case records[j].Captures():
				captures = append(captures, j)
			case records[j].Accompanies():
				todo = append(todo, j)
			}
		}
	}
	slices.Sort(captures)
	return captures
}

// beside returns the captures before and after a record that have its target URI
// and date.
func beside(records []Record, i int) (captures []int) {
	for _, step := range []int{-1, 1} {
		for j := i + step; j >= 0 && j < len(records); j += step {
			if records[j].URI != records[i].URI || records[j].Date != records[i].Date || records[i].URI == "" {
				break
			}
			if records[j].Captures() {
				captures = append(captures, j)
				break
			}
			if !records[j].Accompanies() {
				break
			}
		}
	}
	return captures
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
