package compare

import (
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"neardup/extract/text"
)

func TestDiffer(t *testing.T) {
	long := strings.Repeat("a long line of words ", 20)
	for _, c := range []struct {
		name, a, b string
		want       Difference
	}{
		{"the same", "one\ntwo\nthree\nfour", "one\ntwo\nthree\nfour", Difference{[2]int{4, 4}, 4, [2][]string{{}, {}}, []string{"one", "two", "three"}}},
		{"another order", "one\ntwo", "two\none\n", Difference{[2]int{2, 2}, 2, [2][]string{{}, {}}, []string{"one", "two"}}},
		{"empty", "", "", Difference{Only: [2][]string{{}, {}}}},
		{"contained", "two\nthree", "one\ntwo\nthree\nfour\nfive\nsix", Difference{[2]int{2, 6}, 2, [2][]string{{}, {"one", "four", "five"}}, nil}},
		{"a line twice", "one\none", "one\ntwo", Difference{[2]int{2, 2}, 1, [2][]string{{"one"}, {"two"}}, nil}},
		{"within a long line", long + "end", long + "close\nmore", Difference{[2]int{1, 2}, 0,
			[2][]string{{"… long line of words end"}, {"… long line of words close", "more"}}, nil}},
		{"the second lines alike", "x\n" + long + "1", "y\n" + long + "2", Difference{[2]int{2, 2}, 0,
			[2][]string{{"x", "… long line of words 1"}, {"y", "… long line of words 2"}}, nil}},
		{"wide characters", strings.Repeat("网", 40) + "页", strings.Repeat("网", 40) + "站", Difference{[2]int{1, 1}, 0,
			[2][]string{{"…" + strings.Repeat("网", 20) + "页"}, {"…" + strings.Repeat("网", 20) + "站"}}, nil}},
		{"clipped", long, "x", Difference{[2]int{1, 1}, 0, [2][]string{{long[:excerptColumns] + "…"}, {"x"}}, nil}},
	} {
		if got := Differ(c.a, c.b); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func FuzzDiffer(f *testing.F) {
	f.Add("one\ntwo", "one\n\x1b[31mtwo")
	f.Add("\xff\xfe", "\n\n\n")
	f.Add(strings.Repeat("\u0301", 300), strings.Repeat("网", 300))
	f.Fuzz(func(t *testing.T, a, b string) {
		d, back := Differ(a, b), Differ(b, a)
		if d.Lines != [2]int{back.Lines[1], back.Lines[0]} || d.Common != back.Common || !reflect.DeepEqual(d.Only, [2][]string{back.Only[1], back.Only[0]}) {
			t.Errorf("not symmetric: %+v, %+v", d, back)
		}
		for i := range d.Lines {
			if (d.Lines[i] > d.Common) != (len(d.Only[i]) > 0) {
				t.Errorf("lines and their own do not fit: %+v", d)
			}
		}
		for _, lines := range append(d.Only[:], d.Begin) {
			if len(lines) > excerptLines {
				t.Errorf("%d lines", len(lines))
			}
			for _, line := range lines {
				if n := max(text.Columns(line), utf8.RuneCountInString(line)); n > excerptColumns+4 {
					t.Errorf("%d columns: %q", n, line)
				}
				for _, r := range line {
					if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
						t.Errorf("%q in %q", r, line)
					}
				}
			}
		}
	})
}
