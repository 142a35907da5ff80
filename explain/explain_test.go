package explain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"neardup/configs"
	"neardup/extract/text"
	"neardup/verify/rarity"
	"neardup/verify/tlcs"
)

func load(t testing.TB, preset string, settings ...string) configs.Config {
	t.Helper()
	c, err := configs.Load(preset, settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func explained(t testing.TB, c configs.Config, a, b string) Explanation {
	t.Helper()
	side := func(name, s string) Side { return Side{File: name, Stored: s, Compared: s} }
	e, err := Pair(c, side("a.txt", a), side("b.txt", b), Between{Weighed: true})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// prose makes so many sentences.
func prose(rng *rand.Rand, sentences int) []string {
	words := strings.Fields("harbour kite lantern mackerel signal timetable orchard compost engine glacier recipe flour chess clock island archive")
	var out []string
	for range sentences {
		var s []string
		for range 5 + rng.IntN(8) {
			s = append(s, words[rng.IntN(len(words))]+strconv.Itoa(rng.IntN(50)))
		}
		out = append(out, strings.Join(s, " ")+".")
	}
	return out
}

// hostile are pieces that break terminals and layouts.
var hostile = []string{"\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u202eright to left\u202c", "\u2066", "\x00", "\r\n", "\t", "\x9b31m", "\u009b31m", "\xff\xfe",
	"a" + strings.Repeat("\u0301", 300), "\u200b\u200d\ufeff", strings.Repeat("宽", 50), "[-minus-]{+plus+}", "\u2028\u2029", "\U000e0041", "\ufffd", "😀👩‍👩‍👧", "ก็้"}

// texts makes a pair that has much in common.
func texts(rng *rand.Rand) (a, b string) {
	parts := prose(rng, 1+rng.IntN(40))
	edit := func() string {
		out := slices.Clone(parts)
		for range rng.IntN(4) {
			out[rng.IntN(len(out))] = hostile[rng.IntN(len(hostile))]
		}
		for range rng.IntN(3) {
			i := rng.IntN(len(out))
			out = append(out[i:len(out):len(out)], out[:i]...)
		}
		for range rng.IntN(3) {
			out = slices.Insert(out, rng.IntN(len(out)), prose(rng, 1+rng.IntN(3))...)
		}
		return strings.Join(out, []string{" ", "\n"}[rng.IntN(2)])
	}
	return edit(), edit()
}

// check holds an explanation against its texts, and what is written of it
// against what a terminal can take.
func check(t *testing.T, c configs.Config, a, b string) Explanation {
	t.Helper()
	e := explained(t, c, a, b)
	checkDiff(t, e, a, b)
	for i, s := range []string{a, b} {
		if e.Texts[i].Characters != utf8.RuneCountInString(s) {
			t.Fatalf("%q has %+v", s, e.Texts[i])
		}
	}
	if d := e.Decision; d.Known && (d.Near == (d.EndedBy != "") || d.Near == (d.Relation == "")) {
		t.Fatalf("decision %+v", d)
	}
	for _, s := range []Style{{Width: 80, DiffLines: 20}, {Width: 80, DiffLines: 20, Colour: true}, {Width: 60, DiffLines: -1, ASCII: true}, {Width: 120}} {
		checkText(t, &e, s)
	}
	checkJSON(t, &e)
	return e
}

// checkDiff puts both texts together again from the segments.
func checkDiff(t *testing.T, e Explanation, a, b string) {
	t.Helper()
	texts := [2][]rune{[]rune(a), []rune(b)}
	at, counts := [2]int{}, map[Kind]int{}
	for _, s := range e.Diff.Segments {
		la, lb := s.A[1]-s.A[0], s.B[1]-s.B[0]
		want := map[Kind][2]bool{Trusted: {true, true}, Same: {true, true}, OnlyA: {true, false}, MovedA: {true, false},
			OnlyB: {false, true}, MovedB: {false, true}}[s.Kind]
		if [2]bool{la > 0, lb > 0} != want || la > 0 && lb > 0 && la != lb {
			t.Fatalf("segment %+v", s)
		}
		whole := texts[0][s.A[0]:s.A[1]]
		if la == 0 {
			whole = texts[1][s.B[0]:s.B[1]]
		} else if lb > 0 && !slices.Equal(whole, texts[1][s.B[0]:s.B[1]]) {
			t.Fatalf("segment %+v is not the same in\n%q\n%q", s, a, b)
		}
		if la > 0 && s.A[0] != at[0] || lb > 0 && s.B[0] != at[1] {
			t.Fatalf("segment %+v after %v of\n%q\n%q", s, at, a, b)
		}
		if la > 0 {
			at[0] = s.A[1]
		}
		if lb > 0 {
			at[1] = s.B[1]
		}
		if s.Other != nil {
			other := texts[1]
			if s.Kind == MovedB {
				other = texts[0]
			}
			if !slices.Equal(whole, other[*s.Other:*s.Other+len(whole)]) {
				t.Fatalf("segment %+v is not at its other place in\n%q\n%q", s, a, b)
			}
		}
		if s.End == "" && s.Text != string(whole) || s.End != "" && (!strings.HasPrefix(string(whole), s.Text) || !strings.HasSuffix(string(whole), s.End)) {
			t.Fatalf("segment %+v, want the text %q", s, string(whole))
		}
		if (s.Kind == MovedA || s.Kind == MovedB) != (s.Other != nil) || s.Kind == Trusted && s.Round == 0 {
			t.Fatalf("segment %+v", s)
		}
		counts[s.Kind] += len(whole)
	}
	if e.Diff.LeftOut > 0 {
		return
	}
	if at != [2]int{len(texts[0]), len(texts[1])} || !reflect.DeepEqual(counts, e.Diff.Characters) {
		t.Fatalf("segments end at %v, count %v, the diff says %v:\n%q\n%q", at, counts, e.Diff.Characters, a, b)
	}
	if e.TLCS != nil && e.Diff.Trustable && len(e.TLCS.Rounds) == e.TLCS.AllRounds && counts[Trusted]+counts[MovedA] != e.TLCS.TLCS {
		t.Fatalf("%d trusted and %d moved are not the TLCS of %d:\n%q\n%q", counts[Trusted], counts[MovedA], e.TLCS.TLCS, a, b)
	}
	if counts[MovedA] != counts[MovedB] {
		t.Fatalf("%v moved", counts)
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]+m")

func checkText(t *testing.T, e *Explanation, s Style) {
	t.Helper()
	var b bytes.Buffer
	if err := e.WriteText(&b, s); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	if s.Colour {
		out = colours.ReplaceAllString(out, "")
	}
	if !utf8.ValidString(out) {
		t.Fatalf("%+v: not UTF-8: %q", s, out)
	}
	diff := out[strings.Index(out, "both texts"):]
	if n := strings.Count(diff, "\n"); s.DiffLines >= 0 && n > s.DiffLines+7 {
		t.Fatalf("%+v: %d lines of the diff", s, n)
	}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if i := strings.IndexFunc(line, func(r rune) bool { return !strconv.IsGraphic(r) }); i >= 0 {
			t.Fatalf("%+v: %q in a line: %q", s, line[i:], line)
		}
		if text.Columns(line) > s.Width+20 {
			t.Fatalf("%+v: a line of %d columns: %q", s, text.Columns(line), line)
		}
	}
	if len(out) > 200_000 && s.DiffLines >= 0 {
		t.Fatalf("%+v: %d bytes", s, len(out))
	}
}

func checkJSON(t *testing.T, e *Explanation) {
	t.Helper()
	var b bytes.Buffer
	if err := e.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && !strconv.IsGraphic(r) }); i >= 0 {
		t.Fatalf("%.40q in JSON", b.String()[i:])
	}
	var back Explanation
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if back.Diff.LeftOut != e.Diff.LeftOut || !reflect.DeepEqual(back.Diff.Segments, e.Diff.Segments) ||
		!reflect.DeepEqual(back.TLCS, e.TLCS) || !reflect.DeepEqual(back.Signatures.Keys, e.Signatures.Keys) {
		t.Fatalf("came back as %+v, was %+v", back, e)
	}
}

func TestPairRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	kinds := map[Kind]int{}
	for _, c := range []configs.Config{load(t, "default"), load(t, "paper"), load(t, "lcs"), load(t, "cosine"), load(t, "simhash"),
		load(t, "minhash-lsh"), load(t, "ppjoin"), load(t, "default", "verify.rounds=30", "verify.window=3", "verify.blocks=7")} {
		for range 25 {
			a, b := texts(rng)
			e := check(t, c, a, b)
			for k, n := range e.Diff.Characters {
				kinds[k] += n
			}
			if back := explained(t, c, b, a); back.Decision.Near != e.Decision.Near || back.Decision.EndedBy != e.Decision.EndedBy || back.Score.Resemblance != e.Score.Resemblance {
				t.Fatalf("not symmetric: %+v, %+v of\n%q\n%q", e.Decision, back.Decision, a, b)
			}
		}
	}
	for _, k := range []Kind{Trusted, Same, OnlyA, OnlyB, MovedA, MovedB} {
		if kinds[k] == 0 {
			t.Errorf("nothing was %s: %v", k, kinds)
		}
	}
}

