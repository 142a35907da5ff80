package text

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

func TestRuneColumnsIsEastAsianWidth(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := 1
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			want = 2
		}
		if got := RuneColumns(r); got != want {
			t.Errorf("RuneColumns(%U) = %d, want %d", r, got, want)
		}
	}
}

func TestColumnsAreTheBytesOfThePaper(t *testing.T) {
	for _, c := range []struct {
		s    string
		want int
	}{
		{"", 0},
		{"sixteen columns.", 16},
		{"八个汉字为十六列", 16},
		{"ｆｕｌｌ", 8},
		{"日本語テキスト", 14},
		{"한국어", 6},
		{"naïve — Привет", 14},
		{"\xff\xfe", 2},
	} {
		if got := Columns(c.s); got != c.want {
			t.Errorf("Columns(%q) = %d, want %d", c.s, got, c.want)
		}
	}
}

func TestCutIsTheLongestPrefixThatFits(t *testing.T) {
	letters := []rune("ab é中文🎉ｆ\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range rng.IntN(20) {
			b.WriteRune(letters[rng.IntN(len(letters))])
		}
		s, max := b.String(), rng.IntN(45)-2
		got := Cut(s, max)
		if max <= 0 {
			if got != s {
				t.Fatalf("Cut(%q, %d) = %q, want all", s, max, got)
			}
			continue
		}
		if !strings.HasPrefix(s, got) || !utf8.ValidString(got) || Columns(got) > max {
			t.Fatalf("Cut(%q, %d) = %q", s, max, got)
		}
		if rest := s[len(got):]; rest != "" {
			r, _ := utf8.DecodeRuneInString(rest)
			if Columns(got)+RuneColumns(r) <= max {
				t.Fatalf("Cut(%q, %d) = %q: one more character fits", s, max, got)
			}
		}
	}
}

