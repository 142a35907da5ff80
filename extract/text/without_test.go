package text

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestWithoutLeavesOutSentencesWithTheirMarks(t *testing.T) {
	for _, c := range []struct{ name, text, drop, want string }{
		{"nothing", "One. Two.\n", "", "One. Two.\n"},
		{"first of a line", "One. Two. Three.", "One", "Two. Three."},
		{"in the middle", "One. Two. Three.", "Two", "One. Three."},
		{"last of a line", "One. Two.\nThree", "Two", "One.\nThree"},
		{"a line", "One\nTwo\nThree", "Two", "One\nThree"},
		{"the first line", "One\nTwo\nThree", "One", "Two\nThree"},
		{"the last line", "One\nTwo\nThree", "Three", "One\nTwo"},
		{"the last line with its end", "One\nTwo\nThree\n", "Three", "One\nTwo\n"},
		{"all", "One. Two!\nThree", "One Two Three", ""},
		{"all, with a line of marks", "One\n***\nTwo", "One Two", "***"},
		{"marks of a line that goes", "One. ***\n| Two", "One", "| Two"},
		{"equal ones", "One. Two. One.", "One", "Two."},
		{"Chinese", "甲。乙，丙", "乙", "甲。丙"},
		{"a blank that a mark needs", "One. 乙，丙", "乙", "One. 丙"},
		{"notes", "One.[1] Two.[2][3] Three", "Two", "One.[1] Three"},
		{"a blank that makes no note", "甲。" + strings.Repeat("ก", 30) + " [2]Foo. End", strings.Repeat("ก", 30), "甲。 [2]Foo. End"},
		{"a blank that a note needs", "One.[1] 乙，丙", "乙", "One.[1] 丙"},
		{"a blank that a mark needs, before a quote", "One. 乙，”丙", "乙", "One. ”丙"},
	} {
		sentences, drop := Sentences(c.text), strings.Fields(c.drop)
		got := Without(c.text, func(i int) bool { return slices.Contains(drop, sentences[i].Text) })
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

var lastNote = regexp.MustCompile(`\[[0-9]{1,3}\]$`)

// slowWithout is Without as its comment has it: piece by piece into lines, and
// these then joined.
func slowWithout(s string, drop []bool) string {
	type line struct {
		pieces     []string // "" for each that is left out
		kept, lost bool
	}
	lines := []line{{}}
	for _, p := range slowPieces(s) {
		l := &lines[len(lines)-1]
		body, ended := strings.CutSuffix(p.text, "\n")
		switch {
		case p.sentence == "":
			l.pieces = append(l.pieces, body)
		case drop[0]:
			l.lost, l.pieces, drop = true, append(l.pieces, ""), drop[1:]
		default:
			l.kept, l.pieces, drop = true, append(l.pieces, body), drop[1:]
		}
		if ended {
			lines = append(lines, line{})
		}
	}
	var out []string
	for _, l := range lines {
		if l.lost && !l.kept {
			continue
		}
		joined, gap := "", false
		for _, p := range l.pieces {
			last := strings.TrimRight(joined, ".,:;!?…")
			if lastNote.MatchString(joined) || note.FindString(p) != "" {
				last = ""
			}
			switch {
			case gap && joined == "":
				p = strings.TrimPrefix(p, " ")
			case gap && p != "" && p[0] != ' ' && last != joined:
				p = " " + p
			}
			gap = p == ""
			joined += p
		}
		out = append(out, joined)
	}
	return strings.Join(out, "\n")
}

func TestWithoutIsThatOfTheSlowWay(t *testing.T) {
	pieces := []string{"a", "Z", "7", " ", " ", "\n", ".", ".", ",", "!", "-", "\"", ")", "(", "…", "”", "é", "中", "。", "，", "·", "\xff", "\u037e"}
	rng := rand.New(rand.NewPCG(9, 10))
	for range 50000 {
		var b strings.Builder
		for range rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		s := b.String()
		sentences := Sentences(s)
		drop := make([]bool, len(sentences))
		var want []Sentence
		for i := range drop {
			if drop[i] = rng.IntN(2) == 0; !drop[i] {
				want = append(want, sentences[i])
			}
		}
		asked := 0
		got := Without(s, func(i int) bool {
			if i != asked {
				t.Fatalf("%q: asked for sentence %d, want %d", s, i, asked)
			}
			asked++
			return drop[i]
		})
		if asked != len(sentences) {
			t.Fatalf("%q: asked for %d sentences of %d", s, asked, len(sentences))
		}
		if slow := slowWithout(s, slices.Clone(drop)); got != slow {
			t.Fatalf("%q without %v: %q, want %q", s, drop, got, slow)
		}
		if left := Sentences(got); !slices.Equal(left, want) {
			t.Fatalf("%q without %v is %q, with the sentences %v, want %v", s, drop, got, left, want)
		}
	}
}

func FuzzWithout(f *testing.F) {
	for _, s := range []string{"", "One. Two", "他来了，我走了。", `"A." B`, "a…\n\nb", "One. 乙，”丙"} {
		f.Add(s, uint64(5))
	}
	f.Fuzz(func(t *testing.T, s string, drop uint64) {
		gone := func(i int) bool { return drop>>(i%64)&1 == 1 }
		var want []Sentence
		for i, sentence := range Sentences(s) {
			if !gone(i) {
				want = append(want, sentence)
			}
		}
		if got := Sentences(Without(s, gone)); !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
		if got := Without(s, func(int) bool { return false }); got != s {
			t.Fatalf("%q without nothing is %q", s, got)
		}
	})
}

func BenchmarkWithout(b *testing.B) {
	text := strings.Repeat("Every page of the archive is read once, cut into sentences (as the paper says), and signed: see 3.1.\n", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Without(text, func(i int) bool { return i%3 == 0 })
	}
}