func TestPairHostile(t *testing.T) {
	c := load(t, "default")
	all := append([]string{"", " ", "x", strings.Repeat("spam ", 30_000), strings.Repeat("a", 100_000), strings.Repeat("ab\n", 20_000),
		strings.Repeat("\u0301", 5_000), strings.Repeat("\x1b[2J", 3_000), strings.Join(prose(rand.New(rand.NewPCG(1, 1)), 3000), " ")}, hostile...)
	for i, a := range all {
		check(t, c, a, all[(i+1)%len(all)])
		check(t, c, a, a)
		check(t, c, strings.Join(hostile, "\n"), a+strings.Join(hostile, " "))
	}
}

func FuzzPair(f *testing.F) {
	f.Add("one text, and what it says\nin two lines", "another text, and what it says\nin two lines")
	f.Add("", "\x1b[31m")
	f.Add(strings.Join(hostile, " "), strings.Join(hostile, "\n"))
	c := load(f, "default", "verify.window=4", "sign.min_columns=3", "sign.smallest=1")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > 2000 {
			return
		}
		check(t, c, a, b)
	})
}

// The decision names the check that rejected the pair, and the numbers show why.
func TestDecisionsAndTheirNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	base := prose(rng, 60)
	joined := strings.Join(base, " ")
	mixed := prose(rng, 60)
	for i := range mixed {
		if i%8 > 2 {
			mixed[i] = base[i]
		}
	}
	alternate := strings.Join(mixed, " ")
	turned := strings.Join(append(slices.Clone(base[30:]), base[:30]...), " ")
	for _, tt := range []struct {
		name     string
		settings []string
		a, b     string
		want     Decision
		numbers  func(Explanation) bool
	}{
		{"near", nil, joined, joined + " " + prose(rng, 1)[0], Decision{Known: true, Near: true, Relation: "near"}, func(e Explanation) bool {
			return e.TLCS.TLCS >= e.TLCS.Need && e.TLCS.Enough && e.Score.Resemblance >= 0.5
		}},
		{"contained", nil, joined, joined + strings.Join(prose(rng, 200), " "), Decision{Known: true, Near: true, Relation: "a-in-b"}, func(e Explanation) bool {
			return e.Score.Resemblance < 0.5 && e.Score.Containment >= 0.9 && e.TLCS.Longer == "b"
		}},
		{"length", []string{"verify.containment=2"}, base[0], joined, Decision{Known: true, EndedBy: ByLength}, func(e Explanation) bool { return !e.TLCS.Enough }},
		{"sketch", nil, joined, strings.Join(prose(rng, 60), " "), Decision{Known: true, EndedBy: BySketch}, func(e Explanation) bool { return e.TLCS.Rounds[0].Most < 0 }},
		{"distance", []string{"verify.rounds=1", "verify.resemblance=0.9", "verify.sentences=0"}, joined, turned, Decision{Known: true, EndedBy: ByDistance}, func(e Explanation) bool {
			r := e.TLCS.Rounds[0]
			return r.Most >= 0 && r.SES > r.Most
		}},
		{"score", []string{"verify.rounds=1", "verify.resemblance=0.28", "verify.containment=2", "verify.whole=0"}, joined, alternate,
			Decision{Known: true, EndedBy: ByScore}, func(e Explanation) bool {
				r := e.TLCS.Rounds[0]
				return r.LCS >= e.TLCS.Need && r.TLCS < e.TLCS.Need && r.SES <= r.Most && e.Score.Resemblance < 0.28
			}},
		{"alike", []string{"verify.rounds=1"}, joined, turned, Decision{Known: true, Near: true, Relation: "alike"}, func(e Explanation) bool {
			return e.Score.Resemblance < 0.5 && e.Rarity.PlainResemblance >= 0.75
		}},
	} {
		e := check(t, load(t, "default", tt.settings...), tt.a, tt.b)
		if e.Decision != tt.want || !tt.numbers(e) {
			t.Errorf("%s: %+v, want %+v; %+v, %+v", tt.name, e.Decision, tt.want, e.TLCS, e.Score)
		}
	}
}

