package truth

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
)

// lettered makes pages a, b, c ... on the sites given, one letter each.
func lettered(sites string) string {
	var b strings.Builder
	for i, site := range sites {
		fmt.Fprintf(&b, "<%c>\thttp://x.example/\t2024-01-01T00:00:00Z\t%c\tkind\t0\n", 'a'+i, site)
	}
	return b.String()
}

func read(t *testing.T, sites string, pairs ...string) *Truth {
	t.Helper()
	tr, err := Read(strings.NewReader("\ufeff"+lettered(sites)), strings.NewReader(strings.Join(pairs, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// lists returns clusters written as "ab cde".
func lists(clusters string) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for _, c := range strings.Fields(clusters) {
			if !yield(strings.Split(c, ""), nil) {
				return
			}
		}
	}
}

func TestLabels(t *testing.T) {
	tr := read(t, "sssss", "<a>\t<b>\t0.8", "<a>\tc\t0.7999", "a\t<d>\t0.5", "<b>\t<c>\t0.4999", "<b>\t<d>\t0.1\tboth")
	for pair, want := range map[string]Label{"ab": Near, "ac": Unjudged, "ad": Unjudged, "bc": NotNear, "bd": Unjudged, "ae": NotNear} {
		a, _ := tr.Index(pair[:1])
		b, ok := tr.Index("<" + pair[1:] + ">")
		if !ok || tr.Label(a, b) != want || tr.Label(b, a) != want {
			t.Errorf("%s: label %v, want %v", pair, tr.Label(a, b), want)
		}
	}
	if _, ok := tr.Index("f"); ok {
		t.Error("f is a page")
	}
	if got := fmt.Sprint(tr.Near(0), tr.Near(1), tr.Near(2)); got != "[1] [0] []" {
		t.Errorf("near pages: %s", got)
	}
	if tr.Len() != 5 || tr.Page(4) != (Page{"<e>", "s"}) {
		t.Errorf("%d pages, the last %v", tr.Len(), tr.Page(4))
	}
}

// Each case is computed by hand from the definitions in docs/format.md.
func TestScore(t *testing.T) {
	// a, b and c are near each other, d and e are; a-d is not judged. f has no
	// near-duplicate. a, b and f stand on one site.
	pairs := []string{"a\tb\t1", "a\tc\t0.9", "b\tc\t0.8", "d\te\t1", "a\td\t0.6"}
	for _, c := range []struct {
		clusters string
		want     Scores
	}{
		{"abc de", Scores{Announced: F{1, 1, 1}, Page: F{1, 1, 1}, Pair: F{1, 1, 1}, SameSite: 1, True: 4, Unclustered: 1}},
		{"", Scores{Announced: F{1, 0, 0}, Page: F{1, 0, 0}, Pair: F{1, 0, 0}, SameSite: 1, Missed: 4, Unclustered: 6}},
		// a and b have one right and one wrong mate, f two wrong ones: page
		// precision (1/2 + 1/2 + 0 + 3)/6, and (1/2 + 1/2 + 0)/3 of the announced. Of their near-duplicates a and b
		// have 1 of 2, c, d and e none: page recall (1/2 + 1/2)/5.
		{"abf", Scores{Announced: F{1. / 3, 1. / 5, 1. / 4}, Page: F{4. / 6, 1. / 5, 4. / 13}, Pair: F{1. / 3, 1. / 4, 2. / 7}, SameSite: 1. / 3, True: 1, False: 2, Missed: 3, Unclustered: 3}},
		// a-d counts for nothing: a and d have no judged mate, precision 1.
		{"ad", Scores{Announced: F{1, 0, 0}, Page: F{1, 0, 0}, Pair: F{1, 0, 0}, SameSite: 1, Unjudged: 1, Missed: 4, Unclustered: 4}},
		// Unknown pages count for nothing; a page in two clusters is with both.
		{"axy ab", Scores{Announced: F{1, 1. / 5, 1. / 3}, Page: F{1, 1. / 5, 1. / 3}, Pair: F{1, 1. / 4, 2. / 5}, SameSite: 1, True: 1, Missed: 3, Unclustered: 4}},
		// The same pair in two clusters is one pair.
		{"de de", Scores{Announced: F{1, 2. / 5, 4. / 7}, Page: F{1, 2. / 5, 4. / 7}, Pair: F{1, 1. / 4, 2. / 5}, SameSite: 1, True: 1, Missed: 3, Unclustered: 4}},
	} {
		got, err := read(t, "ssuvws", pairs...).Score(lists(c.clusters))
		if err != nil {
			t.Fatal(err)
		}
		numbers := func(s Scores) []float64 {
			return []float64{s.Announced.Precision, s.Announced.Recall, s.Announced.F1, s.Page.Precision, s.Page.Recall, s.Page.F1, s.Pair.Precision, s.Pair.Recall, s.Pair.F1, s.SameSite,
				float64(s.True), float64(s.False), float64(s.Unjudged), float64(s.Missed), float64(s.Unclustered)}
		}
		want := numbers(c.want)
		for i, x := range numbers(got) {
			if math.Abs(x-want[i]) > 1e-12 {
				t.Errorf("clusters %q:\n got %+v\nwant %+v", c.clusters, got, c.want)
				break
			}
		}
	}
}

// Without any near-duplicate there is nothing to miss.
func TestScoreOfNothing(t *testing.T) {
	got, err := read(t, "ss").Score(lists("ab"))
	if want := (Scores{Announced: F{0, 1, 0}, Page: F{0, 1, 0}, Pair: F{0, 1, 0}, False: 1}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestScoreGivesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	_, err := read(t, "ss").Score(func(yield func([]string, error) bool) { yield(nil, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestMistakes(t *testing.T) {
	good := lettered("ss")
	for _, c := range []struct{ pages, pairs, want string }{
		{"", "", "pages: there are none"},
		{good + "<a>\thttp://x.example/\n", "", "pages: line 3: 2 fields, want 6"},
		{good + "a\thttp://x.example/\t-\ts\tkind\t0\n", "", "pages: line 3: <a> is there twice"},
		{good + "<>\thttp://x.example/\t-\ts\tkind\t0\n", "", "pages: line 3: no record id"},
		{good + strings.Repeat("x", maxLine+1), "", "pages: line 3: bufio.Scanner: token too long"},
		{good, "<a>\t<b>", "pairs: line 1: want two record ids"},
		{good, "<a>\t<b>\t0.3\tnone", `pairs: line 1: want two record ids, their similarity, and nothing or "both"`},
		{good, "<a>\t<b>\t0.3\n\n", "pairs: line 2: want two record ids"},
		{good, "<a>\t<x>\t1", "pairs: line 1: <x> is none of the pages"},
		{good, "<a>\t<a>\t1", "pairs: line 1: <a> is paired with itself"},
		{good, "<b>\t<a>\t1", "pairs: line 1: <b> and <a>: the smaller record id comes first"},
		{good, "<a>\t<b>\thigh", `pairs: line 1: similarity "high", want a number from 0 to 1`},
		{good, "<a>\t<b>\tNaN", `pairs: line 1: similarity "NaN"`},
		{good, "<a>\t<b>\t1.01", `pairs: line 1: similarity "1.01"`},
		{good, "<a>\t<b>\t0.9\tboth", `pairs: line 1: "both" with similarity 0.9: it is for pairs below 0.8`},
		{good, "<a>\t<b>\t1\na\tb\t1", "pairs: line 2: a and b are there twice"},
		{good, "<a>\t<b>\t0.1\na\tb\t1", "pairs: line 2: a and b are there twice"},
	} {
		_, err := Read(strings.NewReader(c.pages), strings.NewReader(c.pairs))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q, %q: got %v, want %s", c.pages, c.pairs, err, c.want)
		}
	}
}

// Pages a, b, c of one site and d of another are all near-duplicates; e is none of
// them. The baseline finds ab and de.
func TestTable1(t *testing.T) {
	tr := read(t, "ssstt", "<a>\t<b>\t0.9", "<a>\t<c>\t0.9", "<b>\t<c>\t0.9", "<a>\t<d>\t0.9", "<b>\t<d>\t0.9", "<c>\t<d>\t0.9")
	judge := func(clusters string) Judged {
		j, err := tr.Judge(lists(clusters))
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	base, found := judge("ab de"), judge("abce")
	for _, tt := range []struct {
		what      string
		got, want Average
	}{
		{"precision", found.Precision(false), Average{(2./3 + 2./3 + 2./3 + 0) / 4, 4}},
		{"precision of one site", found.Precision(true), Average{1, 3}},
		{"precision of the baseline", base.Precision(false), Average{(1. + 1 + 0 + 0) / 4, 4}},
		{"recall", found.RecallRatio(base, false), Average{2, 2}},
		{"recall of one site", found.RecallRatio(base, true), Average{2, 2}},
		{"the baseline's own", base.RecallRatio(base, false), Average{1, 2}},
		{"all", found.TotalRatio(base, false), Average{3, 3}},
		{"against nothing", found.RecallRatio(judge(""), false), Average{}},
		{"all against nothing", found.TotalRatio(judge(""), false), Average{}},
	} {
		if math.Abs(tt.got.Value-tt.want.Value) > 1e-12 || tt.got.Pages != tt.want.Pages {
			t.Errorf("%s: %+v, want %+v", tt.what, tt.got, tt.want)
		}
	}
}
