package main

import (
	"bytes"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"neardup/review/browser"
)

// attacks are what a hostile crawl has in every place that takes it. Each sets
// window.hacked where it runs, or asks for something elsewhere, or is to break a
// layout. None has a line break, which would end a header.
var attacks = []string{
	`<script>window.hacked=1;alert(1)</script>`,
	`"><img src=x onerror="window.hacked=1">`,
	`'><svg onload=window.hacked=1><style>*{display:none}</style>`,
	`javascript:window.hacked=1;alert(1)`,
	`data:text/html,<script>window.hacked=1</script>`,
	`</title></textarea></style></script><iframe src=//evil.example>`,
	`]]></svg><script>window.hacked=1</script><![CDATA[ <!-- {{.}} {{template "x"}} ${window.hacked=1} %s %!d`,
	"\u202egnp.exe\u2066 \u200f\u061c \x00\x01\x1b[31m",
	`<base href="//evil.example/"><link rel=stylesheet href=//evil.example/x.css>`,
	`<form action=//evil.example><button autofocus onfocus=window.hacked=1>`,
	`<meta http-equiv=refresh content="0;url=//evil.example">`,
	"\xff\xfe\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80",
	strings.Repeat("W", 64<<10),
	strings.Repeat("a\u0301\u0300\u0302", 3000) + strings.Repeat("\u200b\u00a0\u3000", 2000),
}

