package exports_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/keep"
	"neardup/pipeline/exports"
	"neardup/pipeline/groups"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// writeWACZ packs archives as archive/data.warc.gz, and so on.
func writeWACZ(t *testing.T, path string, archives ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	put := func(name string, content []byte) {
		e, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err == nil {
			_, err = e.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, archive := range archives {
		content, err := os.ReadFile(archive)
		if err != nil {
			t.Fatal(err)
		}
		put(fmt.Sprintf("archive/data%.*d.warc.gz", min(i, 1), i), content)
	}
	put("datapackage.json", []byte(`{"profile":"data-package","resources":[]}`))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return pipetest.WriteFile(t, path, b.Bytes())
}

// Of two WACZ files that call their archive the same, each gets the clusters
// that have a page in it.
func TestWACZGetsItsOwnClusters(t *testing.T) {
	first, second, _ := halves(t)
	dir := t.TempDir()
	parts := []string{
		writeWACZ(t, filepath.Join(dir, "one.wacz"), pipetest.WriteFile(t, filepath.Join(dir, "one"), first)),
		writeWACZ(t, filepath.Join(dir, "two.wacz"), pipetest.WriteFile(t, filepath.Join(dir, "two"), second)),
	}
	ws := t.TempDir()
	pipetest.RunAll(t, ws, pipetest.MustLoad(t), workspace.Options{}, parts...)
	w := pipetest.OpenWith(t, ws)
	all := map[string]report.Cluster{}
	for c, err := range results.Clusters(context.Background(), w) {
		if err != nil {
			t.Fatal(err)
		}
		all[c.ID] = c
	}
	defer func(n int) { groups.PartPages = n }(groups.PartPages)
	for i, part := range parts {
		out := pipetest.ExportOf(t, w, exports.Options{Format: "wacz", WACZ: part})
		for _, groups.PartPages = range []int{1, 2, 8192} { // clusters come in parts, or whole
			if again := pipetest.ExportOf(t, w, exports.Options{Format: "wacz", WACZ: part}); !bytes.Equal(again, out) {
				t.Errorf("%s: in parts of %d pages it has %d bytes, and %d", part, groups.PartPages, len(again), len(out))
			}
		}
		z, err := zip.NewReader(bytes.NewReader(out), int64(len(out)))
		if err != nil {
			t.Fatal(err)
		}
		f, err := z.Open("neardup/clusters.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for d := json.NewDecoder(f); d.More(); {
			var c report.Cluster
			if err := d.Decode(&c); err != nil {
				t.Fatal(err)
			}
			got[c.ID] = true
		}
		ids := map[string]bool{}
		for _, record := range rawRecords(t, [][]byte{first, second}[i]) {
			ids[idOf(record)] = true
		}
		for id, c := range all {
			in := slices.ContainsFunc(c.Members, func(m report.Member) bool { return ids[m.RecordID] })
			if got[id] != in {
				t.Errorf("%s: cluster %s of %d pages: %v, want %v", part, id, c.Size, got[id], in)
			}
		}
		if len(got) == 0 || i == 0 && len(got) == len(all) {
			t.Errorf("%s has %d of %d clusters", part, len(got), len(all))
		}
	}
	for _, wrong := range []string{filepath.Join(dir, "missing.wacz"), pipetest.Crawl(t)} {
		if err := exports.Write(context.Background(), w, exports.Options{Format: "wacz", WACZ: wrong}, io.Discard); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestKeepByQuality(t *testing.T) {
	dir, file := t.TempDir(), pipetest.Crawl(t)
	const best = "http://recipes.example/draft/mochi.html"
	setting := "cluster.quality=" + pipetest.WriteFile(t, filepath.Join(t.TempDir(), "quality.tsv"), []byte("http://recipes.example/pages/mochi.html\t1\n"+best+"\t3\n"))
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, file)
	w := pipetest.OpenWith(t, dir)
	rules := keep.Default()
	rules.Policy = keep.Quality
	o := exports.Options{Format: "keep", Keep: &rules}
	if err := exports.Write(context.Background(), w, o, io.Discard); !errors.Is(err, workspace.ErrUsage) || !strings.Contains(err.Error(), "cluster.quality") {
		t.Errorf("without a quality file: %v", err)
	}
	dir = t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t, setting), workspace.Options{}, file)
	w = pipetest.OpenWith(t, dir, setting)
	if lists := pipetest.ExportOf(t, w, o); !bytes.Contains(lists, []byte(",keep,policy,<urn:uuid:48beb51b-984f-56eb-a65a-31d320fe24da>,"+best+",1,")) {
		t.Errorf("%s is not kept:\n%s", best, lists)
	}
}

// A WACZ file that the workspace has not read is refused, wherever it lies; one that
// was moved is not.
func TestWACZOfAnotherWorkspace(t *testing.T) {
	first, second, _ := halves(t)
	dir, ws := t.TempDir(), t.TempDir()
	one := writeWACZ(t, filepath.Join(dir, "one.wacz"), pipetest.WriteFile(t, filepath.Join(dir, "one"), first))
	other := writeWACZ(t, filepath.Join(dir, "other.wacz"), pipetest.WriteFile(t, filepath.Join(dir, "other"), second))
	pipetest.RunAll(t, ws, pipetest.MustLoad(t), workspace.Options{}, one)
	w := pipetest.OpenWith(t, ws)
	if err := exports.Write(context.Background(), w, exports.Options{Format: "wacz", WACZ: other}, io.Discard); !errors.Is(err, workspace.ErrUsage) || !strings.Contains(err.Error(), "other.wacz") {
		t.Errorf("a file that was not read: %v", err)
	}
	moved := filepath.Join(dir, "moved.wacz")
	if err := os.Rename(one, moved); err != nil {
		t.Fatal(err)
	}
	pipetest.ExportOf(t, w, exports.Options{Format: "wacz", WACZ: moved})
}

// No WACZ file gets an empty list: validators take one for a broken file.
func TestNoEmptyListsInWACZ(t *testing.T) {
	one := pipetest.WriteRecords(t, pipetest.Archived("response", "1", "http://a.example/", 1, pipetest.OkHTML+"<p>The only page of this archive has this text.</p>"))
	in := writeWACZ(t, filepath.Join(t.TempDir(), "one.wacz"), one)
	ws := t.TempDir()
	pipetest.RunAll(t, ws, pipetest.MustLoad(t), workspace.Options{}, in)
	w := pipetest.OpenWith(t, ws)
	for name, o := range map[string]exports.Options{"with clusters": {Format: "wacz", WACZ: in}, "reduced": {Format: "wacz"}} {
		out := pipetest.ExportOf(t, w, o)
		z, err := zip.NewReader(bytes.NewReader(out), int64(len(out)))
		if err != nil {
			t.Fatal(err)
		}
		archives := 0
		for _, f := range z.File {
			if f.UncompressedSize64 == 0 {
				t.Errorf("%s: %s is empty", name, f.Name)
			}
			if strings.HasPrefix(f.Name, "archive/") {
				archives++
			}
		}
		if archives != 1 {
			t.Errorf("%s: %d archives", name, archives)
		}
	}
}
