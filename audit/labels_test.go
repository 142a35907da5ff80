package audit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"neardup/truth"
)

// audited is a sample with judgements of two judges on most of it.
func audited() (Audit, []Item, [][]Judgement) {
	d := Design{Population: Verified, Stratified: true, Size: 30, Seed: 1 << 63}
	a := Audit{Name: "spring", Design: d, Generation: "g", Drawn: "2026-01-02T03:04:05Z"}
	var items []Item
	a.Strata, items = sample(d, clusters(rand.New(rand.NewPCG(13, 14)), 20))
	a.Size = len(items)
	given := make([][]Judgement, len(items))
	for i, it := range items {
		for j := range i % 3 {
			v := []Verdict{True, True, False, Unknown}[(i+j)%4]
			cause := Cause("")
			if v == False {
				cause = Causes[i%len(Causes)]
			}
			given[i] = append(given[i], Judgement{it.Pair, fmt.Sprint("judge ", j), v, "a note,\nof two lines", v == False, "2026-01-02T03:04:05Z", cause})
		}
	}
	return a, items, given
}

func TestLabelsComeBack(t *testing.T) {
	a, items, given := audited()
	want := NewLabels(a, items, given)
	var b bytes.Buffer
	if err := want.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLabels(bytes.NewReader(b.Bytes()))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v\nwant %+v", got, err, want)
	}
	for i, p := range got.Pairs {
		it := items[i]
		it.Documents, it.URIs, it.Dates, it.Sites = [2]string{}, [2]string{}, [2]string{}, [2]string{}
		if p.Item() != it || fmt.Sprint(p.Given()) != fmt.Sprint(given[i]) {
			t.Errorf("pair %d: %+v of %v", i, p, it)
		}
	}
	plain := want.WithoutNotes()
	for i := range given {
		for k, j := range plain.Pairs[i].Given() {
			if had := given[i][k]; j.Note != "" || want.Pairs[i].Given()[k] != had {
				t.Errorf("without notes %+v, with them %+v", j, had)
			}
		}
	}
	if s := b.String(); strings.Contains(s, "http") {
		t.Errorf("labels have URIs: %s", s)
	}
	if _, err := ReadLabels(strings.NewReader("")); err != nil {
		t.Error(err)
	}
	// Judgements alone, in whichever order the ids are and without brackets.
	l, err := ReadLabels(strings.NewReader(`{"a":"y","b":"<x>","judgements":[{"judge":"j","verdict":"true"}]}`))
	if err != nil || l.Audit != nil || l.Pairs[0].Pair != NewPair("x", "y") {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestLabelsMistakes(t *testing.T) {
	a, items, given := audited()
	var b bytes.Buffer
	if err := NewLabels(a, items, given).Write(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(b.String(), "\n")
	pair := `{"a":"<a>","b":"<b>","judgements":[%s]}`
	for _, c := range []struct{ labels, want string }{
		{"{", "line 1: unexpected"},
		{strings.Join(lines[:5], ""), "4 pairs, and line 1 says 30"},
		{lines[0] + lines[1] + lines[1], "line 3: "},
		{lines[0] + lines[0], "line 2: json: unknown field"},
		{strings.Replace(b.String(), "spring", "Spring", 1), "line 1: \"Spring\" is no name"},
		{strings.Replace(b.String(), `"verified"`, `"all"`, 1), "line 1: population"},
		{strings.Replace(b.String(), `"sampled":`, `"sampled":1`, 1), "line 1 says"},
		{strings.Replace(b.String(), `"draws":1`, `"draws":-1`, 1), "line 2: stratum, draws"},
		{strings.Replace(b.String(), `"stratum":`, `"stratum":9`, 1), "out of range"},
		{strings.Replace(b.String(), "2026-01-02T03:04:05Z", "yesterday", 1), "line 1: drawn"},
		{`{"a":"x","b":"<x>"}`, "line 1: <x> is paired with itself"},
		{`{"a":"x"}`, "line 1: a pair needs two record ids"},
		{fmt.Sprintf(pair, `{"judge":"","verdict":"true"}`), "is no name of a judge"},
		{fmt.Sprintf(pair, `{"judge":"j","verdict":"yes"}`), `verdict "yes"`},
		{fmt.Sprintf(pair, `{"judge":"j","verdict":"unknown","enforce":true}`), "cannot be enforced"},
		{fmt.Sprintf(pair, `{"judge":"j","verdict":"true","time":"now"}`), `time "now"`},
		{fmt.Sprintf(pair, `{"judge":"j","verdict":"true","time":"2024-99-99T99:99:99Z"}`), `time "2024-99-99`},
		{fmt.Sprintf(pair, `{"judge":"j","verdict":"true","time":"2024-01-02T03:04:05,5Z"}`), `time "2024-01-02T03:04:05,5Z"`},
		{fmt.Sprintf(pair, `{"judge":"j","verdict":"true"},{"judge":"j","verdict":"true"}`), "j judges it twice"},
		{fmt.Sprintf(pair, `{"judge":"j","verdict":"true","note":"`+strings.Repeat("é", MaxNote+1)+`"}`), "at most 2000 characters"},
		{strings.Repeat(" ", maxLine+1), "line 1 is longer than 32 MiB"},
		{fmt.Sprintf(pair, "") + "\n \n", "line 2: the line is empty"},
		{`{"audit":null}`, "line 1: audit is null"},
		{fmt.Sprintf(pair, "") + fmt.Sprintf(pair, ""), "line 1: something follows the object"},
		{fmt.Sprintf(pair, "") + "x", "line 1: something follows the object"},
		{strings.TrimSuffix(lines[0], "\n") + lines[1], "line 1: something follows the object"},
		{strings.Replace(b.String(), `"strata":[{"name":"`, `"strata":[{"name":"\u001b]0;owned\u0007`, 1), "cannot be printed"},
		{strings.Replace(b.String(), `"strata":[{"name":"`, `"strata":[{"name":"`+strings.Repeat("a", maxStratumName+1), 1), "cannot be printed"},
	} {
		_, err := ReadLabels(strings.NewReader(c.labels))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q: %v, want %s", c.labels, err, c.want)
		}
	}
}

// What is read is written back as it was read, and evaluated without harm.
func FuzzReadLabels(f *testing.F) {
	var b bytes.Buffer
	if err := NewLabels(audited()).Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Add(`{"a":"y","b":"<x>","judgements":[{"judge":"j","verdict":"true","note":" \r\n"}]}`)
	f.Add(`{"audit":null}` + "\n" + `{"a":"<","b":">"}`)
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ReadLabels(strings.NewReader(s))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := l.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := ReadLabels(&b)
		if err != nil || fmt.Sprintf("%+v", again.Pairs) != fmt.Sprintf("%+v", l.Pairs) || (l.Audit == nil) != (again.Audit == nil) {
			t.Fatalf("%+v, %v\nwant %+v", again, err, l)
		}
		if l.Audit == nil {
			return
		}
		var items []Item
		var given [][]Judgement
		for _, p := range l.Pairs {
			items, given = append(items, p.Item()), append(given, p.Given())
		}
		if r := Evaluate(*l.Audit, items, given).Overall; !(0 <= r.Low && r.Low <= r.High && r.High <= 1) {
			t.Fatalf("%+v", r)
		}
	})
}

