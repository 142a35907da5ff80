package page

import (
	"strings"
	"testing"
	"unicode"

	"neardup/extract/text"
)

// slowMeasure measures a line one character at a time.
func slowMeasure(line string) (m measure, columns int) {
	m.words = 1
	runes := []rune(line)
	last := rune(0)
	for i, r := range runes {
		columns += text.RuneColumns(r)
		closing := strings.ContainsRune(`"')]»”’“」』）》`, r)
		switch {
		case r == ' ':
			m.words++
		case '0' <= r && r <= '9':
			m.digits++
		case strings.ContainsRune(".!?;", r):
			if i+1 == len(runes) || strings.ContainsRune(` "')]`, runes[i+1]) {
				m.stops++
			}
		case r >= 0x80 && endsSentence(r):
			m.stops++
		case r < 0x2000 && unicode.IsUpper(r):
			m.capitals++
		}
		if r != ' ' && !closing {
			last = r
		}
	}
	m.ended = strings.ContainsRune(".!?;:：", last) || endsSentence(last)
	return m, columns
}

func testMeasure(t *testing.T, line string) {
	t.Helper()
	var got measure
	columns := got.read(line)
	if want, wantColumns := slowMeasure(line); got != want || columns != wantColumns {
		t.Errorf("%.200q: %+v, %d columns, want %+v, %d", line, got, columns, want, wantColumns)
	}
}

func FuzzMeasure(f *testing.F) {
	for _, line := range []string{
		"He said: “It is 12.5 m long.” Then (at 3 o'clock!) it stopped.", "Wait; what?\") A.B", "它很长。」 Ünder Éa",
		"…", " ", "a:", "一二三：", "v1.2.3-RC.", "\xff.\xe2\x80", ".\xc3", "Ω.»", "'It is.' He [left.] A (b.) \"C!\"", "'It is.'",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if line != "" {
			testMeasure(t, line)
		}
	})
}

// TestMeasureLongLines has more of each kind of character than a lane can count.
func TestMeasureLongLines(t *testing.T) {
	for _, part := range []string{" ", "7", "Q", ". ", "!"} {
		testMeasure(t, strings.Repeat(part, 1<<17)+"x")
	}
}

func BenchmarkMeasure(b *testing.B) {
	for _, line := range []string{
		"The harbour of the town was closed on Monday, after 12 ships (of 40) had left it. Nobody saw them go.",
		"Der Hafen wurde am Montag für alle Schiffe geschlossen, weil es tagelang stürmte; am 12. März öffnet er.",
		"港口于星期一关闭，四十艘船中有十二艘已经离开。没有人看见它们离去。",
	} {
		b.Run(line[:12], func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				var m measure
				m.read(line)
			}
		})
	}
}
