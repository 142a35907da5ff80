package exports_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/pipeline/exports"
	"neardup/pipeline/groups"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// again opens a workspace, adds files without writing the exports, and has use use it.
func again(t *testing.T, dir string, files []string, use func(w *workspace.Workspace)) {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t, "verify.containment=0.8", "verify.rare_pages=0", "sign.smallest=1"), true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	if len(files) > 0 {
		sources, _, err := inputs.Find(t.Context(), dir, files, nil, pipetest.Limits)
		if err == nil {
			err = w.Run(t.Context(), workspace.StageExtract, workspace.StageVerify, sources)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	use(w)
}

// updated reports whether the exports are written from those of the run before, and
// checks that they are what the tables give.
func updated(t *testing.T, w *workspace.Workspace) (ok bool) {
	t.Helper()
	ok, err := exports.Update(t.Context(), w, 0)
	if err != nil || !ok {
		if err != nil {
			t.Error(err)
		}
		return false
	}
	whole := t.TempDir()
	if _, err := exports.WriteAllTo(context.Background(), w, whole, func(report.Cluster) {}); err != nil {
		t.Fatal(err)
	}
	for _, name := range exports.Files {
		got, err := os.ReadFile(w.Path("exports", name))
		want, wantErr := os.ReadFile(filepath.Join(whole, name))
		if err != nil || wantErr != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the tables give (%v, %v)", name, err, wantErr)
		}
	}
	return true
}

// Runs that add crawls in one go take from the exports what did not change.
func TestExportsOfGrowth(t *testing.T) {
	t.Run("whole", testExportsOfGrowth)
	t.Run("in parts", func(t *testing.T) {
		defer func(n int) { groups.PartPages = n }(groups.PartPages)
		groups.PartPages = 2
		testExportsOfGrowth(t)
	})
}

func testExportsOfGrowth(t *testing.T) {
	web, files := pipetest.NewWeb(4, 3), t.TempDir()
	crawl := func(week int) []string {
		file := filepath.Join(files, fmt.Sprintf("week-%d.warc", week))
		if err := web.Crawl(file, 60); err != nil {
			t.Fatal(err)
		}
		return []string{file}
	}
	dir := filepath.Join(t.TempDir(), "ws")
	again(t, dir, crawl(0), func(w *workspace.Workspace) {
		if updated(t, w) {
			t.Error("there were no exports to update")
		}
		pipetest.WriteAll(t, w)
	})
	added := false
	for week := 1; week < 6; week++ {
		again(t, dir, crawl(week), func(w *workspace.Workspace) {
			before := pipetest.RowsOf(t, w, layout.TableExported)
			if cancelled(t, w, before) == 0 {
				t.Errorf("week %d: no update was cancelled", week)
			}
			if !updated(t, w) {
				t.Errorf("week %d: exports are written as a whole", week)
			}
			after := pipetest.RowsOf(t, w, layout.TableExported)
			added = added || len(before) > 0 && len(after) > len(before)
			if !updated(t, w) {
				t.Errorf("week %d: exports without changes are written as a whole", week)
			}
			if again := pipetest.RowsOf(t, w, layout.TableExported); again != after {
				t.Errorf("week %d: rows %s, and without changes %s", week, after, again)
			}
		})
	}
	if !added {
		t.Error("no week adds groups to others")
	}
}

// cancelled cancels updates at one place after the other, none of which may change a
// file or a row, until one ends. It returns how many were cancelled.
func cancelled(t *testing.T, w *workspace.Workspace, rows string) (n int) {
	t.Helper()
	files := func() (all []byte) {
		for _, name := range exports.Files {
			b, err := os.ReadFile(w.Path("exports", name))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b...)
		}
		return all
	}
	before := files()
	for {
		ok, err := exports.Update(&pipetest.Countdown{Context: t.Context(), Left: n}, w, 0)
		if ok {
			return n
		}
		if !errors.Is(err, context.Canceled) || !bytes.Equal(files(), before) || pipetest.RowsOf(t, w, layout.TableExported) != rows {
			t.Errorf("cancelled at place %d: %v, or files or rows changed", n, err)
			return n
		}
		n++
	}
}