// Samples of several methods come as labels only: nothing here draws them.
func TestLabelsOfMethods(t *testing.T) {
	a, items, judgements := audited()
	a.Design = Design{Population: Methods, Size: a.Design.Size}
	if a.Design.Check() == nil || a.Design.OfClusters() || !(Design{Population: Pages}).OfClusters() {
		t.Error("a sample of methods can be drawn, or is of clusters")
	}
	var b bytes.Buffer
	if err := NewLabels(a, items, judgements).Write(&b); err != nil {
		t.Fatal(err)
	}
	l, err := ReadLabels(bytes.NewReader(b.Bytes()))
	if err != nil || l.Audit.Design != a.Design {
		t.Errorf("%+v %v", l.Audit, err)
	}
	for i, p := range l.Pairs {
		var said []Verdict
		for _, j := range judgements[i] {
			said = append(said, j.Verdict)
		}
		if p.Verdict() != majority(said) {
			t.Errorf("pair %d is %s", i, p.Verdict())
		}
	}
	for _, d := range []Design{{Population: Methods, Size: 0}, {Population: Methods, Size: 1, Stratified: true}, {Population: Methods, Size: 1, Different: true}} {
		if d.checkLabels() == nil {
			t.Errorf("%+v is right", d)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		name         string
		audit, judge bool
	}{
		{"a", true, true}, {"spring-2026", true, true}, {"", false, false}, {"Ann", false, true}, {"李 雷", false, true}, {" a", false, false},
		{"a\nb", false, false}, {"a\u202eb", false, false}, {"a\xff", false, false}, {strings.Repeat("a", 64), true, true},
		{strings.Repeat("a", 65), false, false}, {strings.Repeat("雷", 64), false, true}, {"a/b", false, true}, {"a\x00", false, false},
	} {
		if got := CheckName(c.name) == nil; got != c.audit {
			t.Errorf("audit %q: %v", c.name, got)
		}
		if got := CheckJudge(c.name) == nil; got != c.judge {
			t.Errorf("judge %q: %v", c.name, got)
		}
	}
}

// Every pair of pages of the truth has its label, and what nobody decided is not
// judged, whichever pages a clustering joins.
func TestTruthSaysNoMoreThanTheJudges(t *testing.T) {
	_, items, given := audited()
	items[1].URIs[0], items[1].Sites[0] = "http://x/\t\r\n\u2028\xff", "s"
	items[2].Cluster = "a\tb\nc"
	items[4].A = "<a\tb>" // fits on no line
	var pages, pairs bytes.Buffer
	n, decided, err := WriteTruth(items, given, &pages, &pairs)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(pages.String(), "\r\u2028") || !utf8.Valid(pages.Bytes()) {
		t.Errorf("pages: %q", pages.String())
	}
	tr, err := truth.Read(&pages, &pairs)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[Pair]truth.Label{}
	for i, js := range given {
		yes, no := 0, 0
		for _, j := range js {
			yes += map[Verdict]int{True: 1}[j.Verdict]
			no += map[Verdict]int{False: 1}[j.Verdict]
		}
		if yes != no && i != 4 {
			labels[items[i].Pair] = map[bool]truth.Label{true: truth.Near, false: truth.NotNear}[yes > no]
		}
	}
	listed := map[string]bool{}
	for p := range labels {
		listed[p.A], listed[p.B] = true, true
	}
	if tr.Len() != n || n != len(listed) || n != TruthPages(items, given) || decided != len(labels) || len(labels) < 5 {
		t.Fatalf("%d pages, %d pairs; want %d, %d", n, decided, len(listed), len(labels))
	}
	sites := map[string]bool{}
	for i := range n {
		sites[tr.Page(i).Site] = true
		for j := range i {
			want, ok := labels[NewPair(tr.Page(i).RecordID, tr.Page(j).RecordID)]
			if !ok {
				want = truth.Unjudged
			}
			if got := tr.Label(i, j); got != want {
				t.Errorf("%v and %v: %v, want %v", tr.Page(i), tr.Page(j), got, want)
			}
		}
	}
	if sites[""] {
		t.Error("pages of no site are of one")
	}
}
