package pipeline_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"neardup/pipeline/checking"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// numbered is an archive of so many pages.
func numbered(t *testing.T, word string, pages int) []byte {
	var records [][]byte
	for i := range pages {
		text := fmt.Sprintf("<p>Page %d of %s says that %x is its number.", i, word, i*i)
		records = append(records, pipetest.Archived("response", fmt.Sprint(word, i), fmt.Sprintf("http://a.example/%s/%d", word, i), 1, pipetest.OkHTML+text))
	}
	b, err := os.ReadFile(pipetest.WriteRecords(t, records...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// watcher stops or changes something once half of the bytes are through, and
// keeps warnings.
type watcher struct {
	meter
	warned []string
}

func (w *watcher) Warn(message string, args ...any) {
	w.warned = append(w.warned, fmt.Sprint(append([]any{message, " "}, args...)...))
}

func (w *watcher) warnedOf(message, name string) bool {
	return slices.ContainsFunc(w.warned, func(s string) bool { return strings.HasPrefix(s, message) && strings.Contains(s, name) })
}

// extractInto runs the extraction in dir, and returns the texts that it has.
func extractInto(t *testing.T, ctx context.Context, dir string, p workspace.Progress, paths ...string) (texts []string, failure error) {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{Workers: 2, CommitBytes: 4 << 10, Progress: p})
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
	failure = w.Run(ctx, "extract", "extract", sources)
	for r, err := range w.DB.Table('t') {
		if err != nil {
			t.Fatal(err)
		}
		v, err := r.Value()
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(v))
	}
	return texts, failure
}

func soleInput(t *testing.T, dir string) inputs.Source {
	t.Helper()
	m, err := workspace.ReadManifest(dir)
	if err != nil || len(m.Inputs) != 1 {
		t.Fatal(m.Inputs, err)
	}
	return m.Inputs[0]
}

// A file that changes while it is half read is noticed, and named, and read
// again: by the next run, which may name no inputs.
func TestInputsThatChange(t *testing.T) {
	const pages = 1500
	old, same := numbered(t, "old", pages), numbered(t, "new", pages)
	if len(old) != len(same) {
		t.Fatal("the archives have different sizes")
	}
	middle := bytes.Clone(old)
	at := bytes.Index(middle[100<<10:], []byte(" of old says")) + 100<<10
	copy(middle[at:], " of odd says")
	for name, test := range map[string]struct {
		now     []byte
		touched bool // nothing but the time changes
	}{
		"another of the same size": {same, false}, "a shorter one": {numbered(t, "new", 200), false}, "a longer one": {append(bytes.Clone(old), same...), false},
		"a word of its first half": {middle, false}, "its time": {old, true},
	} {
		for _, during := range []bool{false, true} { // the run, or between two
			path := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "crawl.warc"), old)
			dir := filepath.Join(t.TempDir(), "ws")
			ctx, cancel := context.WithCancel(context.Background())
			change := func() {
				if err := errors.Join(os.WriteFile(path, test.now, 0o666), os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour))); err != nil {
					t.Error(err)
				}
			}
			first := &watcher{meter: meter{half: cancel}}
			if during {
				first.half = func() { change(); first.half = nil }
			}
			_, err := extractInto(t, ctx, dir, first, path)
			switch {
			case during && test.touched:
				if err != nil {
					t.Errorf("%s, during the run: %v", name, err)
				}
			case during:
				if !errors.Is(err, workspace.ErrInputFailure) || !strings.Contains(err.Error(), path+": it changed while it was read") {
					t.Errorf("%s, during the run: %v", name, err)
				}
			case !errors.Is(err, context.Canceled):
				t.Fatal(err)
			default:
				if in := soleInput(t, dir); in.State != inputs.Pending || in.Counts.Records == 0 || in.Digested == nil || in.Digested.Bytes < 100<<10 {
					t.Fatalf("half of it is not read: %+v", in)
				}
				change()
			}
			cancel()
			second := &watcher{}
			got, err := extractInto(t, context.Background(), dir, second)
			want, _ := extractInto(t, context.Background(), filepath.Join(t.TempDir(), "fresh"), workspace.Silent{}, path)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, during a run %v: %d texts, want %d (%v)", name, during, len(got), len(want), err)
			}
			if named := second.warnedOf("file changed since it was read", path); named == test.touched {
				t.Errorf("%s, during a run %v: warned %q", name, during, second.warned)
			}
			sum := sha256.Sum256(test.now)
			if in := soleInput(t, dir); in.SHA256 != hex.EncodeToString(sum[:]) || in.Digested != nil || in.Changed || in.State != inputs.Done {
				t.Errorf("%s, during a run %v: %+v", name, during, in)
			}
		}
	}
}

// A file that changes after it was read is named, and stays as it was read.
func TestInputsThatChangeLater(t *testing.T) {
	path := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "crawl.warc"), numbered(t, "old", 10))
	dir := filepath.Join(t.TempDir(), "ws")
	want, err := extractInto(t, context.Background(), dir, workspace.Silent{}, path)
	if err != nil {
		t.Fatal(err)
	}
	pipetest.WriteFile(t, path, numbered(t, "new", 20))
	p := &watcher{}
	if got, err := extractInto(t, context.Background(), dir, p); err != nil || !slices.Equal(got, want) || !p.warnedOf("file changed since it was read; name it", path) {
		t.Errorf("%d texts, %v, %q", len(got), err, p.warned)
	}
}

