package review

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"neardup/configs"
	"neardup/explain"
)

func explained(t testing.TB, preset, a, b string) explain.Explanation {
	t.Helper()
	c, err := configs.Load(preset, nil)
	if err != nil {
		t.Fatal(err)
	}
	side := func(s string) explain.Side { return explain.Side{Stored: s, Compared: s} }
	e, err := explain.Pair(c, side(a), side(b), explain.Between{Weighed: true})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// columns returns the texts of all rows, and what is left out of them.
func columns(s sides) (out [2]string) {
	var b [2]strings.Builder
	for _, block := range s.Blocks {
		for _, r := range block.Rows {
			for i, c := range r.Cells {
				for _, p := range c {
					b[i].WriteString(p.Text)
				}
			}
		}
	}
	return [2]string{b[0].String(), b[1].String()}
}

// checkSides holds what is shown against the texts: each column is its text from
// the start, once and in order; what is not marked as different is in both, at
// the same row; the differences are counted through.
func checkSides(t *testing.T, s sides, texts [2]string) {
	t.Helper()
	shown := columns(s)
	for i, text := range texts {
		whole := string([]rune(text))
		if !strings.HasPrefix(whole, shown[i]) || utf8.RuneCountInString(shown[i])+s.LeftOut[i] != utf8.RuneCountInString(whole) {
			t.Fatalf("column %d is %q, and %d more; the text is %q", i, shown[i], s.LeftOut[i], whole)
		}
	}
	numbers, rows := 0, 0
	for _, block := range s.Blocks {
		rows += len(block.Rows)
		for _, r := range block.Rows {
			var same [2]string
			for i, c := range r.Cells {
				for _, p := range c {
					if p.Text == "" {
						t.Fatalf("an empty span in %+v", r)
					}
					if !p.differs() {
						same[i] += p.Text
					}
					if other := [2][2]explain.Kind{{explain.OnlyB, explain.MovedB}, {explain.OnlyA, explain.MovedA}}[i]; p.Kind == other[0] || p.Kind == other[1] {
						t.Fatalf("%s in column %d", p.Kind, i)
					}
				}
			}
			if same[0] != same[1] {
				t.Fatalf("a row has %q and %q as the same", same[0], same[1])
			}
			if block.Folded && r.differs() {
				t.Fatalf("a difference is folded: %+v", r)
			}
			if r.Number > 0 {
				if numbers++; r.Number != numbers || !r.differs() {
					t.Fatalf("difference %d has the number %d: %+v", numbers, r.Number, r)
				}
				if want := (numbers + 1) % (s.Differences + 1); r.Next != want {
					t.Fatalf("after difference %d of %d comes %d", numbers, s.Differences, r.Next)
				}
			}
		}
	}
	if numbers != s.Differences {
		t.Fatalf("%d differences, %d have a number", s.Differences, numbers)
	}
	if rows > maxRows || len(shown[0])+len(shown[1]) > utf8.UTFMax*maxCharacters {
		t.Fatalf("%d rows, %d bytes", rows, len(shown[0])+len(shown[1]))
	}
}

func check(t *testing.T, preset, a, b string) sides {
	t.Helper()
	e := explained(t, preset, a, b)
	var s sides
	for _, blind := range []bool{true, false} {
		s = beside(e.Diff, [2]string{a, b}, blind)
		checkSides(t, s, [2]string{a, b})
		if e.Diff.LeftOut == 0 && utf8.RuneCountInString(a+b) < maxCharacters && strings.Count(a+b, "\n") < maxRows/2 && s.LeftOut != [2]int{} {
			t.Fatalf("%v of a short text are left out", s.LeftOut)
		}
	}
	return s
}

// words makes text of so many lines.
func words(rng *rand.Rand, lines int, end string) string {
	var b strings.Builder
	for range lines {
		for range 3 + rng.IntN(12) {
			b.WriteString([]string{"harbour", "kite", "lantern", "mackerel", "signal", "orchard", "宽港口", "ميناء"}[rng.IntN(8)] + " ")
		}
		b.WriteString(end)
	}
	return b.String()
}

func TestSides(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		end := []string{"\n", ". ", "\r\n", "。", "\n\n"}[rng.IntN(5)]
		parts := strings.SplitAfter(words(rng, 2+rng.IntN(60), end), end)
		edit := func() string {
			out := append([]string(nil), parts...)
			for range rng.IntN(5) {
				out[rng.IntN(len(out))] = words(rng, rng.IntN(3), end)
			}
			if rng.IntN(3) == 0 {
				at := rng.IntN(len(out))
				out = append(out[at:len(out):len(out)], out[:at]...)
			}
			return strings.Join(out, "")
		}
		check(t, []string{"default", "lcs", "cosine"}[rng.IntN(3)], edit(), edit())
	}
}

