package browsing

import (
	"math"
	"slices"
	"testing"

	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/review"
)

// Contained lists what exports list, in parts of any size.
func TestContained(t *testing.T) {
	dir := t.TempDir() + "/ws"
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	w := pipetest.OpenWith(t, dir)
	var want []report.ContainedPage
	if err := results.WriteGroups(t.Context(), w, func(p report.ContainedPage) error {
		for _, s := range []*report.Score{&p.Resemblance, &p.Containment} { // as exports write them
			*s = report.Score(math.Round(float64(*s)*1e4) / 1e4)
		}
		want = append(want, p)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(want) < 2 {
		t.Fatalf("%d contained pages in the example", len(want))
	}
	r, err := Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{1, len(want), 100} {
		var got []report.ContainedPage
		for list := (review.ContainedList{Next: ""}); ; {
			if list, err = r.Contained(t.Context(), list.Next, limit); err != nil {
				t.Fatal(err)
			}
			if got = append(got, list.Pages...); list.Next == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in parts of %d:\n got %+v\nwant %+v", limit, got, want)
		}
	}
	for _, p := range want {
		pair, err := r.Pair(t.Context(), p.InDocument, p.Document)
		if err != nil || pair.Explanation.Run == nil || pair.Explanation.Run.Verdict == nil {
			t.Errorf("%s: %v %+v", p.URI, err, pair.Explanation.Run)
		}
	}
}
