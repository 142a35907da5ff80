package trials

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/cluster/search"
	"neardup/configs"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/sweep"
	"neardup/truth"
	"neardup/verify/tlcs"
)

// sweepIn sweeps the crawl in dir.
func sweepIn(ctx context.Context, t *testing.T, dir, crawl string, log *pipetest.StageLog, o SweepOptions, vary ...string) (sweep.Sweep, error) {
	t.Helper()
	var err error
	if o.Plan, err = sweep.NewPlan(pipetest.PresetDefault(t), vary, false); err != nil {
		t.Fatal(err)
	}
	o.Begin = func(string, int, int) {}
	o.Repeat = max(o.Repeat, 1)
	w, err := workspace.Open(dir, stages.All, o.Plan.Variants[0].Config, true, workspace.Options{Progress: log})
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
	return Sweep(ctx, w, sources, o)
}

func withoutCosts(s sweep.Sweep) sweep.Sweep {
	for i := range s.Results {
		s.Results[i].Stages = nil
	}
	return s
}

// A sweep finds what runs of their own find, and redoes no stage twice for the
// same settings.
func TestSweep(t *testing.T) {
	log := &pipetest.StageLog{}
	vary := []string{"verify.resemblance=0.3,0.9", "sign.smallest=4,6", "cluster.merge=direct,following", "extract.max_text_bytes=1024,4194304"}
	got, err := sweepIn(t.Context(), t, filepath.Join(t.TempDir(), "ws"), pipetest.Crawl(t), log, SweepOptions{Truth: pipetest.ExampleTruth(t), Sample: 10}, vary...)
	if err != nil {
		t.Fatal(err)
	}
	// Distinct settings of each stage and those before it: the base, and what
	// differs from it.
	for stage, want := range map[string]int{"extract": 1 + 1, "sign": 2 + 2, "cluster": 4 + 1, "verify": 5 + 2} {
		if n := log.Count(stage); n != want {
			t.Errorf("%s was done %d times, want %d: %v", stage, n, want, log.Begun)
		}
	}
	if len(got.Results) != 9 || *got.Truth != (sweep.TruthUse{Pages: 94}) {
		t.Fatalf("%d results, truth %+v", len(got.Results), got.Truth)
	}
	plan, err := sweep.NewPlan(pipetest.PresetDefault(t), vary, false)
	if err != nil {
		t.Fatal(err)
	}
	f1 := map[float64]bool{}
	for i, v := range plan.Variants {
		r := got.Results[i]
		if r.Name() != v.Name() {
			t.Errorf("result %d is of %s, want %s", i, r.Name(), v.Name())
		}
		clusters := pipetest.RunAll(t, filepath.Join(t.TempDir(), "alone"), v.Config, workspace.Options{}, pipetest.Crawl(t))
		pages, largest, n := int64(0), int64(0), int64(0)
		alone, err := pipetest.ExampleTruth(t).Score(func(yield func([]string, error) bool) {
			for line := range bytes.Lines(clusters) {
				line, _, _ = bytes.Cut(line, []byte(`"contained":[`)) // what is behind are no members
				var ids []string
				for field := range strings.SplitSeq(string(line), `"record_id":"`) {
					if id, _, ok := strings.Cut(field, `"`); ok && strings.HasPrefix(id, "<urn:") {
						ids = append(ids, id)
					}
				}
				pages, largest, n = pages+int64(len(ids)), max(largest, int64(len(ids))), n+1
				if !yield(ids, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if *r.Scores != alone {
			t.Errorf("%s: scores %+v, alone %+v", v.Name(), *r.Scores, alone)
		}
		if c := r.Counts; c.Clusters != n || c.Pages != pages || c.Largest != largest || c.Pairs != c.ByLength+c.BySketch+c.ByDistance+c.ByScore+c.ByRarity+c.ByTitle+c.Near {
			t.Errorf("%s: %+v, want %d clusters of %d pages, the largest %d", v.Name(), c, n, pages, largest)
		}
		if len(r.Stages) != len(stages.All) {
			t.Errorf("%s: costs %+v", v.Name(), r.Stages)
		}
		f1[r.Scores.Page.F1] = true
	}
	if len(f1) < 3 {
		t.Errorf("page F1 takes %d values; the variants should differ", len(f1))
	}
}

// slowRates computes the rates by their definitions, page by page.
func slowRates(t *testing.T, dir string, c configs.Config, tr *truth.Truth, f1 *sweep.Rates) {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := w.Current(workspace.StageVerify); err != nil {
		t.Fatal(err)
	}
	texts := map[int]rows.TextID{} // of the judged pages
	pages := map[rows.TextID]int{} // all of them
	for r, err := range w.DB.Table(layout.TableDocument) {
		if err != nil {
			t.Fatal(err)
		}
		var d rows.Document
		if err := r.JSON(&d); err != nil {
			t.Fatal(err)
		}
		id, err := layout.ParseTextID(d.TextID)
		if err != nil {
			t.Fatal(err)
		}
		pages[id]++
		if i, ok := tr.Index(d.RecordID); ok {
			texts[i] = id
		}
	}
	together := map[[2]rows.TextID]bool{}
	for set, err := range results.Sets(w) {
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range set {
			for _, b := range set {
				together[[2]rows.TextID{a.ID(), b.ID()}] = true
			}
		}
	}
	whole := c.Verify.Options
	whole.Window, whole.Rounds = 1, 1
	document := func(id rows.TextID, window int) *tlcs.Document {
		b, ok, err := w.DB.Get(layout.TextKey(id))
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		return tlcs.Prepare(string(b), window) // shorter than max_columns
	}
	near := func(a, b rows.TextID) bool {
		return a == b || tlcs.NewComparer(c.Verify.Options).Compare(document(a, c.Verify.Window), document(b, c.Verify.Window)).Near
	}
	var coverage, trustable, byLabels, strained, reserved, precise, recalled []float64
	for i := range tr.Len() {
		inSet, everywhere := 1.0, 1.0
		for j := range tr.Len() {
			if i != j && tr.Label(i, j) == truth.Near && near(texts[i], texts[j]) {
				everywhere++
				if texts[i] == texts[j] || together[[2]rows.TextID{texts[i], texts[j]}] {
					inSet++
				}
			}
		}
		if len(tr.Near(i)) > 0 {
			coverage = append(coverage, inSet/everywhere)
		}
		nearPages, all, right, judged := 0.0, 0.0, 1.0, 1.0
		announced, hits := 0.0, 0.0
		for id, n := range pages {
			if id == texts[i] || together[[2]rows.TextID{texts[i], id}] {
				all += float64(n)
				if near(texts[i], id) {
					nearPages += float64(n)
				}
			}
		}
		if all == 1 {
			continue
		}
		for j := range tr.Len() {
			if i == j || texts[i] != texts[j] && !together[[2]rows.TextID{texts[i], texts[j]}] {
				continue
			}
			judged++
			if tr.Label(i, j) == truth.Near {
				right++
			}
			if near(texts[i], texts[j]) {
				announced++
				if tr.Label(i, j) == truth.Near {
					hits++
				}
			}
			if texts[i] == texts[j] {
				continue
			}
			a, b := document(texts[i], c.Verify.Window), document(texts[j], c.Verify.Window)
			comparer := tlcs.NewComparer(c.Verify.Options)
			if tr.Label(i, j) == truth.Near {
				reserved = append(reserved, float64(comparer.TLCSLength(a, b))/
					float64(tlcs.NewComparer(whole).TLCSLength(document(texts[i], 1), document(texts[j], 1))))
			} else {
				x, y := comparer.SketchLengths(a, b)
				strained = append(strained, 1-float64(x+y)/float64(a.Len()+b.Len()))
			}
		}
		trustable, byLabels = append(trustable, nearPages/all), append(byLabels, right/judged)
		if announced > 0 {
			precise = append(precise, hits/announced)
		}
		if right > 1 {
			recalled = append(recalled, hits/(right-1))
		}
	}
	for name, rate := range map[string]struct {
		got  *float64
		want []float64
	}{
		"coverage": {f1.Coverage, coverage}, "trustable": {f1.Trustable, trustable}, "by labels": {f1.TrustableByLabels, byLabels},
		"strain-away": {f1.StrainAway, strained}, "reserve": {f1.Reserve, reserved},
		"set precision": {f1.SetPrecision, precise}, "set recall": {f1.SetRecall, recalled},
	} {
		if len(rate.want) == 0 {
			t.Errorf("%s: nothing to measure", name)
			continue
		}
		sum := 0.0
		for _, x := range rate.want {
			sum += x
		}
		if want := sum / float64(len(rate.want)); rate.got == nil || math.Abs(*rate.got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, rate.got, want)
		} else if want == 0 || name != "trustable" && name != "by labels" && want > 1 {
			t.Errorf("%s is %v", name, want)
		}
	}
}

// The rates are those of the definitions, for settings under which none is 1.
func TestRates(t *testing.T) {
	tr := pipetest.ExampleTruth(t)
	c := pipetest.PresetDefault(t)
	if err := c.Set([]string{"sign.smallest=1", "sign.rotations=1", "sign.modulus=16", "verify.window=40", "text.max_columns=0", "text.frames=0"}); err != nil {
		t.Fatal(err)
	}
	for _, merge := range []string{search.MergeFollowing, search.MergeDirect} {
		c.Cluster.Merge = merge
		dir := filepath.Join(t.TempDir(), "ws")
		plan, err := sweep.NewPlan(c, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		w, err := workspace.Open(dir, stages.All, c, true, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sources, _, err := inputs.Find(t.Context(), dir, []string{pipetest.Crawl(t)}, nil, pipetest.Limits)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Sweep(t.Context(), w, sources, SweepOptions{Plan: plan, Truth: tr, Sample: 1000, Repeat: 1, Begin: func(string, int, int) {}})
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		slowRates(t, dir, c, tr, &got.Results[0].Rates)
	}
}

// Without a truth there are only the rates that need none; without a sample
// there are none.
func TestRatesWithoutTruth(t *testing.T) {
	dir, file := filepath.Join(t.TempDir(), "ws"), pipetest.Crawl(t)
	for _, c := range []struct {
		sample int
		want   bool
	}{{20, true}, {0, false}} {
		got, err := sweepIn(t.Context(), t, dir, file, &pipetest.StageLog{}, SweepOptions{Sample: c.sample})
		if err != nil {
			t.Fatal(err)
		}
		r := got.Results[0]
		if r.Scores != nil || got.Truth != nil || r.Rates.Coverage != nil || r.Rates.TrustableByLabels != nil || r.Rates.StrainAway != nil || r.Rates.Reserve != nil {
			t.Errorf("sample %d: measured without a truth: %+v", c.sample, r)
		}
		if (r.Rates.Trustable != nil) != c.want || r.Rates.Documents != c.sample {
			t.Errorf("sample %d: rates %+v", c.sample, r.Rates)
		}
	}
}

// An interrupted sweep goes on where it was, to the same results; a new
// workspace has the base as its config all the while.
func TestSweepGoesOn(t *testing.T) {
	file := pipetest.Crawl(t)
	o := SweepOptions{Truth: pipetest.ExampleTruth(t), Sample: 10}
	vary := []string{"verify.resemblance=0.3,0.9", "sign.smallest=6"}
	want, err := sweepIn(t.Context(), t, filepath.Join(t.TempDir(), "whole"), file, &pipetest.StageLog{}, o, vary...)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ws")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	third := &pipetest.StageLog{End: func(begun []string) {
		if n := len(begun); begun[n-1] == "verify" && slices.Index(begun, "verify") != n-1 {
			stop() // in the second variant
		}
	}}
	if _, err := sweepIn(ctx, t, dir, file, third, o, vary...); !errors.Is(err, context.Canceled) {
		t.Fatalf("not interrupted: %v", err)
	}
	m, err := workspace.ReadManifest(dir)
	if err != nil || m.Config == nil || !reflect.DeepEqual(*m.Config, pipetest.PresetDefault(t)) {
		t.Errorf("the workspace has the config %+v, %v", m.Config, err)
	}
	rest := &pipetest.StageLog{}
	got, err := sweepIn(t.Context(), t, dir, file, rest, o, vary...)
	if err != nil {
		t.Fatal(err)
	}
	if rest.Count("extract") != 0 || rest.Count("sign") != 1 || rest.Count("verify") != 3 {
		t.Errorf("done again: %v", rest.Begun)
	}
	if a, b := withoutCosts(got), withoutCosts(want); !reflect.DeepEqual(a, b) {
		t.Errorf("got  %+v\nwant %+v", a, b)
	}
	again := &pipetest.StageLog{}
	if _, err := sweepIn(t.Context(), t, dir, file, again, o, vary...); err != nil || len(again.Begun) > 0 {
		t.Errorf("the third time %v was done, %v", again.Begun, err)
	}
	// Another sample is another measurement of the same clusters.
	other := &pipetest.StageLog{}
	o.Sample = 11
	if _, err := sweepIn(t.Context(), t, dir, file, other, o); err != nil || other.Count("extract") != 0 {
		t.Errorf("with another sample %v was done, %v", other.Begun, err)
	}
}

// Repeating redoes the stages that a variant has of its own.
func TestSweepRepeats(t *testing.T) {
	log := &pipetest.StageLog{}
	got, err := sweepIn(t.Context(), t, filepath.Join(t.TempDir(), "ws"), pipetest.Crawl(t), log, SweepOptions{Repeat: 3}, "verify.slope=0.2")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(strings.Fields(strings.Repeat("extract sign cluster verify ", 3) + strings.Repeat("verify ", 3)))
	if fmt.Sprint(log.Begun) != want {
		t.Errorf("did %v, want %s", log.Begun, want)
	}
	for _, r := range got.Results {
		for _, c := range r.Stages {
			if c.Wall <= 0 {
				t.Errorf("%s: %+v", r.Name(), c)
			}
		}
	}
}

func TestEvenly(t *testing.T) {
	for n, want := range map[int]string{1: "[0]", 2: "[0 3]", 4: "[0 1 3 5]", 7: "[0 1 2 3 4 5 6]", 9: "[0 1 2 3 4 5 6]"} {
		if got := fmt.Sprint(evenly([]int{0, 1, 2, 3, 4, 5, 6}, n)); got != want {
			t.Errorf("%d of 7: %s, want %s", n, got, want)
		}
	}
}
