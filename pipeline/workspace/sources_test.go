package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// runWith runs all stages on the inputs and returns what Run says.
func runWith(t *testing.T, dir string, paths ...string) error {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	sources, _, err := inputs.Find(t.Context(), dir, paths, nil, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	return w.Run(context.Background(), "extract", "verify", sources)
}

func TestUnreadableInputs(t *testing.T) {
	path := pipetest.Crawl(t)
	dir, late := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "late.warc.gz")
	if err := runWith(t, dir, path, late); !errors.Is(err, workspace.ErrInputFailure) {
		t.Errorf("a missing file: %v", err)
	}
	if err := runWith(t, dir); err != nil {
		t.Errorf("a run that does not name the missing file must do without it: %v", err)
	}
	if err := runWith(t, dir, path); err != nil {
		t.Errorf("a run that does not name the missing file must forget it: %v", err)
	}
	if err := runWith(t, dir); err != nil {
		t.Errorf("a forgotten file is tried again: %v", err)
	}

	if err := runWith(t, dir, late); !errors.Is(err, workspace.ErrInputFailure) {
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
