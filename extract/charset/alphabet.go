package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// western lists the small letters outside ASCII of the languages that windows-1252
// is for. Text that reads as one of them in windows-1252 is in windows-1252.
var western = []string{
	"àâæçéèêëîïôœùûüÿ",   // French
	"äöüß",               // German
	"áéíñóúüªº",          // Spanish
	"áâãàçéêíóôõúüªº",    // Portuguese
	"àèéìíîòóùúªº",       // Italian
	"àçèéíïòóúü·",        // Catalan
	"åäöéü",              // Swedish
	"æøåéèêóòâôüä",       // Danish, Norwegian
	"äöåšžé",             // Finnish
	"äëïöüáéíóúàèêâîôûç", // Dutch
	"áðéíóúýþæö",         // Icelandic
	"áéíóúýðæø",          // Faroese
	"áéíóú",              // Irish
	"äöüõšž",             // Estonian
	"ëç",                 // Albanian
}

// alphabet holds a language's small letters outside ASCII.
type alphabet struct {
	charsets []string // charsets for the language, the most common first
	letters  string
}

var alphabets = withWestern([]alphabet{
	{[]string{"windows-1250", "iso-8859-2"}, "ąćęłńóśźż"},                            // Polish
	{[]string{"windows-1250", "iso-8859-2"}, "áčďéěíňóřšťúůýž"},                      // Czech
	{[]string{"windows-1250", "iso-8859-2"}, "áäčďéíĺľňóôŕšťúýž"},                    // Slovak
	{[]string{"windows-1250", "iso-8859-2"}, "áéíóöőúüű"},                            // Hungarian
	{[]string{"windows-1250", "iso-8859-2"}, "čćđšž"},                                // Croatian, Slovenian
	{[]string{"windows-1250", "iso-8859-2"}, "ăâîşţ"},                                // Romanian
	{[]string{"windows-1257", "iso-8859-13", "iso-8859-4"}, "ąčęėįšųūž"},             // Lithuanian
	{[]string{"windows-1257", "iso-8859-13", "iso-8859-4"}, "āčēģīķļņšūž"},           // Latvian
	{[]string{"windows-1257", "iso-8859-13", "iso-8859-4", "iso-8859-15"}, "äõöüšž"}, // Estonian
	{[]string{"iso-8859-3"}, "àċèġħìòùż"},                                            // Maltese
	{[]string{"iso-8859-3"}, "ĉĝĥĵŝŭ"},                                               // Esperanto
	{[]string{"iso-8859-14"}, "âêîôûŵŷáéíóúäëïöüàèìòù"},                              // Welsh
	{[]string{"windows-1258"}, "ăâđêôơưáàãéèíìóòúùý\u0300\u0301\u0303\u0309\u0323"},  // Vietnamese
})

// withWestern adds the western languages to the other charsets that have their
// letters.
func withWestern(all []alphabet) []alphabet {
	for _, letters := range western {
		all = append(all, alphabet{[]string{"iso-8859-15", "macintosh"}, letters})
	}
	return all
}

// byAlphabet returns the charset in which the sample uses the letters of a single
// language. It returns "" if the sample does so in windows-1252, too.
func byAlphabet(sample []byte) string {
	page := decodeFrom(sample, windows1252)
	west := 0.0
	for _, letters := range western {
		share, _ := inAlphabet(page, letters)
		west = max(west, share)
	}
	decoded := map[string]string{}
	for _, a := range alphabets {
		for _, c := range a.charsets {
			if decoded[c] == "" {
				decoded[c] = decodeFrom(sample, c)
			}
			if share, n := inAlphabet(decoded[c], a.letters); n >= fewHigh && share >= inLanguage && share >= west+aheadOfWest {
				return c
			}
		}
	}
	return ""
}

// inAlphabet returns the share of the characters outside ASCII in s that are
// consistent with an alphabet, and the number of the alphabet's letters. Letters of
// other alphabets, capitals after small letters, and symbols between letters are
// inconsistent with it; punctuation is not.
func inAlphabet(s, letters string) (share float64, n int) {
	all, against := 0, 0
	last, symbol := ' ', false
	for _, c := range s {
		if symbol && unicode.IsLetter(c) {
			against++
		}
		symbol = false
		if c >= utf8.RuneSelf {
			all++
			switch {
			case strings.ContainsRune(letters, unicode.ToLower(c)):
				n++
				if unicode.IsUpper(c) && unicode.IsLower(last) {
					against++
				}
			case unicode.IsLetter(c) || c < 0xa0 || c == utf8.RuneError:
				against++
			case !strings.ContainsRune("\u2019\u00a0\u00ad\u00b4\u00b7", c):
				symbol = unicode.IsLetter(last)
			}
		}
		last = c
	}
	if all == 0 {
		return 1, 0
	}
	return 1 - float64(against)/float64(all), n
}
