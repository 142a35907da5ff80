package pipeline_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/configs"
	"neardup/pipeline/bloom"
	"neardup/pipeline/checking"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/withdrawals"
	"neardup/pipeline/withdrawn"
	"neardup/pipeline/workspace"
	"neardup/signature"
)

// withdraw withdraws from the workspace in dir, which it makes if there is none.
func withdraw(t *testing.T, dir string, config configs.Config, of ...withdrawn.Withdrawal) (captures int64) {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, config, true, workspace.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	captures, err = withdrawals.Withdraw(t.Context(), w, of...)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return captures
}

// ofInput withdraws a file of a workspace.
func ofInput(t *testing.T, dir, file string) withdrawn.Withdrawal {
	t.Helper()
	m, err := workspace.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(m.Inputs, func(s inputs.Source) bool { return filepath.Base(s.Path) == filepath.Base(file) })
	if i < 0 {
		t.Fatalf("no %s in %s", file, dir)
	}
	s := m.Inputs[i]
	return withdrawn.Withdrawal{Input: s.Path, Size: s.Size, Sample: s.Sample, SHA256: s.SHA256}
}

// contentsOf returns all rows of the stages' tables, and the counts of the stages. The
// checksums of the tables must be those of their rows.
func contentsOf(t *testing.T, dir string, config configs.Config) map[string]string {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, config, false, workspace.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := w.CheckContents(); err != nil {
		t.Error(err)
	}
	out := map[string]string{}
	for _, st := range stages.All {
		s, ok, err := w.State(st.Name)
		if err != nil || !ok || !s.Done {
			t.Fatal(st.Name, ok, s.Done, err)
		}
		out["counts of "+st.Name] = string(workspace.Compact(s.Counts))
		for _, table := range slices.Concat(st.Tables, st.Scratch) {
			if table == layout.TableFilter { // it has what was ever added
				continue
			}
			for r, err := range w.DB.Table(table) {
				if err != nil {
					t.Fatal(err)
				}
				v, err := r.Value()
				if err != nil {
					t.Fatal(err)
				}
				out[string(r.Key())] = string(v)
			}
		}
	}
	known, err := w.Sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range known {
		counts, err := json.Marshal(s.Counts)
		if err != nil {
			t.Fatal(err)
		}
		out["counts of "+s.ID()] = string(counts)
	}
	return out
}

func sameContents(t *testing.T, name string, got, want map[string]string) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	shown := 0
	keys := slices.Concat(slices.Collect(maps.Keys(got)), slices.Collect(maps.Keys(want)))
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		g, inGot := got[k]
		v, inWant := want[k]
		if (inGot != inWant || g != v) && shown < 8 {
			t.Errorf("%s: %.60q: has %.300q (%v), want %.300q (%v)", name, k, g, inGot, v, inWant)
			shown++
		}
	}
}

// halves writes the example crawl, and another file of pages that share texts with it.
func withdrawnInputs(t *testing.T) (crawl, other string) {
	t.Helper()
	crawl = pipetest.Crawl(t)
	records, _ := pipetest.Revisits()
	return crawl, pipetest.WriteRecords(t, records...)
}

