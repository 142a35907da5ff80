package blocks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"neardup/pipeline/extsort"
)

// stream returns rows of several datasets as frames.
func stream(t testing.TB, rows int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, 3)
	for i := rows; i > 0; i-- {
		if err := errors.Join(w.Put(Texts, fmt.Appendf(nil, "%016d", i), []byte(strings.Repeat("text ", i))),
			w.Put(Assigned, fmt.Appendf(nil, "%016d", i), make([]byte, 16)),
			w.Put(Assigned, fmt.Appendf(nil, "%016d", i), make([]byte, 16)),
			w.PutTo(Wanted, 2, fmt.Appendf(nil, "%016d", i), nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read returns the number of rows of each dataset. Rows must be sorted in each frame
// and stand in the right partition.
func read(b []byte) (map[string]int, error) {
	n := map[string]int{}
	r := NewReader(bytes.NewReader(b))
	for {
		f, err := r.Next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		var last extsort.Entry
		for e, err := range f.Rows() {
			if err != nil {
				return n, err
			}
			if last.Key != nil && bytes.Compare(last.Key, e.Key) >= 0 {
				return n, errors.New("rows out of order")
			}
			if f.Layout.Letter != 'w' && f.Target != f.Layout.Target(e.Key, 3) {
				return n, errors.New("a row of another partition")
			}
			last = e
			n[f.Layout.Name]++
		}
	}
}

func TestFrames(t *testing.T) {
	const rows = 900 // 2 MB of texts: several frames for a target
	b := stream(t, rows)
	n, err := read(b)
	if err != nil || n["texts"] != rows || n["assigned"] != rows || n["wanted"] != rows {
		t.Errorf("%v, %v", n, err)
	}
	if !bytes.Equal(b, stream(t, rows)) {
		t.Error("other frames for the same rows")
	}
}

// A stream that was cut off anywhere is an error, even between two frames.
func TestShort(t *testing.T) {
	b := stream(t, 5)
	for i := range b {
		if _, err := read(b[:i]); !errors.Is(err, errFrame) {
			t.Fatalf("cut at %d of %d: %v", i, len(b), err)
		}
	}
	if _, err := read(append(slices.Clone(b), 1)); !errors.Is(err, errFrame) {
		t.Errorf("with another byte: %v", err)
	}
	w := NewWriter(io.Discard, 1)
	if w.Put(Assigned, []byte("short"), make([]byte, 16)) == nil {
		t.Error("a key of another size is no error")
	}
}

func TestLetters(t *testing.T) {
	seen := map[byte]bool{}
	for _, l := range All {
		if seen[l.Letter] {
			t.Errorf("two datasets have the letter %c", l.Letter)
		}
		seen[l.Letter] = true
	}
}

// No bytes make the reader crash or take much memory.
func FuzzRead(f *testing.F) {
	f.Add(stream(f, 3))
	f.Add([]byte{255, 255, 255, 63, 0})
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{7, 0, 0, 0, 0, 0, 0, 0, 't', 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b))
		for {
			f, err := r.Next()
			if err != nil {
				if err != io.EOF && !errors.Is(err, errFrame) {
					t.Fatal(err)
				}
				return
			}
			for _, err := range f.Rows() {
				if err != nil && !errors.Is(err, errFrame) {
					t.Fatal(err)
				}
			}
		}
	})
}
