package extsort

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// Beside a sort in memory, with so little room that there are many runs.
func TestSorter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []byte {
		b := make([]byte, rng.IntN(n))
		for i := range b {
			b[i] = byte(rng.IntN(3))
		}
		return b
	}
	for _, most := range []int{1, 100, 5000, 1 << 20} {
		dir := t.TempDir()
		s := New(dir)
		s.limit = most
		var want []Entry
		for range 3000 {
			e := Entry{append(make([]byte, rng.IntN(3)*5), random(6)...), random(4)} // keys also differ behind their first bytes
			want = append(want, e)
			if err := s.Add(e.Key, e.Value); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortFunc(want, compareEntries)
		for pass := range 4 {
			i := 0
			for e, err := range s.Sorted() {
				if err != nil || i >= len(want) || !bytes.Equal(e.Key, want[i].Key) || !bytes.Equal(e.Value, want[i].Value) {
					t.Fatalf("%d bytes: entry %d is %v (%v)", most, i, e, err)
				}
				i++
			}
			if i != len(want) {
				t.Errorf("%d bytes: %d entries, want %d", most, i, len(want))
			}
			if pass == 0 {
				if files, err := os.ReadDir(dir); err != nil || (len(files) == 1) != (most < 1<<20) {
					t.Errorf("%d bytes: files %v (%v)", most, files, err)
				}
				continue
			}
			if err := s.Free(); err != nil || s.data != nil || s.spans != nil {
				t.Errorf("%d bytes: %d bytes are left (%v)", most, cap(s.data), err)
			}
			e := Entry{[]byte{byte(pass), 5}, []byte("added after it was freed")}
			i, _ = slices.BinarySearchFunc(want, e, compareEntries)
			want = slices.Insert(want, i, e)
			if err := s.Add(e.Key, e.Value); err != nil {
				t.Fatal(err)
			}
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 1 || len(files) != 1 {
			t.Errorf("%d bytes: files %v (%v)", most, files, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("%d bytes: left %v (%v)", most, files, err)
		}
	}
}

func TestSorterReportsDamage(t *testing.T) {
	s := New(t.TempDir())
	s.limit = 1
	for range 3 {
		if err := s.Add([]byte("key"), []byte("value")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.spill(); err != nil {
		t.Fatal(err)
	}
	if err := s.file.Truncate(s.ends[len(s.ends)-1] - 2); err != nil {
		t.Fatal(err)
	}
	failed := false
	for _, err := range s.Sorted() {
		failed = failed || err != nil
	}
	if !failed {
		t.Error("a short file is read as if it were whole")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
