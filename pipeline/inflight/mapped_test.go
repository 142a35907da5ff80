package inflight

import (
	"os"
	"path/filepath"
	"testing"

	"neardup/configs"
	"neardup/extract/container"
	"neardup/pipeline/workspace"
)

// opened returns a workspace for two workers.
func opened(t testing.TB) *workspace.Workspace {
	t.Helper()
	config, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(filepath.Join(t.TempDir(), "ws"), nil, config, true, workspace.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// TestNotesAreInTheFile checks that a note is in the file while the page is read, also
// when memory that is mapped has lost its file.
func TestNotesAreInTheFile(t *testing.T) {
	w := opened(t)
	notes, err := Open(w)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = notes.Close() }()
	noted := func(worker int) (container.Position, bool) {
		b, err := os.ReadFile(w.Path(fileName))
		if err != nil {
			t.Fatal(err)
		}
		s, ok := parseSlot(b[worker*slotSize:])
		return s.at, ok
	}
	for _, lost := range []bool{false, true} {
		if lost {
			if err := os.Truncate(w.Path(fileName), 0); err != nil {
				t.Fatal(err)
			}
		}
		at := container.Position{Offset: 7, Skip: 1}
		if err := notes.Begin(1, "a.warc", at); err != nil {
			t.Fatal(err)
		}
		if got, ok := noted(1); got != at || !ok {
			t.Errorf("lost %t: noted %v, %t", lost, got, ok)
		}
		if _, ok := noted(0); ok {
			t.Errorf("lost %t: the other worker has a note", lost)
		}
		if err := notes.End(1); err != nil {
			t.Fatal(err)
		}
		if _, ok := noted(1); ok {
			t.Errorf("lost %t: the note stays", lost)
		}
	}
}
