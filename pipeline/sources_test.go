package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"neardup/cluster"
	"neardup/extract"
)

// runWith runs all stages on the inputs and returns what Run says.
func runWith(t *testing.T, dir string, inputs ...string) error {
	t.Helper()
	w, err := Open(dir, AllStages, mustLoad(t), true, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	sources, _, err := Inputs(dir, inputs, nil, limits)
	if err != nil {
		t.Fatal(err)
	}
	return w.Run(context.Background(), "extract", "verify", sources)
}

func TestUnreadableInputs(t *testing.T) {
	path := crawl(t)
	dir, late := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "late.warc.gz")
	if err := runWith(t, dir, path, late); !errors.Is(err, ErrInputFailure) {
		t.Errorf("a missing file: %v", err)
	}
	if err := runWith(t, dir); !errors.Is(err, ErrInputFailure) {
		t.Errorf("a run without inputs must try the missing file again: %v", err)
	}
	if err := runWith(t, dir, path); err != nil {
		t.Errorf("a run that does not name the missing file must forget it: %v", err)
	}
	if err := runWith(t, dir); err != nil {
		t.Errorf("a forgotten file is tried again: %v", err)
	}

	if err := runWith(t, dir, late); !errors.Is(err, ErrInputFailure) {
		t.Errorf("a missing file: %v", err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(late, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := runWith(t, dir); err != nil {
		t.Errorf("a file that has come is not read: %v", err)
	}
}

// Lines of a text collection have no site, so they are on no few sites.
func TestConcentratedNeedsSites(t *testing.T) {
	w := openTest(t)
	for _, tt := range []struct {
		name string
		site uint64
		want bool
	}{{"one site", 7, true}, {"no site", noSite, false}} {
		b := w.store.batch()
		if err := b.clear(tableOccurrence); err != nil {
			t.Fatal(err)
		}
		var members []cluster.Key
		for i := range byte(5) {
			id := textID{i}
			members = append(members, cluster.NewKey(1, id))
			if err := b.set(occurrenceKey(id, extract.ID{i}), occurrence{site: tt.site}.append(nil)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.commit(); err != nil {
			t.Fatal(err)
		}
		if got, err := w.concentrated(members); err != nil || got != tt.want {
			t.Errorf("%s: %v (%v), want %v", tt.name, got, err, tt.want)
		}
	}
}
