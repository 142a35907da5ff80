package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/extract/container"
)

// TestSameBytes checks that the exports depend on nothing but the records and
// the settings.
func TestSameBytes(t *testing.T) {
	check := func(t *testing.T, dir string, want [2]string) {
		t.Helper()
		for i, name := range []string{"clusters.jsonl", "clusters.csv"} {
			same(t, name, exported(t, dir, name), want[i])
		}
	}
	reference := func(t *testing.T, args ...string) [2]string {
		t.Helper()
		dir := t.TempDir()
		runIn(t, dir, args...)
		return [2]string{exported(t, dir, "clusters.jsonl"), exported(t, dir, "clusters.csv")}
	}
	want := reference(t, committed)
	if !strings.Contains(want[0], "\n") {
		t.Fatal("no clusters to compare")
	}
	parts := splitCrawl(t, t.TempDir(), 3)
	wantParts := reference(t, parts...)

	t.Run("workers", func(t *testing.T) {
		for _, workers := range []string{"1", "2", "5"} {
			dir := t.TempDir()
			runIn(t, dir, "--workers", workers, committed)
			check(t, dir, want)
		}
	})
	t.Run("order", func(t *testing.T) {
		for order := range permutations(parts) {
			dir := t.TempDir()
			runIn(t, dir, order...)
			check(t, dir, wantParts)
		}
	})
	t.Run("incremental", func(t *testing.T) {
		wantSummary := accountsOf(t, parts)
		for order := range permutations(parts) {
			dir := t.TempDir()
			for _, part := range order {
				runIn(t, dir, part)
			}
			check(t, dir, wantParts)
			same(t, "summary.json", accounts(t, dir), wantSummary)
		}
	})
	t.Run("parts and whole", func(t *testing.T) {
		// Of a capture that stands in two files, the first by name is shown:
		// crawl.warc.gz, not part-N.warc.gz.
		for _, order := range [][]string{append([]string{committed}, parts...), append(slices.Clone(parts), committed)} {
			dir := t.TempDir()
			for _, file := range order {
				runIn(t, dir, file)
			}
			check(t, dir, want)
		}
	})
	t.Run("stages", func(t *testing.T) {
		dir := t.TempDir()
		neardup(t, exitOK, "extract", "--workspace", dir, committed)
		for _, stage := range []string{"sign", "cluster", "verify"} {
			neardup(t, exitOK, stage, "--workspace", dir)
		}
		for i, format := range []string{"jsonl", "csv"} {
			same(t, format, neardup(t, exitOK, "export", "--workspace", dir, "--format", format), want[i])
		}
	})
	t.Run("templates", func(t *testing.T) {
		learned := []string{"--set", "text.frames=2"}
		wantLearned := reference(t, append(learned, parts...)...)
		if wantLearned == reference(t, append([]string{"--set", "text.frames=0"}, parts...)...) {
			t.Fatal("templates change nothing")
		}
		wantSummary := accountsOf(t, append(learned, parts...))
		for order := range permutations(parts) { // what comes later changes the templates of what was there
			dir := t.TempDir()
			for i, part := range order {
				runIn(t, dir, append(learned, "--workers", fmt.Sprint(i+1), part)...)
			}
			check(t, dir, wantLearned)
			same(t, "summary.json", accounts(t, dir), wantSummary)
			runIn(t, dir, "--config", "default")
			check(t, dir, wantParts)
		}
	})
	t.Run("options changed and back", func(t *testing.T) {
		dir := t.TempDir()
		runIn(t, dir, committed)
		check(t, dir, want)
		for _, change := range []string{
			"extract.max_text_bytes=1024", "extract.statuses=[200, 404]", "text.max_columns=900", "text.frames=3", "sign.smallest=2",
			"sign.modulus=5", "cluster.max_list=2", "cluster.merge=following", "verify.resemblance=0.9", "verify.closing=transitive",
		} {
			if status := neardup(t, exitOK, "status", "--workspace", dir, "--set", change); !strings.Contains(status, "stale (options)") {
				t.Errorf("%s changes no stage's options:\n%s", change, status)
			}
			runIn(t, dir, "--config", "default", "--set", change)
			runIn(t, dir, "--config", "default")
			check(t, dir, want)
		}
		runIn(t, dir, "--config", "paper")
		check(t, dir, reference(t, "--config", "paper", committed))
		runIn(t, dir, "--config", "default")
		check(t, dir, want)
	})
}

// accounts returns the summary of a workspace without times.
func accounts(t *testing.T, dir string) string {
	t.Helper()
	return withoutTimes(t, exported(t, dir, "summary.json"))
}

func accountsOf(t *testing.T, inputs []string) string {
	t.Helper()
	dir := t.TempDir()
	runIn(t, dir, inputs...)
	return accounts(t, dir)
}

// splitCrawl cuts the committed crawl between gzip members into n files.
func splitCrawl(t *testing.T, dir string, n int) (files []string) {
	t.Helper()
	crawl, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	var starts []int64
	for _, r := range records(t, crawl) {
		starts = append(starts, r.Offset)
	}
	for i := range n {
		begin, end := starts[i*len(starts)/n], int64(len(crawl))
		if i+1 < n {
			end = starts[(i+1)*len(starts)/n]
		}
		file := filepath.Join(dir, fmt.Sprintf("part-%d.warc.gz", i))
		if err := os.WriteFile(file, crawl[begin:end], 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

func records(t *testing.T, crawl []byte) (out []*container.Raw) {
	t.Helper()
	config, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := container.NewReader(bytes.NewReader(crawl), container.Position{}, config.Extract.Limits)
	if err != nil {
		t.Fatal(err)
	}
	for {
		raw, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, raw)
	}
}

// permutations returns every order of items.
func permutations(items []string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		var walk func(done, left []string) bool
		walk = func(done, left []string) bool {
			if len(left) == 0 {
				return yield(slices.Clone(done))
			}
			for i := range left {
				rest := slices.Delete(slices.Clone(left), i, i+1)
				if !walk(append(slices.Clone(done), left[i]), rest) {
					return false
				}
			}
			return true
		}
		walk(nil, items)
	}
}