// Pages of a file that have one text share its rows, also where the first of them is
// withdrawn.
func TestWithdrawFirstOfEqualPages(t *testing.T) {
	config := pipetest.MustLoad(t)
	page := func(id, uri string) []byte {
		body := "<p>" + strings.Repeat("A sentence of a page that was captured at several addresses. ", 12)
		return pipetest.Archived("response", id, uri, 1, pipetest.OkHTML+body)
	}
	var all, rest [][]byte
	for i := range 1000 {
		all = append(all, page(fmt.Sprint(i), fmt.Sprintf("http://site.example/%d", i%150)))
		if i%150 > 0 {
			rest = append(rest, all[i])
		}
	}
	ws, alone := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "alone")
	withdraw(t, ws, config, withdrawn.Withdrawal{URI: "http://site.example/0"})
	pipetest.RunAll(t, ws, config, workspace.Options{Workers: 1}, pipetest.WriteRecords(t, all...))
	pipetest.RunAll(t, alone, config, workspace.Options{Workers: 1}, pipetest.WriteRecords(t, rest...))
	texts := func(dir string) map[string]string {
		rows := contentsOf(t, dir, config)
		maps.DeleteFunc(rows, func(k, _ string) bool { return k[0] != layout.TableText && k[0] != layout.TableUnits })
		return rows
	}
	got := texts(ws)
	sameContents(t, "texts", got, texts(alone))
	for k, text := range got {
		if k[0] == layout.TableText && got[string(layout.TableUnits)+k[1:]] != string(layout.UnitsValue(dataflow.UnitsOf(text))) {
			t.Error("the units are not those of the text")
		}
	}
	if len(got) != 2 {
		t.Errorf("%d rows of texts and units, want 2", len(got))
	}
}

// A withdrawn input leaves the rows of a run over the others, with and without frames.
func TestWithdrawInput(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	for _, settings := range [][]string{nil, {"text.frames=0"}} {
		config := pipetest.MustLoad(t, settings...)
		for _, gone := range []string{crawl, other} {
			stays := map[string]string{crawl: other, other: crawl}[gone]
			ws, alone := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "alone")
			pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, crawl, other)
			n := withdraw(t, ws, config, ofInput(t, ws, gone))
			got := pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2})
			want := pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, stays)
			if n == 0 || !bytes.Equal(got, want) {
				t.Errorf("%v: %s: %d captures, other clusters than without it", settings, filepath.Base(gone), n)
			}
			sameContents(t, filepath.Base(gone), contentsOf(t, ws, config), contentsOf(t, alone, config))
			// It stays out when it is named again, under any name, and comes back when it is let in.
			copied := filepath.Join(t.TempDir(), "copy.gz")
			b, err := os.ReadFile(gone)
			if err != nil {
				t.Fatal(err)
			}
			pipetest.WriteFile(t, copied, b)
			if again := pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, gone, copied); !bytes.Equal(again, want) {
				t.Errorf("%s came back", filepath.Base(gone))
			}
		}
	}
}

// Captures of withdrawn URIs leave the rows of a run that never had them, whether it
// comes before or after: in a run from the beginning, in a later run, and by the counts.
func TestWithdrawURI(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	whole, first, looked := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "looked")
	all := pipetest.RunAll(t, whole, config, workspace.Options{Workers: 2}, crawl, other)
	pipetest.RunAll(t, first, config, workspace.Options{Workers: 2}, crawl)
	copied := func(to, from string) {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	copied(looked, whole)
	uris := map[string]bool{}
	w := pipetest.OpenWith(t, looked)
	for r, err := range w.DB.Table(layout.TableRevisit) {
		var v struct {
			URI string `json:"uri"`
		}
		if err := errors.Join(err, r.JSON(&v)); err != nil {
			t.Fatal(err)
		}
		uris[v.URI] = true
	}
	for d, err := range results.Documents[rows.Document](w) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(d.Row.TargetURI, ".example/pages/") { // those of the revisits
			uris[d.Row.TargetURI] = true
		}
	}
	step := 4
	if testing.Short() {
		step = 12
	}
	patterns := [][]string{{"http://recipes.example/*"}, {"https://recipes.example/pages/tea.html", "*kite*"}, {"*/pages/*"}}
	for i, uri := range slices.Sorted(maps.Keys(uris)) {
		if i%step == 0 {
			patterns = append(patterns, []string{uri})
		}
	}
	for _, p := range patterns {
		var of []withdrawn.Withdrawal
		for _, uri := range p {
			of = append(of, withdrawn.Withdrawal{URI: uri, Why: "asked for"})
		}
		after, before, later := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "ws")
		copied(after, whole)
		n := withdraw(t, after, config, of...)
		got := pipetest.RunAll(t, after, config, workspace.Options{Workers: 2})
		withdraw(t, before, config, of...)
		want := pipetest.RunAll(t, before, config, workspace.Options{Workers: 2}, crawl, other)
		if n == 0 || !bytes.Equal(got, want) || bytes.Equal(got, all) && len(p) > 1 {
			t.Errorf("%v: %d captures, other clusters than if they had never been there", p, n)
		}
		one := contentsOf(t, before, config)
		sameContents(t, fmt.Sprint(p), contentsOf(t, after, config), one)
		copied(later, first)
		withdraw(t, later, config, of...)
		pipetest.RunAll(t, later, config, workspace.Options{Workers: 2}, other)
		sameContents(t, fmt.Sprint(p, ", later"), contentsOf(t, later, config), one)
		if p[0] == "*/pages/*" && bytes.Contains(got, []byte("/pages/")) {
			t.Errorf("%v: there are still pages", p)
		}
	}
}

