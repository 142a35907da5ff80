package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"neardup/cluster/search"
	"neardup/configs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
)

func TestInterruptedRunsResumeToTheSameBytes(t *testing.T) {
	path := pipetest.Crawl(t)
	for _, settings := range [][]string{
		{"verify.closing=" + configs.ClosingTransitive},
		{"verify.closing=" + configs.ClosingRepresentative},
		{"text.frames=2"},
		{"verify.partition.max_links=1", "verify.contained=leaf"},
	} {
		config := pipetest.MustLoad(t, settings...)
		want := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), config, workspace.Options{Workers: 2}, path)
		rng := rand.New(rand.NewPCG(5, 6))
		rounds := 5
		if testing.Short() {
			rounds = 2
		}
		for round := range rounds {
			dir := filepath.Join(t.TempDir(), "ws")
			for range 1 + round%3 {
				pipetest.RunInterrupted(t, dir, config, 1+rng.Int64N(150), workspace.Options{Workers: 1 + rng.IntN(3), RunRows: 50 + rng.IntN(500)}, path)
			}
			if got := pipetest.RunAll(t, dir, config, workspace.Options{}, path); !bytes.Equal(got, want) {
				t.Fatalf("%s, round %d: other clusters after interruptions", settings, round)
			}
		}
	}
}

// Both readings of the merge run, and make the same clusters of the example crawl,
// which has no chains of lists. That each does what its name says is for the
// conformance suite and package cluster.
func TestBothMergesRun(t *testing.T) {
	path := pipetest.Crawl(t)
	merges := []string{search.MergeFollowing, search.MergeDirect}
	if c := pipetest.MustLoad(t); !slices.Contains(merges, c.Cluster.Merge) {
		t.Fatalf("the preset merges by %q", c.Cluster.Merge)
	}
	var exports [2][]byte
	var sets [2]string
	for i, merge := range merges {
		dir := filepath.Join(t.TempDir(), "ws")
		c := pipetest.MustLoad(t, "cluster.merge="+merge)
		if c.Cluster.Merge != merge {
			t.Fatalf("the setting is %q", c.Cluster.Merge)
		}
		exports[i] = pipetest.RunAll(t, dir, c, workspace.Options{}, path)
		m, err := workspace.ReadManifest(dir)
		if err != nil || m.Config.Cluster.Merge != merge {
			t.Fatalf("the run merged by %q: %v", m.Config.Cluster.Merge, err)
		}
		sets[i] = string(m.Stages[2].Counts)
	}
	if !bytes.Equal(exports[0], exports[1]) || sets[0] != sets[1] || bytes.Count(exports[0], []byte("\n")) < 10 {
		t.Errorf("the readings of the merge differ on the example crawl: %s and %s", sets[0], sets[1])
	}
}

