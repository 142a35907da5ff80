package pipeline_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"neardup/explain"
	"neardup/pipeline/explaining"
	"neardup/pipeline/exports"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// What judged pairs did is seen: in relations, edges, the summary, explanations
// and warnings, in all formats alike.
func TestJudgedPairsAreVisible(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	c := pipetest.MustLoad(t)
	var lines strings.Builder
	for i, s := range pipetest.Copies() {
		lines.WriteString(jsonOf(t, map[string]string{"id": pipetest.TextURN(i), "text": s, "date": "2024-05-06T07:08:09Z"}) + "\n")
	}
	path := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "texts.jsonl"), []byte(lines.String()))
	pipetest.RunAll(t, dir, c, workspace.Options{}, path, pipetest.Crawl(t))
	warned := &warnings{}
	w, err := workspace.Open(dir, stages.All, c, false, workspace.Options{Progress: warned})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	explained := func(a, b int) explain.Explanation {
		t.Helper()
		e, err := explaining.Pages(t.Context(), w, pipetest.TextURN(a), pipetest.TextURN(b))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := e.WriteText(&text, explain.Style{Width: 100}); err != nil {
			t.Fatal(err)
		}
		if j := e.Run.Judged; (j != nil) != strings.Contains(text.String(), "\n  judged ") {
			t.Errorf("%d and %d: %s", a, b, &text)
		}
		return e
	}
	if e := explained(0, 3); !e.Outcome.Joined || e.Run.Judged != nil || e.Run.ByJudged != "" {
		t.Fatalf("before: %+v %+v", e.Outcome, e.Run)
	}
	judgements := pipetest.Judgements(t, "0|3", "4=5", "1=4", "1=2", "2=6", "6|1")
	setAll(t, w, judgements)
	if e := explained(0, 3); !e.Outcome.Joined || e.Run.Judged == nil || e.Run.Judged.State != results.PairPending {
		t.Errorf("before the next run: %+v %+v", e.Outcome, e.Run.Judged)
	}
	if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
		t.Fatal(err)
	}
	checkJudged(t, w, judgements)
	if len(warned.said) != 1 || !strings.Contains(warned.said[0], "not followed") || !strings.Contains(warned.said[0], results.PairContradicted) {
		t.Errorf("warnings %q", warned.said)
	}
	if e := explained(0, 3); e.Outcome.Joined || e.Outcome.EndedBy != explain.ByJudgement || e.Run.ByJudged != "parted" ||
		!reflect.DeepEqual(e.Run.Judged, &explain.Judged{Verdict: "false", Judges: []string{"a judge"}, State: results.PairFollowed}) {
		t.Errorf("parted: %+v %+v", e.Outcome, e.Run)
	}
	if e := explained(1, 3); e.Outcome.EndedBy != explain.ByJudgement || e.Run.Judged != nil || e.Outcome.Why == explained(0, 3).Outcome.Why {
		t.Errorf("parted by another pair: %+v", e.Outcome)
	}
	if e := explained(1, 4); !e.Outcome.Joined || e.Run.ByJudged != "joined" || e.Run.Steps != 1 || !e.Run.Chain[0].Judged || e.Outcome.Why != "people judged that they belong together" {
		t.Errorf("joined: %+v %+v", e.Outcome, e.Run)
	}
	if e := explained(0, 5); !e.Outcome.Joined || e.Run.ByJudged != "joined" || e.Run.Steps != 3 {
		t.Errorf("joined through others: %+v %+v", e.Outcome, e.Run)
	}
	if e := explained(0, 1); !e.Outcome.Joined || e.Run.ByJudged != "" {
		t.Errorf("as before: %+v", e.Outcome)
	}
	if e := explained(0, 6); e.Outcome.Joined || e.Run.ByJudged != "" || e.Outcome.EndedBy == explain.ByJudgement {
		t.Errorf("as before: %+v", e.Outcome)
	}

	_, members := pipetest.ClustersOf(t, pipetest.ExportOf(t, w, exports.Options{Format: "jsonl"}))
	texts := pipetest.Copies()
	seen := 0
	for _, m := range members {
		if m.Relation != report.Judged {
			continue
		}
		seen++
		var i, j int
		if _, err := fmt.Sscanf(m.RecordID+m.VerifiedAgainst, "<urn:text:%d><urn:text:%d>", &i, &j); err != nil {
			t.Fatal(err)
		}
		r, contained, ok, err := stages.Scores(c, texts[i], texts[j])
		if err != nil || !ok || report.Score(r).String() != m.Resemblance.String() || report.Score(contained).String() != m.Containment.String() ||
			r >= c.Verify.Resemblance {
			t.Errorf("%d and %d: %v %v, want %v %v: %v", i, j, m.Resemblance, m.Containment, r, contained, err)
		}
	}
	if seen != 2 {
		t.Errorf("%d members are judged", seen)
	}
	pipetest.CheckFormats(t, w)
	for format, want := range map[string]string{
		"edges":        `"relation":"judged"`,
		"graphml":      `<data key="relation">judged</data>`,
		"text":         "\n  judged ",
		"summary":      "judged pairs followed 5 3 joined, 2 parted not followed 1 contradicted 1 clusters",
		"summary-json": `"must_join": 3`,
		"keep":         ",review,",
	} {
		got := string(pipetest.ExportOf(t, w, exports.Options{Format: format}))
		if format == "summary" {
			got = strings.Join(strings.Fields(got), " ")
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: no %q: %s", format, want, got)
		}
	}
}
