package extsort

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"iter"
	"math/bits"
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
	SortPairs(s.held)
	s.held = slices.Compact(s.held)
}

// inBucket is how many pairs a bucket of sortPairs has, if their first numbers are
// hashes.
const inBucket = 8

// SortPairs sorts pairs. Those with the same first bits of their first number are moved
// to one bucket, in place, and each bucket is sorted. Hashes are spread evenly over the
// buckets; others cost what sorting all at once costs, and one pass.
func SortPairs(pairs []Pair) {
	width := bits.Len(uint(len(pairs)/inBucket)) - 1
	if width < 1 {
		slices.SortFunc(pairs, comparePairs)
		return
	}
	width = min(width, 16)
	bucket := func(p Pair) int { return int(p[0] >> (64 - width)) }
	ends := make([]int, 1<<width)
	for _, p := range pairs {
		ends[bucket(p)]++
	}
	next := make([]int, 1<<width) // where the next pair of a bucket goes
	for i, at := 0, 0; i < len(ends); i++ {
		next[i] = at
		at += ends[i]
		ends[i] = at
	}
	start := 0
	for i, end := range ends {
		for at := next[i]; at < end; {
			if to := bucket(pairs[at]); to != i {
				pairs[at], pairs[next[to]] = pairs[next[to]], pairs[at]
				next[to]++
			} else {
				at++
			}
		}
		next[i] = end
		sortFew(pairs[start:end])
		start = end
	}
}

// sortFew sorts pairs, which are mostly few, by insertion.
func sortFew(pairs []Pair) {
	if len(pairs) > 4*inBucket {
		slices.SortFunc(pairs, comparePairs)
		return
	}
	for i := 1; i < len(pairs); i++ {
		p, at := pairs[i], i
		for ; at > 0 && (p[0] < pairs[at-1][0] || p[0] == pairs[at-1][0] && p[1] < pairs[at-1][1]); at-- {
			pairs[at] = pairs[at-1]
		}
		pairs[at] = p
	}
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
