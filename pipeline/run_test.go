package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
)

func TestInterruptedRunsResumeToTheSameBytes(t *testing.T) {
	path := pipetest.Crawl(t)
	for _, settings := range [][]string{
		{"verify.closing=" + configs.ClosingTransitive},
		{"verify.closing=" + configs.ClosingRepresentative},
		{"text.templates=2"},
	} {
		config := pipetest.MustLoad(t, settings...)
		want := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), config, workspace.Options{Workers: 2}, path)
		rng := rand.New(rand.NewPCG(5, 6))
		for round := range 5 {
			dir := filepath.Join(t.TempDir(), "ws")
			for range 1 + round%3 {
				ctx, cancel := context.WithCancel(context.Background())
				i := &pipetest.Interrupter{Cancel: cancel}
				i.Left.Store(1 + rng.Int64N(150))
				w, err := workspace.Open(dir, stages.All, config, true, workspace.Options{Workers: 1 + rng.IntN(3), Progress: i, RunRows: 50 + rng.IntN(500)})
				if err != nil {
					t.Fatal(err)
				}
				sources, _, err := workspace.Inputs(dir, []string{path}, nil, pipetest.Limits)
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Run(ctx, "extract", "verify", sources); err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				cancel()
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if got := pipetest.RunAll(t, dir, config, workspace.Options{}, path); !bytes.Equal(got, want) {
				t.Fatalf("%s, round %d: other clusters after interruptions", settings, round)
			}
		}
	}
}

func TestBothMergesAndDirectRun(t *testing.T) {
	path := pipetest.Crawl(t)
	following := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{}, path)
	direct := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t, "cluster.merge=direct"), workspace.Options{}, path)
	// The example has no chains of lists, so both readings agree on it.
	if !bytes.Equal(following, direct) {
		t.Error("the readings of the merge differ on the example crawl")
	}
}

// A page quality from outside decides which page represents a cluster.
func TestQualityChoosesTheRepresentative(t *testing.T) {
	path := pipetest.Crawl(t)
	dir := filepath.Join(t.TempDir(), "ws")
	quality := filepath.Join(t.TempDir(), "quality.tsv")
	find := func(clusters []byte, uri string) (member, representative bool) {
		for line := range bytes.Lines(clusters) {
			i := bytes.Index(line, []byte(`"uri":"`+uri+`"`))
			if i < 0 {
				continue
			}
			relation := string(line[i:])
			return true, strings.Contains(relation[:strings.Index(relation, "}")], `"relation":"representative"`)
		}
		return false, false
	}
	const chosen = "http://recipes.example/draft/mochi.html"
	if member, representative := find(pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, path), chosen); !member || representative {
		t.Fatalf("without qualities: member %v, representative %v", member, representative)
	}
	if err := os.WriteFile(quality, []byte(chosen+"\t9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	config := pipetest.MustLoad(t, "cluster.quality="+quality)
	if member, representative := find(pipetest.RunAll(t, dir, config, workspace.Options{}, path), chosen); !member || !representative {
		t.Errorf("with the best quality: member %v, representative %v", member, representative)
	}
	if err := os.WriteFile(quality, []byte("http://elsewhere.example/\t9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if reason := pipetest.Staleness(t, dir, config, "cluster"); reason != workspace.Changed {
		t.Errorf("a changed quality file makes cluster %q", reason)
	}
}

func TestChangedFileIsExtractedAgain(t *testing.T) {
	path := pipetest.Crawl(t)
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, whole...), 0o666); err != nil { // grown
		t.Fatal(err)
	}
	got := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, path)
	want := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{}, path)
	if !bytes.Equal(got, want) {
		t.Error("not as if the changed file had been the first")
	}
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	s, err := results.Summary(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	if s.Records.Duplicates != s.Records.Documents {
		t.Errorf("every record twice, but %d duplicates of %d documents", s.Records.Duplicates, s.Records.Documents)
	}
	accounted(t, s)
}

func accounted(t *testing.T, s report.Summary) {
	t.Helper()
	sum := s.Records.Documents + s.Records.Duplicates
	for _, n := range s.Records.Skipped {
		sum += n
	}
	if sum != s.Records.Read {
		t.Errorf("%d records read, %d accounted for", s.Records.Read, sum)
	}
	if p := s.Pairs; p.Compared != p.ByLength+p.BySketch+p.ByDistance+p.ByScore+p.BySubject+p.Near {
		t.Errorf("pairs do not add up: %+v", p)
	}
}

func TestRecordsAreNotLostWhenAFileIsGone(t *testing.T) {
	path := pipetest.Crawl(t)
	dir := filepath.Join(t.TempDir(), "ws")
	want := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}); !bytes.Equal(got, want) {
		t.Error("a file that is gone took its pages along")
	}
	// What needs the file again says so, and leaves all as it is.
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t, "extract.max_record_bytes=2048"), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(context.Background(), "extract", "verify", nil); err == nil || !strings.Contains(err.Error(), "read again") {
		t.Errorf("extracting again without the file: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}); !bytes.Equal(got, want) {
		t.Error("a refused extraction changed the workspace")
	}
}
