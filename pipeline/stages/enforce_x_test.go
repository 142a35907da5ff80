package stages_test

import (
	"errors"
	"slices"
	"testing"

	"neardup/cluster"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/report"
)

// The score of a judged pair is its verdict if it has one, else what the measure
// gives.
func TestScoresOfJudgedPairs(t *testing.T) {
	w := pipetest.Copied(t)
	if err := results.IndexNames(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	keyOf, measured := stages.Enforcing(t.Context(), w)
	var texts [2]rows.TextID
	var keys [2]cluster.Key
	for i, n := range []int{0, 4} {
		of, _, err := results.TextsNamed(w, "<"+pipetest.TextURN(n)+">")
		if err != nil || len(of) != 1 {
			t.Fatal(of, err)
		}
		texts[i] = of[0]
		if keys[i], err = keyOf(of[0]); err != nil {
			t.Fatal(err)
		}
	}
	r, contained, _, err := stages.Scores(w.Config, pipetest.Copies()[0], pipetest.Copies()[4])
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(keys[:], cluster.Key.Compare)
	verdict := rows.Score{Relation: report.Near, Resemblance: .75, Containment: .875}
	for _, want := range []rows.Score{{Resemblance: r, Containment: contained}, verdict} {
		for range 2 {
			if got, err := measured(texts[0], texts[1]); err != nil || got != want {
				t.Errorf("%+v, want %+v: %v", got, want, err)
			}
			texts[0], texts[1] = texts[1], texts[0]
		}
		b := w.DB.Batch()
		if err := errors.Join(b.Set(layout.PairKey(layout.TableVerdict, keys[0], keys[1]), layout.AppendScore(nil, verdict)), b.Commit()); err != nil {
			t.Fatal(err)
		}
	}
}
