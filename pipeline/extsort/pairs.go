package extsort

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"iter"
	"slices"
)

// Pair is a pair of numbers. Pairs are ordered by the first, then the second.
type Pair [2]uint64

func comparePairs(a, b Pair) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

const pairSize = 16

// Pairs sorts pairs of numbers. It is for data that is read once and needs no row:
// a pair takes 16 bytes in memory, a third of an Entry in a Sorter.
type Pairs struct {
	limit int // pairs held in memory
	held  []Pair
	runs
}

// NewPairs returns a sorter that holds limit pairs in memory and keeps its file in
// the directory dir.
func NewPairs(dir string, limit int) *Pairs {
	return &Pairs{limit: limit, runs: runs{dir: dir, name: "pairs-*"}}
}

// Close releases the sorter's memory and file.
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

// spill writes the pairs in memory as a run.
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

// Sorted iterates over the pairs in order. A pair that was added several times may
// come several times.
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

// heldPairs iterates over the pairs in memory.
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
