package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A database whose directory was replaced leaves the files of the other alone.
func TestReplacedDirectory(t *testing.T) {
	workspace := t.TempDir()
	dir := filepath.Join(workspace, "db")
	db, err := Open(dir, nil, panics{}, func() { t.Error("disk full") })
	if err != nil {
		t.Fatal(err)
	}
	if err := db.There(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(dir, filepath.Join(workspace, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := db.There(); !errors.Is(err, ErrReplaced) {
		t.Errorf("nothing in its place: %v", err)
	}
	elsewhere := filepath.Join(t.TempDir(), "db")
	other, err := Open(elsewhere, nil, panics{}, func() { t.Error("disk full") })
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Close(), os.Rename(elsewhere, dir)); err != nil {
		t.Fatal(err)
	}
	files := func() []string {
		names, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		return names
	}
	before := files()
	b := db.Batch()
	if err := errors.Join(b.Set([]byte("a"), []byte("b")), b.Commit()); !errors.Is(err, ErrReplaced) {
		t.Errorf("commit: %v", err)
	}
	fs := sealedFS{vfs.Default, db.seal, db.at}
	name := filepath.Join(dir, "000999.log")
	_, created := fs.Create(name, vfs.WriteCategoryUnspecified)
	_, reused := fs.ReuseForWrite(before[0], name, vfs.WriteCategoryUnspecified)
	for what, err := range map[string]error{"create": created, "reuse": reused, "remove": fs.Remove(before[0]),
		"rename": fs.Rename(before[0], name), "link": fs.Link(before[0], name)} {
		if !errors.Is(err, ErrReplaced) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(db.Tmp); err != nil {
		t.Errorf("the directory of the other for its work: %v", err)
	}
	if after := files(); !slices.Equal(after, before) {
		t.Errorf("files %q, before %q", after, before)
	}
}