func TestSentencesEndAtThePunctuationOfAnyScript(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"only punctuation", "... !? — 。", nil},
		{"Latin", "One, two; three: four! Five? Six.", []string{"One", "two", "three", "four", "Five", "Six"}},
		{"lines", "A heading\nand a paragraph", []string{"A heading", "and a paragraph"}},
		{"Chinese", "他来了，我走了。你呢？好！一、二；三：四", []string{"他来了", "我走了", "你呢", "好", "一", "二", "三", "四"}},
		{"Japanese", "これは文です。次の文、それから「引用」だ。", []string{"これは文です", "次の文", "それから「引用」だ"}},
		{"half-width Japanese", "ｱｲｳ｡ｴｵ､ｶ", []string{"ｱｲｳ", "ｴｵ", "ｶ"}},
		{"Korean", "안녕하세요. 반갑습니다.", []string{"안녕하세요", "반갑습니다"}},
		{"Arabic", "مرحبا، كيف حالك؟ جيد؛ شكرا.", []string{"مرحبا", "كيف حالك", "جيد", "شكرا"}},
		{"Urdu full stop", "یہ ایک جملہ ہے۔ دوسرا", []string{"یہ ایک جملہ ہے", "دوسرا"}},
		{"Devanagari danda", "यह वाक्य है। दूसरा वाक्य॥ तीसरा", []string{"यह वाक्य है", "दूसरा वाक्य", "तीसरा"}},
		{"Greek question mark", "Τι κάνεις; Καλά\u0387 εσύ; ναι", []string{"Τι κάνεις", "Καλά", "εσύ", "ναι"}},
		{"Greek question mark of its own", "Τι\u037e ναι", []string{"Τι", "ναι"}},
		{"Armenian", "Բարև։ Ինչպես ես։", []string{"Բարև", "Ինչպես ես"}},
		{"Ethiopic", "ሰላም። እንዴት፣ ነህ፧ ደህና", []string{"ሰላም", "እንዴት", "ነህ", "ደህና"}},
		{"Tibetan", "བཀྲ་ཤིས། བདེ་ལེགས།", []string{"བཀྲ་ཤིས", "བདེ་ལེགས"}},
		{"Khmer", "សួស្តី។ អរគុណ៕", []string{"សួស្តី", "អរគុណ"}},
		{"Burmese", "မင်္ဂလာပါ။ နေကောင်းလား၊", []string{"မင်္ဂလာပါ", "နေကောင်းလား"}},
		{"Thai has no full stop", "สวัสดีครับ ยินดีที่ได้รู้จัก", []string{"สวัสดีครับ ยินดีที่ได้รู้จัก"}},
		{"a space ends a clause of Thai that is long", "การประชุมสภานักเรียนครั้งแรกของปี มีผู้เข้าร่วม และ มีอาหาร", []string{"การประชุมสภานักเรียนครั้งแรกของปี", "มีผู้เข้าร่วม และ มีอาหาร"}},
		{"and of Khmer, not of Korean", "សិស្សទាំងអស់មកដល់សាលាពេលព្រឹក អរគុណ 안녕하세요반갑습니다안녕하세요반갑습니다안녕하세요 반갑습니다", []string{"សិស្សទាំងអស់មកដល់សាលាពេលព្រឹក", "អរគុណ 안녕하세요반갑습니다안녕하세요반갑습니다안녕하세요 반갑습니다"}},
		{"Chinese with ASCII marks", "他来了,我走了.你呢?好!见www.例子.com:3.5元,1,435页", []string{"他来了", "我走了", "你呢", "好", "见www", "例子", "com:3.5元", "1,435页"}},
		{"Korean with ASCII marks", "Node.js를 쓰는 홍길동@예시.한국 씨. 끝", []string{"Node.js를 쓰는 홍길동@예시.한국 씨", "끝"}},
		{"numbers stay whole", "Version 1.81 at 10:30, 1,435 pages.", []string{"Version 1.81 at 10:30", "1,435 pages"}},
		{"addresses stay whole", "See https://example.org:80/a;b?c=d,e!f. Then", []string{"See https://example.org:80/a;b?c=d,e!f", "Then"}},
		{"full stop in quotes", `"I am here." She left. ('So?') “Yes.” ‘No!’ «Oui.» End`, []string{"I am here", "She left", "So", "Yes", "No", "Oui", "End"}},
		{"brackets", "(See below.) [Or above!] Next", []string{"See below", "Or above", "Next"}},
		{"notes", "One.[1] Two,[2][13] three[4] four.[1234] Five.[a] Six。[7]Seven", []string{"One", "Two", "three[4] four.[1234] Five.[a] Six", "Seven"}},
		{"ellipsis", "Wait... what… then…… gone...", []string{"Wait", "what", "then", "gone"}},
		{"ellipsis inside a word", "foo...bar foo…bar", []string{"foo...bar foo…bar"}},
		{"a mark inside code", `f("a.b", x)`, []string{`f("a.b`, "x"}},
		{"marks and numbers are text", "② — ½ — é", []string{"② — ½ — é"}},
	} {
		var got []string
		for _, s := range Sentences(c.text) {
			got = append(got, s.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q\ngot  %q\nwant %q", c.name, c.text, got, c.want)
		}
	}
}

func TestSentencesCarryTheirColumns(t *testing.T) {
	got := Sentences("网页 ab. c")
	want := []Sentence{{"网页 ab", 7}, {"c", 1}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The scan behind a mark must not make a text of marks and closing quotes
// quadratic.
func TestSentencesOfManyMarksTakeLinearTime(t *testing.T) {
	s := strings.Repeat(`."…`, 1<<18) + strings.Repeat(".", 1<<18) + strings.Repeat("…", 1<<18) + "x"
	if got := Sentences(s); len(got) != 1 || got[0].Text != "x" {
		t.Errorf("got %d sentences", len(got))
	}
}

// slowPiece is text up to and with the mark that ends a sentence, and that
// sentence; it is empty where there is none.
type slowPiece struct{ text, sentence string }

// southeast matches text whose last character is Thai, Lao, Burmese or Khmer.
var southeast = regexp.MustCompile(`[\p{Thai}\p{Lao}\p{Myanmar}\p{Khmer}]$`)

// note matches the numbers of notes at the beginning of a text.
var note = regexp.MustCompile(`^(\[[0-9]{1,3}\])*`)

// wide reports whether a letter of two columns that is not Korean ends a or begins b.
func wide(a, b string) bool {
	x, _ := utf8.DecodeLastRuneInString(a)
	y, _ := utf8.DecodeRuneInString(b)
	is := func(r rune) bool { return unicode.IsLetter(r) && RuneColumns(r) == 2 && !unicode.Is(unicode.Hangul, r) }
	return is(x) || is(y)
}

// slowPieces cuts as the comment of Sentences has it, without the shortcuts.
func slowPieces(text string) []slowPiece {
	var out []slowPiece
	ends := func(s string) bool {
		rest := strings.TrimLeftFunc(s, func(r rune) bool {
			return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Pi)
		})
		return rest == "" || rest[0] == ' ' || rest[0] == '\n'
	}
	start := 0
	after := func(i int) int { return i + len(note.FindString(text[i:])) }
	emit := func(end, next int) {
		out = append(out, slowPiece{text[start:next], strings.TrimFunc(text[start:end], func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
		})})
		start = next
	}
	for i, r := range text {
		n := len(string(r))
		if r == utf8.RuneError {
			_, n = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case i < start: // in a note
		case r == '\n' || r == ' ' && i-start >= 72 && southeast.MatchString(text[:i]):
			emit(i, i+n)
		case r >= utf8.RuneSelf && unicode.Is(unicode.Terminal_Punctuation, r) ||
			strings.ContainsRune(".,:;!?…", r) && ends(text[after(i+n):]) || strings.ContainsRune(".,:;!?", r) && wide(text[:i], text[i+n:]):
			emit(i, after(i+n))
		}
	}
	emit(len(text), len(text))
	return out
}

