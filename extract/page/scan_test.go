package page

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html/atom"
)

// checkScan holds scanText against the parser, and tells whether it answered
// for the page without its overlays.
func checkScan(t *testing.T, page string, max int) bool {
	t.Helper()
	checkScanWith(t, page, max, false)
	return checkScanWith(t, page, max, true)
}

func checkScanWith(t *testing.T, page string, max int, drop bool) bool {
	t.Helper()
	got, ok := scanText(page, max, drop)
	if !ok {
		if got.title != "" || got.text != "" || got.blocks != nil {
			t.Errorf("%q: %+v without ok", page, got)
		}
		return false
	}
	want := treeText(page, max, drop)
	want.parsed = false
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nat most %d bytes, overlays dropped: %v\ngot  %+v\nwant %+v", page, max, drop, got, want)
	}
	checkBlocks(t, got)
	return true
}

func TestScanAnswers(t *testing.T) {
	for _, page := range scanned {
		for _, p := range []string{page, "x<p>" + page, "<!DOCTYPE html><html><body><div>" + page + "</div>end"} {
			if !checkScan(t, p, 1<<20) && p == page {
				t.Errorf("%.200q: left to the parser", page)
			}
		}
		for max := range 12 {
			checkScan(t, page, max)
		}
	}
}

func TestScanLeavesToTheParser(t *testing.T) {
	for _, page := range unscanned {
		if _, ok := scanText(page, 1<<20, true); ok {
			t.Errorf("%.200q: answered", page)
			checkScan(t, page, 1<<20)
		}
	}
}

func TestScanKnowsTheTables(t *testing.T) {
	for _, table := range []map[atom.Atom]bool{unseen, blocks, preserves} {
		for a := range table {
			if lookupTag(a.String()) == tagOther {
				t.Errorf("no tag for %s", a)
			}
		}
	}
	for a := range contexts {
		if lookupTag(a.String()) == tagOther {
			t.Errorf("no tag for %s", a)
		}
	}
	for i, name := range tagNames[1:] {
		tag, a := lookupTag(strings.ToUpper(name)), atom.Lookup([]byte(name))
		if int(tag) != i+1 {
			t.Errorf("%s is tag %d, not %d", name, tag, i+1)
		}
		is := tagStates[tag]
		if unseen[a] != (is&unshown != 0) || preserves[a] != (is&preserved != 0) || contexts[a] != is.contexts() {
			t.Errorf("%s: state %b", name, is)
		}
		if blocks[a] != (rules[tag]&isBlock != 0) {
			t.Errorf("%s: rules %b", name, rules[tag])
		}
	}
	if len(tagNames) != int(tagCount) {
		t.Errorf("%d names of %d tags", len(tagNames), tagCount)
	}
}

// Every style that hides must get past the quick look at it.
func TestScanSeesHidingStyles(t *testing.T) {
	for _, property := range []string{"display", "visibility", "DISPLAY", "Visibilit\u0130", "d\u0130splay", " display\t", "display\v\u00a0\u0085", "opacity", "x:y", "display/**/", "/*:*/display", "disp/**/lay"} {
		for _, value := range []string{"none", " None ", "hidden!important", "collapse", "block", "", "h\u0130dden"} {
			for _, form := range []string{"%s:%s", "color:red;%s:%s", "%s:%s;a:b", ";%s :%s;", "a:b;%s: %s", "display:none!important;%s:%s", "%s:%s;display:block"} {
				style := fmt.Sprintf(form, property, value)
				if got, want := displayOfRaw(style), displayOf(style); got != want {
					t.Errorf("%q: got %v, want %v", style, got, want)
				}
			}
		}
	}
}

func TestScanWritesLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{" ", "  ", "\n", "\r\n", "\t", "a", "word", "two words", "é", "中文", ".",
		"\u00a0", "\u3000", "\u200b", "\u00ad", "\u2028", "\x01", "\x7f", "\v", "😀", "\ufeff", "\ufffd", "\u2060"}
	for range 20000 {
		max := rng.IntN(40)
		want, got := lines{max: max}, lineWriter{max: max}
		for range rng.IntN(4) {
			var s strings.Builder
			for range rng.IntN(8) {
				s.WriteString(pieces[rng.IntN(len(pieces))])
			}
			at := place{pre: rng.IntN(2) == 0, link: rng.IntN(2) == 0, in: context(rng.IntN(1 << 10))}
			is := state(at.in) << contextShift
			if at.pre {
				is |= preserved
			}
			if at.link {
				is |= linked
			}
			want.text(s.String(), at)
			got.text(s.String(), true, is)
			if rng.IntN(3) == 0 {
				want.end()
				got.end()
			}
			got.finish()
			if !slices.Equal(got.blocks, want.blocks) {
				t.Fatalf("%q: got %+v, want %+v", s.String(), got.blocks, want.blocks)
			}
			if string(got.b) != want.String() || got.full != want.full || !got.full && (got.line != want.line || got.space != want.space) {
				t.Fatalf("%q: got %q, want %q", s.String(), got.b, want.String())
			}
		}
	}
}

