package stages_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// checkRevisits holds a workspace's clusters against what was wanted.
func checkRevisits(t *testing.T, clusters []byte, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for line := range bytes.Lines(clusters) {
		var c report.Cluster
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Members {
			if m.RevisitOf == "" {
				continue
			}
			got[strings.TrimSuffix(strings.TrimPrefix(m.RecordID, "<urn:test:"), ">")] = strings.TrimSuffix(strings.TrimPrefix(m.RevisitOf, "<urn:test:"), ">")
			if m.Relation != report.Identical {
				t.Errorf("%s is %s", m.RecordID, m.Relation)
			}
		}
	}
	for id, of := range want {
		if got[id] != of {
			t.Errorf("%s is a revisit of %q, want %q", id, got[id], of)
		}
	}
}

func TestRevisitsAreIdenticalCaptures(t *testing.T) {
	records, want := pipetest.Revisits()
	dir := filepath.Join(t.TempDir(), "ws")
	clusters := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.WriteRecords(t, records...))
	checkRevisits(t, clusters, want)

	m, err := workspace.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	var c results.ExtractCounts
	if err := json.Unmarshal(m.Stages[0].Counts, &c); err != nil {
		t.Fatal(err)
	}
	resolved := int64(0)
	for _, of := range want {
		if of != "" {
			resolved++
		}
	}
	skipped := int64(0)
	for _, n := range c.Skipped {
		skipped += n
	}
	if c.Revisits != int64(len(want)) || c.Resolved != resolved || c.Captures != 4+resolved || c.Documents != c.Captures ||
		c.Records != c.Captures+skipped || c.Skipped["media-type"] != 1 || c.Skipped["revisit-unresolved"] != skipped-1 {
		t.Errorf("%+v, want %d of %d revisits resolved", c, resolved, len(want))
	}
}

// Where and when the captures come does not matter: in any order, before or
// after what refers to them, in one file or in several runs.
func TestRevisitsResolveTheSameInAnyOrder(t *testing.T) {
	records, want := pipetest.Revisits()
	r := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		dir := filepath.Join(t.TempDir(), "ws")
		var clusters []byte
		for at := 0; at < len(records); {
			n := min(len(records), at+5+r.IntN(20))
			// Each change committed by itself, so that later ones see it.
			clusters = pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{CommitBytes: 1}, pipetest.WriteRecords(t, records[at:n]...))
			at = n
		}
		checkRevisits(t, clusters, want)
	}
}

// The same file read twice, under two names: everything counts once.
func TestRevisitsOfAFileGivenTwice(t *testing.T) {
	records, want := pipetest.Revisits()
	dir := filepath.Join(t.TempDir(), "ws")
	first, second := pipetest.WriteRecords(t, records...), pipetest.WriteRecords(t, records...)
	clusters := pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, second, first)
	checkRevisits(t, clusters, want)
	once := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{}, min(first, second))
	if !bytes.Equal(clusters, once) {
		t.Errorf("given twice:\n%s\nonce:\n%s", clusters, once)
	}
	m, err := workspace.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	var c results.ExtractCounts
	if err := json.Unmarshal(m.Stages[0].Counts, &c); err != nil {
		t.Fatal(err)
	}
	if c.Records != int64(2*len(records)) || c.Duplicates != c.Documents {
		t.Errorf("%+v", c)
	}
}
