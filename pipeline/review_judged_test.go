package pipeline_test

import (
	"errors"
	"reflect"
	"testing"

	"neardup/audit"
	"neardup/pipeline/browsing"
	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/statistics"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/report/static"
)

// Judged pairs among samples, browsing and reports: who looks and judges goes on
// with the clusters of before an enforced pair, a report waits for the run; pairs
// that people put together are no sample of what the method verified; and a
// report has the audits.
func TestReviewingJudgedPairs(t *testing.T) {
	w := pipetest.Copied(t, "verify.contained=links")
	r := browsing.Auditor(w)
	before := draw(t, r, "before", audit.Design{Population: audit.Verified, Size: 100, Seed: 1})
	judged := allItems(t, r, before)
	for i, it := range judged {
		j := audit.Judgement{Pair: it.Pair, Judge: "ann", Verdict: []audit.Verdict{audit.True, audit.False}[i%2]}
		if err := r.Judge(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	trues := (len(judged) + 1) / 2
	want := static.Audit{Name: "before", Sample: string(audit.Verified), Pairs: len(judged), Value: float64(trues) / float64(len(judged)), Judges: 1}
	audits := func() []static.Audit {
		t.Helper()
		r, err := statistics.Gather(t.Context(), w, statistics.Options{Samples: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range r.Statistics.Audits {
			if !(a.Low < a.Value && a.Value < a.High) {
				t.Errorf("interval of %+v", a)
			}
			r.Statistics.Audits[i].Low, r.Statistics.Audits[i].High = 0, 0
		}
		return r.Statistics.Audits
	}
	if got := audits(); !reflect.DeepEqual(got, []static.Audit{want}) {
		t.Errorf("%+v, want %+v", got, want)
	}

	// Two texts that are in different clusters, or in none, are to be together.
	join := pipetest.Judgements(t, "0=6")[0]
	clusterOf, _ := pipetest.ClustersOf(t, pipetest.ExportOf(t, w, exports.Options{Format: "jsonl"}))
	if c := clusterOf[pipetest.TextURN(0)]; c != 0 && c == clusterOf[pipetest.TextURN(6)] {
		t.Fatal("they are in one cluster")
	}
	setAll(t, w, []audit.Judgement{join})
	if _, err := statistics.Gather(t.Context(), w, statistics.Options{}); !errors.Is(err, workspace.ErrUsage) {
		t.Errorf("a report of clusters that do not follow: %v", err)
	}
	if _, err := browsing.Open(t.Context(), w); err != nil {
		t.Errorf("browsing: %v", err)
	}
	if a := draw(t, r, "pending", before.Design); !reflect.DeepEqual(allItems(t, r, a), judged) || !a.Current {
		t.Errorf("drawn before the run: %+v", a)
	}
	if a, err := r.Audit(t.Context(), "before"); err != nil || !a.Current {
		t.Errorf("looked at before the run: %+v, %v", a, err)
	}

	if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
		t.Fatal(err)
	}
	if _, members := pipetest.ClustersOf(t, pipetest.ExportOf(t, w, exports.Options{Format: "jsonl"})); !hasRelation(members, report.Judged) {
		t.Fatalf("nobody is joined by a judgement: %+v", members)
	}
	for _, it := range allItems(t, r, draw(t, r, "after", before.Design)) {
		if it.Pair == join.Pair {
			t.Errorf("%+v was verified by people, not by the method", it)
		}
	}
	after, pending := want, want // the same pairs, which are judged
	after.Name, pending.Name = "after", "pending"
	want.Outdated, pending.Outdated = true, true
	if got, want := audits(), []static.Audit{after, want, pending}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func hasRelation(members []report.Member, r report.Relation) bool {
	for _, m := range members {
		if m.Relation == r {
			return true
		}
	}
	return false
}

func draw(t *testing.T, r *browsing.Review, name string, d audit.Design) audit.Audit {
	t.Helper()
	a, err := r.Draw(t.Context(), name, d)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func allItems(t *testing.T, r *browsing.Review, a audit.Audit) (out []audit.Item) {
	t.Helper()
	for i := range a.Size {
		it, err := r.Item(t.Context(), a.Name, i)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, it)
	}
	return out
}
