package charset

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
)

const (
	sampled    = 4 << 10 // bytes of text that detection looks at; it takes 1.5 ms
	fewHigh    = 8       // bytes outside ASCII below which nothing is guessed
	fewLetters = 24      // letters outside ASCII below which no script is judged

	// In hundredths, measured on the sentences of charset_test.go.
	sureWide   = 60 // multi-byte charsets reach this confidence, or are wrong
	sureSingle = 25 // lower bound for a single-byte charset
	unsure     = 35 // below it, the charset may be one that chardet does not know
	latinFirst = 10 // by how much another Latin charset must be ahead of windows-1252

	inLanguage  = 0.98 // share that must be consistent with a language's alphabet ...
	aheadOfWest = 0.1  // ... and by how much it must be ahead of windows-1252 with any western language
)

// detect guesses the charset of a body that declares none and is not UTF-8. It
// returns "" if it is not sure enough. It relies on chardet (ICU's statistics of
// letters). chardet knows no DOS, Macintosh and Thai charsets and separates
// Cyrillic ones by little, so for these the text must also read as words of one
// script. If chardet says windows-1252 or is unsure, the text may use the letters
// of a language that windows-1252 lacks.
func detect(body []byte) string {
	sample := textSample(body)
	high := 0
	for _, c := range sample {
		if c >= utf8.RuneSelf {
			high++
		}
	}
	if high < fewHigh {
		return ""
	}
	guesses := guess(sample)
	confidence := map[string]int{}
	for _, g := range guesses {
		confidence[g.Charset] = g.Confidence
	}
	best := guesses[0]
	switch best.Charset {
	case "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis":
		if best.Confidence >= sureWide && !mostlyReplaced(decodeFrom(sample, best.Charset)) {
			return best.Charset
		}
		best.Confidence = 0
	case "windows-1251", "koi8-r", "koi8-u", "iso-8859-5":
		best.Confidence = min(best.Confidence, unsure-1)
	}
	if best.Confidence < unsure && high >= fewLetters {
		if name := byScript(sample, confidence); name != "" {
			return name
		}
	}
	switch {
	case best.Confidence < sureSingle:
		return byAlphabet(sample)
	case best.Charset == windows1252 || latin[best.Charset] && best.Confidence < confidence[windows1252]+latinFirst:
		return cmp.Or(byAlphabet(sample), windows1252)
	}
	if i := slices.IndexFunc(scripts, func(s script) bool { return s.charset == best.Charset }); i >= 0 && high >= fewLetters &&
		scriptScore(decodeFrom(sample, best.Charset), scripts[i].letters) == 0 {
		return cmp.Or(byScript(sample, confidence), best.Charset)
	}
	return best.Charset
}

var latin = map[string]bool{"iso-8859-2": true, "windows-1250": true, "windows-1254": true}

// guess returns chardet's guesses under the names of the Encoding Standard, the
// best first. The order does not depend on chardet's goroutines.
func guess(sample []byte) []chardet.Result {
	all, _ := chardet.NewTextDetector().DetectAll(sample) // the error means that there are no guesses
	best := map[string]int{}
	for _, r := range all {
		name := lookup(r.Charset)
		switch name {
		case "", utf8Name, utf16LE, utf16BE, iso2022JP:
			continue
		case "iso-8859-8-i":
			name = "windows-1255" // the same letters, and points
		case "koi8-r":
			if slices.ContainsFunc(sample, ofKOI8U) {
				name = "koi8-u"
			}
		}
		best[name] = max(best[name], r.Confidence)
	}
	out := []chardet.Result{{Charset: windows1252}}
	for name, confidence := range best {
		out = append(out, chardet.Result{Charset: name, Confidence: confidence})
	}
	slices.SortFunc(out, func(a, b chardet.Result) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(a.Charset, b.Charset))
	})
	return out
}

// ofKOI8U reports whether KOI8-U has a letter where KOI8-R has a box character.
func ofKOI8U(c byte) bool { return c == 0xa4 || c == 0xa6 || c == 0xa7 || c == 0xad }

