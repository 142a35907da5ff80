package review_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"neardup/audit"
)

// follow clicks on what a selector finds, and waits for a page whose address
// begins so.
func (b *tab) follow(selector, to string) {
	b.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
	b.until(fmt.Sprintf("document.readyState === 'complete' && (location.pathname + location.search).startsWith(%q)", to))
}

func TestBrowserBrowse(t *testing.T) {
	f := small(t)
	b := open(t, f)
	b.at("/")
	if n := eval[int](b, "document.querySelectorAll('table.lists tbody tr').length"); n != len(f.clusters) {
		t.Errorf("%d clusters are listed", n)
	}
	c := f.clusters[0]
	b.follow("td.main a", "/cluster/"+c.row.ID)
	if h1 := eval[string](b, "document.querySelector('h1').textContent"); strings.TrimSpace(h1) != c.row.Title {
		t.Errorf("the cluster is called %q", h1)
	}
	if n := eval[int](b, "[...document.querySelectorAll('figure.timeline rect title')].map(t => +t.textContent.split(': ')[1]).reduce((a, b) => a + b)"); n != len(c.members) {
		t.Errorf("%d pages are in the timeline", n)
	}
	// More members, another pair of members, the pair, a page, and back to the cluster.
	b.follow("a[rel=next]", "/cluster/"+c.row.ID+"?after=")
	last := c.members[len(c.members)-1].document
	b.do(chromedp.Click(chromedp.CSS("input[name=b][value='" + last + "']")))
	b.follow("form[action='/pair'] button", "/pair/"+c.row.Document+"/"+last)
	b.follow(".page-1 a", "/page/"+last)
	if text := eval[string](b, "document.querySelector('.text').textContent"); text != c.members[len(c.members)-1].text {
		t.Errorf("the text of the page is %q", text)
	}
	b.follow("a.button", "/cluster/"+c.row.ID)

	// Clusters by size; search.
	b.at("/clusters")
	b.do(chromedp.SendKeys(chromedp.CSS("input[name=max]"), "4"))
	b.follow("form.bar button", "/clusters?min=&max=4")
	if got := eval[string](b, "[...document.querySelectorAll('tbody td.number:first-child')].map(e => e.textContent).join(' ')"); got != "4 3 2 2 2" {
		t.Errorf("clusters of 4 and less: %s", got)
	}
	b.at("/search")
	b.do(chromedp.SendKeys(chromedp.CSS("input[name=host]"), "single.example"), chromedp.SendKeys(chromedp.CSS("input[name=from]"), "2020-04"))
	b.follow("form[role=search] button", "/search?uri=&host=single.example&from=2020-04")
	if n := eval[int](b, "document.querySelectorAll('tbody tr').length"); n != 9 {
		t.Errorf("%d pages are found", n)
	}
	// A date that is none stays in the form.
	b.do(chromedp.SendKeys(chromedp.CSS("input[name=to]"), "soon"))
	if eval[bool](b, "document.querySelector('form[role=search]').reportValidity()") {
		t.Error("a date that is none is sent")
	}
	b.missing = true
	b.at("/cluster/00")
	if h1 := eval[string](b, "document.querySelector('h1').textContent"); h1 != "Not Found" {
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
	b.at("/pair/" + a.document + "/" + other.document)
	// Both texts are there, beside each other, and nothing else in their columns.
	for i, text := range []string{a.text, other.text} {
		got := eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("td.side[data-side=%s]")].map(td => { td = td.cloneNode(true); td.querySelectorAll(".vh").forEach(e => e.remove()); return td.textContent }).join("")`, []string{"A", "B"}[i]))
		if got != text {
			t.Errorf("text %d is shown as %q, want %q", i, got, text)
		}
	}
	if n := eval[int](b, "document.querySelectorAll('figure.curve polyline.line, figure.curve rect.region').length"); n < 2 {
		t.Errorf("no curve with its region: %d", n)
	}
	left, right := eval[float64](b, "document.querySelector('td.side').getBoundingClientRect().left"), eval[float64](b, "document.querySelector('td.side:last-child').getBoundingClientRect().left")
	if right < left+400 {
		t.Errorf("column A is at %f, B at %f", left, right)
	}
	// Differences by keys.
	differences := eval[int](b, "document.querySelectorAll('tr.difference').length")
	current := "document.querySelector('tr[aria-current]')?.id"
	b.keys("n")
	b.until(current + " === 'difference-1'")
	if differences > 1 {
		b.keys("n")
		b.until(current + " === 'difference-2'")
		b.keys("p")
		b.until(current + " === 'difference-1'")
	}
	if top := eval[float64](b, "document.querySelector('tr[aria-current]').getBoundingClientRect().top"); top < 0 || top > 900 {
		t.Errorf("the difference is at %f", top)
	}
	folds := eval[int](b, "document.querySelectorAll('details.fold').length")
	b.keys("o")
	if n := eval[int](b, "document.querySelectorAll('details.fold[open]').length"); n != folds {
		t.Errorf("%d of %d folds are open", n, folds)
	}
	// The pair is judged here, too. Enter in the name does not judge.
	b.do(chromedp.SendKeys(chromedp.CSS("input[name=judge]"), "Ines"), chromedp.SendKeys(chromedp.CSS("textarea[name=note]"), "nt"), chromedp.Focus(chromedp.CSS("input[name=judge]")))
	b.keys(kb.Enter)
	b.follow("button[value=false]", "/pair/"+a.document+"/"+other.document+"?judge=Ines&said=false")
	b.until("document.querySelector('#live').textContent.includes('Kept as false')")
	given, _ := f.Judgements(b.ctx, audit.NewPair(a.record, other.record))
	if len(given) != 1 || given[0].Verdict != audit.False || given[0].Note != "nt" {
		t.Errorf("judged: %+v", given)
	}
}

// each opens pages, one after another.
func (b *tab) each(paths []string, what func(path string)) {
	b.Helper()
	for _, path := range paths {
		b.at(path)
		what(path)
	}
}

// No page is wider than its screen, of what it may hold either.
func TestBrowserNarrow(t *testing.T) {
	f := small(t)
	bad := hostile(t)
	for _, tt := range []struct {
		name    string
		archive *fake
		paths   []string
	}{{"usual", f, append(kinds(t, f), "/cluster/00")}, {"hostile", bad, hostilePages(bad)}} {
		t.Run(tt.name, func(t *testing.T) {
			b := open(t, tt.archive)
			b.missing = true
			for _, width := range []int64{320, 375} {
				b.screen(width, 640, "light")
				b.each(tt.paths, func(path string) {
					eval[bool](b, "document.querySelectorAll('details').forEach(d => { d.open = true }), true")
					if got := eval[int64](b, "document.documentElement.scrollWidth"); got > width || eval[int64](b, "innerWidth") != width {
						wide := eval[string](b, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(-3).map(e => e.outerHTML.slice(0, 150)).join("\n")`)
						t.Errorf("%s is %d wide on a screen of %d:\n%s", path, got, width, wide)
					}
				})
			}
		})
	}
}

