package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// runPairs returns the export and the counts of a run.
func runPairs(t *testing.T, texts []string, o workspace.Options, preset string, settings ...string) (string, rows.ClusterCounts, rows.VerifyCounts) {
	t.Helper()
	config, err := configs.Load(preset, settings)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	out := pipetest.RunAll(t, dir, config, o, pipetest.WriteTexts(t, 0, texts))
	w, err := workspace.Open(dir, stages.All, config, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var c rows.ClusterCounts
	var v rows.VerifyCounts
	if err := w.Counts(workspace.StageCluster, &c); err != nil {
		t.Fatal(err)
	}
	if err := w.Counts(workspace.StageVerify, &v); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return string(out), c, v
}

// members returns the clusters without the evidence.
func members(t *testing.T, export string) string {
	t.Helper()
	of, _ := pipetest.ClustersOf(t, []byte(export))
	var b strings.Builder
	first := map[int]int{} // of a cluster, the first text
	for i := range 10_000 {
		c := of[pipetest.TextURN(i)]
		if _, ok := first[c]; !ok {
			first[c] = i
		}
		if c != 0 {
			fmt.Fprintf(&b, "%d %d\n", i, first[c])
		}
	}
	return b.String()
}

// Transitivity spares comparisons and changes no cluster, but where a pair that
// was not compared is not near: there is none in a chain.
func TestTransitivitySparesComparisons(t *testing.T) {
	texts := pipetest.Chains(rand.New(rand.NewPCG(1, 2)), 30, 24)
	all, _, compared := runPairs(t, texts, workspace.Options{}, "minhash-lsh")
	some, _, spared := runPairs(t, texts, workspace.Options{}, "minhash-lsh", "verify.transitivity=true")
	if members(t, all) != members(t, some) {
		t.Error("other clusters")
	}
	if compared.Pairs < 2000 || spared.Pairs > compared.Pairs*3/4 || spared.Near < 400 || spared.Near != spared.Pairs-spared.ByScore {
		t.Errorf("%+v compared, with transitivity %+v", compared, spared)
	}
	again, _, _ := runPairs(t, texts, workspace.Options{Workers: 5, RunRows: 100}, "minhash-lsh", "verify.transitivity=true")
	if withoutHints(t, []byte(again)) != withoutHints(t, []byte(some)) {
		t.Error("what is spared depends on the workers")
	}
}

// A pair is a candidate if it shares enough signatures.
func TestCommonSignatures(t *testing.T) {
	texts := pipetest.Chains(rand.New(rand.NewPCG(3, 4)), 20, 12)
	config := pipetest.MustLoadPreset(t, "minhash-lsh")
	scheme := config.NewScheme()
	signatures := make([]map[string]bool, len(texts))
	for i, text := range texts {
		signatures[i] = map[string]bool{}
		for _, s := range scheme.Sign(nil, text) {
			signatures[i][string(s[:])] = true
		}
	}
	for _, common := range []int{1, 2, 5} {
		want := int64(0)
		for i, a := range signatures {
			for _, b := range signatures[:i] {
				n := 0
				for s := range a {
					if b[s] {
						n++
					}
				}
				if n >= common {
					want++
				}
			}
		}
		_, _, v := runPairs(t, texts, workspace.Options{RunRows: 500}, "minhash-lsh", fmt.Sprintf("cluster.common=%d", common))
		if v.Pairs != want || want == 0 {
			t.Errorf("%d in common: %d pairs compared, want %d", common, v.Pairs, want)
		}
	}
}

// A key that many texts have gives as many pairs as texts, which makes one
// cluster of them all the same.
func TestLongListsGiveFewPairs(t *testing.T) {
	original := strings.Join(pipetest.Scripts(rand.New(rand.NewPCG(5, 6)))[0](300), "")
	var texts []string
	for i := range 150 { // the same words
		texts = append(texts, original+strings.Repeat("!", i))
	}
	for _, tt := range []struct{ preset, setting string }{
		{"minhash-lsh", "cluster.all_pairs"},
		{"simhash", "cluster.hamming.all_pairs"},
	} {
		n := int64(len(texts))
		every, _, all := runPairs(t, texts, workspace.Options{}, tt.preset, tt.setting+"=1000")
		few, c, some := runPairs(t, texts, workspace.Options{}, tt.preset, tt.setting+"=10")
		if all.Pairs < n*(n-1)*9/20 || some.Pairs > all.Pairs/2 {
			t.Errorf("%s: %d pairs, with long lists cut %d (%+v)", tt.preset, all.Pairs, some.Pairs, c)
		}
		if members(t, every) != members(t, few) {
			t.Errorf("%s: other clusters", tt.preset)
		}
	}
}

// The page quality from outside decides which of a pair represents the other,
// whatever found it.
func TestQualityWithEverySearch(t *testing.T) {
	texts, _ := pipetest.Planted(rand.New(rand.NewPCG(7, 8)), 24)
	var quality bytes.Buffer
	for i := range texts {
		fmt.Fprintf(&quality, "%s\t%d\n", pipetest.TextURN(i), 1+(i*7919)%1000)
	}
	path := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "quality.tsv"), quality.Bytes())
	for _, preset := range []string{"minhash-lsh", "simhash", "ppjoin"} {
		export, _, _ := runPairs(t, texts, workspace.Options{}, preset, "cluster.quality="+path)
		of, all := pipetest.ClustersOf(t, []byte(export))
		best := map[int]int{} // of a cluster
		for i := range texts {
			if c := of[pipetest.TextURN(i)]; c != 0 {
				best[c] = max(best[c], 1+(i*7919)%1000)
			}
		}
		for _, m := range all {
			var i int
			if _, err := fmt.Sscanf(m.RecordID, "<urn:text:%d>", &i); err != nil {
				t.Fatal(err)
			}
			if is := 1+(i*7919)%1000 == best[of[pipetest.TextURN(i)]]; is != (m.Relation == "representative") {
				t.Errorf("%s: %s of quality %d is %s, the best of its cluster has %d", preset, m.RecordID, 1+(i*7919)%1000, m.Relation, best[of[pipetest.TextURN(i)]])
			}
		}
		if len(best) < 8 {
			t.Errorf("%s: %d clusters", preset, len(best))
		}
	}
}