// What is left is as a run over archives that never had the pages.
func TestWithdrawnPagesAsIfNotThere(t *testing.T) {
	crawl, _ := withdrawnInputs(t)
	var texts []string
	for i := range 20 {
		texts = append(texts, strings.Repeat(fmt.Sprintf("Page %d of the other site says a sentence that is long enough. ", i/2), 3)+fmt.Sprint(i))
	}
	other := pipetest.WriteTexts(t, 0, texts)
	config := pipetest.MustLoad(t)
	ws, alone := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "alone")
	pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, crawl, other)
	if n := withdraw(t, ws, config, withdrawn.Withdrawal{URI: "urn:text:*"}); n != 20 {
		t.Errorf("%d captures", n)
	}
	got := pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2})
	if want := pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, crawl); !bytes.Equal(got, want) {
		t.Error("other clusters than without the pages")
	}
}

// The texts of withdrawn pages go at once, whether the stages run after that or cannot. What
// was withdrawn comes back only if all inputs can be read again. The list keeps its figures.
func TestWithdrawAlone(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	ws := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, crawl, other)
	gone := withdrawn.Withdrawal{URI: "*.example/*", Why: "asked for"}
	n := withdraw(t, ws, config, gone)
	if again := withdraw(t, ws, config, withdrawn.Withdrawal{URI: "*.example/*#"}); n == 0 || again != 0 {
		t.Errorf("%d and %d captures are withdrawn", n, again)
	}
	w, err := workspace.Open(ws, stages.All, config, false, workspace.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	occurring := map[string]bool{}
	for r, err := range w.DB.Table(layout.TableOccurrence) {
		if err != nil {
			t.Fatal(err)
		}
		occurring[string(r.Key()[1:17])] = true
	}
	for _, table := range []byte{layout.TableText, layout.TableUnits} {
		for r, err := range w.DB.Table(table) {
			if err != nil {
				t.Fatal(err)
			}
			if !occurring[string(r.Key()[1:17])] {
				t.Errorf("table %c has the text %x, which no page has", table, r.Key()[1:17])
			}
		}
	}
	all, err := w.Withdrawn()
	if err != nil || len(all) != 1 || all[0].Captures != n || all[0].Why != "asked for" {
		t.Errorf("%+v, %v", all, err)
	}
	if err := os.Rename(other, other+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := withdrawals.Readmit(t.Context(), w, gone); !errors.Is(err, workspace.ErrUsage) {
		t.Errorf("without an input: %v", err)
	}
	if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
		t.Error(err)
	}
	if err := os.Rename(other+".away", other); err != nil {
		t.Fatal(err)
	}
	if ok, err := withdrawals.Readmit(t.Context(), w, gone); !ok || err != nil {
		t.Error(ok, err)
	}
}

