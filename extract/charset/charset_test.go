package charset

import (
	"strings"
	"testing"
	"unicode"

	"neardup/extract/internal/testkit"
)

// A declaration without an equals sign, a value or quotes names no charset.
func TestXMLCharset(t *testing.T) {
	for declaration, want := range map[string]string{
		`<?xml version="1.0" encoding="gbk"?>`:   "gbk",
		` <?xml encoding = 'euc-kr' ?>`:          "euc-kr",
		`<?xml version="1.0" encoding "gbk"?>`:   "",
		`<?xml version="1.0" "gbk"?>`:            "",
		`<?xml version="1.0" encoding=?>`:        "",
		`<?xml version="1.0" encoding= ?>`:       "",
		`<?xml version="1.0" encoding=xgbkx?>`:   "",
		`<?xml version="1.0" encoding="gbk"`:     "",
		`<xml version="1.0" encoding="gbk"?>`:    "",
		`<?xml version="1.0" coding=="gbk"?>`:    "",
		`<?xml version="1.0" ?> encoding="gbk"?`: "",
	} {
		if got := xmlCharset([]byte(declaration)); got != want {
			t.Errorf("%s: got %q, want %q", declaration, got, want)
		}
	}
}

// White space is enough to show the byte order of text that has no other ASCII.
func TestUTF16OfWhiteSpace(t *testing.T) {
	for _, space := range []string{" ", "\t", "\n", "\r", "\f"} {
		text := strings.Repeat("中"+space, 40)
		for _, order := range []string{utf16LE, utf16BE} {
			if got := utf16Of([]byte(testkit.In(t, order, text))); got != order {
				t.Errorf("%q: got %q, want %q", space, got, order)
			}
		}
	}
	if got := utf16Of([]byte(strings.Repeat("a\x00", 3) + strings.Repeat("\x01\x00", 40))); got != "" {
		t.Errorf("control characters: got %q", got)
	}
}

// Only the letter right behind a symbol speaks against an alphabet.
func TestInAlphabet(t *testing.T) {
	for s, want := range map[string]float64{
		"ąć":             1,
		"ą§ ć":           1,
		"ą§ćę":           0.75,
		"a§ b c d e f g": 1,
		"a§b":            0,
		"aĄ":             0,
		"aж":             0,
		"plain":          1,
	} {
		if share, _ := inAlphabet(s, "ąćęłńóśźż"); share != want {
			t.Errorf("%s: got %v, want %v", s, share, want)
		}
	}
}

// Each Cyrillic letter next to a Latin one, and each capital behind a small letter,
// lowers the score.
func TestScriptScore(t *testing.T) {
	words := strings.Repeat("слово ", 40)
	last := scriptScore(words, unicode.Cyrillic)
	for range 9 {
		words += "xи "
		score := scriptScore(words, unicode.Cyrillic)
		if score <= 0 || score >= last {
			t.Fatalf("%v, then %v", last, score)
		}
		last = score
	}
	for _, odd := range []string{"xи ", "иx ", "иИ "} {
		if score := scriptScore("слово слово "+odd, unicode.Cyrillic); score != 0 {
			t.Errorf("%q: got %v", odd, score)
		}
	}
}
