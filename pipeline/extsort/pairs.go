package extsort

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"iter"
	"slices"
)

// Pair is two numbers, ordered by the first.
type Pair [2]uint64

func comparePairs(a, b Pair) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

const pairSize = 16

// Pairs sorts pairs of numbers, for what is counted once and needs no row. A pair
// takes 16 bytes in memory; a Sorter's entry would take three times that.
type Pairs struct {
	limit int // pairs in memory
	held  []Pair
	runs
}

// NewPairs returns a sorter that holds so many pairs in memory, with its file in
// the directory dir.
func NewPairs(dir string, limit int) *Pairs {
	return &Pairs{limit: limit, runs: runs{dir: dir, name: "pairs-*"}}
}

// Close frees what the sorter has.
func (s *Pairs) Close() error {
	s.held = nil
	return s.close()
}

// Add adds a pair.
func (s *Pairs) Add(p Pair) error {
	if len(s.held) >= s.limit {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.held = append(s.held, p)
	return nil
}

func (s *Pairs) sort() {
	slices.SortFunc(s.held, comparePairs)
	s.held = slices.Compact(s.held)
}

// spill writes what is in memory as a run.
func (s *Pairs) spill() error {
	s.sort()
	err := s.write(func(to io.Writer) {
		var row [pairSize]byte
		for _, p := range s.held {
			binary.LittleEndian.PutUint64(row[:], p[0])
			binary.LittleEndian.PutUint64(row[8:], p[1])
			_, _ = to.Write(row[:])
		}
	})
	s.held = s.held[:0]
	return err
}

// Sorted iterates over the pairs in order; those that were added more than once
// may come more than once.
func (s *Pairs) Sorted() iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		s.sort()
		all := []cursor[Pair]{&heldPairs{rest: s.held}}
		for _, r := range s.readers(Bytes) {
			all = append(all, &pairCursor{r: r})
		}
		merge(all, comparePairs)(yield)
	}
}

// heldPairs are pairs in memory, read one after another.
type heldPairs struct {
	rest []Pair
	at   Pair
}

func (h *heldPairs) item() Pair { return h.at }

func (h *heldPairs) next() (more bool, err error) {
	if len(h.rest) == 0 {
		return false, nil
	}
	h.at, h.rest = h.rest[0], h.rest[1:]
	return true, nil
}

// pairCursor reads a run of Pairs.
type pairCursor struct {
	r  *bufio.Reader
	at Pair
}

func (c *pairCursor) item() Pair { return c.at }

func (c *pairCursor) next() (more bool, err error) {
	var row [pairSize]byte
	if _, err := io.ReadFull(c.r, row[:]); err != nil {
		if err == io.EOF {
			err = nil
		}
		return false, err
	}
	c.at = Pair{binary.LittleEndian.Uint64(row[:]), binary.LittleEndian.Uint64(row[8:])}
	return true, nil
}
