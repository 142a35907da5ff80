package screen

import (
	"fmt"
	"strings"
	"testing"
)

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"plain é 网　页 a b": "plain é 网　页 a b",
		"\x1b[2J\a\r\n\t": `\u001b[2J\u0007\u000d\u000a\u0009`,
		"a\xffb\xc3":      `a\xffb\xc3`,
		"\u202egnp.exe":   `\u202egnp.exe`,
		"\u2028\u0085":    `\u2028\u0085`,
		"\ufffd":          "\ufffd",
		"\U000e0041":      `\U000e0041`,
	} {
		if got := Printable(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestColumnsGoesAsFarAsThereIsRoom(t *testing.T) {
	for _, c := range []struct {
		s       string
		columns int
		want    string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"网页", 3, "网…"}, {"网页", 4, "网页"}, {"\x00x", 6, `\u0000…`}, {"", 0, ""}} {
		if got := Columns(c.s, c.columns); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.s, c.columns, got, c.want)
		}
	}
	if got := fmt.Sprintf("%q", Columns("\xff", 4)); got != `"\\xff"` {
		t.Errorf("got %s", got)
	}
}

func TestCharactersCountsCodePoints(t *testing.T) {
	for _, c := range []struct {
		s    string
		max  int
		want string
	}{
		{"网页网", 3, "网页网"}, {"网页网", 2, "网页…"}, {"a\nb\tc", 5, "a b c"}, {"\r\u202e\xff", 3, `\u000d\u202e\xff`},
		{"\U000e0041x", 1, `\U000e0041…`}, {"", 0, ""}, {"x", 0, "…"},
	} {
		if got := Characters(c.s, c.max); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.s, c.max, got, c.want)
		}
	}
}

// Text keeps joiners inside words and emoji, and shows those that nothing is seen of.
func TestTextKeepsJoiners(t *testing.T) {
	for _, c := range []struct {
		s    string
		max  int
		want string
	}{
		{"می\u200cرسند", 20, "می\u200cرسند"}, {"क्\u200dष", 20, "क्\u200dष"}, {"👩\u200d👩\u200d👧", 20, "👩\u200d👩\u200d👧"},
		{"\u200c\u200d", 20, `\u200c` + "\u200d"}, {"a\u200d\u200d\u200db", 20, "a\u200d" + `\u200d` + "\u200db"},
		{"a\nb\u202e\u200b", 20, `a b\u202e\u200b`}, {"می\u200cرسند", 3, "می\u200c…"}, {"", 0, ""},
	} {
		if got := Text(c.s, c.max); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.s, c.max, got, c.want)
		}
		if got := Characters(c.s, 20); strings.ContainsAny(got, "\u200c\u200d") {
			t.Errorf("%q has a joiner", got)
		}
	}
}
