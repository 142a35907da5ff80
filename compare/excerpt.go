package compare

import (
	"strings"
	"unicode/utf8"

	"neardup/screen"
)

const (
	excerptLines   = 3  // of each text
	excerptColumns = 66 // of a line
	before         = 20 // code points shown before the first difference of two lines
)

// Difference is how two texts differ, by lines in any order.
type Difference struct {
	Lines  [2]int      `json:"lines"`           // number of lines of each text
	Common int         `json:"common_lines"`    // lines that both have; a line counts twice if both have it twice
	Only   [2][]string `json:"only"`            // first lines of each text that the other lacks, cut
	Begin  []string    `json:"begin,omitempty"` // beginning of the first text, if neither text has lines of its own
}

// Differ returns the difference of two texts for people to read.
func Differ(a, b string) Difference {
	var d Difference
	var only [2][]string
	for i, texts := range [][2]string{{a, b}, {b, a}} {
		left := map[string]int{}
		for line := range strings.Lines(texts[1]) {
			left[unended(line)]++
		}
		d.Common = 0
		for line := range strings.Lines(texts[0]) {
			d.Lines[i]++
			if line = unended(line); left[line] > 0 {
				left[line]--
				d.Common++
			} else if len(only[i]) < excerptLines {
				only[i] = append(only[i], line)
			}
		}
	}
	for i := range only {
		d.Only[i] = []string{} // [] in JSON
		for at, line := range only[i] {
			skip := 0 // code points that the line and its counterpart start with
			if at < len(only[1-i]) {
				skip = max(0, commonStart(line, only[1-i][at])-before)
			}
			d.Only[i] = append(d.Only[i], excerpt(line, skip))
		}
	}
	if len(only[0])+len(only[1]) == 0 {
		for line := range strings.Lines(a) {
			if d.Begin = append(d.Begin, excerpt(unended(line), 0)); len(d.Begin) == excerptLines {
				break
			}
		}
	}
	return d
}

func unended(line string) string { return strings.TrimSuffix(line, "\n") }

// commonStart returns the number of code points that both strings start with.
func commonStart(a, b string) (n int) {
	for a != "" && b != "" {
		x, size := utf8.DecodeRuneInString(a)
		y, other := utf8.DecodeRuneInString(b)
		if x != y || a[:size] != b[:other] {
			break
		}
		a, b = a[size:], b[other:]
		n++
	}
	return n
}

// excerpt returns a line for a screen, without its first skip code points.
func excerpt(line string, skip int) string {
	mark := ""
	for ; skip > 0 && line != ""; skip-- {
		_, size := utf8.DecodeRuneInString(line)
		line, mark = line[size:], "…"
	}
	return mark + screen.Columns(line, excerptColumns)
}
