// Package screen makes crawled text fit to be shown: it shortens text and escapes
// what is invisible or changes the display of other text. Titles, URIs and texts of
// a crawl may have control characters that move a terminal's cursor, and characters
// that reverse the direction of a line.
package screen

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"neardup/extract/text"
)

// Columns shortens text to a line of a terminal of at most limit columns and limit
// code points. It escapes what Printable escapes.
func Columns(s string, limit int) string {
	return clip(s, limit, func(r rune, as string) (shown string, width int) {
		shown = printable(r, as)
		return shown, max(1, text.Columns(shown))
	})
}

// Characters shortens text to at most limit code points, for a page in a browser.
// Line ends and tabs become spaces. It escapes what Printable escapes; an escape
// counts as one code point.
func Characters(s string, limit int) string { return clip(s, limit, character) }

func character(r rune, as string) (shown string, width int) {
	if r == '\n' || r == '\t' {
		return " ", 1
	}
	return printable(r, as), 1
}

// Text is Characters for titles and other text that is read. Behind a character that
// can be seen it keeps a joiner, which Persian, Indic scripts and emoji need. A URI with
// one would look like another URI.
func Text(s string, limit int) string {
	const nonJoiner, joiner = '\u200c', '\u200d'
	seen := false // the last character can be seen
	return clip(s, limit, func(r rune, as string) (shown string, width int) {
		if seen && (r == nonJoiner || r == joiner) {
			seen = false
			return as, 1
		}
		seen = true
		return character(r, as)
	})
}

// clip shortens text to a width. show returns how a code point is shown, and how
// wide that is.
func clip(s string, limit int, show func(r rune, as string) (shown string, width int)) string {
	var b strings.Builder
	n := 0
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		shown, width := show(r, s[:size])
		if n += width; n > limit {
			return b.String() + "…"
		}
		b.WriteString(shown)
		s = s[size:]
	}
	return b.String()
}

// Printable escapes what is invisible or changes the display of other text: control
// and formatting characters, unassigned code points, invalid UTF-8.
func Printable(s string) string {
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		b.WriteString(printable(r, s[:size]))
		s = s[size:]
	}
	return b.String()
}

// Lines is Printable for text of several lines.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

func printable(r rune, as string) string {
	switch {
	case r == utf8.RuneError && len(as) == 1:
		return fmt.Sprintf(`\x%02x`, as[0])
	case strconv.IsGraphic(r):
		return as
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
