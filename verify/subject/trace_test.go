package subject

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// checkTrace derives the evidence from what the trace says was seen.
func checkTrace(t *testing.T, o Options, a, b string) Trace {
	t.Helper()
	got := o.Trace(Read(a, o.Lines), Read(b, o.Lines))
	want := slowCompare(o, a, b)
	if got.Evidence != want {
		t.Fatalf("%+v\n%q\n%q\nevidence %d, want %d", o, a, b, got.Evidence, want)
	}
	if got.Line < 0 {
		if len(got.Words) > 0 {
			t.Fatalf("%+v\n%q\n%q\nno line, but words: %+v", o, a, b, got)
		}
		return got
	}
	linesA, linesB := strings.Split(a, "\n"), strings.Split(b, "\n")
	if got.Texts != [2]string{linesA[got.Line], linesB[got.Line]} {
		t.Fatalf("%+v\n%q\n%q\nline %d is said to be %q", o, a, b, got.Line, got.Texts)
	}
	has := [2]bool{}
	for _, w := range got.Words {
		has[w.Page] = true
		for side, text := range []string{a, b} {
			one := slowWords(w.Text)
			if len(one) != 1 || strings.Map(unicode.ToLower, w.Text) != one[0] {
				t.Fatalf("%+v\n%q\n%q\n%q is not one word", o, a, b, w.Text)
			}
			same := func(x string) bool { return x == one[0] }
			all := slices.DeleteFunc(slowWords(text), func(x string) bool { return !same(x) })
			line := slices.DeleteFunc(slowWords(got.Texts[side]), func(x string) bool { return !same(x) })
			if len(all) != w.Whole[side] || len(line) != w.Line[side] {
				t.Fatalf("%+v\n%q\n%q\nword %+v: %d and %d in %d", o, a, b, w, len(line), len(all), side)
			}
		}
	}
	from := None
	switch keeps := got.Keeps; {
	case !keeps[0] && !keeps[1] || got.Rate[0] < got.Rate[1]:
	case (keeps[0] || !has[0]) && (keeps[1] || !has[1]):
		from = Both
	default:
		from = OneSided
	}
	if from != want {
		t.Fatalf("%+v\n%q\n%q\n%+v tells %d, want %d", o, a, b, got, from, want)
	}
	return got
}

func TestTrace(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	words := []string{"line", "circle", "arc2", "<<", "!=", "画", "线", "12", "Line", "the", "-", "x_1", "é", "２", "∑", "한국", "\xff"}
	seen := map[Evidence]int{}
	for range 5000 {
		text := func() string {
			var lines []string
			for range r.IntN(5) {
				var line []string
				for range 1 + r.IntN(4) {
					line = append(line, words[r.IntN(len(words))])
				}
				lines = append(lines, strings.Join(line, " "))
			}
			return strings.Join(lines, "\n")
		}
		o := Options{Lines: r.IntN(5), Rate: float64(r.IntN(3)) * 20, OneSided: 1}
		seen[checkTrace(t, o, text(), text()).Evidence]++
	}
	if seen[None] == 0 || seen[OneSided] == 0 || seen[Both] == 0 {
		t.Errorf("evidence seen: %v", seen)
	}
}

func TestTraceOfNothing(t *testing.T) {
	for _, lines := range []int{0, 6} {
		if got := checkTrace(t, Options{Lines: lines, Rate: 1, OneSided: .7}, "", ""); got.Line != -1 {
			t.Errorf("%d lines: %+v", lines, got)
		}
	}
}
