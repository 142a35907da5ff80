package page

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestOverlaysAreDropped(t *testing.T) {
	for _, c := range []struct{ page, want, dropped string }{
		{`<div id="onetrust-consent-sdk"><p>We use</div>a`, "We use|a", "a"},
		{`a<div class="cc-window cc-banner">b</div><p>c`, "a|b|c", "a|c"},
		{`a<div class="x&#32;cc-window">b</div>c`, "a|b|c", "ac"},
		{`a<div class="x` + "\n\tcc-window\f" + `">b</div>c`, "a|b|c", "ac"},
		{`a<div ID=cmpbox>b</div>c`, "a|b|c", "ac"},
		{`a<div id="cmp&#98;ox">b</div>c`, "a|b|c", "ac"},
		{`<title>t</title><div class=klaro>b<div><table><td>c</table></div></div>d`, "b|c|d", "d"},
		{`<div id=cmpbox><div hidden>a</div><script>b</script></div>c`, "c", "c"},
		{`<table><tr class=cc-window><td>a<td>b<tr><td>c</table>`, "a|b|c", "c"},
		{`<b class=cc-window>a<p>b</p></b>c`, "a|b|c", "c"},
		{`a<math><mi class=cc-window>x</mi></math>`, "ax", "a"},
		// What is none.
		{`<div id=cc-window>a</div><div class=cmpbox>b</div>`, "a|b", "a|b"},
		{`<div class="CC-Window">a</div><div id="cmpbox ">b</div>`, "a|b", "a|b"},
		{`<div class="cc-window-x xcc-window cc window">a</div>`, "a", "a"},
		{`<div class=x class=cc-window>a</div><div id=x id=cmpbox>b</div>`, "a|b", "a|b"},
		{`<div data-class=cc-window data-id=cmpbox title=klaro>a</div>`, "a", "a"},
		{`<html class=cc-window><body id=cmpbox class="klaro">a`, "a", "a"},
		{`<h2 id="cookie-notice">Cookie notice</h2><div class="cookie popup modal banner consent">Bake.</div>`,
			"Cookie notice|Bake.", "Cookie notice|Bake."},
		// An overlay is all that there is.
		{`<div id=cmpbox>a<p>b</div>`, "a|b", "a|b"},
		{`<div class=klaro></div>`, "", ""},
	} {
		for _, keep := range []bool{false, true} {
			want := strings.ReplaceAll(c.dropped, "|", "\n")
			o := options
			if keep {
				o.Overlays, want = OverlaysKeep, strings.ReplaceAll(c.want, "|", "\n")
			}
			got := NewReader(o).Read(c.page, "", 1000)
			if got.Text != want {
				t.Errorf("%s, %s\ngot  %q\nwant %q", c.page, o.Overlays, got.Text, want)
			}
			if flagged := got.OverlayDropped; flagged != (!keep && c.dropped != c.want) {
				t.Errorf("%s, %s: dropped %v", c.page, o.Overlays, flagged)
			}
		}
		for _, max := range []int{0, 2, 3, 4, 5, 1000} {
			checkScan(t, c.page, max)
		}
	}
}

// The quick look at a class attribute as written, against its value.
func TestOverlayClassesAsWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"cc-window", "klaro", " ", "  ", "\n", "\t", "\f", "\r", "!", "x", "menu-item-object", "&#32;", "&", "&amp;",
		"&#107;laro", "kl", "aro", "é", "\x80", "\xa0", "%", "'"}
	found := 0
	for range 100_000 {
		var s strings.Builder
		for range rng.IntN(7) {
			s.WriteString(pieces[rng.IntN(len(pieces))])
		}
		raw := s.String()
		got, want := overlayClass(raw), overlayClasses.hasToken(decodeAttribute(raw))
		if got != want {
			t.Fatalf("%q: got %v", raw, got)
		}
		if got {
			found++
		}
		if i := tokenEnd(raw, 0); i != len(raw) && raw[i] > ' ' && raw[i] != '&' || strings.ContainsAny(raw[:i], " \n\t\f\r&") {
			t.Fatalf("%q: ends at %d", raw, i)
		}
	}
	if found < 1000 {
		t.Errorf("only %d have one", found)
	}
}

func TestOverlayTitleStays(t *testing.T) {
	if got := withoutOverlays("<div id=cmpbox><title>a</title>b</div>c", 100); got.title != "a" || got.text != "c" {
		t.Errorf("%+v", got)
	}
}

// Every entry must be found by what it says, and say where it is from.
func TestOverlayList(t *testing.T) {
	n := 0
	seen := map[string]bool{}
	for line := range strings.Lines(overlayList) {
		if line == "\n" || strings.HasPrefix(line, "//") {
			continue
		}
		n++
		name, source, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if len(name) < 5 || len(name) > 63 || strings.TrimSpace(source) == "" || seen[name] {
			t.Fatalf("%q", line)
		}
		seen[name] = true
		key := map[byte]string{'#': "id", '.': "class"}[name[0]]
		page := "<div " + key + "='" + name[1:] + "'>a</div>b"
		if !checkScan(t, page, 100) {
			t.Errorf("%s: left to the parser", page)
		}
		if got := withoutOverlays(page, 100); got.text != "b" || !got.dropped {
			t.Errorf("%s: got %+v", page, got)
		}
	}
	if n != len(overlayIDs.names)+len(overlayClasses.names) || n < 50 {
		t.Errorf("%d entries, %d ids and %d classes", n, len(overlayIDs.names), len(overlayClasses.names))
	}
	// Words that content is likely to have.
	for _, word := range strings.Fields(`cookie cookies cookie-notice cookie-banner cookie-consent consent popup modal overlay
		banner dialog gdpr privacy notice alert container content main ccc klaro`) {
		if overlayIDs.has(word) || word != "klaro" && overlayClasses.has(word) {
			t.Errorf("%q is too common a name", word)
		}
	}
}
