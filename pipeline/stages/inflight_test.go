package stages_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/extract/container"
	"neardup/pipeline/inflight"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// warnings keeps what it is warned of.
type warnings struct {
	workspace.Silent
	all []string
}

func (w *warnings) Warn(message string, args ...any) { w.all = append(w.all, message) }

// A process that ends while it reads a record leaves a note. The next run tries
// the record, and skips it if that fails, or if it is there again and again.
func TestRecordsThatEndRuns(t *testing.T) {
	const pages, bad = 30, 17
	var records [][]byte
	for i := range pages {
		records = append(records, pipetest.Archived("response", fmt.Sprint(i), fmt.Sprintf("http://a.example/%d", i), 1,
			pipetest.OkHTML+fmt.Sprintf("<p>Page %d says that %x is its number.", i, i*i)))
	}
	path := pipetest.WriteRecords(t, records...)
	source, _, err := inputs.Find(t.Context(), t.TempDir(), []string{path}, nil, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	before := make([]container.Position, 1, pages+1) // each record
	_, err = stages.ReadFile(context.Background(), source[0], pipetest.Limits, func(j *stages.Job) error {
		before = append(before, j.Position())
		return nil
	})
	if err != nil || len(before) != pages+1 {
		t.Fatal(before, err)
	}
	died := errors.New("signal: killed")
	for name, test := range map[string]struct {
		tries []error // of the record, by the runs that ended at it
		kills bool    // trying it ends the process too
		stops int     // tries that somebody interrupts
		skips bool
	}{
		"it ends its process":         {[]error{died}, false, 0, true},
		"it does no harm":             {[]error{nil}, false, 0, false},
		"it does no harm, twice":      {[]error{nil, nil}, false, 0, false},
		"it is there again and again": {[]error{nil, nil, nil}, false, 0, true},
		"it ends what tries it":       {[]error{died}, true, 0, true},
		"somebody ends what tries it": {[]error{nil}, false, 4, false},
	} {
		dir := filepath.Join(t.TempDir(), "ws")
		tried, warned := 0, &warnings{}
		var interrupt func()
		try := func(_ context.Context, s inputs.Source, c configs.Config) (string, error) {
			if s.Position != before[bad] || s.Path != source[0].Path || len(c.Extract.Statuses) == 0 {
				t.Errorf("%s: tried %+v", name, s.Position)
			}
			if interrupt != nil {
				interrupt()
				return "", context.Canceled
			}
			tried++
			if test.kills {
				panic(died)
			}
			return "http://a.example/17", test.tries[tried-1]
		}
		opened := func(do func(*workspace.Workspace) error) {
			t.Helper()
			w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{Workers: 2, Progress: warned, Try: try})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if p := recover(); p != nil && p != died {
					panic(p)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}()
			if err := do(w); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		opened(func(w *workspace.Workspace) error { // the stage begins
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := w.Run(ctx, "extract", "extract", source); !errors.Is(err, context.Canceled) {
				return fmt.Errorf("not cancelled: %w", err)
			}
			return nil
		})
		for i := range test.tries {
			opened(func(w *workspace.Workspace) error { // a run that ends
				if err := w.Admit(context.Background(), source); err != nil {
					return err
				}
				if i > 0 {
					if err := inflight.TryEnded(context.Background(), w); err != nil {
						return err
					}
				}
				notes, err := inflight.Open(w)
				if err != nil {
					return err
				}
				return errors.Join(notes.Begin(0, path, before[3]), notes.Begin(1, source[0].Path, before[bad]),
					notes.Begin(2, source[0].Path, before[5]), notes.End(0), notes.End(2))
			})
		}
		if test.kills {
			for range 2 {
				opened(func(w *workspace.Workspace) error { return w.Run(context.Background(), "extract", "extract", source) })
			}
		}
		for range test.stops {
			opened(func(w *workspace.Workspace) error {
				ctx, cancel := context.WithCancel(context.Background())
				interrupt = cancel
				defer func() { interrupt = nil }()
				if err := w.Run(ctx, "extract", "extract", source); !errors.Is(err, context.Canceled) {
					return fmt.Errorf("an interrupted try: %w", err)
				}
				return nil
			})
		}
		opened(func(w *workspace.Workspace) error {
			if err := w.Run(context.Background(), "extract", "extract", source); err != nil {
				return err
			}
			var c results.ExtractCounts
			want := int64(0)
			if test.skips {
				want = 1
			}
			if err := w.Counts("extract", &c); err != nil {
				return err
			}
			named := slices.ContainsFunc(warned.all, func(s string) bool { return strings.Contains(s, "page that ended a run is skipped") })
			if c.Records != pages || c.Captures != pages-want || c.Skipped["ended-run"] != want || named != test.skips {
				t.Errorf("%s: %d of %d captures, skipped %v, warned %q", name, c.Captures, c.Records, c.Skipped, warned.all)
			}
			if known, err := w.Sources(); err != nil || test.kills && (len(known[0].Ended) != 1 || known[0].Ended[0].Deaths != inputs.MaxDeaths || known[0].Ended[0].Error == "") {
				t.Errorf("%s: %+v, %v", name, known, err) // a run that ends in the try counts, too
			}
			return nil
		})
		if _, err := os.Stat(filepath.Join(dir, "in-flight")); err == nil {
			t.Errorf("%s: notes are left", name)
		}
	}
}
