package review_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"neardup/audit"
	"neardup/review/browser"
)

func TestBrowserBrowse(t *testing.T) {
	f := small(t)
	b := open(t, f)
	b.At("/")
	if n := browser.Eval[int](b, "document.querySelectorAll('table.lists tbody tr').length"); n != len(f.clusters) {
		t.Errorf("%d clusters are listed", n)
	}
	c := f.clusters[0]
	b.Follow("td.main a", "/cluster/"+c.row.ID)
	if h1 := browser.Eval[string](b, "document.querySelector('h1').textContent"); strings.TrimSpace(h1) != c.row.Title {
		t.Errorf("the cluster is called %q", h1)
	}
	if n := browser.Eval[int](b, "[...document.querySelectorAll('figure.timeline rect title')].map(t => +t.textContent.split(': ')[1]).reduce((a, b) => a + b)"); n != len(c.members) {
		t.Errorf("%d pages are in the timeline", n)
	}
	// More members, another pair of members, the pair, a page, and back to the cluster.
	b.Follow("a[rel=next]", "/cluster/"+c.row.ID+"?after=")
	last := c.members[len(c.members)-1].document
	b.Do(chromedp.Click(chromedp.CSS("input[name=b][value='" + last + "']")))
	b.Follow("form[action='/pair'] button", "/pair/"+c.row.Document+"/"+last)
	b.Follow(".page-1 a", "/page/"+last)
	if text := browser.Eval[string](b, "document.querySelector('.text').textContent"); text != c.members[len(c.members)-1].text {
		t.Errorf("the text of the page is %q", text)
	}
	b.Follow("a.button", "/cluster/"+c.row.ID)

	// Clusters by size; search.
	b.At("/clusters")
	b.Do(chromedp.SendKeys(chromedp.CSS("input[name=max]"), "4"))
	b.Follow("form.bar button", "/clusters?min=&max=4")
	if got := browser.Eval[string](b, "[...document.querySelectorAll('tbody td.number:first-child')].map(e => e.textContent).join(' ')"); got != "4 3 2 2 2" {
		t.Errorf("clusters of 4 and less: %s", got)
	}
	b.At("/search")
	b.Do(chromedp.SendKeys(chromedp.CSS("input[name=host]"), "single.example"), chromedp.SendKeys(chromedp.CSS("input[name=from]"), "2020-04"))
	b.Follow("form[role=search] button", "/search?uri=&host=single.example&from=2020-04")
	if n := browser.Eval[int](b, "document.querySelectorAll('tbody tr').length"); n != 9 {
		t.Errorf("%d pages are found", n)
	}
	// A date that is none stays in the form.
	b.Do(chromedp.SendKeys(chromedp.CSS("input[name=to]"), "soon"))
	if browser.Eval[bool](b, "document.querySelector('form[role=search]').reportValidity()") {
		t.Error("a date that is none is sent")
	}
	b.Missing = true
	b.At("/cluster/00")
	if h1 := browser.Eval[string](b, "document.querySelector('h1').textContent"); h1 != "Not Found" {
		t.Errorf("h1 is %q", h1)
	}
}

