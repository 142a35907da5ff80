package store

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
)

// Pair is two numbers, ordered by the first.
type Pair [2]uint64

func comparePairs(a, b Pair) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }

const pairSize = 16

// PairSorter sorts pairs, as many as there are: a number of them in memory, the
// others in a file of the workspace's tmp directory, as sorted runs. It is for
// what is counted once and needs no row in the database.
type PairSorter struct {
	dir  string
	max  int // pairs in memory
	held []Pair
	file *os.File
	ends []int64 // of the runs in file
}

// PairSorter makes a sorter that holds so many pairs in memory.
func (s *DB) PairSorter(max int) *PairSorter { return &PairSorter{dir: s.Tmp, max: max} }

// Close frees what the sorter has.
func (s *PairSorter) Close() (err error) {
	if s.file != nil {
		err = errors.Join(s.file.Close(), os.Remove(s.file.Name()))
	}
	s.file, s.ends, s.held = nil, nil, nil
	return err
}

// Add adds a pair.
func (s *PairSorter) Add(p Pair) error {
	if len(s.held) >= s.max {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.held = append(s.held, p)
	return nil
}

func (s *PairSorter) sort() {
	slices.SortFunc(s.held, comparePairs)
	s.held = slices.Compact(s.held)
}

// spill writes what is in memory as a run.
func (s *PairSorter) spill() (err error) {
	end := int64(0)
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, "pairs-*"); err != nil {
			return err
		}
	} else {
		end = s.ends[len(s.ends)-1]
	}
	s.sort()
	b := bufio.NewWriterSize(s.file, 256<<10)
	var row [pairSize]byte
	for _, p := range s.held {
		binary.LittleEndian.PutUint64(row[:], p[0])
		binary.LittleEndian.PutUint64(row[8:], p[1])
		_, _ = b.Write(row[:]) // a failed write fails Flush
	}
	s.ends = append(s.ends, end+int64(len(s.held))*pairSize)
	s.held = s.held[:0]
	return b.Flush()
}

// Sorted iterates over the pairs in order; those that were added more than once
// may come more than once.
func (s *PairSorter) Sorted() iter.Seq2[Pair, error] {
	return func(yield func(Pair, error) bool) {
		s.sort()
		if s.file == nil {
			for _, p := range s.held {
				if !yield(p, nil) {
					return
				}
			}
			return
		}
		h := pairHeap{}
		if len(s.held) > 0 {
			h = append(h, &pairRun{held: s.held})
		}
		start := int64(0)
		for _, end := range s.ends {
			h = append(h, &pairRun{r: bufio.NewReaderSize(io.NewSectionReader(s.file, start, end-start), 16<<10)})
			start = end
		}
		for i := 0; i < len(h); {
			switch more, err := h[i].next(); {
			case err != nil:
				yield(Pair{}, err)
				return
			case more:
				i++
			default:
				h = slices.Delete(h, i, i+1)
			}
		}
		heap.Init(&h)
		for len(h) > 0 {
			if !yield(h[0].at, nil) {
				return
			}
			more, err := h[0].next()
			switch {
			case err != nil:
				yield(Pair{}, err)
				return
			case more:
				heap.Fix(&h, 0)
			default:
				heap.Pop(&h)
			}
		}
	}
}

// pairRun is a sorted run, of memory or of the file, and where it is read.
type pairRun struct {
	held []Pair
	r    *bufio.Reader
	at   Pair
}

func (r *pairRun) next() (more bool, err error) {
	if r.r == nil {
		if len(r.held) == 0 {
			return false, nil
		}
		r.at, r.held = r.held[0], r.held[1:]
		return true, nil
	}
	var row [pairSize]byte
	if _, err := io.ReadFull(r.r, row[:]); err != nil {
		if err == io.EOF {
			err = nil
		}
		return false, err
	}
	r.at = Pair{binary.LittleEndian.Uint64(row[:]), binary.LittleEndian.Uint64(row[8:])}
	return true, nil
}

// pairHeap implements heap.Interface.
type pairHeap []*pairRun

func (h pairHeap) Len() int { return len(h) }

func (h pairHeap) Less(i, j int) bool { return comparePairs(h[i].at, h[j].at) < 0 }

func (h pairHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *pairHeap) Push(x any) { *h = append(*h, x.(*pairRun)) }

func (h *pairHeap) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	*h = (*h)[:last]
	return r
}
