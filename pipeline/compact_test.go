package pipeline_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

// holds returns the files below a directory that have one of the words: as they are, or,
// of tables, in the keys and values of their blocks, also of rows that were replaced.
func holds(t *testing.T, dir string, words []string) (files []string) {
	t.Helper()
	has := func(b []byte) bool {
		for _, w := range words {
			if bytes.Contains(b, []byte(w)) {
				return true
			}
		}
		return false
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found := has(b)
		if strings.HasSuffix(path, ".sst") {
			rows := 0
			eachEntry(t, path, func(key, value []byte) {
				rows++
				found = found || has(key) || has(value)
			})
			if rows == 0 {
				t.Errorf("%s has no rows: it is not searched as it should be", path)
			}
		}
		if found {
			files = append(files, filepath.Base(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// eachEntry gives all that a table has.
func eachEntry(t *testing.T, path string, to func(key, value []byte)) {
	t.Helper()
	f, err := vfs.Default.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		t.Fatal(err)
	}
	r, err := sstable.NewReader(t.Context(), readable, sstable.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	it, err := r.NewIter(sstable.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = it.Close() }()
	for kv := it.First(); kv != nil; kv = it.Next() {
		v, _, err := kv.Value(nil)
		if err != nil {
			t.Fatal(err)
		}
		to(kv.K.UserKey, v)
	}
}

// The text of withdrawn pages is in no file of the workspace after compact: not in
// tables, whatever compresses their blocks, not in logs, exports or copies of standard
// input. It was, before the pages were withdrawn; between the two the database may
// compact itself.
func TestCompactLeavesNothing(t *testing.T) {
	words := []string{"zyxquorblint", "vrombulactery", "ploxnifwander"}
	page := "The " + words[0] + " came to the harbour in the morning and stayed there for the day. " +
		"Nobody had seen a " + words[1] + " before that day in the whole of the town. " +
		"In the evening a " + words[2] + " was lit on the hill behind the old harbour. "
	var texts []string
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 { // many, beside two that go
		var b strings.Builder
		for range 100 {
			fmt.Fprintf(&b, "word%x ", rng.Uint32())
		}
		texts = append(texts, b.String())
	}
	other := pipetest.WriteTexts(t, 1000, texts)
	var lines []string
	lines = append(lines, page, page+"And so on.", texts[3])
	secret := pipetest.WriteTexts(t, 0, lines)
	config := pipetest.MustLoad(t)
	for _, by := range []string{"input", "uri"} {
		ws := filepath.Join(t.TempDir(), "ws")
		o := workspace.Options{Workers: 2}
		pipetest.RunAll(t, ws, config, o, secret)
		pipetest.RunAll(t, ws, config, o, other)
		if by == "uri" { // the rows are on the lowest level
			if _, err := workspace.CompactDisk(t.Context(), ws, stages.All, config, o, func(*workspace.Workspace) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if len(holds(t, ws, words)) == 0 {
			t.Fatal("the search finds nothing where there is something")
		}
		gone := withdrawn.Withdrawal{URI: "urn:text:0"}
		if by == "input" {
			gone = ofInput(t, ws, secret)
			withdraw(t, ws, config, gone)
		} else {
			withdraw(t, ws, config, gone, withdrawn.Withdrawal{URI: "urn:text:1"})
		}
		want := pipetest.RunAll(t, ws, config, o)
		c, err := workspace.CompactDisk(t.Context(), ws, stages.All, config, o, func(*workspace.Workspace) error { return nil })
		if err != nil || c.After == 0 || c.Before == 0 {
			t.Fatal(c, err)
		}
		if files := holds(t, ws, words); len(files) > 0 {
			t.Errorf("by %s: the text is in %v", by, files)
		}
		if got := pipetest.RunAll(t, ws, config, o); !bytes.Equal(got, want) {
			t.Error("other clusters after compact")
		}
	}
}
