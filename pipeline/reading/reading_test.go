package reading

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"neardup/extract"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns the ids and texts that Each gives, and its error.
func read(t *testing.T, ctx context.Context, o Options, stop int, names ...string) (got []string, err error) {
	t.Helper()
	config := pipetest.MustLoad(t)
	sources, _, err := inputs.Find(t.Context(), t.TempDir(), names, nil, config.Extract.Limits)
	if err != nil {
		t.Fatal(err)
	}
	o.Extract, o.Progress = config.Extract, workspace.Silent{}
	_, err = Each(ctx, sources, o, func(d extract.Document) error {
		if got = append(got, d.RecordID+" "+d.Text); len(got) == stop {
			return errStop
		}
		return nil
	})
	return got, err
}

var errStop = errors.New("stop")

// TestOrder: documents come source by source in the order of their records,
// whatever the number of workers, and an error of take ends the reading.
func TestOrder(t *testing.T) {
	var first, second strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&first, "a%d\tLine %d says something of its own.\n", i, i)
		fmt.Fprintf(&second, "b%d\t%s\n", i, strings.Repeat("More of a text. ", i%50+1))
	}
	a, b := write(t, "a.tsv", first.String()), write(t, "b.tsv", second.String())
	want, err := read(t, t.Context(), Options{Workers: 1, LineIDs: true}, 0, a, b)
	if err != nil || len(want) != 4000 || !strings.HasPrefix(want[0], "a0 Line 0") || !strings.HasPrefix(want[3999], "b1999 More") {
		t.Fatalf("%d texts, %v", len(want), err)
	}
	for workers := range 5 {
		got, err := read(t, t.Context(), Options{Workers: workers, LineIDs: true}, 0, a, b)
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%d workers: %d texts, %v", workers, len(got), err)
		}
		got, err = read(t, t.Context(), Options{Workers: workers, LineIDs: true}, 2500, a, b)
		if !errors.Is(err, errStop) || strings.Join(got, "\n") != strings.Join(want[:2500], "\n") {
			t.Errorf("%d workers, stopped: %d texts, %v", workers, len(got), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(t, ctx, Options{Workers: 2}, 0, a, b); !errors.Is(err, context.Canceled) {
		t.Errorf("ended before it began: %v", err)
	}
}

// TestMemoryIsReleased: many records are read in succession, more of them than are in
// memory at a time.
func TestMemoryIsReleased(t *testing.T) {
	var b strings.Builder
	unread := strings.Repeat("a", 1<<20)
	n := 0
	for ; b.Len() <= stages.InFlight+stages.InFlight/8; n++ {
		fmt.Fprintf(&b, `{"id":"%d","unread":"%s","text":"Line %d says something of its own."}`+"\n", n, unread, n)
	}
	path := write(t, "a.jsonl", b.String())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	got, err := read(t, ctx, Options{Workers: 2, LineIDs: true}, 0, path)
	if err != nil || len(got) != n || got[n-1] != fmt.Sprintf("%d Line %d says something of its own.", n-1, n-1) {
		t.Errorf("%d of %d texts, %v", len(got), n, err)
	}
}

// TestPages: a file that is no archive is a page where that is asked for, in its
// place among the others.
func TestPages(t *testing.T) {
	a, p, picture := write(t, "a.tsv", "x\tOne line of text.\n"), write(t, "p.html", "<title>T</title><p>A page."), write(t, "x.png", "\x89PNG\r\n\x1a\n\x00\x00")
	uri := func(s inputs.Source) string { return "file://" + filepath.Base(s.Path) }
	got, err := read(t, t.Context(), Options{PageURI: uri, LineIDs: true}, 0, p, a, picture)
	if !errors.Is(err, workspace.ErrInputFailure) || !strings.Contains(err.Error(), "1 of 3 files") || !strings.Contains(err.Error(), "and no page") {
		t.Errorf("%v", err)
	}
	if len(got) != 2 || !strings.HasSuffix(got[0], "> A page.") || got[1] != "x One line of text." {
		t.Errorf("%q", got)
	}
	got, err = read(t, t.Context(), Options{LineIDs: true}, 0, p, a)
	if !errors.Is(err, workspace.ErrInputFailure) || len(got) != 1 {
		t.Errorf("not asked for: %q, %v", got, err)
	}
}