// An interrupted run goes on, and a withdrawal that is taken back brings the captures
// back.
func TestWithdrawInterruptedAndTakenBack(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	ws, fresh := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "ws")
	whole := pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, crawl, other)
	gone := withdrawn.Withdrawal{URI: "*.example/*"}
	withdraw(t, fresh, config, gone)
	want := pipetest.RunAll(t, fresh, config, workspace.Options{Workers: 2}, crawl, other)
	withdraw(t, ws, config, gone)
	for steps := 1; steps <= 12; steps++ {
		ctx, cancel := context.WithCancel(t.Context())
		i := &pipetest.Interrupter{Cancel: cancel}
		i.Left.Store(int64(steps))
		w, err := workspace.Open(ws, stages.All, config, false, workspace.Options{Workers: 2, Progress: i})
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Run(ctx, "extract", "verify", nil)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	if got := pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}); !bytes.Equal(got, want) || bytes.Equal(got, whole) {
		t.Error("interrupted: other clusters")
	}
	w, err := workspace.Open(ws, stages.All, config, false, workspace.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	ok, err := withdrawals.Readmit(t.Context(), w, withdrawn.Withdrawal{URI: "*.example/*#x"})
	if err := errors.Join(err, w.Close()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if got := pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}); !bytes.Equal(got, whole) {
		t.Error("taken back: other clusters than before")
	}
}

// An input that is withdrawn and taken back before anything else runs leaves no text behind.
func TestWithdrawTakenBackAtOnce(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	ws := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, crawl, other)
	d := ofInput(t, ws, other)
	withdraw(t, ws, config, d)
	open := func() (*workspace.Workspace, error) {
		return workspace.Open(ws, stages.All, config, false, workspace.Options{Workers: 2})
	}
	w, err := open()
	if err != nil {
		t.Fatal(err)
	}
	ok, err := withdrawals.Readmit(t.Context(), w, d)
	if err := errors.Join(err, w.Close()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, crawl)
	r, err := checking.Check(t.Context(), ws, open)
	if err != nil || len(r.Problems) > 0 {
		t.Errorf("%q, %v", r.Problems, err)
	}
	alone := filepath.Join(t.TempDir(), "alone")
	pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, crawl)
	sameContents(t, "taken back", contentsOf(t, ws, config), contentsOf(t, alone, config))
}

// Texts that have gone are dropped in parts where memory does not hold all. Where they are
// many, the others are signed again, and no changes of postings are noted. What is left is
// that of a run without the pages.
func TestWithdrawInParts(t *testing.T) {
	crawl, _ := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	for uri, again := range map[string]bool{"http://garden.example/*": false, "http://*a*.example/*": true, "http://*": true} {
		ws, alone := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "alone")
		pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, crawl)
		withdraw(t, ws, config, withdrawn.Withdrawal{URI: uri})
		w, err := workspace.Open(ws, stages.All, config, true, workspace.Options{Workers: 2, RunRows: 7})
		if err != nil {
			t.Fatal(err)
		}
		err = w.Run(t.Context(), workspace.StageExtract, workspace.StageSign, nil)
		_, vanished, noteErr := w.DB.Get(layout.MetaKey(withdrawals.NoteOfVanished))
		_, changed, changedErr := w.DB.Get(layout.MetaKey("changed"))
		if err := errors.Join(err, noteErr, changedErr, w.Close()); err != nil {
			t.Fatal(err)
		}
		if vanished || changed == again {
			t.Errorf("%s: sign left the note of texts that have gone: %v, and one of changed postings: %v", uri, vanished, changed)
		}
		pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2, RunRows: 7})
		withdraw(t, alone, config, withdrawn.Withdrawal{URI: uri})
		pipetest.RunAll(t, alone, config, workspace.Options{Workers: 2}, crawl)
		sameContents(t, uri, contentsOf(t, ws, config), contentsOf(t, alone, config))
	}
}

// stopsAt stops a run where a stage begins.
type stopsAt struct {
	workspace.Silent
	stage string
	stop  context.CancelFunc
}

func (s stopsAt) Start(stage, _, _ string) {
	if stage == s.stage {
		s.stop()
	}
}