// contrasts gives the elements with text of their own whose contrast with what
// is behind them is under 4.5 (large text: 3), after WCAG 2.
const contrasts = `(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const d = canvas.getImageData(0, 0, 1, 1).data;
    return [d[0], d[1], d[2], d[3] / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const behind = (e) => {
    const layers = [];
    for (let p = e; p; p = p.parentElement) layers.push(rgba(getComputedStyle(p).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const luminance = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 }); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
  const low = [];
  for (const e of document.querySelectorAll("body *")) {
    const text = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!text || !e.checkVisibility() || e.closest("svg, .vh, .skip, :disabled")) continue;
    const style = getComputedStyle(e), below = behind(e), a = luminance(over(rgba(style.color), below)), b = luminance(below);
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), size = parseFloat(style.fontSize);
    if (contrast < (size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5)) low.push(contrast.toFixed(2) + " " + e.outerHTML.slice(0, 120));
  }
  return low.slice(0, 5).join("\n");
})()`

func TestBrowserColours(t *testing.T) {
	f := small(t)
	paths := kinds(t, f)
	b := open(t, f)
	background := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		b.screen(1280, 900, scheme)
		b.each(paths, func(path string) {
			eval[bool](b, "document.querySelectorAll('details').forEach(d => { d.open = true }), true")
			b.until("document.getAnimations().length === 0")
			if low := eval[string](b, contrasts); low != "" {
				t.Errorf("%s, %s: low contrast:\n%s", path, scheme, low)
			}
		})
		background[scheme] = eval[string](b, "getComputedStyle(document.documentElement).backgroundColor")
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
	b.each(paths, func(path string) {
		eval[bool](b, "document.querySelectorAll('details').forEach(d => { d.open = true }), true")
		n := 0
		for _, node := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
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

// A crawl that attacks who looks at it runs nothing, loads nothing and leads
// nowhere. What else would be wrong, watch collects.
func TestBrowserHostile(t *testing.T) {
	f := hostile(t)
	b := open(t, f)
	b.each(hostilePages(f), func(path string) {
		eval[bool](b, "document.querySelectorAll('details').forEach(d => { d.open = true }), true")
		if eval[bool](b, "'hacked' in window") || eval[int](b, "document.scripts.length") != 1 || eval[int](b, "frames.length") != 0 {
			t.Errorf("%s: something ran", path)
		}
		if got := eval[string](b, "location.origin"); got != b.origin {
			t.Errorf("%s led to %s", path, got)
		}
	})
	// The test sees what it looks for.
	before := len(b.problems)
	b.at("/")
	b.do(chromedp.Navigate(b.origin + "/assets/none"))
	eval[bool](b, `(() => { const e = document.createElement("script"); e.textContent = "window.hacked = 1"; document.documentElement.append(e); const i = new Image(); i.src = "http://127.0.0.1:1/x.png"; return true })()`)
	b.until("document.scripts.length > 0")
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.problems) == before || eval[bool](b, "'hacked' in window") {
		t.Errorf("the policy does not hold, or its violation is not seen: %v", b.problems[before:])
	}
	b.problems = b.problems[:before]
}
