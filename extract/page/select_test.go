package page

import (
	"strings"
	"testing"
)

// TestLinesOfAPart compares the lines of a part with those that the marks select.
func TestLinesOfAPart(t *testing.T) {
	const text = "a\nbc\nd\nefg\nh"
	s := shown{text: text}
	for at, line := range strings.SplitAfter(text, "\n") {
		end := int32(len(strings.TrimSuffix(line, "\n")))
		if at > 0 {
			end += s.blocks[at-1].end + 1
		}
		s.blocks = append(s.blocks, block{end: end})
	}
	for set := range 1 << len(s.blocks) {
		parts := make([]Part, len(s.blocks))
		for i := range parts {
			if set>>i&1 != 0 {
				parts[i] = PartMain
			}
		}
		want := newMarks(parts, make([]scored, len(parts))).Select(text, PartsOf(PartMain))
		if got := s.lines(parts, PartMain); got != want {
			t.Errorf("%v: got %q, want %q", parts, got, want)
		}
	}
}
