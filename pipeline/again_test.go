package pipeline_test

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"neardup/configs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// extractPart extracts until half of a file is through, with other files before it.
func extractPart(t *testing.T, dir string, config configs.Config, paths ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := tryToRun(ctx, t, dir, config, workspace.Options{Workers: 1, CommitBytes: 4 << 10, Progress: &meter{half: cancel}}, paths...); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// tryToRun runs all stages.
func tryToRun(ctx context.Context, t *testing.T, dir string, config configs.Config, o workspace.Options, paths ...string) error {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, config, true, o)
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := inputs.Find(t.Context(), dir, paths, nil, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	return errors.Join(w.Run(ctx, "extract", "verify", sources), w.Close())
}

// refused checks that a run is refused, because path must be read again.
func refused(t *testing.T, name, dir string, config configs.Config, paths ...string) {
	t.Helper()
	if err := tryToRun(t.Context(), t, dir, config, workspace.Options{}, paths...); !errors.Is(err, workspace.ErrUsage) {
		t.Fatalf("%s: a run without a file that was read: %v", name, err)
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// A file that was read in part and is gone has pages. Where everything is read again, it
// must be there.
func TestReadingAgainNeedsWhatWasReadInPart(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config, changed := pipetest.MustLoad(t), pipetest.MustLoad(t, "extract.clean=none")
	dir, away := filepath.Join(t.TempDir(), "ws"), crawl+".away"
	pipetest.RunAll(t, dir, config, workspace.Options{}, other)
	extractPart(t, dir, config, crawl)
	move(t, crawl, away)
	if err := tryToRun(t.Context(), t, dir, config, workspace.Options{}); !errors.Is(err, workspace.ErrInputFailure) {
		t.Fatal(err)
	}
	pipetest.RunAll(t, dir, config, workspace.Options{}) // without what was not read of it
	before := contentsOf(t, dir, config)
	if m, err := workspace.ReadManifest(dir); err != nil || m.Inputs[0].State != inputs.Unreadable || m.Inputs[0].Counts.Records == 0 {
		t.Fatalf("%+v %v", m.Inputs, err)
	}
	refused(t, "gone", dir, changed)
	sameContents(t, "refused", contentsOf(t, dir, config), before)
	move(t, away, crawl)
	pipetest.RunAll(t, dir, changed, workspace.Options{})
	want := filepath.Join(t.TempDir(), "want")
	pipetest.RunAll(t, want, changed, workspace.Options{}, crawl, other)
	sameContents(t, "back", contentsOf(t, dir, changed), contentsOf(t, want, changed))
}

// A run that was to read everything again and was interrupted goes on only with all that was
// read before, or without what is withdrawn.
func TestReadingAgainInterrupted(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config, changed := pipetest.MustLoad(t), pipetest.MustLoad(t, "extract.clean=none")
	third := pipetest.WriteRecords(t, pipetest.Archived("response", "third", "http://third.example/", 1, pipetest.OkHTML+"<p>This is the third file of all, and says what no other says."))
	for _, withdrawn := range []bool{false, true} {
		dir, away := filepath.Join(t.TempDir(), "ws"), other+".away"
		pipetest.RunAll(t, dir, config, workspace.Options{}, crawl, other)
		extractPart(t, dir, changed)
		move(t, other, away)
		refused(t, "gone", dir, changed)
		refused(t, "gone, and another named", dir, changed, third)
		want, left := filepath.Join(t.TempDir(), "want"), []string{crawl, other}
		if withdrawn {
			withdraw(t, dir, changed, ofInput(t, dir, other))
			left = left[:1]
		} else {
			move(t, away, other)
		}
		pipetest.RunAll(t, dir, changed, workspace.Options{})
		pipetest.RunAll(t, want, changed, workspace.Options{}, left...)
		sameContents(t, "again", contentsOf(t, dir, changed), contentsOf(t, want, changed))
		m, err := workspace.ReadManifest(dir)
		if err != nil || len(m.Inputs) != len(left) {
			t.Fatalf("%+v %v", m.Inputs, err)
		}
		for _, s := range m.Inputs {
			if s.Again {
				t.Errorf("%s is still to be read again", s.Path)
			}
		}
		if withdrawn {
			move(t, away, other)
		}
	}
}

// A file that cannot be read while everything is read again is not forgotten, whatever
// inputs the next runs name.
func TestReadingAgainCannotRead(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config, changed := pipetest.MustLoad(t), pipetest.MustLoad(t, "extract.clean=none")
	third := pipetest.WriteRecords(t, pipetest.Archived("response", "third", "http://third.example/", 1, pipetest.OkHTML+"<p>This is the third file of all, and says what no other says."))
	dir, want := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "want")
	pipetest.RunAll(t, dir, config, workspace.Options{}, crawl, other)
	extractPart(t, dir, changed)
	in(t, dir, changed, func(w *workspace.Workspace) error { // as where it could not be opened, and now can
		known, err := w.Sources()
		if err != nil {
			return err
		}
		b := w.DB.Batch()
		for _, s := range known {
			if filepath.Base(s.Path) == filepath.Base(other) && s.IsUnread() {
				s.State, s.Error = inputs.Unreadable, "cannot be opened"
				err = b.SetJSON(layout.SourceKey(s.Path), s)
			}
		}
		return errors.Join(err, b.Commit())
	})
	pipetest.RunAll(t, dir, changed, workspace.Options{}, third)
	pipetest.RunAll(t, want, changed, workspace.Options{}, crawl, other, third)
	sameContents(t, "with another input named", contentsOf(t, dir, changed), contentsOf(t, want, changed))
}

// A WACZ file that was rewritten while it was to be read again is read as it is now if it is
// named, also where an archive is gone from it.
func TestReadingAgainARewrittenWACZ(t *testing.T) {
	config, changed := pipetest.MustLoad(t), pipetest.MustLoad(t, "extract.clean=none")
	crawl, path := pipetest.Crawl(t), filepath.Join(t.TempDir(), "crawl.wacz")
	dir, want := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "want")
	one, two := numbered(t, "one", 20), numbered(t, "two", 20)
	pipetest.WriteFile(t, path, zipOf(t, zip.Store, map[string][]byte{"archive/a.warc": one, "archive/b.warc": two}))
	pipetest.RunAll(t, dir, config, workspace.Options{}, crawl, path)
	extractPart(t, dir, changed)
	pipetest.WriteFile(t, path, zipOf(t, zip.Store, map[string][]byte{"archive/a.warc": one}))
	refused(t, "rewritten", dir, changed)
	pipetest.RunAll(t, dir, changed, workspace.Options{}, path)
	pipetest.RunAll(t, want, changed, workspace.Options{}, crawl, path)
	sameContents(t, "named", contentsOf(t, dir, changed), contentsOf(t, want, changed))
}
