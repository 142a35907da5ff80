package stages_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawals"
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

// extracting opens a workspace, has the stage read files after use, and returns the rows of
// pages and revisits, by the first bytes of their keys, and those of them that it wrote.
func extracting(t *testing.T, dir string, use func(*workspace.Workspace), files ...string) (all map[layout.RowID]string, written map[layout.RowID]struct{}) {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	use(w)
	tables := string([]byte{layout.TableDocument, layout.TableOccurrence, layout.TableRevisit})
	w.DB.Watch(tables, 1<<20, func() error { return nil })
	sources, _, err := inputs.Find(t.Context(), dir, files, nil, pipetest.Limits)
	if err == nil {
		err = w.Run(t.Context(), workspace.StageExtract, workspace.StageExtract, sources)
	}
	if err != nil {
		t.Fatal(err)
	}
	all = map[layout.RowID]string{}
	for i := range len(tables) {
		for r, err := range w.DB.Table(tables[i]) {
			if err != nil {
				t.Fatal(err)
			}
			value, err := r.Value()
			if err != nil {
				t.Fatal(err)
			}
			var id layout.RowID
			copy(id[:], r.Key())
			all[id] += fmt.Sprintf("%q: %q\n", r.Key(), value)
		}
	}
	written, ok := w.DB.Changed()
	if !ok {
		t.Fatal("it is not known what was written")
	}
	return all, written
}

func nothing(*workspace.Workspace) {}

// Later crawls, and a takedown, write only revisits that change: those that refer to a
// better capture now, to one at last, or to none any more. The rows are those of one run.
func TestOnlyChangedRevisitsAreWritten(t *testing.T) {
	records, _ := pipetest.Revisits()
	const digest = "WARC-Payload-Digest: sha1:BBBB2222AAAA2222AAAA2222AAAA2222"
	page := func(id, uri, text string, fields ...string) []byte {
		return pipetest.Archived("response", id, uri, 1, pipetest.OkHTML+"<p>"+text, fields...)
	}
	takedown := func(w *workspace.Workspace) {
		if _, err := withdrawals.Withdraw(w, workspace.Withdrawal{URI: "http://gone.example/*"}); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "ws")
	files := []string{pipetest.WriteRecords(t, records...)}
	before, _ := extracting(t, dir, nothing, files...)
	for _, later := range []struct {
		name    string
		record  []byte
		first   func(*workspace.Workspace)
		changed int // revisits
	}{
		{"another page", page("other", "http://other.example/", "another page"), nothing, 0},
		{"an earlier capture", page("b-earlier", "http://b.example/", "page b, earlier", digest), nothing, 4},
		{"a capture that was missing", page("gone", "http://gone.example/", "gone"), nothing, 3},
		{"a page, and the capture is gone", page("last", "http://last.example/", "last page"), takedown, 3},
	} {
		file := pipetest.WriteRecords(t, later.record)
		files = append(files, file)
		after, written := extracting(t, dir, later.first, file)
		revisits := 0
		for id := range written {
			if before[id] == after[id] {
				t.Errorf("%s: it writes what is there: %s", later.name, before[id])
			}
			if id[0] == layout.TableRevisit {
				revisits++
			}
		}
		if revisits != later.changed {
			t.Errorf("%s changes %d revisits, want %d", later.name, revisits, later.changed)
		}
		if want, _ := extracting(t, filepath.Join(t.TempDir(), "ws"), later.first, files...); !maps.Equal(after, want) {
			t.Errorf("%s: rows %s, of one run %s", later.name, after, want)
		}
		before = after
	}
}

// A file can have a capture with the ID of a revisit. The capture keeps its text when the
// revisit gets another one, and stays the original of other revisits.
func TestRevisitWithTheIDOfACapture(t *testing.T) {
	digest, block := "WARC-Payload-Digest: sha1:BBBB2222AAAA2222AAAA2222AAAA2222", pipetest.OkHTML+"<p>page"
	files := []string{
		pipetest.WriteRecords(t,
			pipetest.Archived("revisit", "both", "http://a.example/", 5, block, digest),
			pipetest.Archived("response", "both", "http://a.example/", 5, block, digest),
			pipetest.Archived("revisit", "of-both", "http://a.example/", 7, pipetest.OkHTML, "WARC-Refers-To: <urn:test:both>")),
		pipetest.WriteRecords(t, pipetest.Archived("response", "earlier", "http://a.example/", 4, pipetest.OkHTML+"<p>earlier", digest)),
		pipetest.WriteRecords(t, pipetest.Archived("response", "other", "http://other.example/", 4, pipetest.OkHTML+"<p>other")),
	}
	dir := filepath.Join(t.TempDir(), "ws")
	for i, file := range files {
		got, _ := extracting(t, dir, nothing, file)
		if want, _ := extracting(t, filepath.Join(t.TempDir(), "ws"), nothing, files[:i+1]...); !maps.Equal(got, want) {
			t.Errorf("rows after %d runs:\n%s\nafter one:\n%s", i+1, got, want)
		}
	}
}