// A near pair that was not compared was spared by another leader, if one is known, or by the
// number of leaders.
func TestReasonWhyNotCompared(t *testing.T) {
	many := "they were not compared: their set has many leaders, and one of them has too little in common with the other or more with others"
	for _, tt := range []struct {
		run  *Run
		want string
	}{
		{&Run{Leaders: []RunNear{{Of: "a"}}}, "they were not compared: one of them was near another leader of the set"},
		{&Run{}, many},
		{nil, many},
	} {
		if got := (&Explanation{Run: tt.run}).Reason(ByLeaders); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.run, got, tt.want)
		}
	}
}

// A text that is compared in part tells which part: without a frame, up to the columns
// that are compared, or both.
func TestComparedPart(t *testing.T) {
	c := load(t, "default", "text.max_columns=90")
	long := strings.Repeat("宽港口", 15) // 90 columns
	for _, tt := range []struct {
		stored, compared string
		unframed, cut    bool
	}{
		{long, long, false, false},
		{long + "x", long, false, true},
		{"x" + long, "x" + strings.TrimSuffix(long, "口"), false, true},
		{"menu\n" + long[:60], long[:60], true, false},
		{long[:60] + "\nimprint", long[:60], true, false},
		{"menu\n" + long + "x", long, true, true},
	} {
		e, err := Pair(c, Side{Stored: tt.stored, Compared: tt.compared}, Side{Stored: "y", Compared: "y"}, Between{})
		if got := e.Texts[0]; err != nil || got.Unframed != tt.unframed || got.Cut != tt.cut || got.Characters < got.Extracted != (tt.unframed || tt.cut) {
			t.Errorf("%q of %q: %+v, %v", tt.compared, tt.stored, got, err)
		}
	}
}

