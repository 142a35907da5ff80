package bloom

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"neardup/configs"
	"neardup/pipeline/layout"
	"neardup/pipeline/workspace"
	"neardup/signature"
)

// The filter has all signatures that were added, also beyond the number that it was made
// for and after it was stored, and few others.
func TestFilter(t *testing.T) {
	config, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(filepath.Join(t.TempDir(), "ws"), nil, config, true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	of := func(i int) (s signature.Signature) {
		binary.BigEndian.PutUint64(s[8:], uint64(i))
		return s
	}
	const room, added = 1 << 16, 300_000
	f := New(room)
	for i := range added {
		if !f.Add(of(i)) {
			t.Fatal("full")
		}
	}
	if len(f.parts) != 3 {
		t.Errorf("%d parts for %d signatures, in place of 3", len(f.parts), added)
	}
	if _, err := w.DB.Replace(t.Context(), layout.TableFilter, f.Rows()); err != nil {
		t.Fatal(err)
	}
	if f, err = Read(w.DB); err != nil || f == nil {
		t.Fatal(f, err)
	}
	for i := range added {
		if !f.Has(of(i)) {
			t.Fatalf("signature %d is missing", i)
		}
	}
	wrong := 0
	for i := range added {
		if f.Has(of(added + i)) {
			wrong++
		}
	}
	if wrong > added/10 {
		t.Errorf("%d of %d others are taken for known", wrong, added)
	}
	if New(1<<40) != nil {
		t.Error("a filter of a terabyte")
	}
	full := &Filter{words: maxFilter - 1}
	full.parts = []part{{words: make([]uint64, 1)}}
	if full.Add(of(1)) {
		t.Error("a signature is added to a full filter")
	}
}
