package store

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
)

// SorterBytes limits the memory of a sorter while it takes entries; reading
// takes at most twice that. The rest is in a file in the workspace's tmp
// directory, as sorted runs. It is a variable for tests.
var SorterBytes = 8 << 20

// Sorter sorts any number of entries by key, then value. It keeps equal entries.
type Sorter struct {
	dir   string
	most  int // bytes in memory
	data  []byte
	spans []span
	file  *os.File
	ends  []int64 // of the runs in file
}

// span is the place of an entry in data: a key, and its value up to end.
type span struct{ key, value, end int }

func (s *DB) Sorter() *Sorter { return &Sorter{dir: s.Tmp, most: SorterBytes} }

func (s *Sorter) Close() (err error) {
	if s.file != nil {
		err = errors.Join(s.file.Close(), os.Remove(s.file.Name()))
	}
	s.file, s.ends, s.data, s.spans = nil, nil, nil, nil
	return err
}

// Add adds a copy of an entry.
func (s *Sorter) Add(key, value []byte) error {
	const perSpan = 24
	if n := len(s.data) + len(s.spans)*perSpan; n > 0 && n+len(key)+len(value)+perSpan > s.most {
		if err := s.spill(); err != nil {
			return err
		}
	}
	at := len(s.data)
	s.data = append(append(s.data, key...), value...)
	s.spans = append(s.spans, span{at, at + len(key), len(s.data)})
	return nil
}

func (s *Sorter) entry(p span) Entry { return Entry{s.data[p.key:p.value], s.data[p.value:p.end]} }

func compareEntries(a, b Entry) int {
	if c := bytes.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return bytes.Compare(a.Value, b.Value)
}

func (s *Sorter) sort() {
	slices.SortFunc(s.spans, func(a, b span) int { return compareEntries(s.entry(a), s.entry(b)) })
}

// spill writes the entries in memory as a run.
func (s *Sorter) spill() (err error) {
	end := int64(0)
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, "sorted-*"); err != nil {
			return err
		}
	} else {
		end = s.ends[len(s.ends)-1]
	}
	b := bufio.NewWriterSize(s.file, 256<<10)
	s.sort()
	var size []byte
	for _, p := range s.spans {
		e := s.entry(p)
		size = binary.AppendUvarint(binary.AppendUvarint(size[:0], uint64(len(e.Key))), uint64(len(e.Value)))
		for _, part := range [][]byte{size, e.Key, e.Value} {
			_, _ = b.Write(part) // a failed write fails Flush
			end += int64(len(part))
		}
	}
	s.ends = append(s.ends, end)
	s.data, s.spans = s.data[:0], s.spans[:0]
	return b.Flush()
}

// Sorted returns an iterator over the entries in order, which may be used any
// number of times. An entry is valid until the next one.
func (s *Sorter) Sorted() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if s.file == nil {
			s.sort()
			for _, p := range s.spans {
				if !yield(s.entry(p), nil) {
					return
				}
			}
			return
		}
		if len(s.spans) > 0 {
			if err := s.spill(); err != nil {
				yield(Entry{}, err)
				return
			}
		}
		s.merge(yield)
	}
}

func (s *Sorter) merge(yield func(Entry, error) bool) {
	var h runHeap
	buffer := max(4<<10, min(64<<10, 2*SorterBytes/len(s.ends)))
	start := int64(0)
	for _, end := range s.ends {
		r := &sortedRun{r: bufio.NewReaderSize(io.NewSectionReader(s.file, start, end-start), buffer)}
		start = end
		more, err := r.next()
		if err != nil {
			yield(Entry{}, err)
			return
		}
		if more {
			h = append(h, r)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		if !yield(h[0].Entry, nil) {
			return
		}
		more, err := h[0].next()
		switch {
		case err != nil:
			yield(Entry{}, err)
			return
		case more:
			heap.Fix(&h, 0)
		default:
			heap.Pop(&h)
		}
	}
}

// sortedRun is a run of a sorter that is read, with the entry that is next.
type sortedRun struct {
	r   *bufio.Reader
	buf []byte
	Entry
}

func (r *sortedRun) next() (more bool, err error) {
	if _, err := r.r.Peek(1); err == io.EOF {
		return false, nil
	}
	key, err := binary.ReadUvarint(r.r)
	value, valueErr := binary.ReadUvarint(r.r)
	if err := errors.Join(err, valueErr); err != nil {
		return false, err
	}
	n := int(key + value)
	r.buf = slices.Grow(r.buf[:0], n)[:n]
	if _, err := io.ReadFull(r.r, r.buf); err != nil {
		return false, err
	}
	r.Entry = Entry{r.buf[:key], r.buf[key:]}
	return true, nil
}

// runHeap implements heap.Interface.
type runHeap []*sortedRun

func (h runHeap) Len() int { return len(h) }

func (h runHeap) Less(i, j int) bool { return compareEntries(h[i].Entry, h[j].Entry) < 0 }

func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *runHeap) Push(x any) { *h = append(*h, x.(*sortedRun)) }

func (h *runHeap) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}