// Where all inputs are withdrawn, nothing that runs wrote is left: no exports, no costs, and
// no state from before a run that was interrupted.
func TestWithdrawAllInputs(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	ws := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, ws, config, workspace.Options{}, crawl)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	w, err := workspace.Open(ws, stages.All, config, true, workspace.Options{Progress: stopsAt{stage: workspace.StageSign, stop: stop}})
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := inputs.Find(t.Context(), ws, []string{crawl, other}, nil, pipetest.Limits)
	if err := errors.Join(err, w.Run(ctx, workspace.StageExtract, workspace.StageVerify, sources), w.Close()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	pipetest.WriteFile(t, filepath.Join(ws, "run.json"), []byte("{}")) // what commands write
	written := []string{"exports", "run.json", "finished"}
	for _, name := range written {
		if _, err := os.Lstat(filepath.Join(ws, name)); err != nil {
			t.Errorf("before: %v", err)
		}
	}
	withdraw(t, ws, config, ofInput(t, ws, crawl), ofInput(t, ws, other))
	for _, name := range written {
		if _, err := os.Lstat(filepath.Join(ws, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	in(t, ws, config, func(w *workspace.Workspace) error {
		for _, table := range []byte{layout.TableSource, layout.TableText, layout.TableExported} {
			if n, err := w.DB.Count(table); n > 0 || err != nil {
				t.Errorf("%d rows of table %c are left: %v", n, table, err)
			}
		}
		return nil
	})
}

// Of two files of one size that begin and end alike, only the one goes that is named, and
// only that one stays out.
func TestWithdrawOfFilesThatAreAlike(t *testing.T) {
	config := pipetest.MustLoad(t)
	dir := t.TempDir()
	content := numbered(t, "one", 1500)
	good := pipetest.WriteFile(t, filepath.Join(dir, "good.warc"), content)
	damaged := slices.Clone(content)
	clear(damaged[len(damaged)/2 : len(damaged)/2+1000])
	bad := pipetest.WriteFile(t, filepath.Join(dir, "bad.warc"), damaged)
	ws := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, ws, config, workspace.Options{}, bad, good)
	d := ofInput(t, ws, bad)
	withdraw(t, ws, config, d)
	pipetest.RunAll(t, ws, config, workspace.Options{})
	names := func() (all []string) {
		m, err := workspace.ReadManifest(ws)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range m.Inputs {
			all = append(all, s.Name)
		}
		return all
	}
	if got := names(); !slices.Equal(got, []string{"good.warc"}) {
		t.Errorf("%q are left", got)
	}
	ws = filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, ws, config, workspace.Options{}, bad)
	withdraw(t, ws, config, ofInput(t, ws, bad))
	pipetest.RunAll(t, ws, config, workspace.Options{}, good, bad)
	if got := names(); !slices.Equal(got, []string{"good.warc"}) {
		t.Errorf("%q are read", got)
	}
}

// The state that others read while a run is at work has no withdrawn captures: it goes, also
// where the run was interrupted that kept it.
func TestWithdrawFromTheFinishedState(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	ws := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, ws, config, workspace.Options{}, crawl)
	w, err := workspace.Open(ws, stages.All, config, true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := inputs.Find(t.Context(), ws, []string{crawl, other}, nil, pipetest.Limits)
	if err := errors.Join(err, w.Run(t.Context(), workspace.StageExtract, workspace.StageExtract, sources), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(ws, "finished")); err != nil {
		t.Fatal(err)
	}
	withdraw(t, ws, config, withdrawn.Withdrawal{URI: "http://garden.example/*"})
	if _, err := os.Lstat(filepath.Join(ws, "finished")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// A workspace whose inputs have to be read again is left as it is if they cannot be read.
// It is not damaged.
func TestWithdrawWhereNothingCanBeReadAgain(t *testing.T) {
	config := pipetest.MustLoad(t)
	for _, name := range []string{"format1.zip", "format2.zip"} { // of other versions
		z, err := zip.OpenReader(filepath.Join("workspace", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		ws := filepath.Join(t.TempDir(), "ws")
		if err := errors.Join(os.CopyFS(ws, z), z.Close()); err != nil {
			t.Fatal(err)
		}
		before := contentsOf(t, ws, config)
		in(t, ws, config, func(w *workspace.Workspace) error {
			_, err := withdrawals.Withdraw(t.Context(), w, withdrawn.Withdrawal{URI: "*"})
			if !errors.Is(err, workspace.ErrUsage) || !strings.Contains(err.Error(), "use the version of neardup that read it") {
				t.Errorf("%s: %v", name, err)
			}
			return nil
		})
		sameContents(t, name, contentsOf(t, ws, config), before)
		r, err := checking.Check(t.Context(), ws, func() (*workspace.Workspace, error) {
			return workspace.Open(ws, stages.All, config, false, workspace.Options{})
		})
		if err != nil || len(r.Problems) > 0 {
			t.Errorf("%s: %q, %v", name, r.Problems, err)
		}
	}
}

// Of a workspace of an older version only what is named goes, although the rows of its pages
// name their inputs in another way.
func TestWithdrawFromAnOlderVersion(t *testing.T) {
	crawl, _ := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	ws := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, ws, config, workspace.Options{}, crawl)
	var want int64
	in(t, ws, config, func(w *workspace.Workspace) error {
		b := w.DB.Batch()
		for d, err := range results.DocumentRows[rows.Document](w) {
			if err != nil {
				return err
			}
			if strings.HasPrefix(d.Row.TargetURI, "http://garden.example/") {
				want++
			}
			err := errors.Join(b.Delete(layout.DocumentKey(d.ID, d.Source, d.Offset)), b.SetJSON(layout.DocumentKey(d.ID, "older-"+d.Source, d.Offset), d.Row))
			if err != nil {
				return err
			}
		}
		return b.Commit()
	})
	documents := func() (n int64) {
		in(t, ws, config, func(w *workspace.Workspace) (err error) {
			n, err = w.DB.Count(layout.TableDocument)
			return err
		})
		return n
	}
	before := documents()
	if got := withdraw(t, ws, config, withdrawn.Withdrawal{URI: "http://garden.example/*"}); got != want || want == 0 {
		t.Errorf("%d captures are withdrawn, want %d", got, want)
	}
	if got := documents(); got != before-want {
		t.Errorf("%d documents of %d are left, want %d", got, before, before-want)
	}
}

// Revisits of captures that nobody has are withdrawn with their file and by their URIs, also
// where no document follows them in the order of IDs.
func TestWithdrawUnresolvedRevisits(t *testing.T) {
	config := pipetest.MustLoad(t)
	page := func(n int) []byte {
		return pipetest.Archived("response", fmt.Sprint("page", n), fmt.Sprintf("http://site.example/%d", n), 1, pipetest.OkHTML+"<p>"+pipetest.Copies()[n])
	}
	var lost [][]byte
	for n := range 12 {
		lost = append(lost, pipetest.Archived("revisit", fmt.Sprint("lost", n), fmt.Sprintf("http://site.example/lost/%d", n), 2, pipetest.OkHTML, "WARC-Refers-To: <urn:test:gone>"))
	}
	pages, revisits := pipetest.WriteRecords(t, page(0), page(1)), pipetest.WriteFile(t, filepath.Join(t.TempDir(), "lost.warc"), bytes.Join(lost, nil))
	alone := filepath.Join(t.TempDir(), "alone")
	pipetest.RunAll(t, alone, config, workspace.Options{Workers: 1}, pages)
	for _, byURI := range []bool{false, true} {
		ws := filepath.Join(t.TempDir(), "ws")
		pipetest.RunAll(t, ws, config, workspace.Options{Workers: 1}, pages, revisits)
		d := withdrawn.Withdrawal{URI: "http://site.example/lost/*"}
		if !byURI {
			d = ofInput(t, ws, revisits)
		}
		if n := withdraw(t, ws, config, d); n != 12 {
			t.Errorf("%d captures are withdrawn", n)
		}
		pipetest.RunAll(t, ws, config, workspace.Options{Workers: 1})
		got := contentsOf(t, ws, config)
		if n := rowsOf(got, layout.TableRevisit); n > 0 {
			t.Errorf("%d revisits are left", n)
		}
		if !byURI { // otherwise the counts have the skipped records
			sameContents(t, "withdrawn", got, contentsOf(t, alone, config))
		}
	}
}

// An input that is withdrawn, let in again and named again before anything else ran is read
// again.
func TestWithdrawnInputComesBackAtOnce(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	ws := filepath.Join(t.TempDir(), "ws")
	clusters := pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, crawl, other)
	whole := contentsOf(t, ws, config)
	d := ofInput(t, ws, other)
	withdraw(t, ws, config, d)
	in(t, ws, config, func(w *workspace.Workspace) error {
		_, err := withdrawals.Readmit(t.Context(), w, d)
		return err
	})
	if got := pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, crawl, other); !bytes.Equal(got, clusters) {
		t.Error("other clusters than before")
	}
	sameContents(t, "back", contentsOf(t, ws, config), whole)
}

// The filter of signatures keeps none of texts that are gone: it is dropped at once, and the
// next run makes it of what is left.
func TestWithdrawnSignaturesAreInNoFilter(t *testing.T) {
	crawl, other := withdrawnInputs(t)
	config, dir := pipetest.MustLoad(t), filepath.Join(t.TempDir(), "ws")
	signatures := func() (has map[signature.Signature]bool, f *bloom.Filter) {
		w, err := workspace.Open(dir, stages.All, config, false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = w.Close() }()
		has = map[signature.Signature]bool{}
		for r, err := range w.DB.Table(layout.TablePosting) {
			p, perr := layout.ParsePostingKey(r.Key())
			if err := errors.Join(err, perr); err != nil {
				t.Fatal(err)
			}
			has[p.Signature] = true
		}
		if f, err = bloom.Read(w.DB); err != nil {
			t.Fatal(err)
		}
		return has, f
	}
	pipetest.RunAll(t, dir, config, workspace.Options{Workers: 2}, crawl, other)
	before, f := signatures()
	if f == nil {
		t.Fatal("there is no filter: the test tells nothing")
	}
	withdraw(t, dir, config, withdrawn.Withdrawal{URI: "http://recipes.example/*"})
	if _, f := signatures(); f != nil {
		t.Error("the filter is still there")
	}
	pipetest.RunAll(t, dir, config, workspace.Options{Workers: 2})
	after, f := signatures()
	if f == nil || len(after) == 0 || len(before)-len(after) < 100 {
		t.Fatalf("of %d signatures %d are left, filter %t", len(before), len(after), f != nil)
	}
	traces := 0
	for s := range before {
		switch has := f.Has(s); {
		case after[s] && !has:
			t.Fatal("the filter does not have a signature that is left")
		case !after[s] && has:
			traces++
		}
	}
	if traces > (len(before)-len(after))/10 {
		t.Errorf("the filter has %d of %d signatures that are gone", traces, len(before)-len(after))
	}
}

// A record during which a run ended is noted with its URI. Nothing names it once that is
// withdrawn, whether it is a page or was skipped; and the rows are those of any removal.
func TestWithdrawnRecordsThatEndedRuns(t *testing.T) {
	crawl, _ := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	for name, uri := range map[string]string{"a page": "http://recipes.example/pages/tea.html", "no page": "http://skipped.example/a"} {
		ws, plain := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "ws")
		for _, dir := range []string{ws, plain} {
			pipetest.RunAll(t, dir, config, workspace.Options{Workers: 2}, crawl)
		}
		ended := []inputs.EndedRun{{URI: uri, Deaths: 1}, {URI: "http://other.example/", Deaths: 2}}
		note := func(ended []inputs.EndedRun) {
			w, err := workspace.Open(ws, stages.All, config, false, workspace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			known, err := w.Sources()
			if err != nil || len(known) != 1 {
				t.Fatal(known, err)
			}
			known[0].Ended = ended
			b := w.DB.Batch()
			if err := errors.Join(b.SetJSON(layout.SourceKey(known[0].Path), known[0]), b.Commit(), w.Publish(), w.Close()); err != nil {
				t.Fatal(err)
			}
		}
		note(ended)
		gone := withdrawn.Withdrawal{URI: uri}
		withdraw(t, ws, config, gone)
		withdraw(t, plain, config, gone)
		m, err := workspace.ReadManifest(ws)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Inputs[0].Ended; len(got) != 2 || got[0].URI != "" || got[0].Deaths != 1 || got[1] != ended[1] {
			t.Errorf("%s: %+v", name, got)
		}
		note(nil)
		if !maps.Equal(contentsOf(t, ws, config), contentsOf(t, plain, config)) {
			t.Errorf("%s: other rows than without the note", name)
		}
	}
}

func TestWithdrawNothing(t *testing.T) {
	crawl, _ := withdrawnInputs(t)
	config := pipetest.MustLoad(t)
	ws := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, ws, config, workspace.Options{Workers: 2}, crawl)
	if n := withdraw(t, ws, config, withdrawn.Withdrawal{URI: "http://nowhere.example/*"}); n != 0 {
		t.Error(n)
	}
	for _, stage := range stages.Names() {
		if why := pipetest.Staleness(t, ws, config, stage); why != workspace.UpToDate {
			t.Errorf("%s is stale (%s) though nothing was withdrawn", stage, why)
		}
	}
	if n := withdraw(t, ws, config, ofInput(t, ws, crawl)); n == 0 {
		t.Error("nothing withdrawn")
	}
	w := pipetest.OpenWith(t, ws)
	for _, st := range stages.All {
		for _, table := range st.Tables {
			if n, err := w.DB.Count(table); n != 0 || err != nil {
				t.Errorf("table %c has %d rows without inputs; %v", table, n, err)
			}
		}
	}
}

// Captures that the tables no longer have may still be in the last finished state, which is
// dropped when they are withdrawn.
func TestWithdrawWhatOnlyTheFinishedStateHas(t *testing.T) {
	dir, c := t.TempDir(), pipetest.MustLoad(t)
	ws, path := filepath.Join(dir, "ws"), filepath.Join(dir, "crawl.warc")
	page := func(uri, says string) string {
		return pipetest.PageRecord("http://"+uri, "2025-01-01T00:00:00Z", "<title>A page</title><p>"+says, 0)
	}
	stays := page("b.example/b", "Another text, which stays in the crawl for good.")
	pipetest.WriteFile(t, path, []byte(page("secret.example/a", "The text of somebody, which must go.")+stays))
	pipetest.RunAll(t, ws, c, workspace.Options{}, path)
	pipetest.WriteFile(t, path, []byte(stays))
	in(t, ws, c, func(w *workspace.Workspace) error {
		sources, _, err := inputs.Find(t.Context(), ws, []string{path}, nil, pipetest.Limits)
		return errors.Join(err, w.Run(t.Context(), workspace.StageExtract, workspace.StageExtract, sources))
	})
	if _, err := os.Stat(filepath.Join(ws, "finished")); err != nil {
		t.Fatal(err)
	}
	in(t, ws, c, func(w *workspace.Workspace) error {
		_, err := withdrawals.Withdraw(t.Context(), w, withdrawn.Withdrawal{URI: "*secret.example/*"})
		return err
	})
	if _, err := os.Stat(filepath.Join(ws, "finished")); !os.IsNotExist(err) {
		t.Errorf("the finished state has the page: %v", err)
	}
}
