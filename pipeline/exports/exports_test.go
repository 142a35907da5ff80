package exports_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"reflect"
	"testing"

	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// The files that one pass leaves are those that each format of its own gives.
func TestExportAllIsEachFormat(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	var seen []report.Cluster
	got, err := exports.WriteAllTo(ctx, w, w.Path("exports"), func(c report.Cluster) { seen = append(seen, c) })
	if err != nil {
		t.Fatal(err)
	}
	for name, format := range map[string]string{"clusters.jsonl": "jsonl", "clusters.csv": "csv", "summary.json": "summary-json", "summary.txt": "summary"} {
		var want bytes.Buffer
		if err := exports.Write(ctx, w, exports.Options{Format: format}, &want); err != nil {
			t.Fatal(err)
		}
		if file, err := os.ReadFile(w.Path("exports", name)); err != nil || !bytes.Equal(file, want.Bytes()) {
			t.Errorf("%s is not as %s (%v)", name, format, err)
		}
	}
	if want, err := results.Summary(ctx, w); err != nil || !reflect.DeepEqual(got, want) || got.Clusters.Clusters == 0 {
		t.Errorf("summary %+v, want %+v (%v)", got, want, err)
	}
	i := 0
	for c, err := range results.Clusters(ctx, w) {
		if err != nil || i >= len(seen) || !reflect.DeepEqual(c, seen[i]) {
			t.Fatalf("cluster %d was not shown (%v)", i, err)
		}
		i++
	}
	if i != len(seen) {
		t.Errorf("%d clusters shown, want %d", len(seen), i)
	}
}

// A pass that is cancelled at any cluster is no short file, but an error.
func TestExportIsCancelled(t *testing.T) {
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	all, err := exports.WriteAllTo(context.Background(), w, w.Path("exports"), func(report.Cluster) {})
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(w.Path("exports", "clusters.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	last := int(all.Clusters.Clusters)
	for _, at := range []int{1, 2, last} {
		ctx, cancel := context.WithCancel(context.Background())
		seen := 0
		_, err := exports.WriteAllTo(ctx, w, w.Path("exports"), func(report.Cluster) {
			if seen++; seen == at {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || seen > at+1 {
			t.Errorf("cancelled at cluster %d of %d: %d seen, %v", at, last, seen, err)
		}
		if got, err := os.ReadFile(w.Path("exports", "clusters.jsonl")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("cancelled at cluster %d: the file that was there changed (%v)", at, err)
		}
	}
}
