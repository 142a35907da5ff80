package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
)

// Edits make the rows that a batch of the same changes makes, also where they are sorted on
// disk, and none if they end early.
func TestEdits(t *testing.T) {
	defer func(n int) { extsort.Bytes = n }(extsort.Bytes)
	for seed := range uint64(20) {
		extsort.Bytes = []int{8 << 20, 200}[seed%2]
		random := rand.New(rand.NewPCG(seed, 1))
		db := openIn(t, filepath.Join(t.TempDir(), "db"), Open)
		want, edits := map[string]string{}, db.Edits()
		key := func() []byte { // some are the first bytes of others
			return binary.BigEndian.AppendUint64([]byte{layout.TableText}, random.Uint64N(60))[:8+random.IntN(2)]
		}
		b := db.Batch()
		for range random.IntN(60) {
			k := key()
			want[string(k)] = "before"
			if err := b.Set(k, []byte("before")); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		contents := func() map[string]string {
			got := map[string]string{}
			for r, err := range db.Table(layout.TableText) {
				v, valueErr := r.Value()
				if err := errors.Join(err, valueErr); err != nil {
					t.Fatal(err)
				}
				got[string(r.Key())] = string(v)
			}
			return got
		}
		before := maps.Clone(want)
		for i := range random.IntN(200) {
			k := key()
			var err error
			if random.IntN(2) == 0 {
				delete(want, string(k))
				err = edits.Delete(k)
			} else {
				want[string(k)] = fmt.Sprint(i)
				err = edits.Set(k, []byte(want[string(k)]))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := edits.Commit(ended); edits.n > 0 && !errors.Is(err, context.Canceled) {
			t.Errorf("seed %d: %v", seed, err)
		}
		if got := contents(); !maps.Equal(got, before) {
			t.Errorf("seed %d: %v after edits that ended early, want %v", seed, got, before)
		}
		if err := errors.Join(edits.Commit(t.Context()), edits.Close()); err != nil {
			t.Fatal(err)
		}
		if got := contents(); !maps.Equal(got, want) {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
	}
}
