package trials

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"neardup/compare"
	"neardup/configs"
	"neardup/example"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/sweep"
	"neardup/truth"
)

// methods plans the presets default and paper, and a method that misses a lot.
func methods(t *testing.T, curves bool) compare.Plan {
	t.Helper()
	p, err := compare.NewPlan(pipetest.PresetDefault(t), []string{"default", "paper"}, nil, curves)
	if err != nil {
		t.Fatal(err)
	}
	strict := pipetest.PresetDefault(t)
	if err := strict.Set([]string{"verify.resemblance=0.95", "verify.containment=0.99", "text.pages=topic"}); err != nil {
		t.Fatal(err)
	}
	p.Methods = append(p.Methods, compare.Planned{Name: "strict", Config: strict})
	return p
}

// compareIn compares over the crawl in dir.
func compareIn(ctx context.Context, t *testing.T, dir, crawl string, log *pipetest.StageLog, o CompareOptions) (compare.Comparison, error) {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, o.Plan.Base, true, workspace.Options{Progress: log})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	sources, _, err := inputs.Find(t.Context(), dir, []string{crawl}, nil, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	if o.Begin == nil {
		o.Begin = func(string, int, int) {}
	}
	return Compare(ctx, w, sources, o)
}

// runAlone runs a method in a workspace of its own and gives its clusters.
func runAlone(t *testing.T, crawl string, config configs.Config) (out []report.Cluster) {
	t.Helper()
	for line := range bytes.Lines(pipetest.RunAll(t, filepath.Join(t.TempDir(), "alone"), config, workspace.Options{}, crawl)) {
		var c report.Cluster
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

func scoreOf(t *testing.T, clusters []report.Cluster) truth.Scores {
	t.Helper()
	s, err := pipetest.ExampleTruth(t).Score(func(yield func([]string, error) bool) {
		for _, c := range clusters {
			var ids []string
			for _, m := range c.Members {
				ids = append(ids, m.RecordID)
			}
			if !yield(ids, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// joinedPairs lists the pairs of pages in one cluster.
func joinedPairs(clusters []report.Cluster) map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, c := range clusters {
		for i, a := range c.Members {
			for _, b := range c.Members[i+1:] {
				out[[2]string{min(a.RecordID, b.RecordID), max(a.RecordID, b.RecordID)}] = true
			}
		}
	}
	return out
}

// A comparison finds what runs of their own find, with one extraction.
func TestCompare(t *testing.T) {
	file := pipetest.Crawl(t)
	plan := methods(t, true)
	log := &pipetest.StageLog{}
	var steps []string
	got, err := compareIn(t.Context(), t, filepath.Join(t.TempDir(), "ws"), file, log, CompareOptions{Plan: plan, Truth: pipetest.ExampleTruth(t), Disputed: 1000,
		Begin: func(name string, place, of int) {
			if steps = append(steps, name); place != len(steps) || of != 3+17+18+1 { // 0.5 is on the grid, 0.28 is not
				t.Errorf("%s is step %d of %d", name, place, of)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if steps[0] != "default" || steps[len(steps)-1] != "agreement" || !slices.Contains(steps, "paper verify.resemblance=0.3") {
		t.Errorf("steps %q", steps)
	}
	for stage, want := range map[string]int{"extract": 1, "sign": 3, "cluster": 3} {
		if n := log.Count(stage); n != want {
			t.Errorf("%s was done %d times, want %d", stage, n, want)
		}
	}
	if *got.Truth != (sweep.TruthUse{Pages: 94}) || len(got.Methods) != 3 || len(got.Agreement) != 3 || len(got.Curves) != 2 || len(got.Disputed) != 4 {
		t.Fatalf("truth %+v, %d methods, %d agreements, %d curves, %d disputed", got.Truth, len(got.Methods), len(got.Agreement), len(got.Curves), len(got.Disputed))
	}
	joined := map[string]map[[2]string]bool{}
	for i, m := range got.Methods {
		alone := runAlone(t, file, plan.Methods[i].Config)
		joined[m.Name] = joinedPairs(alone)
		pages, largest := 0, 0
		for _, c := range alone {
			pages, largest = pages+c.Size, max(largest, c.Size)
		}
		if k := m.Counts; k.Clusters != int64(len(alone)) || k.Pages != int64(pages) || k.Largest != int64(largest) || k.Near > k.Pairs || k.Near == 0 {
			t.Errorf("%s: %+v, want %d clusters of %d pages, the largest %d", m.Name, k, len(alone), pages, largest)
		}
		if want := scoreOf(t, alone); *m.Scores != want {
			t.Errorf("%s: scores %+v, want %+v", m.Name, *m.Scores, want)
		}
		if m.Joined != int64(len(joined[m.Name])) || m.Name != plan.Methods[i].Name || !reflect.DeepEqual(m.Config, plan.Methods[i].Config) {
			t.Errorf("%s: joins %d pairs, want %d", m.Name, m.Joined, len(joined[m.Name]))
		}
		if len(m.Stages) != len(stages.All) {
			t.Errorf("%s: stages %+v", m.Name, m.Stages)
		}
		for _, s := range m.Stages {
			if s.Wall <= 0 || s.Peak < 1<<20 || s.Peak > 1<<40 {
				t.Errorf("%s: %+v", m.Name, s)
			}
		}
	}
	for _, g := range got.Agreement {
		both := int64(0)
		for p := range joined[g.A] {
			if joined[g.B][p] {
				both++
			}
		}
		if want := compare.NewAgreement(g.A, g.B, int64(len(joined[g.A])), int64(len(joined[g.B])), both); g != want {
			t.Errorf("got %+v, want %+v", g, want)
		}
	}
	checkDisputed(t, got, joined)
	checkCurves(t, file, plan, got)
}

// checkDisputed compares the disputed pairs with all that there are, which are
// few enough here.
func checkDisputed(t *testing.T, got compare.Comparison, joined map[string]map[[2]string]bool) {
	t.Helper()
	labels, total := map[string]int{}, 0
	tr := pipetest.ExampleTruth(t)
	for i, d := range got.Disputed {
		if ends := []string{d.Joins, d.Parts}; ends[i%2] != "default" {
			t.Errorf("disputed pairs %d are between %q", i, ends)
		}
		want := map[[2]string]bool{}
		for p := range joined[d.Joins] {
			if !joined[d.Parts][p] {
				want[p] = true
			}
		}
		if d.Pairs != int64(len(want)) || d.Shown == nil {
			t.Errorf("%d pairs joined by %s, not by %s, want %d", d.Pairs, d.Joins, d.Parts, len(want))
		}
		for _, s := range d.Shown {
			p := [2]string{min(s.Pages[0].RecordID, s.Pages[1].RecordID), max(s.Pages[0].RecordID, s.Pages[1].RecordID)}
			if !want[p] {
				t.Errorf("%q is not joined by %s only", p, d.Joins)
			}
			a, _ := tr.Index(p[0])
			b, _ := tr.Index(p[1])
			if label := compare.LabelName(tr.Label(a, b)); s.Label != label {
				t.Errorf("%q: label %q, want %q", p, s.Label, label)
			}
			labels[s.Label]++
			total++
			if s.Scores[0] == nil || s.Scores[1] == nil || s.Pages[0].URI == "" || s.Pages[1].Date == "" {
				t.Errorf("%q: %+v", p, s)
			}
		}
	}
	if total == 0 || labels["near"] == 0 {
		t.Errorf("%d disputed pairs, by label %v: the methods should differ", total, labels)
	}
}

func checkCurves(t *testing.T, file string, plan compare.Plan, got compare.Comparison) {
	t.Helper()
	recalls := map[float64]bool{}
	for at, curve := range got.Curves {
		m := plan.Methods[at]
		if curve.Method != m.Name || curve.Key != m.Key || len(curve.Points) != len(m.Curve) {
			t.Fatalf("curve %d is %s over %s, of %d points", at, curve.Method, curve.Key, len(curve.Points))
		}
		for i, p := range curve.Points {
			recalls[p.Pair.Recall] = true
			if p.Value != m.Curve[i].Value || p.Own != m.Curve[i].Own {
				t.Errorf("%s: point %d is %+v", m.Name, i, p)
			}
			if i%6 == 0 || p.Own {
				if want := scoreOf(t, runAlone(t, file, m.Curve[i].Config)); p.Page != want.Page || p.Pair != want.Pair {
					t.Errorf("%s at %s: %+v, want %+v", m.Name, p.Value, p, want)
				}
			}
		}
	}
	if len(recalls) < 5 {
		t.Errorf("recall takes %d values", len(recalls))
	}
}

func withoutCompareCosts(c compare.Comparison) compare.Comparison {
	for i := range c.Methods {
		c.Methods[i].Stages = nil
	}
	return c
}

// An interrupted comparison goes on where it was, to the same results, and keeps
// the config that the workspace had.
func TestCompareGoesOn(t *testing.T) {
	file := pipetest.Crawl(t)
	o := CompareOptions{Plan: methods(t, false), Truth: pipetest.ExampleTruth(t), TruthDigest: "one", Disputed: 2}
	want, err := compareIn(t.Context(), t, filepath.Join(t.TempDir(), "whole"), file, &pipetest.StageLog{}, o)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	third := &pipetest.StageLog{End: func(begun []string) {
		if n := len(begun); begun[n-1] == "cluster" && slices.Index(begun, "cluster") != n-1 {
			stop() // in the second method
		}
	}}
	if _, err := compareIn(ctx, t, dir, file, third, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("not interrupted: %v", err)
	}
	m, err := workspace.ReadManifest(dir)
	if err != nil || m.Config == nil || !reflect.DeepEqual(*m.Config, pipetest.PresetDefault(t)) {
		t.Errorf("the workspace has the config %+v, %v", m.Config, err)
	}
	rest := &pipetest.StageLog{}
	got, err := compareIn(t.Context(), t, dir, file, rest, o)
	if err != nil {
		t.Fatal(err)
	}
	if rest.Count("extract") != 0 || rest.Count("sign") != 1 || rest.Count("verify") != 2 {
		t.Errorf("done again: %v", rest.Begun)
	}
	if a, b := withoutCompareCosts(got), withoutCompareCosts(want); !reflect.DeepEqual(a, b) {
		t.Errorf("got  %+v\nwant %+v", a, b)
	}
	// Other labels need no runs. Those of curves are scored again.
	again := &pipetest.StageLog{}
	o.TruthDigest = "two"
	if _, err := compareIn(t.Context(), t, dir, file, again, o); err != nil || fmt.Sprint(again.Begun) != "[measure]" {
		t.Errorf("the third time %v was done, %v", again.Begun, err)
	}
	if m, err = workspace.ReadManifest(dir); err != nil || !reflect.DeepEqual(*m.Config, pipetest.PresetDefault(t)) {
		t.Errorf("the workspace has the config %+v, %v", m.Config, err)
	}
}

func TestCurvesFollowTheLabels(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "ws"), pipetest.Crawl(t)
	plan := methods(t, true)
	plan.Methods = plan.Methods[:1]
	plan.Methods[0].Curve = plan.Methods[0].Curve[8:10]
	var pages, none bytes.Buffer
	if err := example.WritePages(&pages); err != nil {
		t.Fatal(err)
	}
	other, err := truth.Read(&pages, &none)
	if err != nil {
		t.Fatal(err)
	}
	var precision []float64
	for digest, labels := range []*truth.Truth{pipetest.ExampleTruth(t), other} {
		got, err := compareIn(t.Context(), t, dir, file, &pipetest.StageLog{}, CompareOptions{Plan: plan, Truth: labels, TruthDigest: fmt.Sprint(digest)})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range got.Curves[0].Points {
			precision = append(precision, p.Pair.Precision)
		}
	}
	if want := []float64{1, 1, 0, 0}; !slices.Equal(precision, want) {
		t.Errorf("precision %v, want %v", precision, want)
	}
}

// Clusters are kept for the inputs that there are, not for those of before.
func TestKeptClustersGo(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "ws"), pipetest.Crawl(t)
	more := filepath.Join(t.TempDir(), "more.tsv")
	pipetest.WriteFile(t, more, []byte("a\tOne more text in a tin box by the window.\nb\tOne more text in a tin box by the window.\n"))
	o := CompareOptions{Plan: methods(t, false)}
	o.Plan.Methods = o.Plan.Methods[:1]
	outcomes := func() (out []string, rows int64) {
		w, err := workspace.Open(dir, stages.All, o.Plan.Base, false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range w.DB.Table(layout.TableKept) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, fmt.Sprintf("%x", r.Key()[1:17]))
			rows++
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return slices.Compact(out), rows
	}
	var last []string
	for i, input := range []string{file, file, more} {
		if _, err := compareIn(t.Context(), t, dir, input, &pipetest.StageLog{}, o); err != nil {
			t.Fatal(err)
		}
		now, rows := outcomes()
		if len(now) != 1 || rows == 0 || (i == 1) != slices.Equal(now, last) {
			t.Errorf("input %d: %d rows of %v, before %v", i, rows, now, last)
		}
		last = now
	}
}

// A method does not pay for memory that was left from before its stages.
func TestStagesBeginWithoutWhatWasBefore(t *testing.T) {
	const block = 512 << 20
	o := CompareOptions{Plan: methods(t, false)}
	file := pipetest.Crawl(t)
	garbage := make([]byte, block)
	for i := range garbage {
		garbage[i] = 1
	}
	var held runtime.MemStats
	if runtime.ReadMemStats(&held); held.HeapAlloc < block || garbage[block/2] != 1 {
		t.Fatal("the block is not held")
	}
	got, err := compareIn(t.Context(), t, filepath.Join(t.TempDir(), "ws"), file, &pipetest.StageLog{}, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range got.Methods {
		for _, s := range m.Stages {
			if s.Peak >= block {
				t.Errorf("%s: %+v", m.Name, s)
			}
		}
	}
}
