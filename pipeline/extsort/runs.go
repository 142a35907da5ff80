package extsort

import (
	"bufio"
	"errors"
	"io"
	"iter"
	"os"
)

// runs are sorted runs, one after another in a temporary file.
type runs struct {
	dir  string
	name string // pattern of the file's name
	file *os.File
	ends []int64 // offset of each run's end
}

// write adds the run that put writes. put need not check its writes: flushing the
// buffer reports a failed one.
func (r *runs) write(put func(to io.Writer)) (err error) {
	if r.file == nil {
		if r.file, err = os.CreateTemp(r.dir, r.name); err != nil {
			return err
		}
	}
	b := bufio.NewWriterSize(r.file, 256<<10)
	put(b)
	if err := b.Flush(); err != nil {
		return err
	}
	end, err := r.file.Seek(0, io.SeekCurrent)
	r.ends = append(r.ends, end)
	return err
}

// readers returns a reader of each run. limit is the memory for all their buffers,
// in bytes; each buffer stays within sensible bounds.
func (r *runs) readers(limit int) (out []*bufio.Reader) {
	start := int64(0)
	for _, end := range r.ends {
		size := max(4<<10, min(64<<10, limit/len(r.ends)))
		out = append(out, bufio.NewReaderSize(io.NewSectionReader(r.file, start, end-start), size))
		start = end
	}
	return out
}

func (r *runs) close() (err error) {
	if r.file != nil {
		err = errors.Join(r.file.Close(), os.Remove(r.file.Name()))
	}
	r.file, r.ends = nil, nil
	return err
}

// cursor is a position in a sorted run.
type cursor[T any] interface {
	// next moves to the next item. more is false behind the last.
	next() (more bool, err error)
	item() T
}

// merge iterates over the items of sorted runs in order. An item is valid until the
// next step.
func merge[T any](all []cursor[T], compare func(a, b T) int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		h := heads[T]{compare: compare}
		for _, c := range all {
			more, err := c.next()
			if err != nil {
				yield(none, err)
				return
			}
			if more {
				h.all = append(h.all, head[T]{c.item(), c})
			}
		}
		for i := len(h.all)/2 - 1; i >= 0; i-- {
			h.down(i)
		}
		for len(h.all) > 0 {
			first := &h.all[0]
			if !yield(first.item, nil) {
				return
			}
			more, err := first.next()
			if err != nil {
				yield(none, err)
				return
			}
			if more {
				first.item = first.cursor.item()
			} else {
				last := len(h.all) - 1
				h.all[0] = h.all[last]
				h.all = h.all[:last]
			}
			h.down(0)
		}
	}
}

// heads are the first items of runs, as a heap. Package container/heap would call
// an interface for each comparison.
type heads[T any] struct {
	all     []head[T]
	compare func(a, b T) int
}

type head[T any] struct {
	item T
	cursor[T]
}

// down moves the i-th head down to its place.
func (h *heads[T]) down(i int) {
	for {
		least := 2*i + 1
		if least >= len(h.all) {
			return
		}
		if next := least + 1; next < len(h.all) && h.compare(h.all[next].item, h.all[least].item) < 0 {
			least = next
		}
		if h.compare(h.all[i].item, h.all[least].item) <= 0 {
			return
		}
		h.all[i], h.all[least] = h.all[least], h.all[i]
		i = least
	}
}
