package store

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"neardup/pipeline/layout"
)

// What is deleted is in the tables until Compact, also of a database that does not
// compact itself.
func TestCompact(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	lock, err := LockDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	db, err := OpenCopy(dir, lock, quiet{}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	secret := make([]byte, 64) // nothing compresses it
	for i := range secret {
		secret[i] = byte(rng.Uint32())
	}
	held := func() bool {
		files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(b, secret) {
				return true
			}
		}
		return false
	}
	change := func(how func(b Batch) error) {
		b := db.Batch()
		if err := how(b); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	compact := func() {
		if err := db.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	change(func(b Batch) error { return b.Set(layout.MetaKey("a"), []byte("stays")) })
	change(func(b Batch) error { return b.Set(layout.MetaKey("b"), secret) })
	compact()
	if !held() {
		t.Fatal("it is not in a table")
	}
	change(func(b Batch) error { return b.Delete(layout.MetaKey("b")) })
	if !held() {
		t.Fatal("it is gone without Compact")
	}
	compact()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if held() {
		t.Error("it is still in a table")
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, _ ...any) {
	panic(format)
}
