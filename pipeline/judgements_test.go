package pipeline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/audit"
	"neardup/pipeline/browsing"
	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/review"
)

// A judgement is that of its judge until he says otherwise or takes it back.
func TestJudgementsAreKept(t *testing.T) {
	w := pipetest.Copied(t)
	p, other := audit.NewPair("urn:b", "<urn:a>"), audit.NewPair("urn:a", "urn:c")
	set := func(p audit.Pair, judge string, v audit.Verdict, enforce bool) {
		t.Helper()
		if err := browsing.Auditor(w).Judge(t.Context(), audit.Judgement{Pair: p, Judge: judge, Verdict: v, Enforce: enforce, Note: "<b>"}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(p audit.Pair, want ...string) {
		t.Helper()
		of, err := w.Judgements(p)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, j := range of {
			if j.Pair != p || j.Note != "<b>" {
				t.Errorf("%+v", j)
			}
			got = append(got, fmt.Sprintf("%s %s %v", j.Judge, j.Verdict, j.Enforce))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
	set(p, "zoe", audit.True, false)
	set(p, "ann", audit.False, true)
	set(other, "ann", audit.Unknown, false)
	set(p, "ann", audit.Unknown, false)
	check(p, "ann unknown false", "zoe true false")
	check(other, "ann unknown false")
	pipetest.RunAll(t, filepath.Join(t.TempDir(), "ws"), pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	if err := browsing.Auditor(w).Withdraw(t.Context(), p, "ann"); err != nil {
		t.Fatal(err)
	}
	check(p, "zoe true false")
	for _, j := range []audit.Judgement{
		{Pair: p, Judge: "", Verdict: audit.True}, {Pair: p, Judge: "x", Verdict: "maybe"}, {Pair: p, Judge: "x", Verdict: audit.Unknown, Enforce: true},
		{Pair: audit.NewPair("a", "a"), Judge: "x", Verdict: audit.True},
	} {
		if err := browsing.Auditor(w).Judge(t.Context(), j); !errors.Is(err, workspace.ErrUsage) {
			t.Errorf("%+v: %v", j, err)
		}
	}
}

// A pair is enforced where those agree who have it enforced, whoever they are.
func TestWhatIsEnforced(t *testing.T) {
	w := pipetest.Copied(t)
	generation := mustState(t, w).Generation()
	p := pipetest.Judgements(t, "1=2")[0].Pair
	for _, tt := range []struct {
		name       string
		judgements []audit.Judgement
		verdict    audit.Verdict // empty: it is not enforced
		judges     []string
	}{
		{"a judgement alone is none", []audit.Judgement{{Judge: "a", Verdict: audit.True}}, "", nil},
		{"one", []audit.Judgement{{Judge: "a", Verdict: audit.True, Enforce: true}}, audit.True, []string{"a"}},
		{"two", []audit.Judgement{{Judge: "a", Verdict: audit.True, Enforce: true}, {Judge: "b", Verdict: audit.True, Enforce: true}}, audit.True, []string{"a", "b"}},
		{"another who says otherwise, and leaves it at that", []audit.Judgement{{Judge: "a", Verdict: audit.True}, {Judge: "b", Verdict: audit.False, Enforce: true}}, audit.False, []string{"b"}},
		{"two who differ", []audit.Judgement{{Judge: "a", Verdict: audit.True, Enforce: true}, {Judge: "b", Verdict: audit.False, Enforce: true}}, audit.Unknown, []string{"a", "b"}},
		{"three who do", []audit.Judgement{{Judge: "a", Verdict: audit.True, Enforce: true}, {Judge: "b", Verdict: audit.False, Enforce: true},
			{Judge: "c", Verdict: audit.True, Enforce: true}}, audit.Unknown, []string{"a", "b", "c"}},
		{"unknown is nothing to enforce", []audit.Judgement{{Judge: "a", Verdict: audit.Unknown}, {Judge: "b", Verdict: audit.True, Enforce: true}}, audit.True, []string{"b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, j := range tt.judgements {
				j.Pair = p
				setAll(t, w, []audit.Judgement{j})
			}
			got, err := w.EnforcedPairs()
			if err != nil {
				t.Fatal(err)
			}
			var want []workspace.EnforcedPair
			if tt.verdict != "" {
				want = []workspace.EnforcedPair{{Pair: p, Verdict: tt.verdict, Judges: tt.judges}}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			m, err := workspace.ReadManifest(w.Dir)
			if err != nil || m.Judged.Pairs != len(want) {
				t.Errorf("the manifest says %+v: %v", m.Judged, err)
			}
			if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
				t.Fatal(err)
			}
			if (mustState(t, w).Generation() == generation) != (tt.verdict == "") {
				t.Error("the generation does not follow")
			}
			for _, j := range tt.judgements {
				if err := browsing.Auditor(w).Withdraw(t.Context(), p, j.Judge); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// What is enforced is an input of the last stage: who says it, and in which order,
// is not.
func TestTheSameJudgedPairsAreUpToDate(t *testing.T) {
	w := pipetest.Copied(t)
	stale := func() (workspace.Reason, string) {
		t.Helper()
		s, err := workspace.ReadStatus(t.Context(), w.Dir, stages.All, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range s.Stages[:3] {
			if st.Stale != workspace.UpToDate {
				t.Errorf("%s is stale", st.Name)
			}
		}
		return s.Stages[3].Stale, s.Stages[3].Why
	}
	judgements := pipetest.Judgements(t, "0|3", "4=5")
	setAll(t, w, judgements)
	if reason, why := stale(); reason != workspace.Judgements || why != "judged pairs to follow: 0 before, now 2" {
		t.Errorf("%s: %s", reason, why)
	}
	run := func() {
		t.Helper()
		if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
			t.Fatal(err)
		}
		if reason, why := stale(); reason != workspace.UpToDate {
			t.Errorf("%s: %s", reason, why)
		}
	}
	run()
	again := judgements[0]
	again.Judge, again.Note, again.Time = "another", "note", "2024-01-01T00:00:00Z"
	setAll(t, w, []audit.Judgement{again})
	if err := browsing.Auditor(w).Withdraw(t.Context(), judgements[0].Pair, judgements[0].Judge); err != nil {
		t.Fatal(err)
	}
	if reason, why := stale(); reason != workspace.UpToDate {
		t.Errorf("the same pairs of another judge: %s, %s", reason, why)
	}
	again.Verdict = audit.True
	setAll(t, w, []audit.Judgement{again})
	if reason, why := stale(); reason != workspace.Judgements || why != "judged pairs to follow: 2 before, now 2" {
		t.Errorf("another verdict: %s, %s", reason, why)
	}
	run()
}

// stopper ends a run at its first warning.
type stopper struct {
	workspace.Silent
	cancel context.CancelFunc
}

func (s *stopper) Warn(string, ...any) { s.cancel() }

// A closing that was interrupted starts over, with the pairs that are there then.
func TestInterruptedEnforcing(t *testing.T) {
	c := pipetest.MustLoad(t)
	path := pipetest.WriteTexts(t, 0, pipetest.Copies())
	judgements := pipetest.Judgements(t, "0|3", "4=5", "5|77")
	early := filepath.Join(t.TempDir(), "ws")
	judgeIn(t, early, c, judgements...)
	want := pipetest.RunAll(t, early, c, workspace.Options{}, path)
	dir := filepath.Join(t.TempDir(), "ws")
	plain := pipetest.RunAll(t, dir, c, workspace.Options{}, path)
	judgeIn(t, dir, c, judgements...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{Progress: &stopper{cancel: cancel}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Run(ctx, "extract", "verify", nil)); !errors.Is(err, context.Canceled) {
		t.Fatalf("not interrupted: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if reason := pipetest.Staleness(t, dir, c, "verify"); reason != workspace.Unfinished {
		t.Errorf("verify is %q", reason)
	}
	if got := pipetest.RunAll(t, dir, c, workspace.Options{}); !bytes.Equal(got, want) || bytes.Equal(got, plain) {
		t.Error("other clusters after an interruption")
	}
}

// Pages that are left out, that have one record id, or too many, and those of one
// text.
func TestWhatCannotBeFollowed(t *testing.T) {
	texts := pipetest.Copies()
	page := func(id, text string) []byte {
		return pipetest.Archived("response", id, "http://a.example/"+id+"/"+text[:9], 1, pipetest.OkHTML+"<p>"+text)
	}
	var links strings.Builder
	for i := range 60 {
		fmt.Fprintf(&links, `<li><a href="/%d">Section %d of this site</a>`, i, i)
	}
	records := [][]byte{page("one", texts[0]), page("copy", texts[1]), page("same", texts[0]),
		page("twice", texts[4]), page("twice", texts[5]), page("other", texts[6]),
		pipetest.Archived("response", "index", "http://a.example/", 1, pipetest.OkHTML+"<ul>"+links.String()+"</ul>")}
	english := pipetest.Scripts(rand.New(rand.NewPCG(61, 62)))[0]
	for range results.MaxNamedTexts + 1 {
		records = append(records, page("often", strings.Join(english(60), "")))
	}
	pair := func(a, b string, v audit.Verdict) audit.Judgement {
		return audit.Judgement{Pair: audit.NewPair("urn:test:"+a, "urn:test:"+b), Judge: "j", Verdict: v, Enforce: true}
	}
	c := pipetest.MustLoad(t, "text.pages=topic")
	dir := filepath.Join(t.TempDir(), "ws")
	file := pipetest.WriteRecords(t, records...)
	pipetest.RunAll(t, dir, c, workspace.Options{}, file)
	w := pipetest.OpenWith(t, dir, "text.pages=topic")
	want := map[audit.Pair]string{}
	for _, tt := range []struct {
		a, b  string
		v     audit.Verdict
		state string
	}{
		{"one", "same", audit.False, results.PairSameText},
		{"one", "gone", audit.False, results.PairMissing},
		{"twice", "one", audit.True, results.PairFollowed},
		{"often", "one", audit.True, results.PairAmbiguous},
		{"index", "one", audit.True, results.PairLeftOut},
		{"index", "copy", audit.False, results.PairFollowed},
	} {
		j := pair(tt.a, tt.b, tt.v)
		setAll(t, w, []audit.Judgement{j})
		want[j.Pair] = tt.state
	}
	if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
		t.Fatal(err)
	}
	list, err := browsing.Auditor(w).Enforced(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Pairs {
		if p.State != want[p.Pair] {
			t.Errorf("%v: %s, want %s", p.Pair, p.State, want[p.Pair])
		}
		if missing := p.State == results.PairMissing; missing != (p.Documents[0] == "" || p.Documents[1] == "") || missing != (p.URIs[0] == "" || p.URIs[1] == "") {
			t.Errorf("%+v", p)
		}
	}
	clusterOf, _ := pipetest.ClustersOf(t, pipetest.ExportOf(t, w, exports.Options{Format: "jsonl"}))
	for id, want := range map[string]bool{"one": true, "copy": true, "same": true, "twice": true, "other": false, "often": false, "index": false} {
		if in := clusterOf["urn:test:"+id] == clusterOf["urn:test:one"]; in != want {
			t.Errorf("%s is in the cluster: %v", id, in)
		}
	}
	if len(list.Pairs) != len(want) || len(clusterOf) != 4 { // two pages have one record id
		t.Errorf("%d pairs, clusters %v", len(list.Pairs), clusterOf)
	}
}

// The list of enforced pairs comes in parts.
func TestEnforcedComesInParts(t *testing.T) {
	w := pipetest.Copied(t)
	r := browsing.Auditor(w)
	judgements := pipetest.Judgements(t, "0|3", "4=5", "1=4", "1=2", "5|6")
	judgements[3].Enforce = false
	setAll(t, w, judgements)
	whole, err := r.Enforced(t.Context(), "", 100)
	if err != nil || len(whole.Pairs) != 4 || whole.Next != "" {
		t.Fatalf("%+v %v", whole, err)
	}
	var parts []review.EnforcedPair
	after, lists := "", 0
	for ; lists == 0 || after != ""; lists++ {
		l, err := r.Enforced(t.Context(), after, 2)
		if err != nil {
			t.Fatal(err)
		}
		parts, after = append(parts, l.Pairs...), l.Next
	}
	if !reflect.DeepEqual(parts, whole.Pairs) || lists != 2 {
		t.Errorf("in %d parts %+v", lists, parts)
	}
	for _, p := range whole.Pairs {
		if p.State != results.PairPending || p.Documents[0] == "" || !strings.HasPrefix(p.URIs[1], "urn:text:") {
			t.Errorf("%+v", p)
		}
	}
	for _, after := range []string{"x", "ff"} {
		if _, err := r.Enforced(t.Context(), after, 2); !errors.Is(err, review.ErrNotFound) {
			t.Errorf("behind %q: %v", after, err)
		}
	}
}

// A text that several pages have stays a cluster when its last other leaves.
func TestSharedTextsStayClusters(t *testing.T) {
	texts := pipetest.Copies()
	for _, shared := range []int{0, 3} { // the representative, and the one that leaves
		pages := []string{texts[0], texts[3], texts[shared]}
		c := pipetest.MustLoad(t)
		dir := filepath.Join(t.TempDir(), "ws")
		judgeIn(t, dir, c, pipetest.Judgements(t, "0|1")...)
		clusterOf, members := pipetest.ClustersOf(t, pipetest.RunAll(t, dir, c, workspace.Options{}, pipetest.WriteTexts(t, 0, pages)))
		same := map[int]string{0: pipetest.TextURN(0), 3: pipetest.TextURN(1)}[shared]
		if len(members) != 2 || clusterOf[same] == 0 || clusterOf[same] != clusterOf[pipetest.TextURN(2)] {
			t.Errorf("text %d twice: %v", shared, clusterOf)
		}
	}
}
