package workspace

import (
	"os"
	"testing"

	"neardup/extract/container"
)

// TestNotesAreInTheFile checks that a note is in the file while the page is read, also
// when memory that is mapped has lost its file.
func TestNotesAreInTheFile(t *testing.T) {
	w := &Workspace{opened: &opened{Dir: t.TempDir()}}
	w.Options.Workers = 2
	notes, err := w.NoteInFlight()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = notes.Close() }()
	noted := func(worker int) (container.Position, bool) {
		b, err := os.ReadFile(w.Path(inFlightName))
		if err != nil {
			t.Fatal(err)
		}
		s, ok := parseSlot(b[worker*slotSize:])
		return s.at, ok
	}
	for _, lost := range []bool{false, true} {
		if lost {
			if err := os.Truncate(w.Path(inFlightName), 0); err != nil {
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