// Texts that are near with what they regain are shown with the threshold of that, and texts
// that are not with the score that is too low.
func TestSecondComparison(t *testing.T) {
	base := prose(rand.New(rand.NewPCG(7, 7)), 60)
	join := func(from, to int) string { return strings.Join(base[from:to], " ") }
	for _, tt := range []struct {
		name     string
		compared [2]string
		settings []string
		between  Between
		least    float64 // of the score by rarity; 0: it is not shown
		want     Regained
		says     []string
	}{
		{"near", [2]string{join(0, 40), join(5, 45)}, nil, Between{Weighed: true, Again: &Again{Decides: true, Regains: [2]bool{true, false}, Rare: 0.7}}, 0.45,
			Regained{Decides: true, Rare: 0.7, LeastRare: 0.45},
			[]string{"reaches 0.45;", "no threshold;", "Without frames they do not resemble each other, so they are compared with what is in the frame of one of them only."}},
		{"near, with another threshold", [2]string{join(0, 40), join(5, 45)}, []string{"verify.rare_resemblance=0.5"},
			Between{Weighed: true, Again: &Again{Decides: true, Rare: 0.7}}, 0.5, Regained{Decides: true, Rare: 0.7, LeastRare: 0.5}, []string{"reaches 0.5;"}},
		{"apart", [2]string{join(0, 40), join(30, 60)}, nil, Between{Again: &Again{Decides: true, Rare: 0.5}}, 0,
			Regained{Decides: true, Rare: 0.5, LeastRare: 0.45}, []string{"so they are compared with what is in the frame of one of them only."}},
		{"too little is rare", [2]string{join(0, 20), join(40, 60)}, nil, Between{Again: &Again{Rare: 0.3125, Texts: [2]string{join(0, 40), join(5, 60)}}}, 0,
			Regained{Rare: 0.3125, LeastRare: 0.45},
			[]string{"Compared again with what is in the frame of one of them only, they do not resemble each other either: resemblance by rarity 0.3125, below 0.45."}},
		{"too little resemblance", [2]string{join(0, 20), join(40, 60)}, nil, Between{Again: &Again{Rare: 0.46, Texts: [2]string{join(0, 30), join(20, 60)}}}, 0,
			Regained{Rare: 0.46, LeastRare: 0.45, Score: &Score{}}, []string{"either: resemblance 0.", ", below 0.5."}},
		{"too little of the whole LCS", [2]string{join(0, 20), join(40, 60)}, []string{"verify.whole=0.9"},
			Between{Again: &Again{Rare: 0.46, Texts: [2]string{join(0, 40), join(5, 45)}}}, 0,
			Regained{Rare: 0.46, LeastRare: 0.45, Score: &Score{}}, []string{"either: resemblance by the whole LCS 0.", ", below 0.9."}},
	} {
		side := func(i int) Side { return Side{Stored: "menu\n" + tt.compared[i], Compared: tt.compared[i]} }
		e, err := Pair(load(t, "default", tt.settings...), side(0), side(1), tt.between)
		if err != nil {
			t.Fatal(err)
		}
		got := *e.Regained
		if s := got.Score; s != nil && tt.want.Score != nil {
			if *s == e.Score || s.LeastContainment != nil || *s.LeastResemblance != 0.5 {
				t.Errorf("%s: scores %+v", tt.name, *s)
			}
			got.Score = tt.want.Score
		}
		if got != tt.want || got.Decides && e.Score.LeastContainment != nil || e.Texts[0].Regained != tt.between.Again.Regains[0] || e.Texts[1].Regained {
			t.Errorf("%s: %+v, want %+v; %+v, %+v", tt.name, got, tt.want, e.Texts, e.Score)
		}
		if r := e.Rarity; (r != nil) != (tt.least > 0) || r != nil && (r.LeastResemblance != tt.least || r.LeastContainment != nil) {
			t.Errorf("%s: rarity %+v", tt.name, r)
		}
		var out strings.Builder
		if err := e.WriteText(&out, Style{Width: 100}); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.says {
			if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
				t.Errorf("%s: not said: %q in\n%s", tt.name, want, out.String())
			}
		}
	}
	e := explained(t, load(t, "default"), join(0, 40), join(5, 45))
	if r := e.Rarity; e.Regained != nil || r.LeastResemblance != 0.25 || *r.LeastContainment != 0.4 {
		t.Errorf("compared once: %+v, %+v", e.Regained, r)
	}
}

func TestOriginsOfSharedSignatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	base := prose(rng, 80)
	a, b := strings.Join(base, " "), strings.Join(append(prose(rng, 3), base[5:]...), " ")
	e := explained(t, load(t, "default"), a, b)
	s := e.Signatures
	if s.Shared == 0 || len(s.Keys) != s.Shared || !s.Enough || s.Common != 75 || s.Counted != [2]int{80, 78} {
		t.Fatalf("%+v", s)
	}
	for _, tt := range []struct {
		letters string
		common  int
	}{{"sign.letters=true", 75}, {"sign.letters=false", 0}} { // in capitals
		if s := explained(t, load(t, "default", tt.letters), a, strings.ToUpper(b)).Signatures; s.Common != tt.common {
			t.Errorf("%s: %d sentences are common", tt.letters, s.Common)
		}
	}
	sentences := [2][]text.Sentence{text.Sentences(a), text.Sentences(b)}
	for _, k := range s.Keys {
		for i, place := range k.Origins[0].Sentences {
			if sentences[0][place].Text != sentences[1][k.Origins[1].Sentences[i]].Text || k.Origins[0].Class != k.Origins[1].Class {
				t.Errorf("%+v", k)
			}
		}
	}
	for _, one := range s.Spelled {
		if sentences[one.Text][one.Place].Text != one.Words {
			t.Errorf("%+v", one)
		}
	}
}

