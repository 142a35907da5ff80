package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"neardup/configs"
	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// BenchmarkRun takes the files that NEARDUP_ARCHIVE names, the example crawl
// without it, through all stages and the exports.
func BenchmarkRun(b *testing.B) {
	files := []string{"../example/crawl.warc.gz"}
	if list := os.Getenv("NEARDUP_ARCHIVE"); list != "" {
		files = filepath.SplitList(list)
	}
	config, err := configs.Load("default", nil)
	if err != nil {
		b.Fatal(err)
	}
	dir, n := b.TempDir(), 0
	for b.Loop() {
		n++
		ws := filepath.Join(dir, strconv.Itoa(n))
		_ = runOnce(b, ws, config, files...)
		if err := os.RemoveAll(ws); err != nil {
			b.Fatal(err)
		}
	}
}

// runOnce takes files through all stages and the exports, and returns the counts
// of the stage verify.
func runOnce(b *testing.B, ws string, config configs.Config, files ...string) (counts rows.VerifyCounts) {
	b.Helper()
	sources, _, err := inputs.Find(b.Context(), ws, files, nil, pipetest.Limits)
	if err != nil {
		b.Fatal(err)
	}
	w, err := workspace.Open(ws, stages.All, config, true, workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := w.Run(context.Background(), "extract", "verify", sources); err != nil {
		b.Fatal(err)
	}
	if _, _, err := exports.WriteAll(context.Background(), w, 0); err != nil {
		b.Fatal(err)
	}
	if err := w.Counts(workspace.StageVerify, &counts); err != nil {
		b.Fatal(err)
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	return counts
}
