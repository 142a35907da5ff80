package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestBarsAreCleared checks what is left of the bars on a terminal.
func TestBarsAreCleared(t *testing.T) {
	for _, total := range []int64{0, 1, 1000} {
		var out bytes.Buffer
		p, err := newProgress("bar", "text", &out)
		if err != nil {
			t.Fatal(err)
		}
		p.Start("extract", "missing", "")
		for _, unit := range []string{"bytes", "revisits"} {
			p.Total(total, unit)
			p.Add(total)
		}
		p.Warn("odd", "file", "a.warc")
		p.Total(total, "pages")
		p.Add(total)
		p.Stop(nil)
		shown := strings.Split(onTerminal(out.String()), "\n")
		if len(shown) != 3 || shown[0] != "warning: odd: file a.warc" || !strings.HasPrefix(shown[1], "extract  done in ") || len(shown[1]) > 30 || shown[2] != "" {
			t.Errorf("of %d: %q", total, shown)
		}
	}
}

// TestWorkingOfVariant checks that the line about work in a variant has each key once:
// readers of JSON take one of two values, or reject the line.
func TestWorkingOfVariant(t *testing.T) {
	var out bytes.Buffer
	p, err := newProgress("json", "json", &out)
	if err != nil {
		t.Fatal(err)
	}
	p.variant("base", 2, 3)
	p.Start("sign", "missing", "")
	out.Reset()
	p.Total(100, "texts")
	p.said = p.said.Add(-sayEvery)
	p.Add(10)
	for _, want := range []string{`"variant":"base"`, `"place":2`, `"variants":3`, `"done":10`, `"of":100`} {
		key, _, _ := strings.Cut(want, ":")
		if line := out.String(); strings.Count(line, key+":") != 1 || !strings.Contains(line, want) {
			t.Errorf("no %s, or another %s, in %s", want, key, line)
		}
	}
}

// onTerminal returns what a terminal shows of an output with carriage returns.
func onTerminal(output string) string {
	var shown []string
	for line := range strings.SplitSeq(output, "\n") {
		var cells []rune
		at := 0
		for _, c := range line {
			if c == '\r' {
				at = 0
				continue
			}
			if at == len(cells) {
				cells = append(cells, ' ')
			}
			cells[at] = c
			at++
		}
		shown = append(shown, strings.TrimRight(string(cells), " "))
	}
	return strings.Join(shown, "\n")
}
