package stages_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/withdrawn"
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

// Text that was made from a capture comes after captures and revisits, and a date without
// fractions before one with them.
func TestWhatRevisitsReferToFirst(t *testing.T) {
	const uri = "http://a.example/x"
	page := func(id string, day int, fraction, text string) []byte {
		r := pipetest.Archived("response", id, uri, day, pipetest.OkHTML+"<p>"+strings.Repeat(text+" is what this page is about, and nothing else. ", 9))
		return bytes.Replace(r, []byte("T00:00:00Z"), []byte("T00:00:00"+fraction+"Z"), 1)
	}
	derived := func(id string, day int, text string) []byte {
		r := pipetest.Archived("conversion", id, uri, day, strings.Repeat(text+" is what this page is about, and nothing else. ", 9))
		return bytes.Replace(r, []byte("application/http; msgtype=response"), []byte("text/plain"), 1)
	}
	refersTo := func(id string, day int, date string) []byte {
		return pipetest.Archived("revisit", id, uri, day, "", "WARC-Refers-To-Target-URI: "+uri, "WARC-Refers-To-Date: "+date)
	}
	for name, x := range map[string]struct {
		records [][]byte
		want    map[string]string
	}{
		"a revisit before derived text": {[][]byte{page("1", 1, "", "A capture"), refersTo("2", 2, "2020-01-01T00:00:00Z"), derived("3", 2, "Another text"), refersTo("4", 3, "2020-01-02T00:00:00Z")}, map[string]string{"2": "1", "4": "1"}},
		"derived text only":             {[][]byte{derived("1", 1, "A text"), refersTo("2", 2, "2020-01-01T00:00:00Z"), refersTo("3", 3, "2020-01-02T00:00:00Z")}, map[string]string{"2": "1", "3": "1"}},
		"the earlier of two":            {[][]byte{page("1", 1, "", "The first"), page("2", 1, ".5", "The second"), refersTo("3", 2, "2020-01-01T00:00:00Z"), refersTo("4", 3, "2020-01-01T00:00:00.000Z"), refersTo("5", 4, "2020-01-01T00:00:00.50Z")}, map[string]string{"3": "1", "4": "1", "5": "2"}},
	} {
		clusters := pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{}, pipetest.WriteRecords(t, x.records...))
		t.Run(name, func(t *testing.T) { checkRevisits(t, clusters, x.want) })
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
	rows := map[layout.RowID][]byte{}
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
			rows[id] = fmt.Appendf(rows[id], "%q: %q\n", r.Key(), value)
		}
	}
	all = map[layout.RowID]string{}
	for id, r := range rows {
		all[id] = string(r)
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
		if _, err := withdrawals.Withdraw(t.Context(), w, withdrawn.Withdrawal{URI: "http://gone.example/*"}); err != nil {
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

// Revisits that refer to different captures, and captures, can have one ID, and revisits of
// two files one place. Their rows are those of one run, whatever changes.
func TestRevisitsOfOneID(t *testing.T) {
	const (
		uri    = "http://a.example/"
		first  = "WARC-Payload-Digest: sha1:BBBB2222AAAA2222AAAA2222AAAA2222"
		second = "WARC-Payload-Digest: sha1:CCCC2222AAAA2222AAAA2222AAAA2222"
		block  = pipetest.OkHTML + "<title>A title</title><p>page"
	)
	page := func(id string, day int, text string, fields ...string) []byte {
		return pipetest.Archived("response", id, uri, day, pipetest.OkHTML+text, fields...)
	}
	revisit := func(id string, block string, fields ...string) []byte {
		return pipetest.Archived("revisit", id, uri, 9, block, fields...)
	}
	other := pipetest.Archived("response", "other", "http://other.example/", 1, pipetest.OkHTML+"<p>other")
	for name, files := range map[string][][][]byte{
		"one of two gets another text": {
			{page("c1", 4, "<p>page one", first), revisit("r", pipetest.OkHTML, first), revisit("r", pipetest.OkHTML, "WARC-Refers-To: <urn:test:c1>")},
			{page("c0", 1, "<p>page two", first)}, {other},
		},
		"two change their texts": {
			{page("c1", 4, "<p>page one", first), page("c2", 4, "<p>page two", second), revisit("r", pipetest.OkHTML, first), revisit("r", pipetest.OkHTML, second)},
			{page("c3", 1, "<p>page two", first), page("c4", 1, "<p>page one", second)}, {other},
		},
		"a capture comes later": {
			{page("c1", 4, "<title>Another one</title><p>page", first), revisit("both", block, first)},
			{pipetest.Archived("response", "both", uri, 9, block, second)}, {other},
		},
		"a capture stays": {
			{page("c1", 4, "<title>Another one</title><p>page", first), revisit("both", block, first), pipetest.Archived("response", "both", uri, 9, block, second),
				revisit("of-both", pipetest.OkHTML, "WARC-Refers-To: <urn:test:both>")},
			{page("c0", 1, "<p>page two", first)}, {other},
		},
	} {
		dir := filepath.Join(t.TempDir(), "ws")
		var paths []string
		for i, records := range files {
			paths = append(paths, pipetest.WriteRecords(t, records...))
			got, _ := extracting(t, dir, nothing, paths[i])
			if want, _ := extracting(t, filepath.Join(t.TempDir(), "ws"), nothing, paths...); !maps.Equal(got, want) {
				t.Errorf("%s: rows after %d runs:\n%s\nafter one:\n%s", name, i+1, got, want)
			}
		}
		w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.CheckContents(), w.Close()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// canceller cancels a run at the fifth revisit that is looked up.
type canceller struct {
	workspace.Silent
	cancel context.CancelFunc
	unit   string
	n      int
}

func (c *canceller) Total(_ int64, unit string) { c.unit = unit }

func (c *canceller) Add(int64) {
	if c.unit != "revisits" {
		return
	}
	if c.n++; c.n == 5 {
		c.cancel()
	}
}

// A run is interrupted among thousands of revisits, of one ID or of others, of which none
// changes or all do, and the next one ends as if there had been one run.
func TestManyRevisitsAreInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine; without the race detector it runs")
	}
	const n = 5000
	const digest = "WARC-Payload-Digest: sha1:BBBB2222AAAA2222AAAA2222AAAA2222"
	records := [][]byte{pipetest.Archived("response", "c1", "http://a.example/", 4, pipetest.OkHTML+"<p>page one", digest)}
	for i := range n {
		id := "same"
		if i%2 == 0 {
			id = fmt.Sprint(i)
		}
		records = append(records, pipetest.Archived("revisit", id, "http://a.example/", 9, pipetest.OkHTML, digest))
	}
	files := []string{
		pipetest.WriteRecords(t, records...),
		pipetest.WriteRecords(t, pipetest.Archived("response", "other", "http://other.example/", 1, pipetest.OkHTML+"<p>other")),
		pipetest.WriteRecords(t, pipetest.Archived("response", "c0", "http://a.example/", 1, pipetest.OkHTML+"<p>page two", digest)),
	}
	dir := filepath.Join(t.TempDir(), "ws")
	var got map[layout.RowID]string
	for i, file := range files {
		ctx, cancel := context.WithCancel(t.Context())
		c := &canceller{cancel: cancel}
		w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{Progress: c})
		if err != nil {
			t.Fatal(err)
		}
		sources, _, err := inputs.Find(ctx, dir, []string{file}, nil, pipetest.Limits)
		if err == nil {
			err = w.Run(ctx, workspace.StageExtract, workspace.StageExtract, sources)
		}
		if closeErr := w.Close(); closeErr != nil || !errors.Is(err, context.Canceled) || c.n >= n {
			t.Errorf("file %d: %v after %d of %d revisits, %v", i, err, c.n, n, closeErr)
		}
		got, _ = extracting(t, dir, nothing)
	}
	if want, _ := extracting(t, filepath.Join(t.TempDir(), "ws"), nothing, files...); !maps.Equal(got, want) {
		t.Error("other rows than those of one run")
	}
}

// Without the file of a capture the rows are those of a revisit that has its ID, and the
// other way round. The text of what was withdrawn is listed no more.
func TestWithdrawOneOfOneID(t *testing.T) {
	const (
		uri    = "http://a.example/"
		first  = "WARC-Payload-Digest: sha1:BBBB2222AAAA2222AAAA2222AAAA2222"
		second = "WARC-Payload-Digest: sha1:CCCC2222AAAA2222AAAA2222AAAA2222"
		block  = pipetest.OkHTML + "<title>A title</title><p>page"
	)
	last := pipetest.WriteRecords(t, pipetest.Archived("response", "last", "http://last.example/", 1, pipetest.OkHTML+"<p>last"))
	for _, text := range []string{"page", "another text"} { // of the revisit; page is that of the capture
		files := []string{
			pipetest.WriteRecords(t, pipetest.Archived("response", "both", uri, 9, block, second)),
			pipetest.WriteRecords(t, pipetest.Archived("response", "c1", uri, 4, pipetest.OkHTML+"<title>Another one</title><p>"+text, first),
				pipetest.Archived("revisit", "both", uri, 9, block, first)),
		}
		for gone, file := range files {
			dir := filepath.Join(t.TempDir(), "ws")
			extracting(t, dir, nothing, files...)
			got, _ := extracting(t, dir, func(w *workspace.Workspace) {
				known, err := w.Sources()
				at := slices.IndexFunc(known, func(s inputs.Source) bool { return s.Path == file })
				if err == nil && at >= 0 {
					_, err = withdrawals.Withdraw(t.Context(), w, withdrawn.Withdrawal{Input: file, Size: known[at].Size, Sample: known[at].Sample})
				}
				if err != nil || at < 0 {
					t.Fatal(at, err)
				}
			}, last)
			if want, _ := extracting(t, filepath.Join(t.TempDir(), "ws"), nothing, files[1-gone], last); !maps.Equal(got, want) {
				t.Errorf("%q, without file %d:\n%s\nwant:\n%s", text, gone, got, want)
			}
		}
	}
}