// A run of more than it may hold says which setting bounds it.
func TestTooMuchIsAnError(t *testing.T) {
	texts := pipetest.Chains(rand.New(rand.NewPCG(9, 10)), 3, 12)
	for setting, presets := range map[string][]string{
		"cluster.join.max_bytes=1000": {"ppjoin"},
		"cluster.max_pairs=5":         {"ppjoin", "minhash-lsh", "simhash", "simfinder"},
	} {
		for _, preset := range presets {
			dir := filepath.Join(t.TempDir(), "ws")
			w, err := workspace.Open(dir, stages.All, pipetest.MustLoadPreset(t, preset, setting), true, workspace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			sources, _, err := inputs.Find(t.Context(), dir, []string{pipetest.WriteTexts(t, 0, texts)}, nil, pipetest.Limits)
			if err != nil {
				t.Fatal(err)
			}
			key, _, _ := strings.Cut(setting, "=")
			if err := w.Run(context.Background(), "extract", "verify", sources); err == nil || !strings.Contains(err.Error(), key) {
				t.Errorf("%s: %v", preset, err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Joins by the other measures: what they find is near, and scores are shares.
func TestJoinsByEveryMeasure(t *testing.T) {
	texts := pipetest.Chains(rand.New(rand.NewPCG(11, 12)), 6, 8)
	for _, settings := range [][]string{
		{"cluster.join.measure=cosine"},
		{"cluster.join.measure=overlap", "cluster.join.threshold=40"},
		{"cluster.join.measure=edit", "cluster.join.distance=12", "cluster.join.tokens=characters"},
		{"cluster.join.weights=idf"},
		{"cluster.join.measure=cosine", "cluster.join.weights=idf"},
		{"cluster.join.repeats=true", "cluster.join.tokens=characters", "cluster.join.size=3"},
	} {
		export, c, v := runPairs(t, texts, workspace.Options{}, "ppjoinplus", append(settings, "cluster.join.size=1")...)
		_, all := pipetest.ClustersOf(t, []byte(export))
		for _, m := range all {
			if m.Resemblance <= 0.3 || m.Resemblance > 1 {
				t.Errorf("%s: a score of %v", settings, m.Resemblance)
			}
		}
		if len(all) < 12 || v.Pairs == 0 || v.Near != v.Pairs || c.Join == nil || c.Join.Pairs != v.Pairs {
			t.Errorf("%s: %d in clusters, %+v", settings, len(all), v)
		}
	}
}

// canceller cancels a run at its first progress in verifying pairs.
type canceller struct {
	workspace.Silent
	cancel context.CancelFunc
	pairs  bool
	rounds int // taken in since
}

func (c *canceller) Total(_ int64, unit string) { c.pairs = unit == "pairs" }

func (c *canceller) Add(int64) {
	if c.pairs {
		c.rounds++
		c.cancel()
	}
}

// A search that has scored its pairs leaves nothing to compare, but an
// interruption does not wait for the last of them.
func TestPairsAreInterrupted(t *testing.T) {
	sentence := strings.Join(pipetest.Scripts(rand.New(rand.NewPCG(9, 9)))[0](200), "")
	var texts []string
	for i := range 80 { // the same words: 3160 pairs
		texts = append(texts, strings.Replace(sentence, " ", strings.Repeat(",", i)+" ", 1))
	}
	for _, preset := range []string{"simhash", "ppjoin"} {
		ctx, cancel := context.WithCancel(context.Background())
		p := &canceller{cancel: cancel}
		dir := filepath.Join(t.TempDir(), "ws")
		w, err := workspace.Open(dir, stages.All, pipetest.MustLoadPreset(t, preset), true, workspace.Options{Progress: p})
		if err != nil {
			t.Fatal(err)
		}
		sources, _, err := inputs.Find(t.Context(), dir, []string{pipetest.WriteTexts(t, 0, texts)}, nil, pipetest.Limits)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(ctx, "extract", "verify", sources); !errors.Is(err, context.Canceled) || p.rounds != 1 {
			t.Errorf("%s: %v after %d rounds", preset, err, p.rounds)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
