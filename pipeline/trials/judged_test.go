package trials

import (
	"bytes"
	"path/filepath"
	"testing"

	"neardup/audit"
	"neardup/pipeline/browsing"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// setAll gives the judgements to a workspace.
func setAll(t *testing.T, w *workspace.Workspace, judgements []audit.Judgement) {
	t.Helper()
	for _, j := range judgements {
		if err := browsing.Auditor(w).Judge(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
}

// Comparisons and sweeps are of methods: their clusters follow no judgement, and
// those of the workspace do again with the next run.
func TestMethodsAreComparedWithoutJudgements(t *testing.T) {
	file := pipetest.Crawl(t)
	plan := methods(t, false)
	dir := filepath.Join(t.TempDir(), "ws")
	plain := pipetest.RunAll(t, dir, plan.Base, workspace.Options{}, file)
	clusters := runAlone(t, file, plan.Base)
	a, b := clusters[0].Members, clusters[1].Members
	judgements := []audit.Judgement{
		{Pair: audit.NewPair(a[0].RecordID, a[1].RecordID), Judge: "j", Verdict: audit.False, Enforce: true},
		{Pair: audit.NewPair(a[0].RecordID, b[0].RecordID), Judge: "j", Verdict: audit.True, Enforce: true},
	}
	w, err := workspace.Open(dir, stages.All, plan.Base, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	setAll(t, w, judgements)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	judged := pipetest.RunAll(t, dir, plan.Base, workspace.Options{})
	if bytes.Equal(judged, plain) {
		t.Fatal("nothing has changed")
	}
	for round := range 2 { // the second finds what was kept
		log := &pipetest.StageLog{}
		got, err := compareIn(t.Context(), t, dir, file, log, CompareOptions{Plan: plan, Truth: pipetest.ExampleTruth(t)})
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range got.Methods {
			alone := runAlone(t, file, plan.Methods[i].Config)
			if int(m.Joined) != len(joinedPairs(alone)) || int(m.Counts.Clusters) != len(alone) {
				t.Errorf("round %d, %s: %d clusters, joins %d pairs, want %d and %d", round, m.Name, m.Counts.Clusters, m.Joined, len(alone), len(joinedPairs(alone)))
			}
		}
		swept, err := sweepIn(t.Context(), t, dir, file, log, SweepOptions{}, "verify.resemblance=0.9")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(runAlone(t, file, pipetest.PresetDefault(t))); int(swept.Results[0].Counts.Clusters) != n {
			t.Errorf("round %d: the sweep has %d clusters, want %d", round, swept.Results[0].Counts.Clusters, n)
		}
		w, err := workspace.Open(dir, stages.All, plan.Base, false, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := browsing.Auditor(w).Enforced(t.Context(), "", 9)
		if err != nil || len(list.Pairs) != 2 || (list.Pairs[0].State == results.PairPending) != (round == 0) { // in the second nothing was run
			t.Errorf("%+v %v", list, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := pipetest.RunAll(t, dir, plan.Base, workspace.Options{}); !bytes.Equal(got, judged) {
			t.Errorf("round %d: other clusters after the comparison", round)
		}
	}
}

// A trial follows no pair; the workspace that it is of does.
func TestVariantsFollowNothing(t *testing.T) {
	w := pipetest.Copied(t)
	setAll(t, w, pipetest.Judgements(t, "0|3"))
	v := newVariants(w, 1)
	if err := v.begin(pipetest.MustLoad(t), nil); err != nil {
		t.Fatal(err)
	}
	during, err := v.Followed()
	if err != nil || len(during) != 0 {
		t.Errorf("%+v %v", during, err)
	}
	if reason := pipetest.Staleness(t, w.Dir, pipetest.MustLoad(t), "verify"); reason != workspace.Judgements {
		t.Errorf("verify is %q to who looks meanwhile", reason)
	}
	after, err := w.Followed()
	if err != nil || len(after) != 1 {
		t.Errorf("%+v %v", after, err)
	}
}