// hostileWARC returns a crawl of three captures of a text for each attack, which is
// in their titles, texts, hosts, URIs and headers.
func hostileWARC() []byte {
	random := rand.New(rand.NewPCG(3, 5))
	var words []string
	for range 400 {
		word := make([]byte, 3+random.IntN(7))
		for i := range word {
			word[i] = byte('a' + random.IntN(26))
		}
		words = append(words, string(word))
	}
	paragraph := func() string {
		var b strings.Builder
		for range 4 {
			for i := range 12 {
				b.WriteString(words[random.IntN(len(words))])
				b.WriteString(map[bool]string{true: ". ", false: " "}[i == 11])
			}
		}
		return "<p>" + b.String() + "</p>\n"
	}
	var out bytes.Buffer
	n := 0
	record := func(kind, head, block string) {
		fmt.Fprintf(&out, "WARC/1.1\r\nWARC-Type: %s\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, head, len(block), block)
	}
	record("warcinfo", "WARC-Record-ID: <urn:uuid:info>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Filename: "+attacks[0]+"\r\nContent-Type: application/warc-fields\r\n",
		"software: "+attacks[1]+"\r\n")
	for i, attack := range attacks {
		short := attack[:min(len(attack), 2000)] // where a header bounds it
		text := []string{paragraph() + paragraph(), paragraph(), "<p>" + html.EscapeString(attack) + "</p>\n", paragraph(), paragraph() + paragraph()}
		for v, uri := range []string{
			"http://evil-" + fmt.Sprint(i) + ".example/" + short,
			"http://" + short + ".example/?q=" + short + "#" + short,
			short,
		} {
			n++
			own := slices.Clone(text)
			if v > 0 { // something that only this one has, beside the attack
				own[1+v] += "<p>" + words[n] + " " + html.EscapeString(short[:min(len(short), 200)]) + "</p>"
			}
			body := "<!DOCTYPE html><html><head><title>" + strings.ReplaceAll(attack, "</title>", "&lt;/title>") + "</title><script>window.hacked=1</script></head><body onload='window.hacked=1'><main>" +
				strings.Join(own, "") + "<img src=x onerror=window.hacked=1></main></body></html>"
			date := fmt.Sprintf("2024-0%d-01T00:00:%02dZ", 1+v, n)
			id := fmt.Sprintf("urn:uuid:%d", n)
			kind := "text/html; charset=utf-8"
			switch v {
			case 1:
				id, kind = id+short, `text/html; charset="`+short+`"`
			case 2:
				date, kind = "2024-03-01"+short, `text/html; x="`+short+`"; charset=utf-8`
			}
			record("response", "WARC-Record-ID: <"+id+">\r\nWARC-Date: "+date+"\r\nWARC-Target-URI: "+uri+"\r\nWARC-Payload-Digest: "+short+
				"\r\nContent-Type: application/http; msgtype=response\r\n", "HTTP/1.1 200 "+short+"\r\nContent-Type: "+kind+"\r\nServer: "+short+"\r\nContent-Language: "+short+"\r\n\r\n"+body)
		}
	}
	return out.Bytes()
}

// harm is what a page has of which the program puts nothing into pages, but a
// crawl may; ORIGIN stands for where links may lead.
const harm = `(() => {
  const out = [];
  if ("hacked" in window) out.push("something ran");
  if (frames.length > 0) out.push("frames");
  if (!location.href.startsWith(ORIGIN)) out.push("at " + location.href);
  for (const e of document.querySelectorAll("*")) {
    if (e.matches("head > link[rel=icon][href='data:,']")) continue; // the report's own
    if (e.matches("img, iframe, object, embed, base, meta[http-equiv=refresh i], script:not([src]), svg style, [autofocus]")) out.push(e.outerHTML.slice(0, 200));
    for (const a of e.attributes) {
      if (a.name.startsWith("on")) out.push(e.localName + " " + a.name);
      if (["href", "src", "action", "formaction"].includes(a.name) && !new URL(a.value, location).href.startsWith(ORIGIN)) out.push(e.localName + " to " + a.value.slice(0, 200));
    }
  }
  return out.slice(0, 5);
})()`

// harmless opens a page and holds it against what a crawl may try.
func harmless(b *browser.Tab, path string) {
	b.Helper()
	b.At(path)
	unharmed(b, path)
}

// unharmed does so for the page that is shown.
func unharmed(b *browser.Tab, what string) {
	b.Helper()
	b.Unfold()
	if got := browser.Eval[[]string](b, strings.ReplaceAll(harm, "ORIGIN", fmt.Sprintf("%q", b.Origin+"/"))); len(got) > 0 {
		b.Errorf("%.200s: %q", what, got)
	}
	if !browser.Eval[bool](b, "document.querySelector('main').checkVisibility() && document.querySelector('h1').checkVisibility()") {
		b.Errorf("%.200s: nothing is to be seen", what)
	}
	b.Clips(what)
	b.Fits(what)
	b.Screen(320, 640, "light")
	b.Fits(what)
	b.Screen(1280, 900, "light")
}

// links returns the addresses of a page that begin so, each once.
func links(b *browser.Tab, prefix string) []string {
	b.Helper()
	return browser.Eval[[]string](b, fmt.Sprintf(`[...new Set([...document.querySelectorAll("main a[href]")].map(a => a.getAttribute("href")).filter(h => h.startsWith(%q)))]`, prefix))
}

func TestHostileCrawlInABrowser(t *testing.T) {
	browser.Need(t)
	dir := t.TempDir()
	crawl, ws := filepath.Join(dir, `<img src=x onerror=hacked=1>{{.}}.warc`), filepath.Join(dir, `<svg onload=hacked=1>'"&`)
	if err := os.WriteFile(crawl, hostileWARC(), 0o644); err != nil {
		t.Fatal(err)
	}
	runIn(t, ws, crawl)
	server := serve(t, ws, "127.0.0.1:0")
	b := browser.Open(t, server.url)

	// What can be browsed.
	harmless(b, "/")
	harmless(b, "/clusters")
	clusters := links(b, "/cluster/")
	if len(clusters) != len(attacks) {
		t.Errorf("%d clusters of %d attacks", len(clusters), len(attacks))
	}
	for _, path := range clusters {
		harmless(b, path)
		pages, pairs := links(b, "/page/"), links(b, "/pair/")
		if len(pages) == 0 || len(pairs) == 0 {
			t.Fatalf("%s leads to %d pages and %d pairs", path, len(pages), len(pairs))
		}
		harmless(b, pairs[0])
		harmless(b, pages[len(pages)-1])
	}
	harmless(b, "/search")
	if n := count(b, "table.lists tbody tr"); n != 3*len(attacks) {
		t.Errorf("%d pages are found", n)
	}
	if got := browser.Eval[string](b, "document.querySelector('main').textContent"); !strings.Contains(got, attacks[0]) || !strings.Contains(got, attacks[1]) {
		t.Error("the attacks are not shown as what they are")
	}
	for _, attack := range attacks[:11] {
		harmless(b, "/search?uri="+url.QueryEscape(attack)+"&host="+url.QueryEscape(attack[:min(len(attack), 200)]))
	}
	b.At("/search")
	b.Type("main input[name=uri]", attacks[1])
	b.Follow("form[role=search] button", "/search?")
	if got := browser.Eval[string](b, "document.querySelector('main input[name=uri]').value"); got != attacks[1] {
		t.Errorf("the search is for %q", got)
	}
	b.Missing = true
	harmless(b, "/cluster/"+url.PathEscape(attacks[0]))

	hostileJudge(b)
	b.Close()
	server.stop()

	// The report of it, from disk, with judgements that are followed.
	runIn(t, ws)
	out := filepath.Join(dir, "report")
	neardup(t, exitOK, "report", "--workspace", ws, "--output", out, "--title", attacks[0]+attacks[1])
	b = browser.Open(t, "file://"+out)
	for _, pattern := range []string{"*.html", "cluster/*.html"} {
		files, err := filepath.Glob(filepath.Join(out, pattern))
		if err != nil || len(files) < 2 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			harmless(b, strings.TrimPrefix(file, out))
		}
	}
}