func TestSidesOfHostileTexts(t *testing.T) {
	all := []string{"", "\n", "x", strings.Repeat("\n", 20_000), strings.Repeat("a", 30_000), strings.Repeat("spam and ham ", 2_000),
		"<script>hacked = 1</script>", "\u202egnp.exe\u202c", "\xff\xfe\x00", strings.Repeat("a\u0301", 2000), strings.Repeat("宽。", 9000), "a\r\nb\rc"}
	for i, a := range all {
		check(t, "default", a, a)
		check(t, "default", a, all[(i+1)%len(all)])
		check(t, "default", a+strings.Join(all[5:8], ""), strings.Join(all[5:9], "\n")+a)
	}
}

// Whatever positions an archive gives, nothing is shown twice or out of place.
func TestSidesOfWrongSegments(t *testing.T) {
	texts := [2]string{"one two three", "one too three"}
	for _, segments := range [][]explain.Segment{
		nil,
		{{Kind: explain.Same, A: [2]int{0, 99}, B: [2]int{0, 99}}},
		{{Kind: explain.Same, A: [2]int{0, 4}, B: [2]int{0, 3}}},
		{{Kind: explain.OnlyA, A: [2]int{0, 4}}, {Kind: explain.OnlyA, A: [2]int{2, 5}}},
		{{Kind: explain.OnlyB, A: [2]int{0, 4}}},
		{{Kind: explain.OnlyA, A: [2]int{4, 2}}},
		{{Kind: explain.OnlyA, A: [2]int{-1, 2}}},
		{{Kind: "other", A: [2]int{0, 1}}},
	} {
		checkSides(t, beside(explain.Diff{Segments: segments}, texts, false), texts)
	}
}

// What is too long is cut, and said to be.
func TestSidesOfLongTexts(t *testing.T) {
	long, lines := strings.Repeat("ab c", 150_000), strings.Repeat("line\n", 20_000)
	n, m := len(long), len(lines)
	for _, tt := range []struct {
		texts    [2]string
		segments []explain.Segment
	}{
		{[2]string{long, ""}, []explain.Segment{{Kind: explain.OnlyA, A: [2]int{0, n}}}},
		{[2]string{long, long}, []explain.Segment{{Kind: explain.Trusted, A: [2]int{0, n}, B: [2]int{0, n}}}},
		{[2]string{long, lines}, []explain.Segment{{Kind: explain.OnlyA, A: [2]int{0, n}}, {Kind: explain.OnlyB, A: [2]int{n, n}, B: [2]int{0, m}}}},
		{[2]string{lines, lines}, []explain.Segment{{Kind: explain.Same, A: [2]int{0, m}, B: [2]int{0, m}}}},
		{[2]string{lines, lines}, []explain.Segment{{Kind: explain.OnlyA, A: [2]int{0, m}}, {Kind: explain.OnlyB, A: [2]int{m, m}, B: [2]int{0, m}}}},
	} {
		s := beside(explain.Diff{Segments: tt.segments}, tt.texts, false)
		checkSides(t, s, tt.texts)
		if s.LeftOut == [2]int{} {
			t.Errorf("nothing is left out of %d and %d characters", len(tt.texts[0]), len(tt.texts[1]))
		}
	}
}

