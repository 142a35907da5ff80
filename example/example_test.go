package example

import (
	"bytes"
	"html"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestKinds(t *testing.T) {
	got := map[string]int{}
	ids := map[string]bool{}
	for _, p := range Pages() {
		got[p.Kind]++
		ids[p.RecordID] = true
	}
	want := map[string]int{
		KindOriginal: 26, KindRecapture: 5, KindRevisit: 1, KindMarkup: 5, KindMirror: 6, KindLight: 8, KindHeavy: 6,
		KindMoved: 4, KindContains: 3, KindConversion: 2, KindShort: 5, KindQuote: 3, KindTemplate: 11,
		KindNavigation: 8, KindRobots: 1, KindSkipped: 7,
	}
	if !maps.Equal(got, want) {
		t.Errorf("pages by kind: %v, want %v", got, want)
	}
	if len(ids) != len(Pages()) {
		t.Errorf("%d record ids for %d pages", len(ids), len(Pages()))
	}
	revisited := map[string]bool{}
	for _, d := range crawl() {
		revisited[d.Group] = revisited[d.Group] || d.Kind == KindRevisit
	}
	for _, d := range crawl() {
		variant := slices.Contains([]string{KindRecapture, KindRevisit, KindMarkup, KindMirror, KindLight, KindHeavy, KindMoved, KindContains, KindConversion}, d.Kind)
		single := slices.Contains([]string{KindQuote, KindTemplate, KindNavigation, KindRobots, KindSkipped}, d.Kind)
		if variant && d.Group == "" || single && d.Group != "" && !revisited[d.Group] {
			t.Errorf("%s %s: group %q", d.Kind, d.URI, d.Group)
		}
	}
}

// overlap is the share of the smaller set of sentences that is in the other.
func overlap(a, b []string) float64 {
	set := map[string]bool{}
	for _, s := range a {
		set[s] = true
	}
	n := 0
	for _, s := range b {
		if set[s] {
			n++
		}
	}
	return float64(n) / float64(max(1, min(len(a), len(b))))
}

// TestLabels checks the labels against the sentences of the main texts.
func TestLabels(t *testing.T) {
	docs := crawl()
	near := map[[2]int]bool{}
	for _, pair := range Near(Pages()) {
		near[pair] = true
	}
	for j, b := range docs {
		for i, a := range docs[:j] {
			if len(a.main) == 0 || len(b.main) == 0 {
				continue
			}
			o := overlap(a.main, b.main)
			switch {
			case near[[2]int{i, j}] && o < 0.7:
				t.Errorf("near, but overlap %.2f: %s %s, %s %s", o, a.Kind, a.URI, b.Kind, b.URI)
			case !near[[2]int{i, j}] && (a.Kind == KindQuote || b.Kind == KindQuote) && o > 0.2:
				t.Errorf("quoted, but overlap %.2f: %s, %s", o, a.URI, b.URI)
			case !near[[2]int{i, j}] && a.Kind != KindQuote && b.Kind != KindQuote && o > 0:
				t.Errorf("not near, but overlap %.2f: %s, %s", o, a.URI, b.URI)
			}
		}
	}
}

// TestSentences checks that signatures find enough in a page: at least 28 long
// sentences, none twice.
func TestSentences(t *testing.T) {
	columns := func(s string) (n int) {
		for _, r := range s {
			n++
			if r >= 0x3000 && r < 0xD7A4 {
				n++
			}
		}
		return n
	}
	for _, d := range crawl() {
		if d.Kind == KindNavigation || d.main == nil {
			continue
		}
		long := map[string]bool{}
		for _, s := range d.main {
			if strings.ContainsAny(s, "#{}|\n") {
				t.Errorf("%s: unfinished sentence %q", d.URI, s)
			}
			if columns(s) > 20 {
				long[s] = true
			}
		}
		if len(long) < 28 || len(long) < len(d.main)*9/10 {
			t.Errorf("%s: %d long distinct sentences of %d", d.URI, len(long), len(d.main))
		}
	}
}

// TestTemplates checks that a page is mostly its main text: a template that
// outweighs it would make near-duplicates of pages that only share a host.
func TestTemplates(t *testing.T) {
	hidden := regexp.MustCompile(`(?is)<(head|script|template)\b.*?</(head|script|template)>|<(div|p) (hidden|style="[^"]*display: ?none").*?</(div|p)>|<!--.*?-->`)
	tag := regexp.MustCompile(`<[^>]*>`)
	visible := func(s string) int {
		s = tag.ReplaceAllString(hidden.ReplaceAllString(s, " "), " ")
		return utf8.RuneCountInString(strings.Join(strings.Fields(html.UnescapeString(s)), " "))
	}
	for _, host := range hosts {
		n := visible(render(host+".example", "en", "utf-8", "T", ""))
		if n < 30 || n > 400 {
			t.Errorf("template of %s: %d visible characters", host, n)
		}
	}
	for _, d := range crawl() {
		if d.main == nil {
			continue
		}
		host := d.Site
		main := utf8.RuneCountInString(strings.Join(d.main, " "))
		share := float64(main) / float64(main+visible(render(host, d.Lang, "utf-8", "", "")))
		if d.Kind == KindNavigation && share < 0.5 || d.Kind != KindNavigation && share < 0.8 {
			t.Errorf("%s: the main text is %.2f of the page", d.URI, share)
		}
	}
}

// TestOtherMarkup: taking the markup off gives the text back.
func TestOtherMarkup(t *testing.T) {
	tag := regexp.MustCompile(`(?s)<script>.*?</script>|<div style.*?</div>|<!--.*?-->|<[^>]*>`)
	for _, topic := range []string{"en/engine", "ja/miso", "hi/mango"} {
		a := compose(topic)
		words := func(s string) string {
			return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(s, ""))), " ")
		}
		if got, want := words(otherBody(a)), words(plainBody(a)); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", topic, got, want)
		}
	}
}

// TestCharsets holds encode against known bytes.
func TestCharsets(t *testing.T) {
	back := map[string]rune{}
	for r, b := range gbk() {
		if b[0] < 0x81 || b[1] < 0x40 || back[string(b)] != 0 {
			t.Errorf("GBK of %q is %x, also of %q", r, b, back[string(b)])
		}
		back[string(b)] = r
	}
	if got, want := encode("Ёлка «я» — ёж", "windows-1251"), []byte("\xA8\xEB\xEA\xE0 \xAB\xFF\xBB \x97 \xB8\xE6"); !bytes.Equal(got, want) {
		t.Errorf("windows-1251: % x", got)
	}
	if got, want := encode("茶", "gbk"), []byte("\xB2\xE8"); !bytes.Equal(got, want) {
		t.Errorf("GBK: % x", got)
	}
	if got, want := encode("à midi", "iso-8859-1"), []byte("\xE0 midi"); !bytes.Equal(got, want) {
		t.Errorf("iso-8859-1: % x", got)
	}
	for _, d := range crawl() {
		other := strings.Contains(d.Note, "1251") || strings.Contains(d.Note, "8859") || strings.Contains(d.Note, "gbk")
		if len(d.main) > 0 && utf8.Valid(d.body) == other {
			t.Errorf("%s: valid UTF-8: %v", d.URI, !other)
		}
	}
}
