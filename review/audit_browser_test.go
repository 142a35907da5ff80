package review_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"neardup/audit"
)

// focused describes what has the focus.
const focused = `(() => { const e = document.activeElement; return [e.localName, e.name || "", e.value || e.getAttribute("href") || e.textContent.trim()].join(" ").slice(0, 80) })()`

// tabTo presses Tab until something has the focus.
func (b *tab) tabTo(want string) {
	b.Helper()
	var seen []string
	for range 120 {
		b.keys(kb.Tab)
		at := eval[string](b, focused)
		if strings.HasPrefix(at, want) {
			return
		}
		seen = append(seen, at)
	}
	b.Fatalf("Tab does not reach %s: %s", want, strings.Join(seen, "; "))
}

// arrived waits for a page.
func (b *tab) arrived(path string) {
	b.Helper()
	b.until(fmt.Sprintf("document.readyState === 'complete' && location.pathname === %q", path))
}

// A whole audit by the keyboard: a sample is drawn, 20 pairs are judged, with a
// note, a verdict that is taken back, and one that is enforced.
func TestBrowserAudit(t *testing.T) {
	f := small(t)
	b := open(t, f)
	b.at("/")
	b.tabTo("a  #main")
	b.keys(kb.Enter) // skips to the content
	b.at("/")
	b.tabTo("a  /audit")
	b.keys(kb.Enter)
	b.arrived("/audit")
	b.tabTo("input name ")
	b.keys("by-keys")
	b.tabTo("input size ")
	b.keys("\b\b\b20") // in place of 200
	if got := eval[string](b, "document.activeElement.value"); got != "20" {
		t.Fatalf("the size is %q", got)
	}
	b.keys(kb.Enter)
	b.arrived("/audit/by-keys")
	b.tabTo("input judge ")
	b.keys("Ines" + kb.Enter)
	b.arrived("/audit/by-keys/1")

	items := f.audits["by-keys"].items
	if len(items) != 20 {
		t.Fatalf("%d pairs are drawn", len(items))
	}
	// The guideline is on the screen, and what the method says is not.
	if !eval[bool](b, "document.querySelector('details.guide').open && !document.querySelector('details.method').open") {
		t.Error("the guideline is folded, or the scores are not")
	}
	// Help by a key; no key judges while it is open.
	b.keys("?")
	b.until("document.querySelector('dialog').open")
	b.keys("t")
	b.keys(kb.Escape)
	b.until("!document.querySelector('dialog').open")

	page := func(i int) string { return fmt.Sprintf("/audit/by-keys/%d", i+1) }
	want := map[audit.Pair]audit.Judgement{}
	for i := 0; i < len(items); i++ {
		b.arrived(page(i))
		if got := eval[string](b, "document.querySelector('h1').textContent"); got != fmt.Sprintf("Pair %d of 20", i+1) {
			t.Fatalf("h1 is %q", got)
		}
		j := audit.Judgement{Pair: items[i].Pair, Judge: "Ines", Verdict: audit.True, Time: "2026-01-05T11:00:00Z"}
		switch i {
		case 2: // keys in a note are letters
			b.keys("n")
			b.until("document.activeElement.name === 'note'")
			b.keys("tfu jk?")
			b.keys(kb.Escape)
			j.Note = "tfu jk?"
		case 4:
			b.keys("e")
			j.Verdict, j.Enforce = audit.False, true
		case 7:
			j.Verdict = audit.Unknown
		case 9: // said wrongly, and taken back
			b.keys("f")
			b.arrived(page(10))
			b.keys("z")
			b.arrived(page(9))
			if given, _ := f.Judgements(b.ctx, items[9].Pair); len(given) > 0 {
				t.Errorf("not taken back: %+v", given)
			}
		case 12: // looked at the one before
			b.keys("k")
			b.arrived(page(11))
			if eval[string](b, "document.querySelector('[aria-pressed]').value") != "true" {
				t.Error("the verdict given before is not shown")
			}
			b.keys("j")
			b.arrived(page(12))
		}
		want[j.Pair] = j
		b.keys(map[audit.Verdict]string{audit.True: "t", audit.False: "f", audit.Unknown: "u"}[j.Verdict])
	}
	b.arrived("/audit/by-keys")
	b.until("document.querySelector('#live').textContent.includes('all 20 pairs')")
	for pair, j := range want {
		given, _ := f.Judgements(b.ctx, pair)
		if len(given) != 1 || given[0] != j {
			t.Errorf("judged %+v, want %+v", given, j)
		}
	}
	if got := eval[string](b, "document.querySelector('table.intervals tbody tr').innerText.replace(/\\s+/g, ' ')"); !strings.Contains(got, "all pairs") {
		t.Errorf("the result is %q", got)
	}
	// What is left to do with it is reached, too.
	b.tabTo("a  /audit/by-keys/truth.tsv")
	b.at("/enforced")
	if text := eval[string](b, "document.querySelector('tbody').innerText"); strings.Count(text, "must not join") != 1 || !strings.Contains(text, "pending") {
		t.Errorf("enforced: %s", text)
	}
}

// Without script all is done by forms and links.
func TestBrowserWithoutScript(t *testing.T) {
	f := small(t)
	kinds(t, f)
	b := open(t, f)
	b.script(false)
	b.at("/audit/kinds/2?judge=Noor")
	b.tabTo("button verdict unknown")
	b.keys(kb.Enter)
	b.arrived("/audit/kinds/3")
	given, _ := f.Judgements(b.ctx, f.audits["kinds"].items[1].Pair)
	if len(given) != 1 || given[0].Verdict != audit.Unknown || given[0].Judge != "Noor" {
		t.Errorf("judged %+v", given)
	}
	b.keys("t") // keys are script
	b.tabTo("a  /audit/kinds/4")
	b.keys(kb.Enter)
	b.arrived("/audit/kinds/4")
}