// A file that cannot be read for once, in part or not at all, is read by the next
// run from where it ended, and so do the stages behind it.
func TestInputsThatComeBack(t *testing.T) {
	for _, half := range []bool{true, false} {
		old := numbered(t, "old", 1500)
		path := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "crawl.warc"), old)
		dir := filepath.Join(t.TempDir(), "ws")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if !half { // the stage only begins
			cancel()
		}
		if _, err := extractInto(t, ctx, dir, &watcher{meter: meter{half: cancel}}, path); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		run := func(last string, before func()) (signed int64, err error) {
			w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			sources, _, err := inputs.Find(t.Context(), dir, []string{path}, nil, pipetest.Limits)
			if err != nil {
				t.Fatal(err)
			}
			before()
			err = w.Run(context.Background(), "extract", last, sources)
			signed, countErr := w.DB.Count('g')
			return signed, errors.Join(err, countErr)
		}
		first, err := run("sign", func() {
			if err := os.Rename(path, path+".away"); err != nil {
				t.Fatal(err)
			}
		})
		if !errors.Is(err, workspace.ErrInputFailure) || half != (first > 0) || first == 1500 {
			t.Fatalf("half %v: %d texts, %v", half, first, err)
		}
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		if second, err := run("sign", func() {}); err != nil || second != 1500 {
			t.Errorf("half %v: %d texts are signed, want all 1500 (%v)", half, second, err)
		}
		want := sha256.Sum256(old)
		if s := soleInput(t, dir); s.Counts.Records != 1500 || s.SHA256 != hex.EncodeToString(want[:]) {
			t.Errorf("half %v: %+v", half, s)
		}
		r, err := checking.Check(t.Context(), dir, func() (*workspace.Workspace, error) {
			return workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
		})
		if err != nil || len(r.Problems) > 0 {
			t.Errorf("half %v: %q, %v", half, r.Problems, err)
		}
	}
}

// A file that is gone fails the run that notices. Later ones do without, until
// it is there again.
func TestInputsThatVanish(t *testing.T) {
	for _, half := range []bool{true, false} {
		old := numbered(t, "old", 1500)
		path := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "crawl.warc"), old)
		other := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "other.warc"), numbered(t, "new", 10))
		dir := filepath.Join(t.TempDir(), "ws")
		ctx, cancel := context.WithCancel(context.Background())
		if half {
			if _, err := extractInto(t, ctx, dir, &watcher{meter: meter{half: cancel}}, path); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := extractInto(t, context.Background(), dir, workspace.Silent{}, path, other); !errors.Is(err, workspace.ErrInputFailure) {
			t.Errorf("half read %v: %v", half, err)
		}
		var left int
		for range 2 {
			p := &watcher{}
			texts, err := extractInto(t, context.Background(), dir, p)
			if err != nil || !p.warnedOf("file is gone", path) || half != (len(texts) > 10) {
				t.Errorf("half read %v: %v, %d texts, %q", half, err, len(texts), p.warned)
			}
			left = len(texts)
		}
		pipetest.WriteFile(t, path, old)
		if texts, err := extractInto(t, context.Background(), dir, workspace.Silent{}); err != nil || len(texts) != 1510 {
			t.Errorf("half read %v, back again: %d texts after %d, %v", half, len(texts), left, err)
		}
		cancel()
	}
}

// Where nothing was read of a file, a change of it is nothing that was read before: the
// others are read.
func TestInputsThatChangeBeforeTheyAreRead(t *testing.T) {
	files := t.TempDir()
	other := pipetest.WriteFile(t, filepath.Join(files, "other.warc"), numbered(t, "other", 10))
	goes := pipetest.WriteFile(t, filepath.Join(files, "goes.warc"), numbered(t, "goes", 10))
	grows := pipetest.WriteFile(t, filepath.Join(files, "grows.warc"), numbered(t, "grows", 10))
	dir := filepath.Join(t.TempDir(), "ws")
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := inputs.Find(t.Context(), dir, []string{files}, nil, pipetest.Limits)
	if err := errors.Join(err, os.Remove(goes)); err != nil {
		t.Fatal(err)
	}
	pipetest.WriteFile(t, grows, slices.Concat(numbered(t, "grows", 10), numbered(t, "more", 10)))
	err = w.Run(t.Context(), workspace.StageExtract, workspace.StageExtract, sources)
	if !errors.Is(err, workspace.ErrInputFailure) {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	texts, err := extractInto(t, t.Context(), dir, workspace.Silent{})
	if err != nil || len(texts) != 30 {
		t.Errorf("%d texts of %s and %s, want 30: %v", len(texts), other, grows, err)
	}
}

// The archives of a WACZ file at a URL are read by one reader: what ends with the first of
// them does not end it.
func TestInputsOfARemoteWACZ(t *testing.T) {
	dir := t.TempDir()
	pipetest.WriteFile(t, filepath.Join(dir, "crawl.wacz"), zipOf(t, zip.Store, map[string][]byte{
		"archive/a.warc": numbered(t, "one", 1500), "archive/b.warc": numbered(t, "two", 1500), "archive/c.warc": numbered(t, "three", 1500),
	}))
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	texts, err := extractInto(t, t.Context(), filepath.Join(t.TempDir(), "ws"), workspace.Silent{}, server.URL+"/crawl.wacz")
	if err != nil || len(texts) != 4500 {
		t.Errorf("%d texts, want 4500: %v", len(texts), err)
	}
}