func TestScanTakesBoundedTime(t *testing.T) {
	attributes := strings.Builder{}
	for i := range 500_000 {
		fmt.Fprintf(&attributes, " a%d", i)
	}
	const n = 1 << 17
	for _, page := range []string{
		strings.Repeat("x", 1<<22),
		"<p>" + strings.Repeat("word ", n*8),
		"<p" + attributes.String() + ">",
		"<b" + attributes.String() + "><b b><b c><b d>",
		strings.Repeat("<div>", n*8),
		strings.Repeat("<p><b>", n),
		strings.Repeat("<p><b x="+strings.Repeat("y", 50)+">", n),
		strings.Repeat("<", n*8),
		strings.Repeat("</", n*8),
		strings.Repeat("<!--", n*4),
		"<!--" + strings.Repeat("--", n*4),
		"<!--" + strings.Repeat("--!", n*4),
		strings.Repeat("<!", n*4),
		strings.Repeat("<script>", n),
		"<script>" + strings.Repeat("<!--", n*4),
		"<script>" + strings.Repeat("</script", n*4),
		"<script><!--" + strings.Repeat("<script ", n*4),
		"<title>" + strings.Repeat("</titl", n*4),
		"<textarea>" + strings.Repeat("&", n*8),
		strings.Repeat("&", n*8),
		strings.Repeat("&a", n*8),
		"&" + strings.Repeat("a", n*8),
		"&#" + strings.Repeat("9", n*8),
		strings.Repeat("<a>", n),
		strings.Repeat("<a><p>", n),
		strings.Repeat("<a><div>", 200) + strings.Repeat("</a>", n),
		strings.Repeat("<b>", 200) + strings.Repeat("<p>", 200) + strings.Repeat("</b>", n),
		strings.Repeat("<table>", n),
		strings.Repeat("<table><td>", n),
		strings.Repeat("<div>", 500) + strings.Repeat("</x>", n),
		strings.Repeat("<div>", 500) + strings.Repeat("<p>", n),
		strings.Repeat("<span>", 500) + strings.Repeat("</p>", n),
		strings.Repeat("<table><td><object></table>", n),
		strings.Repeat("<table><td><object></table>", 1000) + strings.Repeat("<b></b>", n),
		"<svg>" + strings.Repeat("<g/>", n),
		"<svg>" + strings.Repeat("<g>", 500) + strings.Repeat("</y>", n/8),
		"<svg>" + strings.Repeat("<path a=b d=x/>", n/8),
		strings.Repeat("<svg><font>", 100) + strings.Repeat("<font x=y>", n/8),
		"<p>" + strings.Repeat("<table><input type=hidden></table>", n/16),
		"<p style='" + strings.Repeat("a:b;", n*2) + "'>",
		strings.Repeat("<p style='a:&amp;'>", n/16),
		strings.Repeat("<template>", n),
		strings.Repeat("</p></b></x>", n),
		"<!doctype " + strings.Repeat("x", n) + ">" + strings.Repeat("<p><table><td>", 100),
		"<" + strings.Repeat("x", n*8) + "></" + strings.Repeat("x", n*8) + ">",
		"<p a='" + strings.Repeat("x", n*8),
		strings.Repeat("<p a='", n),
		strings.Repeat("<button>", n),
		strings.Repeat("<form>", n),
		strings.Repeat("<li>", n),
		strings.Repeat("<ul><li>", n),
		strings.Repeat("<select><option>", n),
		strings.Repeat("<nobr>", n),
		strings.Repeat("<nobr><p>", n),
	} {
		start := time.Now()
		scanText(page, 4096, true)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%.40q…: %v", page, took)
		} else if took > 100*time.Millisecond {
			t.Logf("%.40q…: %v", page, took)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, pages := range [][]string{scanned, unscanned} {
		for _, page := range pages {
			if len(page) < 1000 {
				f.Add(page, 1<<20)
				f.Add(page, 5)
			}
		}
	}
	f.Fuzz(func(t *testing.T, page string, max int) {
		checkScan(t, page, max&0xfffff)
	})
}
