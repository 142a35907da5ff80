package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"neardup/audit"
	"neardup/configs"
	"neardup/pipeline/browsing"
	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
)

func setAll(t *testing.T, w *workspace.Workspace, judgements []audit.Judgement) {
	t.Helper()
	for _, j := range judgements {
		if err := browsing.Auditor(w).Judge(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
}

// judgeIn opens the workspace in dir, which it makes, for judgements alone.
func judgeIn(t *testing.T, dir string, c configs.Config, judgements ...audit.Judgement) {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, c, true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	setAll(t, w, judgements)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// disputable are judgements over clusters: they part members from their
// representatives and from each other, join clusters, texts that are in none and
// both, and some contradict each other. members are those of the clusters by
// text.
func disputable(t *testing.T, rng *rand.Rand, texts int, clusters map[string]int) []audit.Judgement {
	t.Helper()
	by := map[int][]int{}
	var alone []int
	for i := range texts {
		if c := clusters[pipetest.TextURN(i)]; c != 0 {
			by[c] = append(by[c], i)
		} else {
			alone = append(alone, i)
		}
	}
	var all [][]int
	for c := range len(by) {
		all = append(all, by[c+1])
	}
	if len(all) < 8 || len(alone) < 8 {
		t.Fatalf("%d clusters, %d texts alone", len(all), len(alone))
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	last := func(s []int) int { return s[len(s)-1] }
	pairs := []string{
		fmt.Sprintf("%d|%d", all[0][0], last(all[0])),
		fmt.Sprintf("%d=%d", all[1][0], last(all[2])),
		fmt.Sprintf("%d=%d", alone[0], alone[1]),
		fmt.Sprintf("%d=%d", alone[2], last(all[3])),
		fmt.Sprintf("%d=%d", all[4][0], last(all[5])), // united, and one is parted from its own
		fmt.Sprintf("%d|%d", all[4][0], all[5][0]),
		fmt.Sprintf("%d=%d", alone[3], alone[4]), // a contradiction
		fmt.Sprintf("%d=%d", alone[4], alone[5]),
		fmt.Sprintf("%d|%d", alone[5], alone[3]),
		fmt.Sprintf("%d=%d", all[6][0], last(all[6])), // as they are
		fmt.Sprintf("%d|%d", all[6][0], all[7][0]),
		fmt.Sprintf("%d=%d", alone[6], 1_000_000), // no such text
	}
	return pipetest.Judgements(t, pairs...)
}

// checkJudged checks an export of a workspace that followed the judgements:
// every one, or it is not and says why; evidence of every member, measured.
func checkJudged(t *testing.T, w *workspace.Workspace, judgements []audit.Judgement) {
	t.Helper()
	clusterOf, members := pipetest.ClustersOf(t, pipetest.ExportOf(t, w, exports.Options{Format: "jsonl"}))
	of := func(id string) int { return clusterOf[strings.Trim(id, "<>")] }
	list, err := browsing.Auditor(w).Enforced(t.Context(), "", 1000)
	if err != nil || len(list.Pairs) != len(judgements) || list.Next != "" {
		t.Fatalf("%d pairs, want %d: %v", len(list.Pairs), len(judgements), err)
	}
	want := report.JudgedPairs{NotFollowed: map[string]int64{}}
	for _, p := range list.Pairs {
		together := p.A == p.B || of(p.A) != 0 && of(p.A) == of(p.B)
		switch {
		case p.State != results.PairFollowed:
			want.NotFollowed[p.State]++
		case p.Verdict == audit.True:
			want.MustJoin++
		default:
			want.MustNot++
		}
		if p.State == results.PairFollowed && together != (p.Verdict == audit.True) || p.State == results.PairPending {
			t.Errorf("%v: together %v", p, together)
		}
	}
	s, err := results.Summary(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(s.Judged); string(got) != jsonOf(t, want) {
		t.Errorf("summary: %s, want %s", got, jsonOf(t, want))
	}
	textOf := func(recordID string) rows.TextID {
		t, _, err := results.TextsNamed(w, recordID)
		if err != nil || len(t) > 1 {
			t = nil
		}
		return append(t, rows.TextID{})[0]
	}
	against := map[string]string{}
	for _, m := range members {
		against[m.RecordID] = m.VerifiedAgainst
		joined := slices.ContainsFunc(judgements, func(j audit.Judgement) bool { // of these pages, or others of their texts
			a, b, x, y := textOf(j.A), textOf(j.B), textOf(m.RecordID), textOf(m.VerifiedAgainst)
			return j.Verdict == audit.True && (a == x && b == y || a == y && b == x)
		})
		if m.Relation == report.Judged && !joined {
			t.Errorf("%s is against %s by no judgement", m.RecordID, m.VerifiedAgainst)
		}
	}
	for id := range against {
		for steps, at := 0, id; against[at] != at; steps, at = steps+1, against[at] {
			if steps > len(against) || of(against[at]) != of(id) {
				t.Fatalf("the chain of %s leads out of its cluster or round", id)
			}
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every method follows judged pairs: the same bytes whether they were there
// before the run, or came one after another, or the run was interrupted; what was
// compared is not compared again. Taken back, they leave nothing behind.
func TestMethodsFollowJudgedPairs(t *testing.T) {
	var all [][]string
	for _, name := range configs.Names() {
		all = append(all, []string{name})
	}
	all = append(all, []string{"default", "verify.closing=transitive"}, []string{"default", "verify.contained=links"},
		[]string{"simfinder", "verify.closing=representative", "verify.transitivity=false"}, []string{"default", "text.frames=2"})
	if pipetest.Raced {
		all = [][]string{{"default"}} // the goroutines of the others are those of TestMethodsGiveTheSameBytes
	}
	for _, v := range all {
		t.Run(strings.Join(v, " "), func(t *testing.T) {
			t.Parallel()
			c := pipetest.MustLoadPreset(t, v[0], v[1:]...)
			rng := rand.New(rand.NewPCG(41, 42))
			texts, _ := pipetest.Planted(rng, 24)
			texts = append(texts, pipetest.Chains(rng, 2, 6)...)
			texts = append(texts, texts[0], texts[1]) // pages with one text
			half := len(texts) / 2
			a, b := pipetest.WriteTexts(t, 0, texts[:half]), pipetest.WriteTexts(t, half, texts[half:])
			dir := filepath.Join(t.TempDir(), "ws")
			plain := pipetest.RunAll(t, dir, c, workspace.Options{}, a, b)
			clusterOf, _ := pipetest.ClustersOf(t, plain)
			judgements := disputable(t, rng, len(texts), clusterOf)
			judgements = append(judgements, pipetest.Judgements(t, fmt.Sprintf("0|%d", len(texts)-2))...)

			closed := rows.VerifyCounts{}
			log := &pipetest.StageLog{}
			func() {
				w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{Progress: log})
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = w.Close() }()
				verdicts, state := pipetest.RowsOf(t, w, layout.TableVerdict), mustState(t, w)
				var before rows.VerifyCounts
				_ = json.Unmarshal(state.Counts, &before)
				setAll(t, w, judgements)
				if pipetest.Staleness(t, dir, c, "verify") != workspace.Judgements {
					t.Error("verify is not stale")
				}
				if err := exports.Write(t.Context(), w, exports.Options{Format: "jsonl"}, &bytes.Buffer{}); !errors.Is(err, workspace.ErrUsage) {
					t.Errorf("an export of clusters of before: %v", err)
				}
				if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(log.Begun, []string{"index", "verify"}) || pipetest.RowsOf(t, w, layout.TableVerdict) != verdicts {
					t.Errorf("stages %q", log.Begun)
				}
				if err := errors.Join(w.CheckContents(), json.Unmarshal(mustState(t, w).Counts, &closed)); err != nil {
					t.Fatal(err)
				}
				if before.Clusters, before.Judged, before.Contained = closed.Clusters, closed.Judged, closed.Contained; before != closed {
					t.Errorf("counts %+v, before %+v", closed, before)
				}
				if n := strings.Count(pipetest.RowsOf(t, w, layout.TableCluster), "\n"); n != strings.Count(pipetest.RowsOf(t, w, layout.TableAssigned), "\n") {
					t.Errorf("%d rows of clusters", n)
				}
				representatives := 0
				for r, err := range w.DB.Table(layout.TableCluster) {
					if row, err2 := r.Cluster(); err == nil && err2 == nil && row.Cluster == row.Member {
						representatives++
					}
				}
				if int64(representatives) != closed.Clusters {
					t.Errorf("%d clusters, counted %d", representatives, closed.Clusters)
				}
				checkJudged(t, w, judgements)
				if closed.Judged.MustJoin < 5 || closed.Judged.MustNot < 3 || closed.Judged.MustJoin+closed.Judged.MustNot < 9 || closed.Judged.NotFollowed[results.PairContradicted] == 0 ||
					closed.Judged.NotFollowed[results.PairMissing] != 1 || closed.Judged.NotFollowed[results.PairSameText] != 1 {
					t.Errorf("%+v", closed.Judged)
				}
			}()
			if pipetest.Staleness(t, dir, c, "verify") != workspace.UpToDate {
				t.Error("verify is stale")
			}
			want := pipetest.RunAll(t, dir, c, workspace.Options{})
			if bytes.Equal(want, plain) {
				t.Error("nothing has changed")
			}
			if got := mustSummary(t, dir, c); got.Clusters.Clusters == 0 || !bytes.Contains(want, []byte(`"judged"`)) {
				t.Error("no member is judged")
			}

			// Judged before anything was read, in another order, with other workers.
			early := filepath.Join(t.TempDir(), "ws")
			reversed := slices.Clone(judgements)
			slices.Reverse(reversed)
			judgeIn(t, early, c, reversed...)
			if got := pipetest.RunAll(t, early, c, workspace.Options{Workers: 3, RunRows: 64}, b, a); !bytes.Equal(got, want) {
				t.Error("other clusters where the judgements were there before")
			}
			// Interrupted, and judged in between.
			for round := range 2 {
				dir := filepath.Join(t.TempDir(), "ws")
				for i := range 3 {
					if i == round {
						judgeIn(t, dir, c, judgements...)
					}
					interrupted(t, rng, dir, c, a, b)
				}
				if got := pipetest.RunAll(t, dir, c, workspace.Options{}, a, b); !bytes.Equal(got, want) {
					t.Errorf("interrupted, round %d: other clusters", round)
				}
			}

			// Taken back.
			w := pipetest.Open(t, dir, c)
			for _, j := range judgements {
				if err := browsing.Auditor(w).Withdraw(t.Context(), j.Pair, j.Judge); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
				t.Fatal(err)
			}
			if got := pipetest.ExportOf(t, w, exports.Options{Format: "jsonl"}); !bytes.Equal(got, plain) {
				t.Error("other clusters once all is taken back")
			}
			if rows := pipetest.RowsOf(t, w, layout.TableJudgement, layout.TableOutcome, layout.TableFormer); rows != "" {
				t.Errorf("left behind: %s", rows)
			}
		})
	}
}

// interrupted runs until some step of the progress.
func interrupted(t *testing.T, rng *rand.Rand, dir string, c configs.Config, paths ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	i := &pipetest.Interrupter{Cancel: cancel}
	i.Left.Store(1 + rng.Int64N(40))
	w, err := workspace.Open(dir, stages.All, c, true, workspace.Options{Workers: 1 + rng.IntN(3), Progress: i, RunRows: 20 + rng.IntN(200)})
	if err != nil {
		t.Fatal(err)
	}
	sources, _, err := inputs.Find(t.Context(), dir, paths, nil, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(ctx, "extract", "verify", sources); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func mustState(t *testing.T, w *workspace.Workspace) workspace.StageState {
	t.Helper()
	s, ok, err := w.State(workspace.StageVerify)
	if err != nil || !ok {
		t.Fatalf("%v %v", ok, err)
	}
	return s
}

func mustSummary(t *testing.T, dir string, c configs.Config) report.Summary {
	t.Helper()
	w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	s, err := results.Summary(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
