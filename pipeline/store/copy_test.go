package store

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"neardup/pipeline/disk"
	"neardup/pipeline/layout"
)

// TestCopyIsOfOneMoment copies a database while rows are written to it, one after the
// other. A copy has all rows that were durable when it began, and no gap.
func TestCopyIsOfOneMoment(t *testing.T) {
	dir := t.TempDir()
	opened := func(name string, open func(string, *Lock, logger, func()) (*DB, error)) *DB {
		return openIn(t, filepath.Join(dir, name, "db"), open)
	}
	from := opened("from", Open)
	var durable atomic.Int64
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := uint64(0); ; i++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			b := from.Batch()
			key := binary.BigEndian.AppendUint64([]byte{layout.TableSource}, i)
			if err := errors.Join(b.Set(key, make([]byte, 20_000)), b.Commit()); err != nil {
				stopped <- err
				return
			}
			durable.Add(1)
			if i%20 == 0 {
				time.Sleep(150 * time.Millisecond)
			}
		}
	}()
	copies := 0
	for range 10 {
		to := filepath.Join(dir, "to", string(rune('a'+copies)))
		if err := os.MkdirAll(filepath.Join(to, "db"), 0o777); err != nil {
			t.Fatal(err)
		}
		before := durable.Load()
		release, err := Copy(filepath.Join(dir, "from", "db"), filepath.Join(to, "db"))
		if err != nil {
			t.Logf("no moment: %v", err)
			continue
		}
		s := opened(filepath.Join("to", string(rune('a'+copies))), OpenCopy)
		n := uint64(0)
		for r, err := range s.Table(layout.TableSource) {
			if err != nil {
				t.Fatal(err)
			}
			if got := binary.BigEndian.Uint64(r.Key()[1:]); got != n {
				t.Fatalf("row %d is followed by row %d", n, got)
			}
			n++
		}
		if n < uint64(before) {
			t.Errorf("%d rows, and %d were durable before", n, before)
		}
		release()
		copies++
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if copies == 0 {
		t.Error("no copy was made")
	}
}

// openIn opens a database in a directory, which it makes.
func openIn(t *testing.T, dir string, open func(string, *Lock, logger, func()) (*DB, error)) *DB {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	lock, err := LockDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(dir, lock, panics{}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), lock.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestKeep keeps a database, and then changes all of its rows until its tables are
// others. What was kept has the rows from before, where tables are shared and where the
// file system has no links.
func TestKeep(t *testing.T) {
	for _, links := range []bool{true, false} {
		from, kept := filepath.Join(t.TempDir(), "db"), filepath.Join(t.TempDir(), "db")
		db := openIn(t, from, Open)
		write := func(value byte) {
			b := db.Batch()
			for i := range uint64(1000) {
				if err := b.Set(binary.BigEndian.AppendUint64([]byte{layout.TableSource}, i), []byte{value}); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(b.Commit(), db.db.Flush(), db.db.Compact(t.Context(), []byte{0}, []byte{255}, false)); err != nil {
				t.Fatal(err)
			}
		}
		write('a')
		if !links {
			disk.Fault.Store(new(disk.Injector(func(operation, file string, n int) (int, error) {
				if operation == "link" {
					return 0, errors.ErrUnsupported
				}
				return n, nil
			})))
		}
		err := errors.Join(os.Mkdir(kept, 0o777), Keep(from, kept))
		disk.Fault.Store(nil)
		if err != nil {
			t.Fatal(err)
		}
		tables, err := filepath.Glob(filepath.Join(kept, "*.sst"))
		if err != nil || len(tables) == 0 {
			t.Fatalf("no table was kept, %v", err)
		}
		for _, table := range tables {
			one, oneErr := os.Stat(table)
			other, otherErr := os.Stat(filepath.Join(from, filepath.Base(table)))
			if oneErr != nil || otherErr != nil || os.SameFile(one, other) != links {
				t.Errorf("links %v: %s is shared: %v (%v, %v)", links, table, !links, oneErr, otherErr)
			}
		}
		write('b')
		n := 0
		for r, err := range openIn(t, kept, OpenCopy).Table(layout.TableSource) {
			if err != nil {
				t.Fatal(err)
			}
			if v, err := r.Value(); err != nil || string(v) != "a" {
				t.Fatalf("links %v: row %d is %q, %v", links, n, v, err)
			}
			n++
		}
		if n != 1000 {
			t.Errorf("links %v: %d rows were kept", links, n)
		}
	}
}
