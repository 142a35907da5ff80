package extsort

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"sort"
)

// tableStep is about how many bytes of a Table lie between two keys that are held in
// memory.
const tableStep = 16 << 10

// Table holds sorted entries in a file, for lookups by key. In memory it holds one
// key in about tableStep bytes. Goroutines can share it.
type Table struct {
	file *os.File
	size int64
	keys [][]byte // first key of each piece
	at   []int64  // and where the piece begins
}

// NewTable writes entries, which come sorted, into a file in the directory dir.
func NewTable(dir string, entries iter.Seq2[Entry, error]) (t *Table, err error) {
	t = &Table{}
	if t.file, err = os.CreateTemp(dir, "table-*"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close())
		}
	}()
	w := bufio.NewWriterSize(t.file, 256<<10)
	var head []byte
	for e, err := range entries {
		if err != nil {
			return t, err
		}
		if len(t.at) == 0 || t.size-t.at[len(t.at)-1] >= tableStep {
			t.keys, t.at = append(t.keys, bytes.Clone(e.Key)), append(t.at, t.size)
		}
		head = binary.AppendUvarint(binary.AppendUvarint(head[:0], uint64(len(e.Key))), uint64(len(e.Value)))
		for _, part := range [][]byte{head, e.Key, e.Value} {
			_, _ = w.Write(part) // Flush reports a failed write
			t.size += int64(len(part))
		}
	}
	return t, w.Flush()
}

// Get returns a copy of the value of a key. ok is false if there is none. Of several
// entries with the key, it is one of the first.
func (t *Table) Get(key []byte) (value []byte, ok bool, err error) {
	i := sort.Search(len(t.keys), func(i int) bool { return bytes.Compare(t.keys[i], key) > 0 }) - 1
	if i < 0 {
		return nil, false, nil
	}
	end := t.size
	if i+1 < len(t.at) {
		end = t.at[i+1]
	}
	r := entryCursor{r: bufio.NewReaderSize(io.NewSectionReader(t.file, t.at[i], end-t.at[i]), int(min(end-t.at[i], 64<<10)))}
	for {
		more, err := r.next()
		if err != nil || !more {
			return nil, false, err
		}
		switch bytes.Compare(r.at.Key, key) {
		case 0:
			return bytes.Clone(r.at.Value), true, nil
		case 1:
			return nil, false, nil
		}
	}
}

// Close removes the file.
func (t *Table) Close() error { return errors.Join(t.file.Close(), os.Remove(t.file.Name())) }
