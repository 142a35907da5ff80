package subject

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"neardup/extract/text"
)

var options = Options{Lines: 6, Rate: 1, OneSided: 0.7}

func compare(o Options, a, b string) Evidence {
	return o.Compare(Read(a, o.Lines), Read(b, o.Lines))
}

// page is one of a reference: what it is about, and how often it says so.
func page(heading, name string, times int) string {
	var b strings.Builder
	b.WriteString("Manual\nContents\n" + heading + "\n")
	for range times {
		b.WriteString("Call " + name + " before anything else is drawn.\n")
	}
	return b.String() + strings.Repeat("The usual rules for colours and line widths hold here too.\n", 5)
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name string
		a, b string
		want Evidence
	}{
		{"two functions", page("Function draw_line", "draw_line", 2), page("Function draw_circle", "draw_circle", 1), Both},
		{"case does not count", page("DRAW_LINE", "draw_line", 1), page("Draw_Circle", "draw_circle", 1), Both},
		{"the same page", page("Function draw_line", "draw_line", 2), page("Function draw_line", "draw_line", 2), None},
		{"another version", page("Drawing, version 1.8.1", "draw_line", 2), page("Drawing, version 1.9", "draw_line", 2), None},
		{"the same words in another order", page("Function draw_line", "draw_line", 2), page("draw_line, function", "draw_line", 2), None},
		{"a rewritten heading", page("How lines are drawn", "draw_line", 2), page("Drawing made easy", "draw_line", 2), None},
		{"only one keeps to its heading", page("Function draw_line", "draw_line", 2), page("Lines", "draw_circle", 2), OneSided},
		{"one names no more than the other", page("Function draw_line", "draw_line", 2), page("Function", "draw_circle", 2), Both},
		{"both name both", page("draw_line", "draw_line and draw_circle", 2), page("draw_circle", "draw_line and draw_circle", 2), None},
		{"a third more often is enough", page("draw_line", "draw_line", 4) + "draw_circle draw_circle draw_circle\n",
			page("draw_circle", "draw_circle", 4) + "draw_line draw_line draw_line\n", Both},
		{"less is not", page("draw_line", "draw_line", 4) + "draw_circle draw_circle draw_circle draw_circle\n",
			page("draw_circle", "draw_circle", 4) + "draw_line draw_line draw_line draw_line\n", None},
		{"operators", page("operator!=", "x != y", 2), page("operator>>", "x >> y", 2), Both},
		{"wide characters", page("画线函数", "画线函数 and 画线函数", 2), page("填色函数", "填色函数 and 填色函数", 2), Both},
		{"a wide character is half a word", page("线", "线", 1), page("圆", "圆", 1), None},
		{"a wide character alone is no name", page("指数涨", "指数大涨 and 指数大涨", 2), page("指数大涨", "指数大大涨 and 指数大大涨", 2), None},
		{"half of the words must be names", page("draw_line one two", "draw_line", 2), page("draw_circle three four", "draw_circle", 2), None},
		{"too far down", "1\n" + strings.Repeat("same\n", 6) + page("draw_line", "draw_line", 2), "1\n" + strings.Repeat("same\n", 6) + page("draw_circle", "draw_circle", 2), None},
		{"seldom named in a long text", page("draw_line", "draw_line", 2) + strings.Repeat("And so on, and so forth.\n", 400),
			page("draw_circle", "draw_circle", 2) + strings.Repeat("And so on, and so forth.\n", 400), None},
		{"one line only", "draw_line draw_line", "draw_circle draw_circle", None},
		{"nothing", "", page("draw_line", "draw_line", 1), None},
	} {
		if got := compare(options, tt.a, tt.b); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
		if got := compare(options, tt.b, tt.a); got != tt.want {
			t.Errorf("%s, the other way round: %d, want %d", tt.name, got, tt.want)
		}
	}
	if got := compare(Options{}, page("a", "a", 2), page("b", "b", 2)); got != None {
		t.Errorf("without lines to look at: %d", got)
	}
}

