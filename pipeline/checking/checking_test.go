package checking_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"neardup/configs"
	"neardup/pipeline/checking"
	"neardup/pipeline/disk"
	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/preferences"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/store"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
)

var (
	flips    = flag.Int("flips", 60, "bits that TestFlippedBits flips, one in each copy of a workspace")
	flipSeed = flag.Uint64("flip-seed", 1, "seed of TestFlippedBits")
)

// finished returns a workspace of the example with its exports.
func finished(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{Workers: 2}, pipetest.Crawl(t))
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = exports.WriteAll(t.Context(), w, 0)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A capture and a revisit with one ID and other texts, or titles, are no damage.
func TestPagesOfOneID(t *testing.T) {
	const first, second = "WARC-Payload-Digest: sha1:BBBB2222AAAA2222AAAA2222AAAA2222", "WARC-Payload-Digest: sha1:CCCC2222AAAA2222AAAA2222AAAA2222"
	for _, text := range []string{"page", "another text"} {
		block, dir := pipetest.OkHTML+"<title>A title</title><p>page", filepath.Join(t.TempDir(), "ws")
		pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.WriteRecords(t,
			pipetest.Archived("response", "c1", "http://a.example/", 4, pipetest.OkHTML+"<title>Another one</title><p>"+text, first),
			pipetest.Archived("response", "both", "http://a.example/", 9, block, second),
			pipetest.Archived("revisit", "both", "http://a.example/", 9, block, first)))
		if o := check(t, dir); o.found != "" {
			t.Errorf("%s: %s", text, o.found)
		}
	}
}

