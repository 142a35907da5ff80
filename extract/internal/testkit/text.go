package testkit

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// CheckLines checks the form of a page's text: valid UTF-8 of at most max bytes; no
// empty lines; one plain space between words and none at the ends; no characters
// without width.
func CheckLines(t *testing.T, text string, max int) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("invalid UTF-8: %q", text)
	}
	if len(text) > max {
		t.Errorf("%d bytes, at most %d wanted", len(text), max)
	}
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || strings.Trim(line, " ") != line || strings.Contains(line, "  ") {
			t.Errorf("line %q is empty or not collapsed", line)
		}
		for _, r := range line {
			if r != ' ' && unicode.IsSpace(r) || r < ' ' || r == 0x7f || strings.ContainsRune("\u00ad\u200b\u2060\ufeff", r) {
				t.Errorf("line %q holds %U", line, r)
			}
		}
	}
}