// Lines stand beside each other, also below lines that one text has more.
func TestRows(t *testing.T) {
	a := "The kite festival of the harbour\nIt began at nine in the morning.\nAll were there, and all stayed.\n"
	b := "The kite festival of the harbour\nA line that is new\nand another one\nIt began at nine in the morning.\nAll were there, and none stayed.\n"
	s := check(t, "default", a, b)
	var got []string
	for _, block := range s.Blocks {
		for _, r := range block.Rows {
			line := ""
			for _, c := range r.Cells {
				for _, p := range c {
					line += strings.ReplaceAll(p.Text, "\n", "")
				}
				line += "|"
			}
			got = append(got, line)
		}
	}
	want := []string{"The kite festival of the harbour|The kite festival of the harbour|", "|A line that is new|", "|and another one|",
		"It began at nine in the morning.|It began at nine in the morning.|", "All were there, and all stayed.|All were there, and none stayed.|"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFolding(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	long := words(rng, 50, "\n")
	s := check(t, "default", long+"This line is in the first of the two only\n"+long, long+long)
	folded := 0
	for _, b := range s.Blocks {
		if b.Folded {
			folded++
			if len(b.Rows) != 50-2*contextRows {
				t.Errorf("%d rows are folded", len(b.Rows))
			}
		}
	}
	if folded != 2 || s.Differences != 1 {
		t.Errorf("%d blocks are folded, %d differences", folded, s.Differences)
	}
}

// The end of a text, which is in no window of a sketch, is no difference where
// both have it.
func TestTheSameText(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 3))
	for _, text := range []string{words(rng, 30, "\n"), words(rng, 9, "。"), strings.Repeat("港口的灯笼。", 60) + "\n", "港口\n"} {
		s := check(t, "default", text, text)
		if s.Differences != 0 || s.characters("a") != 0 || s.characters("b") != 0 || s.characters("trusted")+s.characters("same") != utf8.RuneCountInString(text) {
			t.Errorf("%d differences with itself: %v", s.Differences, s.Characters)
		}
	}
}

// A judge does not see which part the method trusts.
func TestBlind(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 3))
	a := words(rng, 20, "\n")
	e := explained(t, "default", a, a+words(rng, 2, "\n"))
	for _, blind := range []bool{false, true} {
		s := beside(e.Diff, [2]string{a, a + ""}, blind)
		trusted := s.Trustable || s.characters("trusted") > 0
		for _, b := range s.Blocks {
			for _, r := range b.Rows {
				trusted = trusted || r.Cells[0].region() == "trusted"
			}
		}
		if trusted == blind {
			t.Errorf("blind %t: trusted %t", blind, trusted)
		}
	}
}

func FuzzSides(f *testing.F) {
	f.Add("one text, and what it says\nin two lines", "another text, and what it says\nin two lines")
	f.Add("", "\x1b[31m")
	f.Add("a\n\nb", "\n\n\n")
	f.Add(strings.Repeat("a sentence. ", 90), strings.Repeat("a sentence. ", 60)+"\nand one more\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) < 4000 {
			check(t, "default", a, b)
		}
	})
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"a\n\tb":                   "a\n\tb",
		"\u202eabc\u202c":          `\u202eabc\u202c`,
		"\u200ea\u200fb\u061cc":    `\u200ea\u200fb\u061cc`,
		"\x00\x1b[0m\r":            `\u0000\u001b[0m\u000d`,
		"می\u200cخواهم 👩\u200d👩":   "می\u200cخواهم 👩\u200d👩",
		"\ufeff\u2066\u2028\ufffe": `\ufeff\u2066\u2028\ufffe`,
		"\U000e0041\U0001fffe":     `\ue0041\u1fffe`,
		"\xff":                     "\ufffd",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
