package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/example"
	"neardup/report"
)

// committed is the example crawl as it is in the repository. Goldens need its
// bytes, because offsets depend on the compression.
const committed = "../../example/crawl.warc.gz"

func TestGolden(t *testing.T) {
	for _, preset := range []string{"default", "paper"} {
		t.Run(preset, func(t *testing.T) {
			dir := t.TempDir()
			runIn(t, dir, "--config", preset, committed)
			golden(t, preset+".clusters.jsonl", exported(t, dir, "clusters.jsonl"))
			golden(t, preset+".clusters.csv", exported(t, dir, "clusters.csv"))
			golden(t, preset+".summary.json", withoutTimes(t, exported(t, dir, "summary.json")))
			if preset == "default" {
				for format, name := range map[string]string{"cdxj": "clusters.cdxj", "keep": "keep.csv", "keep-jsonl": "keep.jsonl",
					"edges": "edges.jsonl", "graphml": "graph.graphml"} {
					golden(t, preset+"."+name, neardup(t, exitOK, "export", "--workspace", dir, "--format", format))
				}
				out := filepath.Join(t.TempDir(), "report")
				neardup(t, exitOK, "report", "--workspace", dir, "--output", out)
				b, err := os.ReadFile(filepath.Join(out, "statistics.json"))
				if err != nil {
					t.Fatal(err)
				}
				golden(t, preset+".statistics.json", string(b))
			}

			for format, name := range map[string]string{"jsonl": "clusters.jsonl", "csv": "clusters.csv",
				"summary-json": "summary.json", "summary": "summary.txt"} {
				same(t, "export --format "+format, neardup(t, exitOK, "export", "--workspace", dir, "--format", format), exported(t, dir, name))
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	same(t, name, got, string(want))
}

// same reports the first line in which two texts differ.
func same(t *testing.T, name, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		line := func(s []string) string {
			if i < len(s) {
				return s[i]
			}
			return "(no line)"
		}
		if line(a) != line(b) {
			t.Errorf("%s, line %d of %d, want %d lines:\n got %s\nwant %s", name, i+1, len(a), len(b), line(a), line(b))
			return
		}
	}
}

// withoutTimes returns a summary with the stages' times set to 0.
func withoutTimes(t *testing.T, summary string) string {
	t.Helper()
	var s map[string]any
	if err := json.Unmarshal([]byte(summary), &s); err != nil {
		t.Fatal(err)
	}
	for _, stage := range s["stages"].([]any) {
		stage := stage.(map[string]any)
		for _, key := range []string{"seconds", "cpu_seconds", "pages_per_second"} {
			if _, ok := stage[key].(float64); !ok {
				t.Errorf("stage without %s: %v", key, stage)
			}
			stage[key] = 0
		}
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

func clustersOf(t *testing.T, jsonl string) (clusters []report.Cluster) {
	t.Helper()
	for line := range strings.Lines(jsonl) {
		var c report.Cluster
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		clusters = append(clusters, c)
	}
	return clusters
}

// TestLabels compares the clusters of the example crawl with its labels: a
// labelled pair is in one cluster, and no other pair is.
func TestLabels(t *testing.T) {
	// The pairs that a preset gets wrong, as "missed" or "false", the kinds
	// and paths of both pages.
	exceptions := map[string][]string{
		// A page that contains one of a cluster does not join it: the setting
		// verify.contained is leaf.
		"default": {
			"missed: original http://manual.example/pages/backup.html, contains http://news.example/pages/festival.html",
			"missed: light http://manual.example/pages/backup.html, contains http://news.example/pages/festival.html",
		},
		"paper": nil,
	}
	pages := example.Pages()
	near := map[[2]int]bool{}
	for _, p := range example.Near(pages) {
		near[p] = true
	}
	if len(near) == 0 {
		t.Fatal("no labelled pairs")
	}
	for _, preset := range configs.Names() {
		wrong, ok := exceptions[preset]
		if !ok {
			continue
		}
		t.Run(preset, func(t *testing.T) {
			dir := t.TempDir()
			runIn(t, dir, "--config", preset, committed)
			clusterOf, scores := map[string]string{}, map[string]report.Member{}
			for _, c := range clustersOf(t, exported(t, dir, "clusters.jsonl")) {
				for _, m := range c.Members {
					if clusterOf[m.RecordID] != "" {
						t.Errorf("%s is in two clusters", m.RecordID)
					}
					clusterOf[m.RecordID], scores[m.RecordID] = c.ID, m
				}
			}
			var got []string
			for j, b := range pages {
				if !b.Judged() {
					if clusterOf[b.RecordID] != "" {
						t.Errorf("%s is no document, yet in a cluster", b.URI)
					}
					continue
				}
				for i, a := range pages[:j] {
					if !a.Judged() {
						continue
					}
					together := clusterOf[a.RecordID] != "" && clusterOf[a.RecordID] == clusterOf[b.RecordID]
					if together == near[[2]int{i, j}] {
						continue
					}
					what := "missed"
					if together {
						what = "false"
					}
					line := fmt.Sprintf("%s: %s %s, %s %s", what, a.Kind, a.URI, b.Kind, b.URI)
					got = append(got, line)
					if !slices.Contains(wrong, line) {
						for _, p := range []example.Page{a, b} {
							m := scores[p.RecordID]
							t.Logf("%s %s: %s, resemblance %v, containment %v, against %s", p.RecordID, p.URI, m.Relation, m.Resemblance, m.Containment, m.VerifiedAgainst)
						}
					}
				}
			}
			if !slices.Equal(got, wrong) {
				t.Errorf("got wrong:\n%s\nwant wrong:\n%s", strings.Join(got, "\n"), strings.Join(wrong, "\n"))
			}
		})
	}
}