func TestBrowserPair(t *testing.T) {
	f := small(t)
	b := open(t, f)
	c := f.clusters[0].members
	a, other := c[0], c[0]
	for _, p := range c { // with several lines that differ
		if strings.Count(p.text, "\n") > strings.Count(a.text, "\n") {
			other = p
		}
	}
	b.At("/pair/" + a.document + "/" + other.document)
	// Both texts are there, beside each other, and nothing else in their columns.
	for i, text := range []string{a.text, other.text} {
		got := browser.Eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("td.side[data-side=%s]")].map(td => { td = td.cloneNode(true); td.querySelectorAll(".vh").forEach(e => e.remove()); return td.textContent }).join("")`, []string{"A", "B"}[i]))
		if got != text {
			t.Errorf("text %d is shown as %q, want %q", i, got, text)
		}
	}
	if n := browser.Eval[int](b, "document.querySelectorAll('figure.curve polyline.line, figure.curve rect.region').length"); n < 2 {
		t.Errorf("no curve with its region: %d", n)
	}
	left, right := browser.Eval[float64](b, "document.querySelector('td.side').getBoundingClientRect().left"), browser.Eval[float64](b, "document.querySelector('td.side:last-child').getBoundingClientRect().left")
	if right < left+400 {
		t.Errorf("column A is at %f, B at %f", left, right)
	}
	// Differences by keys.
	differences := browser.Eval[int](b, "document.querySelectorAll('tr.difference').length")
	current := "document.querySelector('tr[aria-current]')?.id"
	b.Keys("n")
	b.Until(current + " === 'difference-1'")
	if differences > 1 {
		b.Keys("n")
		b.Until(current + " === 'difference-2'")
		b.Keys("p")
		b.Until(current + " === 'difference-1'")
	}
	if top := browser.Eval[float64](b, "document.querySelector('tr[aria-current]').getBoundingClientRect().top"); top < 0 || top > 900 {
		t.Errorf("the difference is at %f", top)
	}
	folds := browser.Eval[int](b, "document.querySelectorAll('details.fold').length")
	b.Keys("o")
	if n := browser.Eval[int](b, "document.querySelectorAll('details.fold[open]').length"); n != folds {
		t.Errorf("%d of %d folds are open", n, folds)
	}
	// The pair is judged here, too. Enter in the name does not judge.
	b.Do(chromedp.SendKeys(chromedp.CSS("input[name=judge]"), "Ines"), chromedp.SendKeys(chromedp.CSS("textarea[name=note]"), "nt"), chromedp.Focus(chromedp.CSS("input[name=judge]")))
	b.Keys(kb.Enter)
	b.Follow("button[value=false]", "/pair/"+a.document+"/"+other.document+"?judge=Ines&said=false")
	b.Until("document.querySelector('#live').textContent.includes('Kept as false')")
	given, _ := f.Judgements(b.Context(), audit.NewPair(a.record, other.record))
	if len(given) != 1 || given[0].Verdict != audit.False || given[0].Note != "nt" {
		t.Errorf("judged: %+v", given)
	}
}

// each opens pages, one after another.
func each(b *browser.Tab, paths []string, what func(path string)) {
	b.Helper()
	for _, path := range paths {
		b.At(path)
		what(path)
	}
}

// No page is wider than its screen.
func TestBrowserNarrow(t *testing.T) {
	f := small(t)
	paths := append(kinds(t, f), "/cluster/00")
	b := open(t, f)
	b.Missing = true
	for _, width := range []int64{320, 375} {
		b.Screen(width, 640, "light")
		each(b, paths, func(path string) {
			b.Unfold()
			b.Fits(path)
		})
	}
}

func TestBrowserColours(t *testing.T) {
	f := small(t)
	paths := kinds(t, f)
	b := open(t, f)
	background := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		b.Screen(1280, 900, scheme)
		each(b, paths, func(path string) {
			b.Unfold()
			b.Legible(path + ", " + scheme)
		})
		background[scheme] = browser.Eval[string](b, "getComputedStyle(document.documentElement).backgroundColor")
	}
	if background["light"] == background["dark"] {
		t.Errorf("both backgrounds are %s", background["light"])
	}
}

// Everything that can be pressed has a name for those who do not see it.
func TestBrowserNames(t *testing.T) {
	f := small(t)
	paths := kinds(t, f)
	b := open(t, f)
	each(b, paths, func(path string) {
		b.Unfold()
		n := 0
		for _, node := range browser.Call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
			if node.Ignored || node.Role == nil {
				continue
			}
			role := strings.Trim(string(node.Role.Value), `"`)
			switch role {
			case "button", "link", "textbox", "searchbox", "checkbox", "radio", "spinbutton", "image", "img", "dialog", "navigation", "progressbar":
				n++
				if node.Name == nil || strings.Trim(string(node.Name.Value), `" `) == "" {
					t.Errorf("%s: a %s has no name", path, role)
				}
			}
		}
		if n < 6 {
			t.Errorf("%s: %d things with a name", path, n)
		}
	})
}

// A crawl that attacks who looks at it runs nothing, loads nothing, leads nowhere
// and breaks no layout. What else would be wrong, the browser's tab collects.
func TestBrowserHostile(t *testing.T) {
	f := hostile(t)
	b := open(t, f)
	each(b, hostilePages(f), func(path string) {
		b.Unfold()
		if browser.Eval[bool](b, "'hacked' in window") || browser.Eval[int](b, "document.scripts.length") != 1 || browser.Eval[int](b, "frames.length") != 0 {
			t.Errorf("%s: something ran", path)
		}
		if got := browser.Eval[string](b, "location.origin"); got != b.Origin {
			t.Errorf("%s led to %s", path, got)
		}
		b.Clips(path)
		b.Fits(path)
		b.Screen(320, 640, "light")
		b.Fits(path)
		b.Screen(1280, 900, "light")
	})
	// The test sees what it looks for.
	if bad := b.Problems(); len(bad) > 0 {
		t.Error(bad)
	}
	b.At("/")
	browser.Eval[bool](b, `(() => { const e = document.createElement("script"); e.textContent = "window.hacked = 1"; document.documentElement.append(e); const i = new Image(); i.src = "http://127.0.0.1:1/x.png"; return true })()`)
	var bad []string
	for wait := 0; wait < 200 && len(bad) == 0; wait++ { // the browser tells of it by itself
		time.Sleep(50 * time.Millisecond)
		bad = b.Problems()
	}
	if len(bad) == 0 || browser.Eval[bool](b, "'hacked' in window") {
		t.Errorf("the policy does not hold, or its violation is not seen: %v", bad)
	}
}
