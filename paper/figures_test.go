package paper

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A line without points is left out, and those behind it are drawn.
func TestLinesWithoutPoints(t *testing.T) {
	x, y := 0.5, 0.75
	var b bytes.Buffer
	err := write(&b, "x", "y", []string{"1", "2"}, line{"nothing known", []*float64{nil, nil}}, line{"half known", []*float64{nil, &x}}, line{"all known", []*float64{&x, &y}})
	if err != nil || strings.Contains(b.String(), ">nothing known<") || !strings.Contains(b.String(), ">half known<") || !strings.Contains(b.String(), ">all known<") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

// Points beyond k stand on the right of the others, each over its label.
func TestPointsBeyondK(t *testing.T) {
	points := []Recall{{Value: 2, Recall: 0.2}, {Value: 4, Recall: 0.4}}
	beyond := []Recall{{Value: 1, Recall: 0.6}, {Value: 3, Recall: 0.7}, {Value: AllFeatures, Recall: 0.8}}
	show := func(labels []string, lines []line) (out [][]string) {
		for _, l := range lines {
			row := []string{l.name}
			for i, v := range l.values {
				if v != nil {
					row = append(row, fmt.Sprint(labels[i], " ", *v))
				}
			}
			out = append(out, row)
		}
		return out
	}
	got := show(recallLines("at most", points, beyond, Recall.share))
	want := [][]string{{"at most", "2 0.2", "4 0.4"}, {"beyond k", "k+1 0.6", "k+3 0.7", "all 0.8"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := show(recallLines("N", points, nil, Recall.share)); !reflect.DeepEqual(got, [][]string{{"N", "2 0.2", "4 0.4"}}) {
		t.Errorf("without points beyond k: %q", got)
	}
}

// The figures have the numbers of the paper: each collection has one of four, and the
// page shows each once.
func TestFiguresOfSimFinder(t *testing.T) {
	grown := []Growth{{Texts: 1000, Seconds: 2, Bytes: 4e6}, {Texts: 2000, Seconds: 3, Bytes: 5e6}}
	s := SimFinder{Judged: "by people", Grams: []Recall{{Value: 2, Recall: 0.5}, {Value: 3, Recall: 0.75}}, AtMost: []Recall{{Value: 4, Recall: 0.5}}, Beyond: []Recall{{Value: 1, Recall: 0.5}},
		Collections: []ShortTexts{
			{Name: "one", Growth: grown, Plain: Degrees{Intervals: []Interval{{To: 0.7, Pairs: 2, Judged: 2, Right: 1}}}, Weighted: Degrees{Intervals: []Interval{{To: 0.7, Pairs: 2, Judged: 2, Right: 2}}}},
			{Name: "other", Growth: grown, Plain: Degrees{Intervals: []Interval{{To: 0.9, Pairs: 2, Judged: 2, Right: 1}}}, Weighted: Degrees{Intervals: []Interval{{To: 0.9, Pairs: 2, Judged: 2, Right: 2}}}},
		}}
	var want []string
	for n := 1; n <= 10; n++ {
		want = append(want, fmt.Sprintf("figure%d.svg", n))
	}
	slices.Sort(want)
	figures := s.Figures()
	if got := slices.Sorted(maps.Keys(figures)); !slices.Equal(got, want) {
		t.Errorf("figures %q", got)
	}
	var page bytes.Buffer
	if err := s.WritePage(&page); err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, m := range regexp.MustCompile(`!\[figure (\d+)\]\(figure(\d+)\.svg\)`).FindAllStringSubmatch(page.String(), -1) {
		if m[1] != m[2] {
			t.Errorf("figure %s is called figure %s", m[2], m[1])
		}
		shown = append(shown, "figure"+m[2]+".svg")
	}
	slices.Sort(shown)
	if !slices.Equal(shown, want) {
		t.Errorf("the page shows %q", shown)
	}
	for name, has := range map[string]string{"figure1.svg": "0.70", "figure2.svg": "0.90", "figure7.svg": "processor time, s", "figure8.svg": "other", "figure9.svg": "memory, MB", "figure10.svg": "other",
		"figure3.svg": "gram size N", "figure5.svg": "features"} {
		var b bytes.Buffer
		if err := figures[name](&b); err != nil || !strings.Contains(b.String(), ">"+has+"<") {
			t.Errorf("%s does not say %q: %v", name, has, err)
		}
	}
}
