// Package extsort sorts more rows than memory holds, through sorted runs in files
// of a directory. It knows no database.
package extsort

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"slices"
)

// Bytes limits the memory of a Sorter while entries are added. Reading takes at
// most twice as much. It is a variable for tests.
var Bytes = 8 << 20

// Entry is a row: a key and its value.
type Entry struct{ Key, Value []byte }

// Sorter sorts any number of entries by key, then value. It keeps equal entries.
type Sorter struct {
	limit int // bytes held in memory
	data  []byte
	spans []span
	runs
}

// span locates an entry in data: its key, and its value up to end. Most entries differ
// in the first bytes of their keys, which first has, so that most comparisons read no
// data.
type span struct {
	first           uint64
	key, value, end int
}

// firstOf returns the first 8 bytes of a key as a number of the same order. A shorter
// key counts as if zeros followed.
func firstOf(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

// New returns a sorter that keeps its file in the directory dir.
func New(dir string) *Sorter { return &Sorter{limit: Bytes, runs: runs{dir: dir, name: "sorted-*"}} }

// Close releases the sorter's memory and file.
func (s *Sorter) Close() error {
	s.data, s.spans = nil, nil
	return s.close()
}

// Add adds a copy of an entry.
func (s *Sorter) Add(key, value []byte) error {
	const perSpan = 32
	if n := len(s.data) + len(s.spans)*perSpan; n > 0 && n+len(key)+len(value)+perSpan > s.limit {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if free := cap(s.data) - len(s.data); free < len(key)+len(value) && len(s.data) >= s.limit/16 {
		s.data = slices.Grow(s.data, max(len(key)+len(value), s.limit-len(s.data))) // once, not by doubling
	}
	at := len(s.data)
	s.data = append(append(s.data, key...), value...)
	s.spans = append(s.spans, span{firstOf(key), at, at + len(key), len(s.data)})
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
	slices.SortFunc(s.spans, func(a, b span) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return compareEntries(s.entry(a), s.entry(b))
	})
}

// spill writes the entries in memory as a run.
func (s *Sorter) spill() error {
	s.sort()
	err := s.write(func(to io.Writer) {
		var size []byte
		for _, p := range s.spans {
			e := s.entry(p)
			size = binary.AppendUvarint(binary.AppendUvarint(size[:0], uint64(len(e.Key))), uint64(len(e.Value)))
			for _, part := range [][]byte{size, e.Key, e.Value} {
				_, _ = to.Write(part)
			}
		}
	})
	s.data, s.spans = s.data[:0], s.spans[:0]
	return err
}

// Free writes what is in memory to the file, and frees the memory. A sorter that waits
// takes little then.
func (s *Sorter) Free() (err error) {
	if len(s.spans) > 0 {
		err = s.spill()
	}
	s.data, s.spans = nil, nil
	return err
}

// Sorted returns an iterator over the entries in order. It may be used any number
// of times. An entry is valid until the next step.
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
		var all []cursor[Entry]
		for _, r := range s.readers(2 * Bytes) {
			all = append(all, &entryCursor{r: r})
		}
		merge(all, compareEntries)(yield)
	}
}

// entryCursor reads a run of a Sorter.
type entryCursor struct {
	r   *bufio.Reader
	buf []byte
	at  Entry
}

func (c *entryCursor) item() Entry { return c.at }

func (c *entryCursor) next() (more bool, err error) {
	if _, err := c.r.Peek(1); err == io.EOF {
		return false, nil
	}
	key, err := binary.ReadUvarint(c.r)
	value, valueErr := binary.ReadUvarint(c.r)
	if err := errors.Join(err, valueErr); err != nil {
		return false, err
	}
	n := int(key + value)
	c.buf = slices.Grow(c.buf[:0], n)[:n]
	if _, err := io.ReadFull(c.r, c.buf); err != nil {
		return false, err
	}
	c.at = Entry{c.buf[:key], c.buf[key:]}
	return true, nil
}