// Records of one compressed member that have one ID are captures of one row.
func TestRecordsOfOneMember(t *testing.T) {
	record := pipetest.Archived("response", "one", "http://a.example/", 1, pipetest.OkHTML+"<p>This page stands in the archive twice.")
	path := filepath.Join(t.TempDir(), "twice.warc.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(slices.Concat(record, record))
	if err := errors.Join(err, z.Close(), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, path)
	if o := check(t, dir); o.found != "" {
		t.Error(o.found)
	}
}

// A table file that a run had not written to the end when it was killed is no damage. One
// that the database has is.
func TestFilesOfAKilledRun(t *testing.T) {
	dir := finished(t)
	tables, err := filepath.Glob(filepath.Join(dir, "db", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	b, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "db", "900000.sst")
	if err := os.WriteFile(name, b[:len(b)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	of := func() checking.Result {
		r, err := checking.Check(t.Context(), dir, func() (*workspace.Workspace, error) {
			return workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := of()
	if len(r.Problems) > 0 || r.Rows == 0 || r.Files != len(tables) || !strings.HasPrefix(strings.Join(r.Notes, "\n"), "900000.sst, ") {
		t.Errorf("with a file that was not written to the end: %+v", r)
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
	if err := os.WriteFile(tables[0], b[:len(b)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if r := of(); len(r.Problems) != 1 || r.Rows != 0 {
		t.Errorf("with a file of the database that is cut off: %+v", r)
	}

	// a database that has no table file yet
	dir = filepath.Join(t.TempDir(), "ws")
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{})
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "db", "900000.sst"), b[:len(b)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if r := of(); len(r.Problems) > 0 || !strings.HasPrefix(strings.Join(r.Notes, "\n"), "900000.sst, ") {
		t.Errorf("with a file that a first run had not written to the end: %+v", r)
	}
}

// warned says whether something was warned of.
type warned struct {
	workspace.Silent
	warnings []string
}

func (w *warned) Warn(message string, _ ...any) { w.warnings = append(w.warnings, message) }

// outcome is what a check makes of a workspace.
type outcome struct {
	found string // how damage was found; empty: it was not
	rows  string // digest of all rows
	files string // digest of the exports
}

func check(t *testing.T, dir string) (o outcome) {
	t.Helper()
	p := &warned{}
	open := func() (*workspace.Workspace, error) {
		return workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{Workers: 1, Progress: p})
	}
	r, err := checking.Check(t.Context(), dir, open)
	switch {
	case err != nil:
		o.found = "refused: " + err.Error()
	case len(r.Problems) > 0:
		o.found = "problem: " + r.Problems[0]
	case len(p.warnings) > 0:
		o.found = "mended: " + p.warnings[0]
	}
	if o.found != "" {
		return o
	}
	w, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	h := sha256.New()
	for row, err := range w.DB.Rows([]byte{0}, []byte{0xff}) {
		if err != nil {
			t.Fatal(err)
		}
		v, err := row.Value()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(h, "%x %x\n", row.Key(), v)
	}
	o.rows = fmt.Sprintf("%x", h.Sum(nil))
	h.Reset()
	for _, name := range exports.Files {
		b, err := os.ReadFile(filepath.Join(dir, "exports", name))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = h.Write(b)
	}
	o.files = fmt.Sprintf("%x", h.Sum(nil))
	return o
}

// problems checks a workspace whose files are sound.
func problems(t *testing.T, dir string) checking.Result {
	t.Helper()
	r, err := checking.Check(t.Context(), dir, func() (*workspace.Workspace, error) {
		return workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{Workers: 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The verdicts before a removal name texts that sign has dropped, until verify is done again,
// and then the exports before it are still there.
func TestUnfinishedRemoval(t *testing.T) {
	dir := finished(t)
	for _, stage := range []string{"", workspace.StageSign, workspace.StageCluster, workspace.StageVerify} {
		w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if stage == "" {
			var n int64
			if n, err = withdrawals.Withdraw(t.Context(), w, withdrawn.Withdrawal{URI: "*recipes.example/*"}); n == 0 {
				t.Error("nothing is withdrawn")
			}
		} else {
			err = w.Run(t.Context(), workspace.StageExtract, stage, nil)
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := checking.Check(t.Context(), dir, func() (*workspace.Workspace, error) {
			return workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
		})
		if err != nil {
			t.Fatal(err)
		}
		noted := slices.Contains(r.Notes, "verdicts and clusters, because verifying is not done")
		old := slices.Contains(r.Notes, "exports/clusters.csv, because it is older than the tables; neardup run writes it again")
		if last := stage == workspace.StageVerify; noted == last || old != last || len(r.Problems) > 0 {
			t.Errorf("after %q: problems %q, notes %q", stage, r.Problems, r.Notes)
		}
	}
}

// A bit that flips in any file of a workspace is found, or was harmless: all rows and
// exports are as before.
func TestFlippedBits(t *testing.T) {
	whole := finished(t)
	want := check(t, whole)
	if want.found != "" {
		t.Fatal(want.found)
	}
	var files []string
	for _, path := range pipetest.Tree(t, whole) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			name, err := filepath.Rel(whole, path)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, name)
		}
	}
	rng := rand.New(rand.NewPCG(*flipSeed, 0))
	found, harmless := map[string]int{}, map[string]int{}
	for i := range *flips {
		name := files[i%len(files)]
		dir := filepath.Join(t.TempDir(), "ws")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		at := rng.IntN(8 * len(b))
		b[at/8] ^= 1 << (at % 8)
		pipetest.WriteFile(t, filepath.Join(dir, name), b)
		got := check(t, dir)
		kind := strings.TrimRight(filepath.Base(name), "0123456789-")
		if ext := filepath.Ext(name); ext == ".sst" || ext == ".log" {
			kind = ext
		}
		switch {
		case got.found != "":
			found[kind]++
		case got != want:
			t.Errorf("run %d of seed %d: bit %d of %s is not found, and rows or exports differ", i, *flipSeed, at, name)
		default:
			harmless[kind]++
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("found %v; harmless %v", found, harmless)
	if *flips >= 60 && (found[".sst"] == 0 || found["clusters.jsonl"] == 0 || found["manifest.json"] == 0) {
		t.Errorf("found only %v", found)
	}
}

// What tables say of each other: a row that is missing, or says something else, is a
// problem, though all checksums are right and no stage noted what it left.
func TestTables(t *testing.T) {
	whole := finished(t)
	listed, err := workspace.Open(whole, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		workspace.Preference
		lines string
	}{{workspace.Preference{Name: "s", Kind: workspace.KindScores}, "u\t1\nv\t2"}, {workspace.Preference{Name: "h", Kind: workspace.KindHosts}, "a.example\nb.example"}} {
		if _, err := preferences.Add(t.Context(), listed, p.Preference, strings.NewReader(p.lines)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(listed.Run(t.Context(), workspace.StageExtract, workspace.StageVerify, nil), listed.Close()); err != nil {
		t.Fatal(err)
	}
	first := func(w *workspace.Workspace, table byte) (key, value []byte) {
		for r, err := range w.DB.Table(table) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := r.Value()
			if err != nil {
				t.Fatal(err)
			}
			return append([]byte(nil), r.Key()...), append([]byte(nil), v...)
		}
		t.Fatalf("table %c is empty", table)
		return nil, nil
	}
	without := func(table byte) func(*workspace.Workspace, store.Batch) error {
		return func(w *workspace.Workspace, b store.Batch) error {
			k, _ := first(w, table)
			return b.Delete(k)
		}
	}
	// counted changes a count of the extraction, and nothing else of its state.
	counted := func(change func(c *results.ExtractCounts)) func(*workspace.Workspace, store.Batch) error {
		return func(w *workspace.Workspace, b store.Batch) error {
			var c results.ExtractCounts
			if err := w.Counts(workspace.StageExtract, &c); err != nil {
				return err
			}
			s, _, err := w.State(workspace.StageExtract)
			change(&c)
			counts, jerr := json.Marshal(c)
			s.Counts = counts
			return errors.Join(err, jerr, b.SetJSON(layout.MetaKey("stage/"+workspace.StageExtract), s))
		}
	}
	for _, tt := range []struct {
		name   string
		change func(w *workspace.Workspace, b store.Batch) error
		want   string
	}{
		{"a text is missing", without(layout.TableText), "which is missing"},
		{"a text is another", func(w *workspace.Workspace, b store.Batch) error {
			k, v := first(w, layout.TableText)
			return b.Set(k, append(v, '.'))
		}, "is not the text that was stored"},
		{"a text on no page", func(w *workspace.Workspace, b store.Batch) error {
			return b.Set(layout.TextKey(rows.TextID{1}), []byte("a"))
		}, "is on no page"},
		{"a page without its text", without(layout.TableOccurrence), "is not listed under its text"},
		{"what is around of no page", func(w *workspace.Workspace, b store.Batch) error {
			k, _ := first(w, layout.TableAround)
			return b.Delete(append([]byte{layout.TableDocument}, k[1:]...))
		}, "belongs to no page"},
		{"a posting is missing", without(layout.TablePosting), "texts were signed with"},
		{"a verdict of a strange text", func(w *workspace.Workspace, b store.Batch) error {
			k, v := first(w, layout.TableVerdict)
			k[len(k)-1] ^= 1
			return b.Set(k, v)
		}, "which is not signed"},
		{"a text is in two clusters", func(w *workspace.Workspace, b store.Batch) error {
			k, v := first(w, layout.TableCluster)
			k[1] ^= 1
			return b.Set(k, v)
		}, "is not recorded in that cluster"},
		{"a host is missing", without(layout.TableHost), "contained in another"},
		{"captures that were read are not there", func(w *workspace.Workspace, b store.Batch) error {
			known, err := w.Sources()
			known[0].Counts.Captures--
			known[0].Counts.Records--
			return errors.Join(err, b.SetJSON(layout.SourceKey(known[0].Path), known[0]))
		}, "captures were read of input"},
		{"a record is not accounted for", func(w *workspace.Workspace, b store.Batch) error {
			known, err := w.Sources()
			if err != nil {
				return err
			}
			known[0].Counts.Records++
			return b.SetJSON(layout.SourceKey(known[0].Path), known[0])
		}, "are accounted for"},
		{"a record that no input has", counted(func(c *results.ExtractCounts) { c.Records++ }), "; the inputs have"},
		{"a capture that is nothing", counted(func(c *results.ExtractCounts) { c.Captures++ }), "captures, but"},
		{"a file that no input is", counted(func(c *results.ExtractCounts) { c.Files++ }), "; the inputs have"},
		{"a score is another", func(w *workspace.Workspace, b store.Batch) error {
			k, _ := first(w, layout.TablePreferred)
			return b.Set(k, layout.ScoreValue(7))
		}, "the list s has 2 entries that are not the 2 that were added"},
		{"a score is missing", without(layout.TablePreferred), "the list s has 1 entries that are not the 2"},
		{"a score that cannot be parsed", func(w *workspace.Workspace, b store.Batch) error {
			k, _ := first(w, layout.TablePreferred)
			return b.Set(k, []byte("?"))
		}, "damaged"},
		{"scores of no list", without(layout.TablePreference), "2 scores and hosts are of no list"},
		{"hosts in another order", func(w *workspace.Workspace, b store.Batch) error {
			return errors.Join(b.Set(layout.PreferredHostKey(1, 0), []byte("b.example")), b.Set(layout.PreferredHostKey(1, 1), []byte("a.example")))
		}, "the list h has 2 entries that are not the 2"},
		{"a row that cannot be parsed", func(w *workspace.Workspace, b store.Batch) error {
			k, _ := first(w, layout.TableCluster)
			return b.Set(k, []byte("?"))
		}, "damaged"},
	} {
		dir := filepath.Join(t.TempDir(), "ws")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		b := w.DB.Batch()
		for _, st := range stages.All { // what it left is not noted
			s, _, err := w.State(st.Name)
			s.Tables = nil
			if err := errors.Join(err, b.SetJSON(layout.MetaKey("stage/"+st.Name), s)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(tt.change(w, b), b.Commit()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r := problems(t, dir)
		if !strings.Contains(strings.Join(r.Problems, "\n"), tt.want) {
			t.Errorf("%s: problems %q", tt.name, r.Problems)
		}
	}
}

// What the stages noted of their tables, and the exports.
func TestNotedAndExported(t *testing.T) {
	dir := finished(t)
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	b := w.DB.Batch()
	for _, table := range []byte{layout.TableSet, layout.TableExported} {
		for r, err := range w.DB.Table(table) {
			if err := errors.Join(err, b.Delete(append([]byte(nil), r.Key()...))); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	if err := errors.Join(b.Commit(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "exports", "clusters.csv")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	r := problems(t, dir)
	got := strings.Join(r.Problems, "\n")
	for _, want := range []string{"table p of cluster has", "exports/clusters.csv is missing", "where a run wrote"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
}

// What a run with other settings has written when it is interrupted is no damage.
func TestInterruptedRuns(t *testing.T) {
	whole, c := finished(t), pipetest.MustLoad(t, "verify.closing="+configs.ClosingTransitive)
	t.Cleanup(func() { disk.Fault.Store(nil) })
	verifying := 0
	// run interrupts a run at the nth operation on files, and returns how many there were.
	run := func(n int64) (done bool, operations int64) {
		dir := filepath.Join(t.TempDir(), "ws")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var begun atomic.Int64
		disk.Fault.Store(new(disk.Injector(func(_, _ string, bytes int) (int, error) {
			if begun.Add(1) == n {
				cancel()
			}
			return bytes, nil
		})))
		w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		err = w.Run(ctx, workspace.StageExtract, workspace.StageVerify, nil)
		if closed := w.Close(); closed != nil || err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err, closed)
		}
		disk.Fault.Store(nil)
		if o := check(t, dir); o.found != "" {
			t.Errorf("after %d operations: %s", n, o.found)
		}
		if pipetest.Staleness(t, dir, c, workspace.StageVerify) == workspace.Unfinished {
			verifying++
		}
		return err == nil, begun.Load()
	}
	_, all := run(-1)
	for n := all - 60; ; n++ { // the last ones are those of verify
		if done, _ := run(n); done {
			break
		}
	}
	if verifying == 0 {
		t.Error("no run was interrupted while it verified")
	}
}