// hostileJudge gives hostile names and notes in an audit, and looks at all that
// shows them.
func hostileJudge(b *browser.Tab) {
	b.Helper()
	name, note := `"><script>hacked=1</script>'{{.}}`, strings.Join(attacks[:7], " ")+strings.Repeat("W", 300)
	b.At("/audit")
	b.Type("input[name=name]", "hostile")
	b.TabTo("input size ")
	b.Keys("3")
	b.Follow("form.draw button", "/audit/hostile")
	b.Type("input[name=judge]", name)
	b.Keys(kb.Enter)
	for number := range 3 {
		b.Arrived(fmt.Sprintf("/audit/hostile/%d", number+1))
		unharmed(b, "a pair to judge")
		b.Type("textarea[name=note]", note[len(note)*number/3:]) // first all of it
		b.Keys(kb.Escape + "et")
	}
	b.Arrived("/audit/hostile")
	unharmed(b, "the audit")
	if got := textOf(b, "table.judges tbody td"); got != name {
		b.Errorf("the judge is %q", got)
	}
	harmless(b, "/audit")
	harmless(b, "/audit/hostile/1?judge="+url.QueryEscape(name))
	if got := browser.Eval[string](b, "document.querySelector('textarea').value"); got != note {
		b.Errorf("the note is %q", got)
	}
	harmless(b, "/enforced")
	pairs := links(b, "/pair/")
	if len(pairs) != 3 {
		b.Fatalf("%d pairs are enforced", len(pairs))
	}
	var judgements string // one of the pairs has the whole note
	for _, pair := range pairs {
		harmless(b, pair)
		judgements += browser.Eval[string](b, "document.querySelector('#judgements ~ table').textContent")
	}
	if !strings.Contains(judgements, note) || !strings.Contains(judgements, name) {
		b.Errorf("the judgements are %q", judgements)
	}
	for file, kind := range map[string]string{"truth.tsv": "text/tab-separated-values; charset=utf-8", "pages.tsv": "text/tab-separated-values; charset=utf-8",
		"labels.jsonl": "application/x-ndjson", "result.json": "application/json"} {
		answer, err := http.Get(b.Origin + "/audit/hostile/" + file)
		if err != nil {
			b.Fatal(err)
		}
		_ = answer.Body.Close()
		h := answer.Header
		if answer.StatusCode != http.StatusOK || h.Get("Content-Type") != kind || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Content-Disposition") != `attachment; filename="hostile.`+file+`"` {
			b.Errorf("%s: status %d, %v", file, answer.StatusCode, h)
		}
	}
}
