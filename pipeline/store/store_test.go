package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
)

func openTest(t *testing.T) *DB {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "db"), nil, panics{}, func() { t.Error("disk full") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// panics is a logger that ends the test with what the database cannot survive.
type panics struct{}

func (panics) Infof(string, ...any)              {}
func (panics) Errorf(string, ...any)             {}
func (panics) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func TestIngestAddsToWhatIsThere(t *testing.T) {
	db := openTest(t)
	rng := rand.New(rand.NewPCG(1, 2))
	want := map[string]bool{}
	for range 5 {
		run := layout.FixedRun{Size: 3}
		for range 200 {
			k := []byte{layout.TableSet, byte(rng.IntN(40)), byte(rng.IntN(40))}
			want[string(k)] = true
			run.Add(k)
		}
		if err := db.Ingest(context.Background(), append(run.Sorted(3), slices.Values([]extsort.Entry{{Key: layout.MetaKey("cursor"), Value: []byte{1}}}))...); err != nil {
			t.Fatal(err)
		}
	}
	n, err := db.Count(layout.TableSet)
	if err != nil || n != int64(len(want)) {
		t.Errorf("%d rows, want %d (%v)", n, len(want), err)
	}
	if err := db.Ingest(context.Background(), append(new(layout.FixedRun).Sorted(2), SortEntries(nil))...); err != nil {
		t.Errorf("nothing to ingest: %v", err)
	}
}

// Clear deletes the rows of all its tables, and of no other.
func TestClear(t *testing.T) {
	db := openTest(t)
	b := db.Batch()
	for _, table := range []byte{layout.TableText, layout.TableSigned, layout.TableSource, layout.TableCluster} {
		for n := range 3 {
			if err := b.Set([]byte{table, byte(n)}, []byte{1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	b = db.Batch()
	if err := errors.Join(b.Clear(layout.TableSigned, layout.TableHeld, layout.TableText, layout.TableCluster), b.Commit()); err != nil {
		t.Fatal(err)
	}
	for table, want := range map[byte]int64{layout.TableText: 0, layout.TableSigned: 0, layout.TableHeld: 0, layout.TableCluster: 0, layout.TableSource: 3} {
		if n, err := db.Count(table); err != nil || n != want {
			t.Errorf("table %c has %d rows, %v, want %d", table, n, err, want)
		}
	}
}

// A Seeker finds what is there, and nothing else, in whatever order it is asked.
func TestSeeker(t *testing.T) {
	db := openTest(t)
	rng := rand.New(rand.NewPCG(11, 12))
	there := map[uint16]bool{}
	for range 4 { // some in files, some in memory, some deleted
		b := db.Batch()
		for range 150 {
			n := uint16(rng.IntN(1000))
			key := []byte{layout.TableSigned, byte(n >> 8), byte(n)}
			if there[n] = rng.IntN(4) > 0; !there[n] {
				if err := b.Delete(key); err != nil {
					t.Fatal(err)
				}
			} else if err := b.Set(key, []byte{byte(n), byte(n >> 8)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(b.Commit(), db.db.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	s, err := db.Seeker(layout.TableSigned)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	at := 0
	for range 5000 {
		get := s.GetNext
		if rng.IntN(4) == 0 {
			get = s.Get
		}
		switch rng.IntN(6) {
		case 0:
			at = rng.IntN(1000)
		case 1: // the same again
		default:
			at = (at + 1) % 1000
		}
		n := uint16(at)
		r, ok, err := get([]byte{layout.TableSigned, byte(n >> 8), byte(n)})
		if err != nil || ok != there[n] {
			t.Fatalf("row %d: %v, want %v (%v)", n, ok, there[n], err)
		}
		if !ok {
			continue
		}
		if v, err := r.Value(); err != nil || !slices.Equal(v, []byte{byte(n), byte(n >> 8)}) {
			t.Fatalf("row %d has the value %v (%v)", n, v, err)
		}
	}
	for first := 0; first < 1000; first += 1 + rng.IntN(8) { // prefixes in order, of up to 256 rows
		prefix := []byte{layout.TableSigned, byte(first >> 8), byte(first)}
		if rng.IntN(50) == 0 {
			prefix = prefix[:2]
		}
		var got, want []int
		for r, err := range s.FewRows(prefix) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, int(r.Key()[1])<<8|int(r.Key()[2]))
		}
		for n := range 1000 {
			if there[uint16(n)] && (n == first || len(prefix) == 2 && n>>8 == first>>8) {
				want = append(want, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("rows of %v: %v, want %v", prefix, got, want)
		}
	}
}

// The database takes less memory where the process must stay within little, and never
// none.
func TestMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for _, c := range []struct {
		limit, cache int64
		table        uint64
	}{
		{math.MaxInt64, 96 << 20, 32 << 20},
		{928 << 20, 96 << 20, 32 << 20}, // what the default of --memory leaves
		{384 << 20, 48 << 20, 16 << 20},
		{1, 8 << 20, 4 << 20},
	} {
		debug.SetMemoryLimit(c.limit)
		if cache, table := memory(); cache != c.cache || table != c.table {
			t.Errorf("limit %d: cache %d, table %d; want %d, %d", c.limit, cache, table, c.cache, c.table)
		}
	}
}
