// Package blocks reads and writes rows in frames, in which an engine that knows
// nothing of rows moves them between processes. docs/format.md describes the frames.
//
//	frame    length[4] payload         little-endian; a length of 0 ends the stream
//	payload  target[4] dataset[1] rows  target: the partition that the rows belong to
//	row      key value                 each behind its length if its layout says so
//
// The rows of a frame are sorted and differ from each other. Frames come in any
// order.
package blocks

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"neardup/pipeline/extsort"
)

const (
	headSize = 4 + 1   // target and dataset
	maxFrame = 1 << 30 // bytes of a payload

	// written is about how many bytes of rows a Writer holds before it writes them.
	written = 8 << 20
	// full is the size from which the rows of one target are written.
	full = 1 << 20
)

// errFrame is the error of bytes that are no frames.
var errFrame = errors.New("no frame")

// Frame is a block of rows.
type Frame struct {
	Target uint32
	Layout Layout
	rows   []byte
}

// Reader reads frames.
type Reader struct {
	r   *bufio.Reader
	buf []byte
	at  int64
}

// NewReader returns a reader of the frames in r.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, 256<<10)} }

// Next returns the next frame, which is valid until the next call. It returns io.EOF
// only behind the frame that ends the stream: a stream that ends without one is an
// error, since who wrote it may have failed.
func (r *Reader) Next() (f Frame, err error) {
	var size [4]byte
	if _, err := io.ReadFull(r.r, size[:]); err != nil {
		return f, r.broken("the stream ends without its last frame", err)
	}
	n := int(binary.LittleEndian.Uint32(size[:]))
	if n == 0 {
		if _, err := r.r.ReadByte(); err != io.EOF {
			return f, r.broken("bytes follow the last frame", err)
		}
		return f, io.EOF
	}
	if n < headSize || n > maxFrame {
		return f, r.broken(fmt.Sprintf("a length of %d bytes", n), nil)
	}
	r.buf = r.buf[:0]
	for len(r.buf) < n { // a length that lies must not take memory
		part := min(n-len(r.buf), full)
		r.buf = slices.Grow(r.buf, part)
		got, err := io.ReadFull(r.r, r.buf[len(r.buf):len(r.buf)+part])
		r.buf = r.buf[:len(r.buf)+got]
		if err != nil {
			return f, r.broken(fmt.Sprintf("%d of %d bytes", len(r.buf), n), err)
		}
	}
	f.Target = binary.LittleEndian.Uint32(r.buf)
	layout, ok := layoutOf(r.buf[4])
	if !ok {
		return f, r.broken(fmt.Sprintf("rows of dataset %q", r.buf[4]), nil)
	}
	f.Layout, f.rows = layout, r.buf[headSize:]
	r.at += int64(4 + n)
	return f, nil
}

func (r *Reader) broken(what string, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("%w at byte %d: %s: %w", errFrame, r.at, what, err)
	}
	return fmt.Errorf("%w at byte %d: %s", errFrame, r.at, what)
}

// Rows yields the rows of a frame.
func (f Frame) Rows() iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		rest := f.rows
		for len(rest) > 0 {
			var e extsort.Entry
			var ok bool
			if e.Key, rest, ok = part(rest, f.Layout.Key); ok {
				e.Value, rest, ok = part(rest, f.Layout.Value)
			}
			if !ok {
				yield(e, fmt.Errorf("%w: a row of %s that ends early", errFrame, f.Layout.Name))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// part returns a key or a value of a size from the start of b, and the rest.
func part(b []byte, size int) (_, rest []byte, ok bool) {
	if size == varies {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) {
			return nil, nil, false
		}
		size, b = int(n), b[used:]
	}
	if size > len(b) {
		return nil, nil, false
	}
	return b[:size:size], b[size:], true
}

// Writer writes rows in frames. The frames depend on nothing but the rows and their
// order.
type Writer struct {
	w          *bufio.Writer
	partitions int
	held       map[place]*block
	bytes      int // held
}

type place struct {
	target uint32
	letter byte
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.letter, o.letter), cmp.Compare(p.target, o.target))
}

// block holds rows of one place, as they are written.
type block struct {
	layout Layout
	data   []byte
	rows   []span
}

// span locates a row in a block: its key up to mid, and its value.
type span struct{ start, key, mid, value, end int }

// NewWriter returns a writer of rows for so many partitions.
func NewWriter(w io.Writer, partitions int) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 256<<10), partitions: partitions, held: map[place]*block{}}
}

// Put adds a row, for the partition that its key belongs to.
func (w *Writer) Put(l Layout, key, value []byte) error {
	return w.PutTo(l, l.Target(key, w.partitions), key, value)
}

// PutTo adds a row for a partition.
func (w *Writer) PutTo(l Layout, target uint32, key, value []byte) error {
	if l.Key != varies && len(key) != l.Key || l.Value != varies && len(value) != l.Value {
		return fmt.Errorf("a row of %s with a key of %d and a value of %d bytes", l.Name, len(key), len(value))
	}
	p := place{target, l.Letter}
	b := w.held[p]
	if b == nil {
		b = &block{layout: l}
		w.held[p] = b
	}
	before := len(b.data)
	s := span{start: before}
	if l.Key == varies {
		b.data = binary.AppendUvarint(b.data, uint64(len(key)))
	}
	s.key = len(b.data)
	b.data = append(b.data, key...)
	s.mid = len(b.data)
	if l.Value == varies {
		b.data = binary.AppendUvarint(b.data, uint64(len(value)))
	}
	s.value = len(b.data)
	b.data = append(b.data, value...)
	s.end = len(b.data)
	b.rows = append(b.rows, s)
	w.bytes += len(b.data) - before
	switch {
	case len(b.data) >= full:
		return w.write(p)
	case w.bytes >= written:
		return w.Flush()
	}
	return nil
}

// Flush writes what is held.
func (w *Writer) Flush() error {
	for _, p := range slices.SortedFunc(maps.Keys(w.held), place.compare) {
		if err := w.write(p); err != nil {
			return err
		}
	}
	return nil
}

// write writes the rows of a place as a frame.
func (w *Writer) write(p place) error {
	b := w.held[p]
	w.bytes -= len(b.data)
	delete(w.held, p)
	slices.SortFunc(b.rows, func(x, y span) int {
		return cmp.Or(bytes.Compare(b.data[x.key:x.mid], b.data[y.key:y.mid]), bytes.Compare(b.data[x.value:x.end], b.data[y.value:y.end]))
	})
	b.rows = slices.CompactFunc(b.rows, func(x, y span) bool {
		return bytes.Equal(b.data[x.start:x.end], b.data[y.start:y.end])
	})
	n := headSize
	for _, s := range b.rows {
		n += s.end - s.start
	}
	if n > maxFrame {
		return fmt.Errorf("a row of %s of %d bytes", b.layout.Name, n)
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(n))
	head = append(binary.LittleEndian.AppendUint32(head, p.target), p.letter)
	if _, err := w.w.Write(head); err != nil {
		return err
	}
	for _, s := range b.rows {
		if _, err := w.w.Write(b.data[s.start:s.end]); err != nil {
			return err
		}
	}
	return nil
}

// Close writes what is held, and the frame that ends the stream.
func (w *Writer) Close() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if _, err := w.w.Write(make([]byte, 4)); err != nil {
		return err
	}
	return w.w.Flush()
}
