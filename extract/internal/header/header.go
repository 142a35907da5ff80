// Package header reads the headers of WARC records and HTTP responses as crawls
// contain them: with bare line ends, folded lines, and lines that are no field.
package header

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
)

// End returns the index after the first empty line of b, searching from from, or 0
// if there is none.
func End(b []byte, from int) int {
	for at := from; ; {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return 0
		}
		at += i + 1
		for _, empty := range [3]string{"\n", "\r\n", "\r\r\n"} { // the last one comes from a tool that converted line ends twice
			if bytes.HasPrefix(b[at:], []byte(empty)) {
				return at + len(empty)
			}
		}
	}
}

// Fields yields the fields of a WARC or HTTP header, after its first line. Folded
// lines are joined with a space. A line without a colon is skipped. All strings are
// parts of one copy of the header.
func Fields(header []byte) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		_, rest, _ := strings.Cut(string(header), "\n")
		for len(rest) > 0 {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			name, value, found := strings.Cut(line, ":")
			value = strings.TrimSpace(value)
			if rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
				value, rest = unfold(value, rest)
			}
			if found && !yield(strings.TrimSpace(name), value) {
				return
			}
		}
	}
}

// unfold joins a value with the folded lines that rest starts with. behind is what
// follows them.
func unfold(value, rest string) (whole, behind string) {
	var parts []string
	if value != "" {
		parts = append(parts, value)
	}
	for rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " "), rest
}

// Clean makes a header value safe to store and show: valid UTF-8 on one line, without
// control characters, also those of C1, of which some steer terminals.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// TargetURI returns the URI in the value of a field, without the angle brackets that
// GNU Wget writes around it. A URI may end in a bracket of its own.
func TargetURI(value string) string {
	value = strings.TrimSpace(value)
	if n := len(value); n > 1 && value[0] == '<' && value[n-1] == '>' {
		value = strings.TrimSpace(value[1 : n-1])
	}
	return value
}