func TestSampledPointsAreOfTheCurve(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	for range 200 {
		d := make([]int32, 1+rng.IntN(5000))
		for i := 1; i < len(d); i++ {
			d[i] = d[i-1] + int32(rng.IntN(3)/2)
		}
		start := rng.IntN(len(d))
		end := start + rng.IntN(len(d)-start)
		points := sampled(d, start, end)
		has := map[int]bool{}
		for i, p := range points {
			if int(d[p[0]]) != p[1] || i > 0 && p[0] <= points[i-1][0] {
				t.Fatalf("point %v of %v", p, points)
			}
			has[p[0]] = true
		}
		if !has[0] || !has[len(d)-1] || !has[start] || !has[end] || len(points) > curvePoints+3 {
			t.Fatalf("%d points of %d, region %d to %d: %v", len(points), len(d), start, end, points)
		}
	}
}

func TestChart(t *testing.T) {
	r := Round{A: 40, Edits: 20, Start: 10, End: 30, Curve: [][2]int{{0, 0}, {10, 10}, {30, 10}, {40, 20}}}
	got := strings.Join(chart(r, Style{ASCII: true}, 21, 5), "\n")
	want := strings.Join([]string{
		"20 |     :         :   **",
		"   |     :         : **",
		"   |    *************",
		"   |  ** :         :",
		" 0 |**   :         :",
		"   +-----#=========#-----",
		"    0                  40"}, "\n")
	if got != want {
		t.Errorf("drawn:\n%s\nwant:\n%s", got, want)
	}
	// In braille each column of dots has the curve once, at least, and in colour
	// only the region is painted.
	for _, line := range chart(r, Style{Colour: true}, 21, 5) {
		if plain := colours.ReplaceAllString(line, ""); text.Columns(plain) > 25 {
			t.Errorf("wide: %q", plain)
		}
	}
	for _, empty := range []Round{{}, {A: 1, Curve: [][2]int{{0, 0}, {1, 0}}}, {Edits: 5, Curve: [][2]int{{0, 5}}}} {
		if n := len(chart(empty, Style{}, 10, 4)); n != 6 {
			t.Errorf("%+v: %d lines", empty, n)
		}
	}
}

