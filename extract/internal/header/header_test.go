package header

import (
	"fmt"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	for _, c := range []struct{ header, want string }{
		{"WARC/1.0\r\nA: b\r\nC:d\r\n\r\n", "A=b C=d"},
		{"WARC/1.0\nA: b\nC :  d e \n\n", "A=b C=d e"},
		{"A: first line\nB: c", "B=c"},
		{"x\nA: b\r\n c\r\n\td\r\nE: f\r\n", "A=b c d E=f"},
		{"x\nA:\r\n \r\n  b\r\n\t\r\n c", "A=b c"},
		{"x\nno field\nA: b:c", "A=b:c"},
		{"x\nno field\n folded into it\nA: b", "A=b"},
		{"x\n: no name", "=no name"},
		{"x", ""}, {"", ""}, {"x\n\n", ""},
	} {
		var got []string
		for name, value := range Fields([]byte(c.header)) {
			got = append(got, name+"="+value)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: got %q, want %q", c.header, s, c.want)
		}
	}
	for name := range Fields([]byte("x\nA: b\nC: d")) {
		if name != "A" {
			t.Error("reading goes on behind a break")
		}
		break
	}
}

// A header of nothing but folded lines is joined once, not line by line.
func TestFoldedLinesAreJoinedOnce(t *testing.T) {
	const lines = 100_000
	header := []byte("x\nA: b\n" + strings.Repeat(" c\n", lines))
	allocated := testing.AllocsPerRun(1, func() {
		for _, value := range Fields(header) {
			if len(value) != 1+2*lines {
				t.Error(len(value))
			}
		}
	})
	if allocated > 100 {
		t.Errorf("%v allocations", allocated)
	}
}

func TestEnd(t *testing.T) {
	for _, c := range []struct {
		b    string
		from int
		want int
	}{
		{"a\r\n\r\nb", 0, 5}, {"a\n\nb", 0, 3}, {"a\r\r\n\r\r\nb", 0, 7}, {"a\r\n", 0, 0}, {"", 0, 0}, {"\r\n", 0, 0}, {"\n\n", 0, 2},
		{"a\n\nb\n\n", 2, 6},
	} {
		if got := End([]byte(c.b), c.from); got != c.want {
			t.Errorf("%q from %d: got %d, want %d", c.b, c.from, got, c.want)
		}
	}
}

func TestClean(t *testing.T) {
	for s, want := range map[string]string{"a b": "a b", "a\r\n\tb\x00\x7f": "ab", "a\u0080\u0085\u009b31m\u009f\u00a0": "a31m\u00a0", "\xff\xfeé": "\uFFFDé", "": ""} {
		if got := Clean(s); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
	if got := fmt.Sprintf("%q", Clean("\u202e")); got != `"\u202e"` {
		t.Error(got)
	}
}
