package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/width"
)

func TestLettersAreWhatASentenceSays(t *testing.T) {
	for _, tt := range []struct{ name, a, b string }{
		{"quotation marks", `He said "no" to it's end`, "He said “no” to it’s end"},
		{"guillemets", "Il a dit « non » à la fin", "Il a dit \"non\" à la fin"},
		{"dashes", "from here - to there", "from here—to there"},
		{"an ellipsis inside", "and so... it goes", "and so… it goes"},
		{"spaces", "a b  c\u00a0d", "a b c d"},
		{"soft hyphens", "archi\u00adve of the web", "archive of the web"},
		{"joiners of no width", "web\u200barchive", "webarchive"},
		{"capitals", "ÜBER UNS", "Über uns"},
		{"Greek capitals", "ΣΟΦΟΣ", "σοφος"},
		{"symbols in colour", "All rights ©\ufe0f", "All rights ©"},
		{"spaces beside Chinese", "使用 Go 语言", "使用Go语言"},
		{"symbols", "price: $ 12 ®", "Price 12"},
	} {
		if a, b := string(Letters(nil, tt.a)), string(Letters(nil, tt.b)); a != b {
			t.Errorf("%s: %q and %q", tt.name, a, b)
		}
	}
	for _, tt := range [][2]string{{"resume", "résumé"}, {"कि", "की"}, {"Version 1", "Version 2"}, {"第三章", "第二章"}} {
		if a, b := string(Letters(nil, tt[0])), string(Letters(nil, tt[1])); a == b {
			t.Errorf("%q and %q are both %q", tt[0], tt[1], a)
		}
	}
	if got := string(Letters([]byte("before "), "A-1")); got != "before a1" {
		t.Errorf("appended: %q", got)
	}
}

// slowLetters is Letters by the definition.
func slowLetters(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case !unicode.In(r, unicode.L, unicode.M, unicode.N) || unicode.In(r, unicode.Variation_Selector):
			return -1
		case r == 'Σ' || r == 'ς':
			return 'σ'
		}
		return unicode.ToLower(r)
	}, s)
}

func TestLettersOfEveryCharacter(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		s := "a" + string(r) + "b"
		if got, want := string(Letters(nil, s)), slowLetters(s); got != want {
			t.Fatalf("%U: %q, want %q", r, got, want)
		}
	}
}

// slowLettersColumns is LettersColumns by the definition.
func slowLettersColumns(letters string) int {
	narrow, wide := 0, 0
	for _, r := range letters {
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			wide++
		default:
			narrow++
		}
	}
	return narrow*6/5 + 2*wide
}

func TestLettersAreThoseOfTheSlowWay(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		var b strings.Builder
		for range random.IntN(30) {
			switch random.IntN(3) {
			case 0:
				b.WriteByte(byte(random.IntN(256)))
			case 1:
				b.WriteRune(rune(random.IntN(0x3000)))
			default:
				b.WriteRune(rune(random.IntN(unicode.MaxRune + 1)))
			}
		}
		checkLetters(t, b.String())
	}
	for r := range rune(unicode.MaxRune + 1) {
		checkLetters(t, string(r))
	}
}

func checkLetters(t *testing.T, s string) {
	t.Helper()
	got, want := Letters(nil, s), slowLetters(s)
	if string(got) != want {
		t.Fatalf("%q has %q, want %q", s, got, want)
	}
	if n := LettersColumns(got); n != slowLettersColumns(want) {
		t.Fatalf("%q is %d columns wide, want %d", want, n, slowLettersColumns(want))
	}
	if again := Letters(nil, want); string(again) != want {
		t.Fatalf("%q has %q", want, again)
	}
}

func FuzzLetters(f *testing.F) {
	for _, s := range []string{"He said “no” – twice", "使用 Go 语言。", "ÀÉ\u0301İı", "\xff a1 Ⅷ½", "archi\u00adve"} {
		f.Add(s)
	}
	f.Fuzz(checkLetters)
}
