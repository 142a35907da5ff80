package pipeline

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/explain"
	"neardup/report"
)

// copies are a page with near copies, and texts that are like none.
func copies() (texts []string) {
	rng := rand.New(rand.NewPCG(51, 52))
	english := scripts(rng)[0]
	original := english(200)
	for i := range 4 {
		copied := slices.Clone(original)
		copied[i] = english(5)[0]
		texts = append(texts, strings.Join(copied[:len(copied)-i], "")) // 0 is the longest
	}
	for range 3 {
		texts = append(texts, strings.Join(english(200), ""))
	}
	return texts
}

// What judged pairs did is seen: in relations, edges, the summary, explanations
// and warnings, in all formats alike.
func TestJudgedPairsAreVisible(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	c := mustLoad(t)
	var lines strings.Builder
	for i, s := range copies() {
		lines.WriteString(jsonOf(t, map[string]string{"id": textURN(i), "text": s, "date": "2024-05-06T07:08:09Z"}) + "\n")
	}
	path := write(t, filepath.Join(t.TempDir(), "texts.jsonl"), []byte(lines.String()))
	runAll(t, dir, c, Options{}, path, crawl(t))
	warned := &warnings{}
	w, err := Open(dir, AllStages, c, false, Options{Progress: warned})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	explained := func(a, b int) explain.Explanation {
		t.Helper()
		e, err := w.Explain(t.Context(), textURN(a), textURN(b))
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
	judgements := said(t, "0|3", "4=5", "1=4", "1=2", "2=6", "6|1")
	setAll(t, w, judgements)
	if e := explained(0, 3); !e.Outcome.Joined || e.Run.Judged == nil || e.Run.Judged.State != pairPending {
		t.Errorf("before the next run: %+v %+v", e.Outcome, e.Run.Judged)
	}
	if err := w.Run(t.Context(), "extract", "verify", nil); err != nil {
		t.Fatal(err)
	}
	checkJudged(t, w, judgements)
	if len(warned.said) != 1 || !strings.Contains(warned.said[0], "not followed") || !strings.Contains(warned.said[0], pairContradicted) {
		t.Errorf("warnings %q", warned.said)
	}
	if e := explained(0, 3); e.Outcome.Joined || e.Outcome.EndedBy != explain.ByJudgement || e.Run.ByJudged != "parted" ||
		!reflect.DeepEqual(e.Run.Judged, &explain.Judged{Verdict: "false", Judges: []string{"a judge"}, State: pairFollowed}) {
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

	_, members := clustersOf(t, exportOf(t, w, ExportOptions{Format: "jsonl"}))
	judge := newJudge(&c)
	texts := copies()
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
		r, contained, ok, err := scoreTexts(c, texts[i], texts[j])
		if err != nil || !ok || report.Score(r).String() != m.Resemblance.String() || report.Score(contained).String() != m.Containment.String() ||
			r >= judge.config.Resemblance {
			t.Errorf("%d and %d: %v %v, want %v %v: %v", i, j, m.Resemblance, m.Containment, r, contained, err)
		}
	}
	if seen != 2 {
		t.Errorf("%d members are judged", seen)
	}
	checkFormats(t, w)
	for format, want := range map[string]string{
		"edges":        `"relation":"judged"`,
		"graphml":      `<data key="relation">judged</data>`,
		"text":         "\n  judged ",
		"summary":      "judged pairs followed 5 3 joined, 2 parted not followed 1 contradicted 1 clusters",
		"summary-json": `"must_join": 3`,
		"keep":         ",review,",
	} {
		got := string(exportOf(t, w, ExportOptions{Format: format}))
		if format == "summary" {
			got = strings.Join(strings.Fields(got), " ")
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: no %q: %s", format, want, got)
		}
	}
}