// textSample returns the text that detection looks at: text between tags that is
// not all ASCII, without scripts and styles.
func textSample(body []byte) []byte {
	out := make([]byte, 0, sampled)
	for len(body) > 0 && len(out) < sampled {
		text, rest := body, []byte(nil)
		if i := bytes.IndexByte(body, '<'); i >= 0 {
			text, rest = body[:i], body[i:]
		}
		if !isASCII(text) {
			out = append(append(out, text[:min(len(text), sampled-len(out))]...), ' ')
		}
		switch {
		case hasFold(rest, "<script"):
			rest = cutFold(rest, "</script")
		case hasFold(rest, "<style"):
			rest = cutFold(rest, "</style")
		case bytes.HasPrefix(rest, []byte("<!--")):
			_, rest, _ = bytes.Cut(rest, []byte("--"))
			_, rest, _ = bytes.Cut(rest, []byte("--"))
		}
		_, body, _ = bytes.Cut(rest, []byte{'>'})
	}
	return out
}

func hasFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}

// cutFold returns what follows an end tag. The HTML parser ends the element nowhere
// else.
func cutFold(b []byte, tag string) []byte {
	for {
		i := bytes.Index(b, []byte("</"))
		if i < 0 {
			return nil
		}
		if b = b[i:]; hasFold(b, tag) {
			return b
		}
		b = b[2:]
	}
}

// script is a charset that byScript judges.
type script struct {
	charset string
	letters *unicode.RangeTable
	as      []string // chardet's guesses that it may replace
}

var scripts = []script{
	{"windows-1255", unicode.Hebrew, []string{"windows-1255"}},
	{"windows-1256", unicode.Arabic, []string{"windows-1256"}},
	{"iso-8859-6", unicode.Arabic, []string{"iso-8859-6"}},
	{"windows-1253", unicode.Greek, []string{"windows-1253"}},
	{"iso-8859-7", unicode.Greek, []string{"iso-8859-7"}},
	{"windows-1251", unicode.Cyrillic, []string{"windows-1251"}},
	{"koi8-r", unicode.Cyrillic, []string{"koi8-r", "koi8-u"}},
	{"koi8-u", unicode.Cyrillic, []string{"koi8-r", "koi8-u"}},
	{"iso-8859-5", unicode.Cyrillic, []string{"iso-8859-5"}},
	{"ibm866", unicode.Cyrillic, nil},
	{"x-mac-cyrillic", unicode.Cyrillic, []string{"windows-1251"}}, // which has its small letters
	{"windows-874", unicode.Thai, nil},
}

// byScript returns the charset in which the sample reads best as words of one
// script, or "" if there is none.
func byScript(sample []byte, confidence map[string]int) (charset string) {
	best := 0.0
	for _, s := range scripts {
		score := scriptScore(decodeFrom(sample, s.charset), s.letters)
		if score == 0 {
			continue
		}
		for _, name := range s.as {
			score += float64(confidence[name]) / 100
		}
		if score > best {
			charset, best = s.charset, score
		}
	}
	return charset
}

// scriptScore returns how well s reads as words of one script. It is 0 if over one
// in twenty characters outside ASCII is no letter of the script, stands next to a
// Latin letter, or is a capital after a small letter.
func scriptScore(s string, letters *unicode.RangeTable) float64 {
	n, in, small, odd := 0, 0, 0, 0
	last := ' '
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if isLetterRune(r) && unicode.Is(letters, last) {
				odd++
			}
		case unicode.IsPunct(r) || unicode.In(r, unicode.Mn, unicode.Cf) || r == '\u00a0' || r == '№':
		default:
			n++
			if !unicode.Is(letters, r) {
				break
			}
			in++
			if !unicode.IsUpper(r) {
				small++
			}
			if last < utf8.RuneSelf && isLetterRune(last) || unicode.IsUpper(r) && unicode.IsLower(last) {
				odd++
			}
		}
		last = r
	}
	if n == 0 || 20*(n-in) > n || 20*odd > n {
		return 0
	}
	return 1 + (0.3*float64(small)-10*float64(odd)-5*float64(n-in))/float64(n)
}

func isLetterRune(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }

// mostlyLetters reports whether three quarters of the characters outside ASCII in s
// are letters and punctuation, as in correctly decoded text.
func mostlyLetters(s string) bool {
	n, letters := 0, 0
	for _, r := range s {
		if r >= utf8.RuneSelf {
			n++
			if unicode.IsLetter(r) || unicode.IsPunct(r) {
				letters++
			}
		}
	}
	return 4*letters >= 3*n
}
