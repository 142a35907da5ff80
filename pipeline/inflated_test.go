package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"neardup/configs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/reading"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// inflating returns an archive of pages that are decoded to much, between good pages.
func inflating(t *testing.T, pages int) []byte {
	t.Helper()
	var coded, out bytes.Buffer
	w := brotli.NewWriter(&coded)
	if _, err := io.WriteString(w, strings.Repeat("<p>kite ", 26_000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range pages {
		out.WriteString(good(fmt.Sprint("before", i)))
		out.WriteString(pipetest.Answer(fmt.Sprintf("http://bad.test/%d", i), "2020-01-01T00:00:00Z", "Content-Encoding: br", coded.String(), 0))
	}
	return out.Bytes()
}

// A file that is decoded to more than it is allowed loses the pages that are over it,
// and no neighbour of theirs: the same pages for any number of workers, and wherever a
// run was interrupted.
func TestFilesThatInflate(t *testing.T) {
	const pages = 40
	path := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "x.warc"), inflating(t, pages))
	config := pipetest.MustLoad(t, "extract.max_decoded_bytes=1048576", "extract.max_inflation=1")
	want := inputs.RecordCounts{}
	all := []int{1, 2, 8}
	if testing.Short() {
		all = all[2:]
	}
	for _, workers := range all {
		for at := range []int{0, 1, 2} {
			dir := filepath.Join(t.TempDir(), "ws")
			if at > 0 {
				ctx, stop := context.WithCancel(t.Context())
				err := extractWith(t, ctx, dir, config, workers, &stopsAfter{stop: stop, left: at * 21}, path)
				if stop(); err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
			}
			if err := extractWith(t, t.Context(), dir, config, workers, workspace.Silent{}, path); err != nil {
				t.Fatal(err)
			}
			s := soleInput(t, dir)
			if want.Records == 0 {
				want = s.Counts
			}
			if s.Counts.Captures != want.Captures || !maps.Equal(s.Counts.Skipped, want.Skipped) || s.Decoded > 1<<20+s.Size {
				t.Errorf("%d workers, interrupted after %d: %+v, want %+v; decoded to %d", workers, at*21, s.Counts, want, s.Decoded)
			}
		}
	}
	// 1,048,576 bytes are room for five pages of 208,000
	if want.Records != 2*pages || want.Skipped["inflated"] != pages-5 || want.Captures != pages+5 {
		t.Errorf("%+v", want)
	}
	sources, _, err := inputs.Find(t.Context(), t.TempDir(), []string{path}, nil, config.Extract.Limits)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := reading.WriteTexts(t.Context(), io.Discard, sources, reading.Options{Extract: config.Extract, Workers: 2, Progress: workspace.Silent{}}, reading.TextOptions{})
	if err != nil || counts.Captures != want.Captures || !maps.Equal(counts.Skipped, want.Skipped) {
		t.Errorf("without a workspace: %+v, %v", counts.RecordCounts, err)
	}
	// Under the default settings nothing is near the limit.
	dir := filepath.Join(t.TempDir(), "ws")
	if err := extractWith(t, t.Context(), dir, pipetest.MustLoad(t), 2, workspace.Silent{}, path); err != nil {
		t.Fatal(err)
	}
	if c := soleInput(t, dir).Counts; c.Captures != 2*pages {
		t.Errorf("by default: %+v", c)
	}
}

// stopsAfter stops a run after some events.
type stopsAfter struct {
	workspace.Silent
	stop context.CancelFunc
	left int
}

func (s *stopsAfter) Add(int64) {
	if s.left--; s.left == 0 {
		s.stop()
	}
}

func extractWith(t *testing.T, ctx context.Context, dir string, config configs.Config, workers int, p workspace.Progress, path string) error {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, config, true, workspace.Options{Workers: workers, CommitBytes: 1, Progress: p})
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := inputs.Find(t.Context(), dir, []string{path}, nil, config.Extract.Limits)
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(ctx, "extract", "extract", slices.Clone(sources))
	return errors.Join(err, w.Close())
}