// Exports that another program or person touched, or of which not all changes are
// known, are written as a whole.
func TestExportsThatCannotBeUpdated(t *testing.T) {
	web, files := pipetest.NewWeb(5, 2), t.TempDir()
	var crawls []string
	for week := range 3 {
		crawls = append(crawls, filepath.Join(files, fmt.Sprintf("week-%d.warc", week)))
		if err := web.Crawl(crawls[week], 60); err != nil {
			t.Fatal(err)
		}
	}
	first := filepath.Join(t.TempDir(), "ws")
	again(t, first, crawls[:1], func(w *workspace.Workspace) { pipetest.WriteAll(t, w) })
	change := func(name string, how func(b []byte) []byte) func(dir string) {
		return func(dir string) {
			path := filepath.Join(dir, "exports", name)
			b, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, how(b), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(b []byte) []byte { b[len(b)-3] ^= 1; return b }
	for name, x := range map[string]struct {
		before func(dir string)
		files  []string
		ok     bool
	}{
		"as they were":       {func(string) {}, crawls[:2], true},
		"another byte":       {change("clusters.jsonl", flip), crawls[:2], false},
		"another byte, CSV":  {change("clusters.csv", flip), crawls[:2], false},
		"shorter":            {change("clusters.csv", func(b []byte) []byte { return b[:len(b)-1] }), crawls[:2], false},
		"longer":             {change("clusters.jsonl", func(b []byte) []byte { return append(b, '\n') }), crawls[:2], false},
		"gone":               {func(dir string) { _ = os.Remove(filepath.Join(dir, "exports", "contained.jsonl")) }, crawls[:2], false},
		"input at two paths": {func(string) {}, []string{copied(t, crawls[0]), crawls[1]}, false},
		"after another run": {func(dir string) {
			again(t, dir, crawls[1:2], func(w *workspace.Workspace) {
				if note, ok, err := w.DB.Get(layout.MetaKey("exports")); ok || err != nil {
					t.Errorf("the workspace says of its exports, which are old: %s (%v)", note, err)
				}
			})
		}, crawls, false},
		"of another program": {func(dir string) { withOldNote(t, dir, crawls[1:2]) }, crawls, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ws")
			if err := os.CopyFS(dir, os.DirFS(first)); err != nil {
				t.Fatal(err)
			}
			x.before(dir)
			again(t, dir, x.files, func(w *workspace.Workspace) {
				if ok := updated(t, w); ok != x.ok {
					t.Errorf("updated %v, want %v", ok, x.ok)
				}
				pipetest.WriteAll(t, w)
			})
		})
	}
}

// copied copies a file to a path that comes before its own.
func copied(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir, name := filepath.Split(file)
	return pipetest.WriteFile(t, filepath.Join(dir, "a", name), b)
}

// withOldNote adds files as a program does that leaves the note of the exports.
func withOldNote(t *testing.T, dir string, files []string) {
	t.Helper()
	var note []byte
	again(t, dir, nil, func(w *workspace.Workspace) {
		v, ok, err := w.DB.Get(layout.MetaKey("exports"))
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		note = bytes.Clone(v)
	})
	again(t, dir, files, func(w *workspace.Workspace) {
		b := w.DB.Batch()
		if err := b.Set(layout.MetaKey("exports"), note); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	})
}

// Clusters change with no row of their own where another file comes to have their pages,
// where a page that they contain is withdrawn, and where one comes.
func TestExportsOfOtherPages(t *testing.T) {
	sentences := pipetest.Scripts(rand.New(rand.NewPCG(3, 9)))[0](660)
	page := func(id, host string, from, to int) string {
		body := strings.Join(sentences[from*len(sentences)/11:to*len(sentences)/11], "")
		return string(pipetest.Archived("response", id, "http://"+host+".example/", 1, pipetest.OkHTML+"<p>"+body))
	}
	first := page("a", "a", 0, 10) + page("b", "b", 0, 9) + page("notice", "notice", 0, 4)
	file := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "of-all.warc"), []byte(first))
	dir := filepath.Join(t.TempDir(), "ws")
	contained := func(w *workspace.Workspace) bool {
		b, err := os.ReadFile(w.Path("exports", "contained.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return len(b) > 0
	}
	again(t, dir, []string{file}, func(w *workspace.Workspace) {
		if pipetest.WriteAll(t, w); !contained(w) {
			t.Fatal("no page is contained in others")
		}
	})
	earlier := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "a-first.warc"), []byte(page("a", "a", 0, 10)+page("other", "other", 10, 11)))
	again(t, dir, []string{earlier}, func(w *workspace.Workspace) {
		if !updated(t, w) {
			t.Error("another file with a page: exports are written as a whole")
		}
		if b, err := os.ReadFile(w.Path("exports", "clusters.jsonl")); err != nil || !bytes.Contains(b, []byte("a-first.warc")) {
			t.Errorf("the page is still said to be in the other file (%v)", err)
		}
	})
	again(t, dir, nil, func(w *workspace.Workspace) {
		if _, err := withdrawals.Withdraw(t.Context(), w, withdrawn.Withdrawal{URI: "http://notice.example/*"}); err != nil {
			t.Fatal(err)
		}
		if err := w.Run(t.Context(), workspace.StageExtract, workspace.StageVerify, nil); err != nil {
			t.Fatal(err)
		}
		if !updated(t, w) {
			t.Error("a page less: exports are written as a whole")
		}
		if contained(w) {
			t.Error("a withdrawn page is still contained in others")
		}
	})
	part := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "part.warc"), []byte(page("part", "part", 0, 4)))
	again(t, dir, []string{part}, func(w *workspace.Workspace) {
		if !updated(t, w) || !contained(w) {
			t.Error("a page that others contain: exports are written as a whole, or without it")
		}
	})
}

// The pages of a large cluster are not looked up one by one, neither to write it again
// nor to show it.
func TestExportsOfALargeCluster(t *testing.T) {
	latin := pipetest.Scripts(rand.New(rand.NewPCG(3, 9)))[0]
	text := func() string { return strings.Join(latin(60), "") }
	large, small := text(), text()
	n := 0
	lines := func(texts ...string) []string {
		n += len(texts)
		return []string{pipetest.WriteTexts(t, n-len(texts), texts)}
	}
	dir := filepath.Join(t.TempDir(), "ws")
	again(t, dir, lines(slices.Concat(slices.Repeat([]string{large}, 4100), []string{small, small})...), func(w *workspace.Workspace) { pipetest.WriteAll(t, w) })
	again(t, dir, lines(small), func(w *workspace.Workspace) {
		if ok, err := exports.Update(t.Context(), w, 1); ok || err != nil {
			t.Errorf("a large cluster is looked up to be shown (%v)", err)
		}
		if !updated(t, w) {
			t.Error("exports are written as a whole, though a small cluster changed")
		}
		pipetest.WriteAll(t, w)
	})
	again(t, dir, lines(large), func(w *workspace.Workspace) {
		if updated(t, w) {
			t.Error("a large cluster is looked up to be written again")
		}
		pipetest.WriteAll(t, w)
	})
}
