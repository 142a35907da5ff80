package pipeline

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
	"sync"
	"testing"

	"neardup/audit"
	"neardup/cluster"
	"neardup/cluster/judged"
	"neardup/review"
)

// copied is a workspace with the texts of copies, run.
func copied(t *testing.T, settings ...string) *Workspace {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	runAll(t, dir, mustLoad(t, settings...), Options{}, writeTexts(t, 0, copies()))
	return openWith(t, dir, settings...)
}

// A judgement is that of its judge until he says otherwise or takes it back.
func TestJudgementsAreKept(t *testing.T) {
	w := copied(t)
	p, other := audit.NewPair("urn:b", "<urn:a>"), audit.NewPair("urn:a", "urn:c")
	set := func(p audit.Pair, judge string, v audit.Verdict, enforce bool) {
		t.Helper()
		if err := w.Auditor().Judge(t.Context(), audit.Judgement{Pair: p, Judge: judge, Verdict: v, Enforce: enforce, Note: "<b>"}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(p audit.Pair, want ...string) {
		t.Helper()
		of, err := w.judgements(p)
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
	runAll(t, filepath.Join(t.TempDir(), "ws"), mustLoad(t), Options{}, crawl(t))
	if err := w.Auditor().Withdraw(t.Context(), p, "ann"); err != nil {
		t.Fatal(err)
	}
	check(p, "zoe true false")
	for _, j := range []audit.Judgement{
		{Pair: p, Judge: "", Verdict: audit.True}, {Pair: p, Judge: "x", Verdict: "maybe"}, {Pair: p, Judge: "x", Verdict: audit.Unknown, Enforce: true},
		{Pair: audit.NewPair("a", "a"), Judge: "x", Verdict: audit.True},
	} {
		if err := w.Auditor().Judge(t.Context(), j); !errors.Is(err, ErrUsage) {
			t.Errorf("%+v: %v", j, err)
		}
	}
}

// A pair is enforced where those agree who have it enforced, whoever they are.
func TestWhatIsEnforced(t *testing.T) {
	w := copied(t)
	generation := mustState(t, w).generation()
	p := said(t, "1=2")[0].Pair
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
			got, err := w.enforcedPairs()
			if err != nil {
				t.Fatal(err)
			}
			var want []enforcedPair
			if tt.verdict != "" {
				want = []enforcedPair{{p, tt.verdict, tt.judges}}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
			m, err := ReadManifest(w.dir)
			if err != nil || m.Judged.Pairs != len(want) {
				t.Errorf("the manifest says %+v: %v", m.Judged, err)
			}
			if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
				t.Fatal(err)
			}
			if (mustState(t, w).generation() == generation) != (tt.verdict == "") {
				t.Error("the generation does not follow")
			}
			for _, j := range tt.judgements {
				if err := w.Auditor().Withdraw(t.Context(), p, j.Judge); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// What is enforced is an input of the last stage: who says it, and in which order,
// is not.
func TestTheSameJudgedPairsAreUpToDate(t *testing.T) {
	w := copied(t)
	stale := func() (Reason, string) {
		t.Helper()
		s, err := ReadStatus(w.dir, AllStages, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range s.Stages[:3] {
			if st.Stale != UpToDate {
				t.Errorf("%s is stale", st.Name)
			}
		}
		return s.Stages[3].Stale, s.Stages[3].Why
	}
	judgements := said(t, "0|3", "4=5")
	setAll(t, w, judgements)
	if reason, why := stale(); reason != Judgements || why != "judged pairs to follow: 0 before, now 2" {
		t.Errorf("%s: %s", reason, why)
	}
	run := func() {
		t.Helper()
		if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
			t.Fatal(err)
		}
		if reason, why := stale(); reason != UpToDate {
			t.Errorf("%s: %s", reason, why)
		}
	}
	run()
	again := judgements[0]
	again.Judge, again.Note, again.Time = "another", "note", "2024-01-01T00:00:00Z"
	setAll(t, w, []audit.Judgement{again})
	if err := w.Auditor().Withdraw(t.Context(), judgements[0].Pair, judgements[0].Judge); err != nil {
		t.Fatal(err)
	}
	if reason, why := stale(); reason != UpToDate {
		t.Errorf("the same pairs of another judge: %s, %s", reason, why)
	}
	again.Verdict = audit.True
	setAll(t, w, []audit.Judgement{again})
	if reason, why := stale(); reason != Judgements || why != "judged pairs to follow: 2 before, now 2" {
		t.Errorf("another verdict: %s, %s", reason, why)
	}
	run()
}

// stopper ends a run at its first warning.
type stopper struct {
	silent
	cancel context.CancelFunc
}

func (s *stopper) Warn(string, ...any) { s.cancel() }

// A closing that was interrupted starts over, with the pairs that are there then.
func TestInterruptedEnforcing(t *testing.T) {
	c := mustLoad(t)
	path := writeTexts(t, 0, copies())
	judgements := said(t, "0|3", "4=5", "5|77")
	early := filepath.Join(t.TempDir(), "ws")
	judgeIn(t, early, c, judgements...)
	want := runAll(t, early, c, Options{}, path)
	dir := filepath.Join(t.TempDir(), "ws")
	plain := runAll(t, dir, c, Options{}, path)
	judgeIn(t, dir, c, judgements...)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := Open(dir, AllStages, c, false, Options{Progress: &stopper{cancel: cancel}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Run(ctx, "extract", "verify", nil)); !errors.Is(err, context.Canceled) {
		t.Fatalf("not interrupted: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if reason := staleness(t, dir, c, "verify"); reason != Unfinished {
		t.Errorf("verify is %q", reason)
	}
	if got := runAll(t, dir, c, Options{}); !bytes.Equal(got, want) || bytes.Equal(got, plain) {
		t.Error("other clusters after an interruption")
	}
}

// Pages that are left out, that have one record id, or too many, and those of one
// text.
func TestWhatCannotBeFollowed(t *testing.T) {
	texts := copies()
	page := func(id, text string) []byte {
		return archived("response", id, "http://a.example/"+id+"/"+text[:9], 1, okHTML+"<p>"+text)
	}
	var links strings.Builder
	for i := range 60 {
		fmt.Fprintf(&links, `<li><a href="/%d">Section %d of this site</a>`, i, i)
	}
	records := [][]byte{page("one", texts[0]), page("copy", texts[1]), page("same", texts[0]),
		page("twice", texts[4]), page("twice", texts[5]), page("other", texts[6]),
		archived("response", "index", "http://a.example/", 1, okHTML+"<ul>"+links.String()+"</ul>")}
	english := scripts(rand.New(rand.NewPCG(61, 62)))[0]
	for range maxNamedTexts + 1 {
		records = append(records, page("often", strings.Join(english(60), "")))
	}
	pair := func(a, b string, v audit.Verdict) audit.Judgement {
		return audit.Judgement{Pair: audit.NewPair("urn:test:"+a, "urn:test:"+b), Judge: "j", Verdict: v, Enforce: true}
	}
	c := mustLoad(t, "text.pages=topic")
	dir := filepath.Join(t.TempDir(), "ws")
	file := writeRecords(t, records...)
	runAll(t, dir, c, Options{}, file)
	w := openWith(t, dir, "text.pages=topic")
	want := map[audit.Pair]string{}
	for _, tt := range []struct {
		a, b  string
		v     audit.Verdict
		state string
	}{
		{"one", "same", audit.False, pairSameText},
		{"one", "gone", audit.False, pairMissing},
		{"twice", "one", audit.True, pairFollowed},
		{"often", "one", audit.True, pairAmbiguous},
		{"index", "one", audit.True, pairLeftOut},
		{"index", "copy", audit.False, pairFollowed},
	} {
		j := pair(tt.a, tt.b, tt.v)
		setAll(t, w, []audit.Judgement{j})
		want[j.Pair] = tt.state
	}
	if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
		t.Fatal(err)
	}
	list, err := w.Auditor().Enforced(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Pairs {
		if p.State != want[p.Pair] {
			t.Errorf("%v: %s, want %s", p.Pair, p.State, want[p.Pair])
		}
		if missing := p.State == pairMissing; missing != (p.Documents[0] == "" || p.Documents[1] == "") || missing != (p.URIs[0] == "" || p.URIs[1] == "") {
			t.Errorf("%+v", p)
		}
	}
	clusterOf, _ := clustersOf(t, exportOf(t, w, ExportOptions{Format: "jsonl"}))
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
	w := copied(t)
	r := w.Auditor()
	judgements := said(t, "0|3", "4=5", "1=4", "1=2", "5|6")
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
		if p.State != pairPending || p.Documents[0] == "" || !strings.HasPrefix(p.URIs[1], "urn:text:") {
			t.Errorf("%+v", p)
		}
	}
	for _, after := range []string{"x", "ff"} {
		if _, err := r.Enforced(t.Context(), after, 2); !errors.Is(err, review.ErrNotFound) {
			t.Errorf("behind %q: %v", after, err)
		}
	}
}

// Comparisons and sweeps are of methods: their clusters follow no judgement, and
// those of the workspace do again with the next run.
func TestMethodsAreComparedWithoutJudgements(t *testing.T) {
	file := crawl(t)
	plan := methods(t, false)
	dir := filepath.Join(t.TempDir(), "ws")
	plain := runAll(t, dir, plan.Base, Options{}, file)
	clusters := runAlone(t, file, plan.Base)
	a, b := clusters[0].Members, clusters[1].Members
	judgements := []audit.Judgement{
		{Pair: audit.NewPair(a[0].RecordID, a[1].RecordID), Judge: "j", Verdict: audit.False, Enforce: true},
		{Pair: audit.NewPair(a[0].RecordID, b[0].RecordID), Judge: "j", Verdict: audit.True, Enforce: true},
	}
	judgeIn(t, dir, plan.Base, judgements...)
	judged := runAll(t, dir, plan.Base, Options{})
	if bytes.Equal(judged, plain) {
		t.Fatal("nothing has changed")
	}
	for round := range 2 { // the second finds what was kept
		log := &stageLog{}
		got, err := compareIn(t.Context(), t, dir, file, log, CompareOptions{Plan: plan, Truth: exampleTruth(t)})
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
		if n := len(runAlone(t, file, presetDefault(t))); int(swept.Results[0].Counts.Clusters) != n {
			t.Errorf("round %d: the sweep has %d clusters, want %d", round, swept.Results[0].Counts.Clusters, n)
		}
		w, err := Open(dir, AllStages, plan.Base, false, Options{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := w.Auditor().Enforced(t.Context(), "", 9)
		if err != nil || len(list.Pairs) != 2 || (list.Pairs[0].State == pairPending) != (round == 0) { // in the second nothing was run
			t.Errorf("%+v %v", list, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := runAll(t, dir, plan.Base, Options{}); !bytes.Equal(got, judged) {
			t.Errorf("round %d: other clusters after the comparison", round)
		}
	}
}

// While methods are compared no pair is followed, and then again.
func TestVariantsFollowNothing(t *testing.T) {
	w := copied(t)
	setAll(t, w, said(t, "0|3"))
	v := w.variants(1)
	end, err := v.begin(mustLoad(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	during, err := v.followed()
	if err != nil || len(during) != 0 {
		t.Errorf("%+v %v", during, err)
	}
	if reason := staleness(t, w.dir, mustLoad(t), "verify"); reason != Judgements {
		t.Errorf("verify is %q to who looks meanwhile", reason)
	}
	end()
	after, err := w.followed()
	if err != nil || len(after) != 1 {
		t.Errorf("%+v %v", after, err)
	}
}

// Evidence that leads the other way says what the other text is.
func TestEvidenceIsTurnedAround(t *testing.T) {
	a, b, c := textID{1}, textID{2}, textID{3}
	e := &enforcer{rows: map[textID]clusterRow{
		a: {a, a, a, score{Near, 1, 1}},
		b: {a, b, a, score{Near, .9, .95}},
		c: {a, c, b, score{Contained, .2, .8}},
	}}
	for _, tt := range []struct {
		text, against textID
		want          score
	}{{b, a, score{Near, .9, .95}}, {a, b, score{Near, .9, .95}}, {c, b, score{Contained, .2, .8}}, {b, c, score{Contains, .2, .8}}} {
		if got, err := e.score(judged.Text{ID: tt.text, Cluster: c, Against: tt.against}); err != nil || got != tt.want {
			t.Errorf("%v against %v: %+v, want %+v: %v", tt.text[0], tt.against[0], got, tt.want, err)
		}
	}
}

// The score of a judged pair is its verdict if it has one, else what the measure
// gives.
func TestScoresOfJudgedPairs(t *testing.T) {
	w := copied(t)
	if err := w.indexNames(t.Context()); err != nil {
		t.Fatal(err)
	}
	e := &enforcer{closer: &closer{w: w, ctx: t.Context()}, keyOf: sync.OnceValues(w.keyOf)}
	var texts [2]textID
	var keys [2]cluster.Key
	for i, n := range []int{0, 4} {
		of, _, err := w.textsNamed("<" + textURN(n) + ">")
		if err != nil || len(of) != 1 {
			t.Fatal(of, err)
		}
		texts[i] = of[0]
		if keys[i], err = e.Key(of[0]); err != nil {
			t.Fatal(err)
		}
	}
	r, contained, _, err := scoreTexts(w.config, copies()[0], copies()[4])
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(keys[:], cluster.Key.Compare)
	verdict := score{Near, .75, .875}
	for _, want := range []score{{0, r, contained}, verdict} {
		for range 2 {
			if got, err := e.measured(texts[0], texts[1]); err != nil || got != want {
				t.Errorf("%+v, want %+v: %v", got, want, err)
			}
			texts[0], texts[1] = texts[1], texts[0]
		}
		b := w.store.batch()
		if err := errors.Join(b.set(pairKey(tableVerdict, keys[0], keys[1]), verdict.append(nil)), b.commit()); err != nil {
			t.Fatal(err)
		}
	}
}

// A text that several pages have stays a cluster when its last other leaves.
func TestSharedTextsStayClusters(t *testing.T) {
	texts := copies()
	for _, shared := range []int{0, 3} { // the representative, and the one that leaves
		pages := []string{texts[0], texts[3], texts[shared]}
		c := mustLoad(t)
		dir := filepath.Join(t.TempDir(), "ws")
		judgeIn(t, dir, c, said(t, "0|1")...)
		clusterOf, members := clustersOf(t, runAll(t, dir, c, Options{}, writeTexts(t, 0, pages)))
		same := map[int]string{0: textURN(0), 3: textURN(1)}[shared]
		if len(members) != 2 || clusterOf[same] == 0 || clusterOf[same] != clusterOf[textURN(2)] {
			t.Errorf("text %d twice: %v", shared, clusterOf)
		}
	}
}