// Where lists make a chain, the two readings make different sets: following puts
// each text into one set, and direct into one for each starter that has it in a
// list.
func TestMergesDifferOnChains(t *testing.T) {
	sentences := pipetest.Scripts(rand.New(rand.NewPCG(3, 4)))[0](6000)
	var texts []string
	for at := 0; at+20 <= len(sentences); at += 12 { // each shares sentences with the next, and with no other
		texts = append(texts, strings.Join(sentences[at:at+20], ""))
	}
	path := pipetest.WriteTexts(t, 0, texts)
	var sets [2]rows.ClusterCounts
	for i, merge := range []string{search.MergeFollowing, search.MergeDirect} {
		dir := filepath.Join(t.TempDir(), "ws")
		pipetest.RunAll(t, dir, pipetest.MustLoad(t, "cluster.merge="+merge), workspace.Options{}, path)
		m, err := workspace.ReadManifest(dir)
		if err == nil {
			err = json.Unmarshal(m.Stages[2].Counts, &sets[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if following, direct := sets[0], sets[1]; following.Edges == 0 || following.Edges != direct.Edges || following.Members >= direct.Members {
		t.Errorf("following %+v, direct %+v", following, direct)
	}
}

// A page quality from outside decides which page represents a cluster, where the
// largest key does. A partition asks for the text nearest to all others first.
func TestQualityChoosesTheRepresentative(t *testing.T) {
	const closing = "verify.closing=representative"
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
	before, chosen := pipetest.RunAll(t, dir, pipetest.MustLoad(t, closing), workspace.Options{}, path), ""
	for _, m := range regexp.MustCompile(`"uri":"([^"]*)"[^}]*"relation":"near"`).FindAllSubmatch(before, -1) {
		if uri := string(m[1]); chosen == "" && bytes.Count(before, []byte(`"`+uri+`"`)) == 1 {
			chosen = uri
		}
	}
	if member, representative := find(before, chosen); !member || representative {
		t.Fatalf("without qualities %q: member %v, representative %v", chosen, member, representative)
	}
	if err := os.WriteFile(quality, []byte(chosen+"\t9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	config := pipetest.MustLoad(t, closing, "cluster.quality="+quality)
	if member, representative := find(pipetest.RunAll(t, dir, config, workspace.Options{}, path), chosen); !member || !representative {
		t.Errorf("with the best quality: member %v, representative %v", member, representative)
	}
	if err := os.WriteFile(quality, []byte("http://elsewhere.example/\t9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if reason := pipetest.Staleness(t, dir, config, "cluster"); reason != workspace.Changed {
		t.Errorf("a changed quality file makes cluster %q", reason)
	}
	// Without the file no stage begins, and what was made stays.
	if err := os.Remove(quality); err != nil {
		t.Fatal(err)
	}
	if reason := pipetest.Staleness(t, dir, config, "cluster"); reason != workspace.Changed {
		t.Errorf("a missing quality file makes cluster %q", reason)
	}
	w, err := workspace.Open(dir, stages.All, config, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Run(context.Background(), "extract", "verify", nil)
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "cluster.quality") {
		t.Errorf("a run without its quality file: %v", err)
	}
	if err := os.WriteFile(quality, []byte(chosen+"\t9\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if reason := pipetest.Staleness(t, dir, config, "cluster"); reason != workspace.UpToDate {
		t.Errorf("when the quality file is there again, cluster is %q", reason)
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
	if p := s.Pairs; p.Compared != p.ByLength+p.BySketch+p.ByDistance+p.ByScore+p.ByRarity+p.ByTitle+p.Near {
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

// Many captures of one page are no template of its site: their lists are kept, and crawls that
// are added later break no cluster. The lists of as many pages of the site are deleted.
func TestManyCapturesOfOnePage(t *testing.T) {
	config := pipetest.MustLoad(t, "cluster.site_list=5")
	rng := rand.New(rand.NewPCG(3, 4))
	sentence := func() string {
		return fmt.Sprintf("The note of %x says that %x came to the town with %x and stayed. ", rng.Uint32(), rng.Uint32(), rng.Uint32())
	}
	var common []string
	for range 30 {
		common = append(common, sentence())
	}
	crawl := func(name, uri string, texts int) string {
		var b strings.Builder
		for i := range texts {
			fmt.Fprintf(&b, "{\"id\":\"urn:%s:%d\",\"url\":%q,\"text\":%q}\n", name, i, strings.ReplaceAll(uri, "#", fmt.Sprint(i)), strings.Join(common, "")+sentence())
		}
		return pipetest.WriteFile(t, filepath.Join(t.TempDir(), name+".jsonl"), []byte(b.String()))
	}
	clustersOf := func(dir, file string) (pages, clusters int) {
		jsonl := pipetest.RunAll(t, dir, config, workspace.Options{Workers: 2}, file)
		return bytes.Count(jsonl, []byte(`"uri":`)), bytes.Count(jsonl, []byte("\n"))
	}
	dir := filepath.Join(t.TempDir(), "one")
	for i, want := range []int{4, 10} {
		if pages, n := clustersOf(dir, crawl(fmt.Sprint("one", i), "http://terms.example/privacy", []int{4, 6}[i])); pages != want || n != 1 {
			t.Errorf("%d pages of %d captures in %d clusters, want 1", pages, want, n)
		}
	}
	if pages, _ := clustersOf(filepath.Join(t.TempDir(), "many"), crawl("many", "http://terms.example/#", 10)); pages != 0 {
		t.Errorf("%d of 10 pages of a template are in clusters, want none", pages)
	}
}
