package review

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"neardup/explain"
)

// A pair that its sentences make near is shown with their scores and thresholds, and not
// as one that the scores of its characters let pass.
func TestAlikePair(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var of [2]strings.Builder
	for range 60 {
		name := strings.ReplaceAll(strings.TrimSpace(words(rng, 1, "")), " ", " %d ")
		for i := range of {
			var numbers []any
			for range strings.Count(name, "%d") {
				numbers = append(numbers, rng.IntN(1_000_000_000))
			}
			fmt.Fprintf(&of[i], name+".\n", numbers...)
		}
	}
	e := explained(t, "default", of[0].String(), of[1].String())
	if !e.Decision.Alike() || e.Score.Resemblance >= 0.5 {
		t.Fatalf("%+v, %+v", e.Decision, e.Score)
	}
	m := metersOf(e)
	if m[0].Value != e.Rarity.PlainResemblance || *m[0].Least != 0.75 || m[1].Value != e.Rarity.Resemblance || *m[1].Least != 0.6 || !m[0].Reached || !m[1].Reached {
		t.Errorf("%+v", m)
	}
	names := map[string]string{}
	for _, s := range stepsOf(e) {
		names[s.Name] = s.State
	}
	if _, scores := names["scores"]; scores || names["sentences"] != "passed" || names["rarity"] != "passed" {
		t.Errorf("%+v", names)
	}
	var page strings.Builder
	if err := loadPages(loadAssets())["pair"].ExecuteTemplate(&page, "method", viewOf(Pair{Explanation: e}, false)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "(at least 0.6 is asked for)") {
		t.Error("another threshold is shown for the weighed resemblance")
	}
}

// A text that is compared without a part of the frame says which part. What came of a second
// comparison is said beside the scores.
func TestPairComparedAgain(t *testing.T) {
	const without, but, columns = "without the frame of its site", ", except for what the other page has outside of its own", "up to text.max_columns"
	for of, want := range map[explain.Text]string{
		{Unframed: true}:                            without,
		{Unframed: true, Cut: true}:                 without + ", and " + columns,
		{Unframed: true, Regained: true}:            without + but,
		{Unframed: true, Regained: true, Cut: true}: without + but + ", and " + columns,
		{Regained: true, Cut: true}:                 columns,
	} {
		if got := comparedPart(of); got != want {
			t.Errorf("%+v: %q, want %q", of, got, want)
		}
	}
	text := words(rand.New(rand.NewPCG(4, 4)), 60, ".\n")
	for _, again := range []explain.Regained{{Rare: 0.3125, LeastRare: 0.45}, {Decides: true, Rare: 0.5, LeastRare: 0.45}} {
		e := explained(t, "default", text, text+"And more.")
		e.Regained = &again
		var page strings.Builder
		if err := loadPages(loadAssets())["pair"].ExecuteTemplate(&page, "method", viewOf(Pair{Explanation: e}, false)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), "<p>"+again.Said()+"</p>") {
			t.Errorf("not said: %q", again.Said())
		}
	}
}

// Of other pairs the measure's scores and filters are shown.
func TestPairByCharacters(t *testing.T) {
	text := words(rand.New(rand.NewPCG(4, 4)), 60, ".\n")
	e := explained(t, "default", text, text+"And more.")
	steps := stepsOf(e)
	if m := metersOf(e); e.Decision.Alike() || m[0].Value != e.Score.Resemblance || len(m) != 3 {
		t.Errorf("%+v", m)
	}
	for i, want := range []string{"signatures", "length", "sketch", "edit distance", "scores", "rarity"} {
		if i >= len(steps) || steps[i] != (step{want, "passed", ""}) {
			t.Fatalf("%+v", steps)
		}
	}
}