// slowSentences is Sentences by way of slowPieces.
func slowSentences(text string) []Sentence {
	var out []Sentence
	for _, p := range slowPieces(text) {
		if p.sentence != "" {
			columns := 0
			for _, r := range p.sentence {
				columns += RuneColumns(r)
			}
			out = append(out, Sentence{p.sentence, columns})
		}
	}
	return out
}

func TestSentencesAreThoseOfTheSlowWay(t *testing.T) {
	pieces := []string{"a", "Z", "7", " ", "\n", ".", ",", "!", "-", "\t", "_", "~", "\x7f", "\"", "'", ")", "]", "(", "…", "—", "”", "»", "é", "中", "。", "·", "·", "\u0301", "²",
		"[1]", "[12]", "[", "ａ", "！", "🎉", "ក", "ການປະຊຸມສະພານັກຮຽນຄັ້ງທຳອິດຂອງ", "ที่", "가", "\xff", "\xe4\xb8", "\x80", "\u2028", "\u037e", "།"}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 50000 {
		var b strings.Builder
		for range rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		if got, want := Sentences(b.String()), slowSentences(b.String()); !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", b.String(), got, want)
		}
	}
	// Every character, where a sentence ends and where one does not.
	for r := rune(0); r <= unicode.MaxRune; r++ {
		s := "a" + string(r) + "b" + string(r) + " c." + string(r) + " d" + string(r) + strings.Repeat("ก", 30) + string(r) + " e"
		if got, want := Sentences(s), slowSentences(s); !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{"", "One. Two", "他来了，我走了。", `"A." B`, "a…\n\nb", "1.81", "他.他 ", "การประชุมสภานักเรียนครั้งแรกของปี มี", "\xff.\xc3 \xe2\x80", "यह। है"} {
		f.Add(s)
	}
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := Sentences(s), slowSentences(s); !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
		rest := s
		for _, sentence := range Sentences(s) {
			x := sentence.Text
			i := strings.Index(rest, x)
			if x == "" || i < 0 {
				t.Fatalf("%q: sentence %q is not in order", s, x)
			}
			rest = rest[i+len(x):]
			first, _ := utf8.DecodeRuneInString(x)
			last, _ := utf8.DecodeLastRuneInString(x)
			if !word(first) || !word(last) || strings.Contains(x, "\n") {
				t.Fatalf("%q: sentence %q is not trimmed", s, x)
			}
			if sentence.Columns != Columns(x) {
				t.Fatalf("%q: sentence %q has %d columns, not %d", s, x, Columns(x), sentence.Columns)
			}
		}
	})
}

func BenchmarkSentences(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"Latin", "Every page of the archive is read once, cut into sentences (as the paper says), and signed: see 3.1.\n"},
		{"Chinese", "他来了，我走了。你呢？好！网页档案中的每一页都只读一次，按标点切成句子，然后签名。\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			text := strings.Repeat(c.text, 100)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Sentences(text)
			}
		})
	}
}
