// Package header reads the headers of WARC records and HTTP answers as crawls
// hold them: with bare line ends, folded lines, and lines that are no field.
package header

import (
	"bytes"
	"iter"
	"strings"
)

// End is the index behind the first empty line of b, searching from
// from, or 0.
func End(b []byte, from int) int {
	for at := from; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return 0
		}
		at += i + 1
		for _, empty := range [3]string{"\n", "\r\n", "\r\r\n"} { // the last from a tool that did it twice
			if bytes.HasPrefix(b[at:], []byte(empty)) {
				return at + len(empty)
			}
		}
	}
}

// Fields yields the fields of a WARC or HTTP header behind its first
// line. Folded lines are joined with a space; a line without a colon is passed
// over.
func Fields(header []byte) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		_, rest, _ := bytes.Cut(header, []byte{'\n'})
		for len(rest) > 0 {
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte{'\n'})
			name, v, found := bytes.Cut(line, []byte{':'})
			value := string(bytes.TrimSpace(v))
			for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
				line, rest, _ = bytes.Cut(rest, []byte{'\n'})
				value = strings.TrimSpace(value + " " + string(bytes.TrimSpace(line)))
			}
			if found && !yield(string(bytes.TrimSpace(name)), value) {
				return
			}
		}
	}
}

// Clean makes a header value safe to store and show: valid UTF-8 on one line.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