// slowCompare says the same of texts as strings, by the words of the
// documentation.
func slowCompare(o Options, a, b string) Evidence {
	linesA, linesB := slices.Collect(strings.Lines(a)), slices.Collect(strings.Lines(b))
	for i := range min(o.Lines, len(linesA), len(linesB)) {
		headA, headB := slowWords(linesA[i]), slowWords(linesB[i])
		headA, headB = headA[:min(len(headA), 64)], headB[:min(len(headB), 64)]
		if strings.Join(headA, " ") == strings.Join(headB, " ") {
			continue
		}
		inHeadA, inHeadB := tallied(headA), tallied(headB)
		inA, inB := tallied(slowWords(a)), tallied(slowWords(b))
		keeps := func(own, other, text, otherText map[string]int) (names, words float64, most int) {
			for w, n := range own {
				if n <= other[w] {
					continue
				}
				here, there := text[w]-n, otherText[w]-other[w]
				weight, least, ratio := 1.0, 1, 4.0/3
				if text := []rune(w); len(text) == 1 && slowKind(text[0]) == wide {
					weight, least, ratio = .5, 2, 2
				}
				words += weight
				if here >= least && float64(here) > float64(there)*ratio-1e-9 {
					names += weight
					most = max(most, text[w])
				}
			}
			return names, words, most
		}
		namesA, wordsA, mostA := keeps(inHeadA, inHeadB, inA, inB)
		namesB, wordsB, mostB := keeps(inHeadB, inHeadA, inB, inA)
		okA, okB := namesA >= 1 && 2*namesA >= wordsA, namesB >= 1 && 2*namesB >= wordsB
		switch {
		case float64(max(mostA, mostB)) < o.Rate*float64(max(len([]rune(a)), len([]rune(b))))/1000:
			return None
		case okA && okB, okA && wordsB == 0, okB && wordsA == 0:
			return Both
		case okA || okB:
			return OneSided
		}
		return None
	}
	return None
}

func tallied(words []string) map[string]int {
	m := map[string]int{}
	for _, w := range words {
		m[w]++
	}
	return m
}

func slowWords(s string) (out []string) {
	var word []rune
	last := other
	flush := func() {
		if len(word) > 0 {
			out = append(out, string(word))
		}
		word, last = nil, other
	}
	for _, r := range s {
		k := other
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.IsMark(r):
			if k = letter; text.RuneColumns(r) == 2 {
				k = wide
			}
		case unicode.IsNumber(r):
			k = digit
		case unicode.Is(unicode.Sm, r) || unicode.Is(unicode.Sc, r) || unicode.Is(unicode.Sk, r) || strings.ContainsRune("&*!/", r):
			k = symbol
		}
		if !(last == letter && (k == letter || k == digit) || last == symbol && k == symbol) {
			flush()
		}
		if k == digit && len(word) == 0 || k == other {
			continue
		}
		if word = append(word, unicode.ToLower(r)); last == other {
			last = k
		}
	}
	flush()
	return out
}

func TestCompareAsTheSlowWay(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"line", "circle", "arc2", "<<", "!=", "画", "线", "12", "Line", "the", "-", "x_1", "é", "２", "∑", "한국"}
	seen := map[Evidence]int{}
	for range 30_000 {
		make := func(shared []string) string {
			var b strings.Builder
			for _, l := range shared {
				if r.IntN(6) == 0 {
					continue
				}
				b.WriteString(l)
				for range r.IntN(3) {
					b.WriteString(" " + words[r.IntN(len(words))])
				}
				b.WriteByte('\n')
			}
			return b.String()
		}
		var shared []string
		for range r.IntN(8) {
			shared = append(shared, words[r.IntN(len(words))]+words[r.IntN(len(words))])
		}
		o := Options{Lines: r.IntN(5), Rate: float64(r.IntN(3)) * 20, OneSided: 1}
		a, b := make(shared), make(shared)
		got, want := compare(o, a, b), slowCompare(o, a, b)
		if got != want {
			t.Fatalf("%+v: %d, want %d of\n%q\n%q", o, got, want, a, b)
		}
		if back := compare(o, b, a); back != got {
			t.Fatalf("%+v: %d, the other way round %d of\n%q\n%q", o, got, back, a, b)
		}
		seen[got]++
	}
	if len(seen) != 3 || seen[Both] < 1000 || seen[OneSided] < 1000 {
		t.Errorf("evidence seen: %v", seen)
	}
}

func TestLongLine(t *testing.T) {
	long := strings.Repeat("word ", 100)
	if got := len(Read(long+"\n"+long, 6).lines[0]); got != lineWords {
		t.Errorf("%d words of a line, want %d", got, lineWords)
	}
	if got := compare(Options{Lines: 1}, long+"alpha\nalpha", long+"beta\nbeta"); got != None {
		t.Errorf("a difference behind the words looked at: %d", got)
	}
}

func TestValidate(t *testing.T) {
	for _, o := range []Options{{Lines: -1}, {Rate: -1}, {OneSided: 1.5}, {OneSided: -0.1}} {
		if o.Validate() == nil {
			t.Errorf("%+v is valid", o)
		}
	}
	if err := options.Validate(); err != nil {
		t.Error(err)
	}
}
