package explain

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// diffOf returns a diff of segments that are given as their kinds and texts.
func diffOf(parts ...string) *Diff {
	d := &Diff{}
	var at [2]int
	for i := 0; i < len(parts); i += 2 {
		s := Segment{Kind: Kind(parts[i]), A: [2]int{at[0], at[0]}, B: [2]int{at[1], at[1]}, Text: parts[i+1]}
		n := utf8.RuneCountInString(s.Text)
		if s.Kind != OnlyB {
			s.A[1] += n
		}
		if s.Kind != OnlyA {
			s.B[1] += n
		}
		if n > 2*maxEnds {
			r := []rune(s.Text)
			s.Text, s.End = string(r[:maxEnds]), string(r[n-maxEnds:])
		}
		at = [2]int{s.A[1], s.B[1]}
		d.Segments = append(d.Segments, s)
	}
	return d
}

// written returns an excerpt in one line.
func written(e Excerpt) string {
	var b strings.Builder
	for _, p := range e.Pieces {
		text := p.Text
		if p.Left > 0 {
			text += "…" + p.End
		}
		switch p.Kind {
		case OnlyA:
			text = "[-" + text + "-]"
		case OnlyB:
			text = "{+" + text + "+}"
		}
		b.WriteString(text)
	}
	return b.String()
}

func TestExcerpts(t *testing.T) {
	same, near := strings.Repeat("é", 300), strings.Repeat("m", 30)
	context := strings.Repeat("é", contextShown)
	long := strings.Repeat("x", 900)
	tests := []struct {
		name string
		d    *Diff
		most int
		all  int
		want []string
	}{
		{"nothing differs", diffOf("trusted", same), 3, 0, nil},
		{"no text", diffOf(), 3, 0, nil},
		{"all differs", diffOf("a", "one", "b", "two"), 3, 1, []string{"[-one-]{+two+}"}},
		{"in the middle", diffOf("trusted", same, "a", "one", "b", "two", "same", same), 3, 1,
			[]string{"…" + context + "[-one-]{+two+}" + context + "…"}},
		{"at the ends", diffOf("a", "one", "trusted", same, "b", "two"), 3, 2,
			[]string{"[-one-]" + context + "…", "…" + context + "{+two+}"}},
		{"close to each other", diffOf("trusted", same, "a", "one", "trusted", near, "b", "two", "trusted", same), 3, 1,
			[]string{"…" + context + "[-one-]" + near + "{+two+}" + context + "…"}},
		{"the largest, in the order of the texts", diffOf("a", "four", "same", same, "b", "x", "same", same, "b", "eleven", "same", same), 2, 3,
			[]string{"[-four-]" + context + "…", "…" + context + "{+eleven+}" + context + "…"}},
		{"long", diffOf("b", long), 1, 1,
			[]string{"{+" + strings.Repeat("x", differShown*2/3) + "…" + strings.Repeat("x", differShown/3) + "+}"}},
	}
	for _, test := range tests {
		shown, all := test.d.Excerpts(test.most)
		var got []string
		for _, e := range shown {
			got = append(got, written(e))
		}
		if all != test.all || strings.Join(got, "\n") != strings.Join(test.want, "\n") {
			t.Errorf("%s: %d of all, want %d:\n got %q\nwant %q", test.name, all, test.all, got, test.want)
		}
	}
}

// Pieces of trustable regions are shown however short they are.
func TestByWords(t *testing.T) {
	word := strings.Repeat("w", longestWord+1)
	for _, test := range []struct {
		name string
		d    *Diff
		want string
	}{
		{"plural", diffOf("trusted", "two claim", "b", "s", "trusted", " rest"), "two [-claim-]{+claims+} rest"},
		{"beginning", diffOf("trusted", "re", "a", "strict", "b", "quest", "trusted", "ing it"), "[-restricting-]{+requesting+} it"},
		{"whole words", diffOf("trusted", "the ", "b", "red ", "trusted", "kite"), "the {+red +}kite"},
		{"a space ends it", diffOf("trusted", "you", "b", " there", "trusted", ", now"), "you{+ there+}, now"},
		{"the second side is in a word", diffOf("trusted", "claim", "a", ", x", "b", "s", "trusted", ". End"), "[-claim, x-]{+claims+}. End"},
		{"what is too short between", diffOf("a", "x", "trusted", " o ", "b", "y", "trusted", ". Then"), "[-x o -]{+ o y+}. Then"},
		{"what is too short at the end", diffOf("a", "x", "trusted", " o"), "[-x-] o"},
		{"wide characters are words", diffOf("trusted", "今日は", "a", "晴", "b", "雨", "trusted", "でした。"), "今日は[-晴-]{+雨+}でした。"},
		{"no words", diffOf("trusted", word, "b", "x", "trusted", word), word + "{+x+}" + word},
		{"marks", diffOf("trusted", "cafe", "b", "\u0301", "trusted", "s now"), "[-cafes-]{+cafe\u0301s+} now"},
	} {
		shown, _ := test.d.Excerpts(9)
		got := ""
		for _, e := range shown {
			got += written(e)
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// What is shown and what is left out make up every segment, and however texts
// differ an excerpt is short.
func TestExcerptsAreShort(t *testing.T) {
	var parts []string
	for i := range 500 {
		parts = append(parts, "a", strings.Repeat("a", i), "b", strings.Repeat("b", 500-i), "same", strings.Repeat("s", i%150))
	}
	shown, all := diffOf(parts...).Excerpts(1 << 20)
	if all != len(shown) || all < 10 {
		t.Fatalf("%d excerpts, %d shown", all, len(shown))
	}
	differ := 0
	for _, e := range shown {
		n := 0
		for _, p := range e.Pieces {
			if length := utf8.RuneCountInString(p.Text) + utf8.RuneCountInString(p.End); length > differShown {
				t.Errorf("a piece of %d code points", length)
			}
			if p.Kind == OnlyA || p.Kind == OnlyB {
				n += utf8.RuneCountInString(p.Text) + p.Left + utf8.RuneCountInString(p.End)
			}
		}
		if differ += e.Differ; n != e.Differ {
			t.Errorf("%d code points differ, want %d", n, e.Differ)
		}
		if len(e.Pieces) > 2*excerptPieces+1 {
			t.Errorf("%d pieces", len(e.Pieces))
		}
	}
	if least := 500 * 499; differ < least {
		t.Errorf("%d code points differ in all, want at least %d", differ, least)
	}
}
