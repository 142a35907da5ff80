package exports_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/cluster"
	"neardup/pipeline/exports"
	"neardup/pipeline/groups"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// All formats have the same pages, each in one cluster.
func TestFormatsAgree(t *testing.T) {
	for _, settings := range [][]string{nil, {"verify.closing=transitive"}, {"verify.contained=links", "verify.containment=0.5"}, {"verify.resemblance=0.2", "verify.whole=0"}} {
		t.Run(strings.Join(settings, " "), func(t *testing.T) {
			dir := t.TempDir()
			pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{}, pipetest.Crawl(t))
			w := pipetest.OpenWith(t, dir, settings...)
			pipetest.CheckFormats(t, w)
			before := allFormats(t, w)
			pipetest.Spill(t)
			for format, b := range allFormats(t, w) {
				if !bytes.Equal(b, before[format]) {
					t.Errorf("%s: other bytes with little memory", format)
				}
			}
		})
	}
}

func allFormats(t *testing.T, w *workspace.Workspace) map[string][]byte {
	out := map[string][]byte{}
	for _, format := range exports.Names("") {
		if format != "wacz" && format != "warc" {
			out[format] = pipetest.ExportOf(t, w, exports.Options{Format: format})
		}
	}
	return out
}

// Gathering gives what looking up every page gives.
func TestGatherIsALookupOfEachPage(t *testing.T) {
	dir := t.TempDir()
	file := pipetest.Crawl(t)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "again.warc.gz"), b) // every document in two files, of which the first by name counts
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, file, again)
	w := pipetest.OpenWith(t, dir)
	var texts []groups.Wanted
	for r, err := range w.DB.Table(layout.TableOccurrence) {
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := layout.ParseOccurrenceKey(r.Key())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(texts); n == 0 || texts[n-1].Text != text {
			texts = append(texts, groups.Wanted{Group: cluster.ID{15: text[0] % 4}, Text: text}) // groups that mix the texts
		}
	}
	finder, err := results.NewPageFinder(w.DB)
	if err != nil {
		t.Fatal(err)
	}
	defer finder.Close()
	var want []groups.TextPages
	for _, text := range texts {
		p := groups.TextPages{Wanted: text}
		for r, err := range finder.Occurrences.Rows(layout.OccurrencesOf(text.Text)) {
			if err != nil {
				t.Fatal(err)
			}
			_, d, err := layout.ParseOccurrenceKey(r.Key())
			if err != nil {
				t.Fatal(err)
			}
			m, err := finder.Page(d)
			if err != nil {
				t.Fatal(err)
			}
			p.Pages = append(p.Pages, m)
		}
		slices.SortFunc(p.Pages, func(a, b report.Member) int {
			if c := report.FalseFirst(a.RevisitOf != "", b.RevisitOf != ""); c != 0 {
				return c
			}
			return groups.ComparePages(a, b)
		})
		want = append(want, p)
	}
	slices.SortFunc(want, func(a, b groups.TextPages) int {
		if c := rows.CompareTexts(a.Group, b.Group); c != 0 {
			return c
		}
		return rows.CompareTexts(a.Text, b.Text)
	})
	defer func(n int) { groups.PartPages = n }(groups.PartPages)
	for _, n := range []int{groups.PartPages, groups.PartPages, 2, 1} {
		groups.PartPages = n
		gathered, err := results.Gather(context.Background(), w.DB, func(yield func(groups.Wanted, error) bool) {
			for _, text := range texts {
				if !yield(text, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		var before []report.Member // of the parts before
		for p, err := range groups.Pages(context.Background(), gathered.Sorted(), w.DB.Tmp) {
			if err != nil || p.From != len(before) || len(p.Pages) > n {
				t.Fatalf("text %d: got %+v (%v) after %d pages", i, p, err, len(before))
			}
			if before = append(before, p.Pages...); p.More {
				continue
			}
			p.From, p.Pages, before = 0, before, nil
			if i == len(want) || !reflect.DeepEqual(p, want[i]) {
				t.Fatalf("text %d: got %+v", i, p)
			}
			if strings.HasPrefix(p.Pages[0].WARC, "crawl") {
				t.Errorf("of two files %s was shown", p.Pages[0].WARC)
			}
			i++
		}
		if i != len(want) {
			t.Errorf("%d texts, want %d", i, len(want))
		}
		if err := gathered.Close(); err != nil {
			t.Error(err)
		}
		pipetest.Spill(t)
	}
}

// An export that is cancelled, or finds the disk full, at any moment leaves what
// was there, and no file beside it.
func TestExportsAreWholeOrNotAtAll(t *testing.T) {
	dir, out := t.TempDir(), t.TempDir()
	wacz := writeWACZ(t, filepath.Join(t.TempDir(), "a.wacz"), pipetest.Crawl(t))
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, wacz)
	w := pipetest.OpenWith(t, dir)
	pipetest.Spill(t)
	defer func(n int) { groups.PartPages = n }(groups.PartPages)
	groups.PartPages = 1
	path := filepath.Join(out, "export")
	check := func(what string, err, want error) {
		t.Helper()
		b, readErr := os.ReadFile(path)
		if !errors.Is(err, want) || readErr != nil || string(b) != "before" {
			t.Errorf("%s: %v; the file that was there has %d bytes (%v)", what, err, len(b), readErr)
		}
		for _, d := range []string{out, w.DB.Tmp} {
			if files, err := os.ReadDir(d); err != nil || len(files) > 1 || len(files) == 1 && files[0].Name() != "export" {
				t.Errorf("%s: left %v (%v)", what, files, err)
			}
		}
	}
	for _, format := range exports.Names("") {
		if strings.HasPrefix(format, "summary") || (exports.Options{Format: format}).Directory() {
			continue
		}
		o := exports.Options{Format: format, WACZ: wacz}
		if format != "wacz" {
			o.WACZ = ""
		}
		pipetest.WriteFile(t, path, []byte("before"))
		asked := &pipetest.Countdown{Context: context.Background(), Left: 1 << 30}
		size := &counter{Writer: io.Discard}
		if err := exports.Write(asked, w, o, size); err != nil {
			t.Fatal(format, err)
		}
		most := 1<<30 - asked.Left
		for _, left := range []int{0, 1, most / 2, most - 1} {
			err := exports.ExportFile(path, func(out io.Writer) error {
				return exports.Write(&pipetest.Countdown{Context: context.Background(), Left: left}, w, o, out)
			})
			check(fmt.Sprintf("%s cancelled at check %d of %d", format, left, most), err, context.Canceled)
		}
		for _, room := range []int{0, 100, size.n / 2, size.n - 1} {
			err := exports.ExportFile(path, func(out io.Writer) error {
				return exports.Write(context.Background(), w, o, &counter{Writer: out, room: room, bounded: true})
			})
			check(fmt.Sprintf("%s with room for %d of %d bytes", format, room, size.n), err, pipetest.ErrNoRoom)
		}
	}
}

// counter counts bytes, and takes no more than there is room for.
type counter struct {
	io.Writer
	n, room int
	bounded bool
}

func (c *counter) Write(p []byte) (int, error) {
	if c.bounded && c.n+len(p) > c.room {
		return 0, pipetest.ErrNoRoom
	}
	c.n += len(p)
	return c.Writer.Write(p)
}
