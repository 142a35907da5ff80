package words

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"neardup/signature/internal/hash"
)

// slowWords is the definition of a word, a character at a time.
func slowWords(text string) []string {
	var out []string
	word := ""
	flush := func() {
		if word != "" {
			out = append(out, word)
		}
		word = ""
	}
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r):
			flush()
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar), r == 'ー':
			flush()
			out = append(out, string(r))
		default:
			word += string(unicode.ToLower(r))
		}
	}
	flush()
	return out
}

func slowShingles(text string, w int) []uint64 {
	words := slowWords(text)
	if len(words) == 0 {
		return nil
	}
	var out []uint64
	for i := 0; i+min(w, len(words)) <= len(words); i++ {
		var hashes []uint64
		for _, s := range words[i : i+min(w, len(words))] {
			hashes = append(hashes, hash.String(s))
		}
		out = append(out, hash.Windows(nil, hashes, len(hashes))...)
	}
	return out
}

var samples = []string{
	"",
	" \n.,",
	"a",
	"a rose is a rose is a rose",
	"Don't SHOUT; 3.14 and x86-64",
	"averyveryverylongwordthatneedsmorethanoneblock exactly8 sixteencharacter",
	"Съешь ЕЩЁ этих мягких французских булок",
	"Ἀθῆναι İstanbul ǅ ß ſ K",
	"近重复文档检测，用 MinHash 与 LSH。",
	"カタカナとひらがなー、漢字。",
	"near 한국어 텍스트 이다",
	"ภาษาไทยไม่มีช่องว่าง",
	"हिन्दी में शब्द, e\u0301tude",
	"𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠀁 😀 mixed中文words",
	"\xff\xfe broken \xe4\xb8 utf\xe4-8 \xe4\xb8\xad\xed\xa0\x80",
	strings.Repeat("lorem ipsum 中文 ", 5000),
}

func checkWords(t *testing.T, text string, w int) {
	t.Helper()
	var got []string
	for word, i := Next(nil, text, 0); len(word) > 0; word, i = Next(nil, text, i) {
		got = append(got, string(word))
	}
	if !slices.Equal(got, slowWords(text)) {
		t.Fatalf("words of %.80q: %q, want %q", text, got, slowWords(text))
	}
	var want []uint64
	for _, s := range slowWords(text) {
		want = append(want, hash.String(s))
	}
	if got := appendHashes(nil, text); !slices.Equal(got, want) {
		t.Fatalf("words of %.80q: %x, want %x of %q", text, got, want, slowWords(text))
	}
	s := Shingler{W: w}
	if got, want := s.Append(nil, text), slowShingles(text, w); !slices.Equal(got, want) {
		t.Fatalf("%d-shingles of %.80q: %x, want %x", w, text, got, want)
	}
}

func TestShingler(t *testing.T) {
	for _, text := range samples {
		for _, w := range []int{1, 2, 5} {
			checkWords(t, text, w)
		}
	}
	for r := range unicode.MaxRune + 1 {
		if text := "a" + string(r) + "B"; r < 0x4E10 || r%97 == 0 {
			checkWords(t, text, 2)
		}
	}
}

func FuzzShingler(f *testing.F) {
	for i, text := range samples[:len(samples)-1] {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, w uint8) { checkWords(t, text, int(w)%12+1) })
}
