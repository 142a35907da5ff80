package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
)

// entriesOf yields rows by key, each twice with another value the second time.
func entriesOf(rows map[string]string) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		for _, k := range slices.Sorted(maps.Keys(rows)) {
			if !yield(extsort.Entry{Key: []byte(k), Value: []byte(rows[k])}, nil) ||
				!yield(extsort.Entry{Key: []byte(k), Value: []byte("repeated")}, nil) {
				return
			}
		}
	}
}

// Whatever was there, a replaced table has the new rows, and neither its neighbors nor
// its contents are wrong.
func TestReplace(t *testing.T) {
	db := openTest(t)
	rng := rand.New(rand.NewPCG(7, 8))
	for _, table := range []byte{layout.TableSet - 1, layout.TableSet + 1} {
		b := db.Batch()
		if err := b.Set([]byte{table}, []byte("neighbor")); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	key := func() string {
		return string(binary.BigEndian.AppendUint32([]byte{layout.TableSet}, rng.Uint32N(20_000))) + "a key of usual length"
	}
	rows := map[string]string{}
	change := func(set, drop int) {
		for range set {
			rows[key()] = fmt.Sprint(rng.Uint32())
		}
		for range drop {
			delete(rows, key())
		}
	}
	for _, x := range []struct {
		name      string
		set, drop int
		few       bool // only what changed is written
	}{
		{"first rows", 15_000, 0, false},
		{"nothing", 0, 0, true},
		{"few", 50, 50, true},
		{"few go", 0, 30, true},
		{"many", 8000, 0, false},
		{"many go", 0, 50_000, false},
		{"few of few", 3, 3, true},
	} {
		change(x.set, x.drop)
		file := db.newFile()
		_, few, err := db.writeChanges(file, layout.TableSet, entriesOf(rows))
		if _, closeErr := file.close(); err != nil || closeErr != nil || few != x.few {
			t.Errorf("%s: few changes %v (%v, %v)", x.name, few, err, closeErr)
		}
		told, err := db.Replace(t.Context(), layout.TableSet, entriesOf(rows))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for r, err := range db.Table(layout.TableSet) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := r.Value()
			if err != nil {
				t.Fatal(err)
			}
			got[string(r.Key())] = string(v)
		}
		if !maps.Equal(got, rows) {
			t.Errorf("%s: %d rows in place of %d, or others", x.name, len(got), len(rows))
		}
		if is, err := db.Contents(layout.TableSet); err != nil || is != told {
			t.Errorf("%s: contents %v, but Replace told %v (%v)", x.name, is, told, err)
		}
	}
	if told, err := db.Replace(t.Context(), layout.TableSet, entriesOf(nil)); err != nil || told.Rows != 0 {
		t.Errorf("no rows: %v, %v", told, err)
	}
	for _, table := range []byte{layout.TableSet - 1, layout.TableSet, layout.TableSet + 1} {
		want := int64(1)
		if table == layout.TableSet {
			want = 0
		}
		if n, err := db.Count(table); err != nil || n != want {
			t.Errorf("table %c has %d rows (%v)", table, n, err)
		}
	}
}

// Entries that end with an error replace nothing.
func TestReplaceFails(t *testing.T) {
	db := openTest(t)
	rows := map[string]string{}
	for i := range 30_000 {
		rows[string(binary.BigEndian.AppendUint32([]byte{layout.TableSet}, uint32(i)))] = "a"
	}
	for _, before := range []int64{0, 30_000} {
		for _, after := range []int{1, 25_000} {
			broken := func(yield func(extsort.Entry, error) bool) {
				n := 0
				for e := range entriesOf(rows) {
					e.Value = []byte("b")
					if n++; n == after {
						yield(extsort.Entry{}, context.DeadlineExceeded)
						return
					}
					if !yield(e, nil) {
						return
					}
				}
			}
			if _, err := db.Replace(t.Context(), layout.TableSet, broken); err == nil {
				t.Errorf("an error after %d entries is lost", after)
			}
			if n, err := db.Count(layout.TableSet); err != nil || n != before {
				t.Errorf("%d rows, want %d (%v)", n, before, err)
			}
		}
		if _, err := db.Replace(t.Context(), layout.TableSet, entriesOf(rows)); err != nil {
			t.Fatal(err)
		}
	}
}
