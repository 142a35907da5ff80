package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"neardup/pipeline/disk"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// temporaryDirectory makes a directory the system's one for temporary files. A killed
// command has left a directory in it.
func temporaryDirectory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	left, old := filepath.Join(dir, disk.Temporary+"1"), time.Now().Add(-time.Hour)
	if err := errors.Join(os.MkdirAll(filepath.Join(left, "db"), 0o700), os.Chtimes(left, old, old)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	return dir
}

func succeeds(t *testing.T, args ...string) {
	t.Helper()
	var stderr bytes.Buffer
	if code := run(args, strings.NewReader("<p>A page of one sentence.</p>"), &bytes.Buffer{}, &stderr); code != exitOK {
		t.Fatalf("%q: %d %s", args, code, &stderr)
	}
}

func isEmpty(t *testing.T, dir, after string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("after %s: %v (%v)", after, entries, err)
	}
}

// Commands that keep files outside a workspace remove what killed ones left there.
func TestKilledCommandsLeaveNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked")
	}
	at := t.TempDir()
	crawl, ws, planned := filepath.Join(at, "crawl.warc.gz"), filepath.Join(at, "ws"), filepath.Join(at, "planned")
	if err := os.WriteFile(crawl, generated(t), 0o644); err != nil {
		t.Fatal(err)
	}
	succeeds(t, "run", "--workspace", ws, "--progress", "none", "--show", "0", crawl)
	succeeds(t, "spark", "--output", planned, crawl)
	for name, args := range map[string][]string{
		"check":   {"check", "--workspace", ws},
		"compare": {"compare", "--methods", "default,paper", "--progress", "none", crawl},
	} {
		dir := temporaryDirectory(t)
		succeeds(t, args...)
		isEmpty(t, dir, name)
	}
	dir := temporaryDirectory(t)
	if code := run([]string{"stage", "sort", "--plan", filepath.Join(planned, "plan.json")}, strings.NewReader("no frames"), &bytes.Buffer{}, &bytes.Buffer{}); code != exitFailure {
		t.Errorf("stage: %d", code)
	}
	isEmpty(t, dir, "stage")
	dir = temporaryDirectory(t)
	t.Setenv("TMPDIR", filepath.Join(dir, "missing"))
	succeeds(t, "check", "--workspace", ws, "--temp", dir)
	isEmpty(t, dir, "check --temp")
}

// Readers beside a process that holds the workspace use --temp. Without any directory,
// the error names that, and not the other process.
func TestTemporaryFilesOfReaders(t *testing.T) {
	at := t.TempDir()
	crawl, ws := filepath.Join(at, "crawl.warc.gz"), filepath.Join(at, "ws")
	if err := os.WriteFile(crawl, generated(t), 0o644); err != nil {
		t.Fatal(err)
	}
	succeeds(t, "run", "--workspace", ws, "--progress", "none", "--show", "0", crawl)
	m, err := workspace.ReadManifest(ws)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(ws, stages.All, *m.Config, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	t.Setenv("TMPDIR", filepath.Join(at, "missing"))
	for _, args := range [][]string{
		{"export", "--output", filepath.Join(at, "out")}, {"report", "--output", filepath.Join(at, "report")}, {"lookup", "-"}, {"audit", "list"},
	} {
		args = append(args, "--workspace", ws)
		var stderr bytes.Buffer
		code := run(args, strings.NewReader(""), &bytes.Buffer{}, &stderr)
		if code != exitFailure || !strings.Contains(stderr.String(), "temporary files have no place: ") || strings.Contains(stderr.String(), "in use") {
			t.Errorf("%q: %d %s", args, code, &stderr)
		}
		succeeds(t, append(args, "--temp", at)...)
	}
	if left, err := disk.Matching(at, "*neardup-*"); err != nil || len(left) > 0 {
		t.Errorf("left: %q (%v)", left, err)
	}
}
