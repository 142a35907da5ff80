package pipeline

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"neardup/configs"
	"neardup/example"
	"neardup/report"
)

// crawl writes the example crawl into a file.
func crawl(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := example.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "crawl.warc.gz")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// runAll brings the workspace in dir up to date and returns its clusters.
func runAll(t *testing.T, dir string, config configs.Config, o Options, inputs ...string) []byte {
	t.Helper()
	w, err := Open(dir, AllStages, config, true, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	sources, _, err := Inputs(dir, inputs, nil, limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(context.Background(), "extract", "verify", sources); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := w.Export(context.Background(), "jsonl", &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// interrupter cancels a run after some steps of progress.
type interrupter struct {
	silent
	left   atomic.Int64
	cancel context.CancelFunc
}

func (i *interrupter) step() {
	if i.left.Add(-1) == 0 {
		i.cancel()
	}
}

func (i *interrupter) Add(int64)                    { i.step() }
func (i *interrupter) Start(string, string, string) { i.step() }
func (i *interrupter) Total(int64, string)          { i.step() }

func TestInterruptedRunsResumeToTheSameBytes(t *testing.T) {
	path := crawl(t)
	for _, settings := range [][]string{
		{"verify.closing=" + configs.ClosingTransitive},
		{"verify.closing=" + configs.ClosingRepresentative},
		{"text.templates=2"},
	} {
		config := mustLoad(t, settings...)
		want := runAll(t, filepath.Join(t.TempDir(), "ws"), config, Options{Workers: 2}, path)
		rng := rand.New(rand.NewPCG(5, 6))
		for round := range 5 {
			dir := filepath.Join(t.TempDir(), "ws")
			for range 1 + round%3 {
				ctx, cancel := context.WithCancel(context.Background())
				i := &interrupter{cancel: cancel}
				i.left.Store(1 + rng.Int64N(150))
				w, err := Open(dir, AllStages, config, true, Options{Workers: 1 + rng.IntN(3), Progress: i, runRows: 50 + rng.IntN(500)})
				if err != nil {
					t.Fatal(err)
				}
				sources, _, err := Inputs(dir, []string{path}, nil, limits)
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
			if got := runAll(t, dir, config, Options{}, path); !bytes.Equal(got, want) {
				t.Fatalf("%s, round %d: other clusters after interruptions", settings, round)
			}
		}
	}
}

func TestBothMergesAndDirectRun(t *testing.T) {
	path := crawl(t)
	following := runAll(t, filepath.Join(t.TempDir(), "ws"), mustLoad(t), Options{}, path)
	direct := runAll(t, filepath.Join(t.TempDir(), "ws"), mustLoad(t, "cluster.merge=direct"), Options{}, path)
	// The example has no chains of lists, so both readings agree on it.
	if !bytes.Equal(following, direct) {
		t.Error("the readings of the merge differ on the example crawl")
	}
}

// A page quality from outside decides which page represents a cluster.
func TestQualityChoosesTheRepresentative(t *testing.T) {
	path := crawl(t)
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
	if member, representative := find(runAll(t, dir, mustLoad(t), Options{}, path), chosen); !member || representative {
		t.Fatalf("without qualities: member %v, representative %v", member, representative)
	}
	if err := os.WriteFile(quality, []byte(chosen+"\t9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	config := mustLoad(t, "cluster.quality="+quality)
	if member, representative := find(runAll(t, dir, config, Options{}, path), chosen); !member || !representative {
		t.Errorf("with the best quality: member %v, representative %v", member, representative)
	}
	if err := os.WriteFile(quality, []byte("http://elsewhere.example/\t9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if reason := staleness(t, dir, config, "cluster"); reason != Changed {
		t.Errorf("a changed quality file makes cluster %q", reason)
	}
}

func staleness(t *testing.T, dir string, config configs.Config, stage string) Reason {
	t.Helper()
	s, err := ReadStatus(dir, AllStages, &config)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range s.Stages {
		if st.Name == stage {
			return st.Stale
		}
	}
	t.Fatalf("no stage %s", stage)
	return ""
}

func TestChangedFileIsExtractedAgain(t *testing.T) {
	path := crawl(t)
	dir := filepath.Join(t.TempDir(), "ws")
	runAll(t, dir, mustLoad(t), Options{}, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, whole...), 0o666); err != nil { // grown
		t.Fatal(err)
	}
	got := runAll(t, dir, mustLoad(t), Options{}, path)
	want := runAll(t, filepath.Join(t.TempDir(), "ws"), mustLoad(t), Options{}, path)
	if !bytes.Equal(got, want) {
		t.Error("not as if the changed file had been the first")
	}
	w, err := Open(dir, AllStages, mustLoad(t), false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	s, err := w.Summary(context.Background())
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
	path := crawl(t)
	dir := filepath.Join(t.TempDir(), "ws")
	want := runAll(t, dir, mustLoad(t), Options{}, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := runAll(t, dir, mustLoad(t), Options{}); !bytes.Equal(got, want) {
		t.Error("a file that is gone took its pages along")
	}
	// What needs the file again says so, and leaves all as it is.
	w, err := Open(dir, AllStages, mustLoad(t, "extract.max_record_bytes=2048"), false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(context.Background(), "extract", "verify", nil); err == nil || !strings.Contains(err.Error(), "read again") {
		t.Errorf("extracting again without the file: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := runAll(t, dir, mustLoad(t), Options{}); !bytes.Equal(got, want) {
		t.Error("a refused extraction changed the workspace")
	}
}