func TestSVG(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	base := prose(rng, 60)
	a, b := strings.Join(base, " "), strings.Join(append(prose(rng, 10), base...), " ")
	e := explained(t, load(t, "default"), a, b)
	var first, second bytes.Buffer
	if err := errors.Join(e.WriteSVG(&first), e.WriteSVG(&second)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", ">trustable region<", ">d(x), round 1<", "edit operations d(x) from text b to text a", fmt.Sprintf("slope %.4f", e.TLCS.Rounds[0].slope())} {
		if !strings.Contains(first.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if first.String() != second.String() {
		t.Error("drawn twice, not the same bytes")
	}
	for _, none := range []Explanation{explained(t, load(t, "default"), "", a), explained(t, load(t, "cosine"), b, a)} {
		if err := none.WriteSVG(&first); !errors.Is(err, ErrNoCurve) {
			t.Errorf("%v", err)
		}
	}
	whole := explained(t, load(t, "lcs"), a, b)
	first.Reset()
	if err := whole.WriteSVG(&first); err != nil || strings.Contains(first.String(), "trustable") {
		t.Errorf("a region of the whole LCS: %v", err)
	}
}

// The curve and the region are those of the comparison.
func TestCurveIsThatOfTheTrace(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 4))
	for range 50 {
		a, b := texts(rng)
		c := load(t, "default")
		e := explained(t, c, a, b)
		o := c.Verify.Options
		trace := tlcs.NewComparer(o).Trace(tlcs.Prepare(a, o.Window), tlcs.Prepare(b, o.Window))
		if len(trace.Rounds) != len(e.TLCS.Rounds) {
			t.Fatalf("%d rounds, %d", len(trace.Rounds), len(e.TLCS.Rounds))
		}
		for i, r := range trace.Rounds {
			got := e.TLCS.Rounds[i]
			for _, p := range got.Curve {
				if int(r.Curve[p[0]]) != p[1] {
					t.Fatalf("round %d: point %v, d is %d", i+1, p, r.Curve[p[0]])
				}
			}
			if got.Start != r.Start || got.End != r.End || got.Inside != int(r.Curve[r.End]-r.Curve[r.Start]) || got.Edits != int(r.Curve[r.A]) {
				t.Fatalf("round %d: %+v, trace %+v", i+1, got, r)
			}
		}
	}
}

// Two pages of one template share what stands on many pages of their site; what
// each has for itself parts them, and the explanation shows both.
func TestRarityPartsPagesOfATemplate(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	frame := prose(rng, 60)
	page := func(name string) string {
		return "Reference\nThe " + name + "\n" + strings.Join(frame, " ") + "\nCall " + name + " first. Then go on with the " + name + ". Shared by both."
	}
	a, b := page("circle"), page("square")
	pages := map[uint64]int{}
	for _, u := range rarity.Units("Reference\n"+strings.Join(frame, " "), rarity.UnitOf) {
		pages[u.Key] = 300
	}
	side := func(s string, pages map[uint64]int) Side { return Side{Stored: s, Compared: s, Pages: pages} }
	c := load(t, "default")
	e, err := Pair(c, side(a, pages), side(b, pages), Between{Weighed: true})
	if err != nil {
		t.Fatal(err)
	}
	r := e.Rarity
	if e.Decision.EndedBy != ByRarity || e.Score.Resemblance < 0.9 || r.Resemblance >= 0.25 || r.PlainResemblance < 0.8 ||
		r.SharedCommon != len(pages) || r.Shared != len(pages)+1 {
		t.Errorf("%+v, %+v, %+v", e.Decision, e.Score, r)
	}
	if s := r.Sentences[0]; s.Of != "both" || s.Text != "Shared by both" || s.Pages != 1 || s.Weight != s.Plain || r.Sentences[1].Pages != 300 ||
		r.Sentences[1].Weight > r.Sentences[1].Plain/50 {
		t.Errorf("%+v", r.Sentences[:2])
	}
	if e, err = Pair(c, side(a, nil), side(b, nil), Between{Weighed: true}); err != nil || !e.Decision.Near {
		t.Errorf("where all is rare: %+v, %v", e.Decision, err)
	}
	var out strings.Builder
	if err := e.WriteText(&out, Style{}); err != nil || !strings.Contains(out.String(), "rare text") {
		t.Errorf("%v, %s", err, out.String())
	}
}
