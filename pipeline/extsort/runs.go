package extsort

import (
	"bufio"
	"container/heap"
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
		h := cursors[T]{compare: compare}
		for _, c := range all {
			more, err := c.next()
			if err != nil {
				yield(none, err)
				return
			}
			if more {
				h.all = append(h.all, c)
			}
		}
		heap.Init(&h)
		for len(h.all) > 0 {
			if !yield(h.all[0].item(), nil) {
				return
			}
			more, err := h.all[0].next()
			switch {
			case err != nil:
				yield(none, err)
				return
			case more:
				heap.Fix(&h, 0)
			default:
				heap.Pop(&h)
			}
		}
	}
}

// cursors implements heap.Interface.
type cursors[T any] struct {
	all     []cursor[T]
	compare func(a, b T) int
}

func (h *cursors[T]) Len() int { return len(h.all) }

func (h *cursors[T]) Less(i, j int) bool { return h.compare(h.all[i].item(), h.all[j].item()) < 0 }

func (h *cursors[T]) Swap(i, j int) { h.all[i], h.all[j] = h.all[j], h.all[i] }

func (h *cursors[T]) Push(x any) { h.all = append(h.all, x.(cursor[T])) }

func (h *cursors[T]) Pop() any {
	last := len(h.all) - 1
	c := h.all[last]
	h.all = h.all[:last]
	return c
}
