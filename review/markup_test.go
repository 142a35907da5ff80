package review_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"neardup/audit"
)

// element is one of a page.
type element struct{ *html.Node }

func (e element) attr(name string) string {
	for _, a := range e.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (e element) has(name string) bool {
	return slices.ContainsFunc(e.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// all returns the elements of such a name inside; of any, with *.
func (e element) all(name string) (out []element) {
	for n := range e.Descendants() {
		if n.Type == html.ElementNode && (name == "*" || n.Data == name) {
			out = append(out, element{n})
		}
	}
	return out
}

func (e element) text() string {
	var b strings.Builder
	for n := range e.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

func (e element) inside(names ...string) bool {
	for p := e.Parent; p != nil; p = p.Parent {
		if slices.Contains(names, p.Data) {
			return true
		}
	}
	return false
}

func parse(t testing.TB, page string) element {
	t.Helper()
	n, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return element{n}
}

var (
	voids     = []string{"meta", "link", "input", "br", "col"}
	templated = regexp.MustCompile(`ZgotmplZ|%!|<no value>|&lt;nil&gt;`)
)

// balanced holds the tags of a page against each other.
func balanced(t testing.TB, path, page string) {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(page))
	var open []string
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Errorf("%s: not closed: %v", path, open)
			}
			return
		case html.StartTagToken:
			name, _ := z.TagName()
			if !slices.Contains(voids, string(name)) {
				open = append(open, string(name))
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			if n := len(open); n == 0 || open[n-1] != string(name) {
				t.Errorf("%s: </%s> in %v", path, name, open)
				return
			}
			open = open[:len(open)-1]
		}
	}
}

// wellFormed holds a page against what all pages must be.
func wellFormed(t testing.TB, path, page string) element {
	t.Helper()
	balanced(t, path, page)
	if bad := templated.FindString(page); bad != "" {
		t.Errorf("%s: %s", path, bad)
	}
	doc := parse(t, page)
	ids := map[string]bool{}
	for _, e := range doc.all("*") {
		if id := e.attr("id"); e.has("id") && (id == "" || ids[id]) {
			t.Errorf("%s: id %q is there twice", path, id)
		} else {
			ids[id] = true
		}
	}
	h1, level := 0, 0
	for _, e := range doc.all("*") {
		for _, a := range e.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" {
				t.Errorf("%s: <%s %s>", path, e.Data, a.Key)
			}
			switch a.Key {
			case "href", "src", "action", "formaction", "poster", "data", "xlink:href":
				if !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") || strings.HasPrefix(a.Val, "//") {
					t.Errorf("%s: <%s %s=%q>", path, e.Data, a.Key, a.Val)
				}
				if id, ok := strings.CutPrefix(a.Val, "#"); ok && !ids[id] {
					t.Errorf("%s: nothing has the id %q", path, id)
				}
			case "aria-labelledby", "form", "for":
				for id := range strings.FieldsSeq(a.Val) {
					if !ids[id] {
						t.Errorf("%s: %s names %q, which is not there", path, a.Key, id)
					}
				}
			}
		}
		switch e.Data {
		case "script":
			if e.attr("src") == "" || e.text() != "" {
				t.Errorf("%s: script inside", path)
			}
		case "style", "iframe", "object", "embed", "base", "img", "video", "audio":
			t.Errorf("%s: <%s>", path, e.Data)
		case "input", "select", "textarea":
			if e.attr("type") != "hidden" && !e.inside("label") && e.attr("aria-label") == "" {
				t.Errorf("%s: <%s name=%s> without a label", path, e.Data, e.attr("name"))
			}
		case "button", "a", "summary":
			if strings.TrimSpace(e.text()) == "" && e.attr("aria-label") == "" && !e.has("hidden") {
				t.Errorf("%s: <%s> without a name", path, e.Data)
			}
		case "svg":
			if e.attr("aria-hidden") == "" && (e.attr("role") != "img" || e.attr("aria-labelledby") == "") {
				t.Errorf("%s: a drawing without a name", path)
			}
		case "h1", "h2", "h3":
			n := int(e.Data[1] - '0')
			if e.inside("dialog") {
				break
			}
			if h1 += map[bool]int{true: 1}[n == 1]; n > level+1 {
				t.Errorf("%s: %s after h%d", path, e.Data, level)
			}
			level = n
		case "th":
			if e.attr("scope") == "" {
				t.Errorf("%s: <th> without scope", path)
			}
		}
	}
	if h1 != 1 || len(doc.all("main")) != 1 || len(doc.all("nav")) == 0 || doc.all("html")[0].attr("lang") == "" {
		t.Errorf("%s: %d h1, %d main", path, h1, len(doc.all("main")))
	}
	return doc
}

func TestMarkup(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	for _, path := range kinds(t, f) {
		doc := wellFormed(t, path, s.get(path))
		current := 0
		for _, a := range doc.all("a") {
			if a.has("aria-current") {
				current++
			}
		}
		if current != 1 {
			t.Errorf("%s: %d entries are current", path, current)
		}
	}
	if len(s.failed) > 0 {
		t.Error(s.failed)
	}
}

// attack is what a hostile crawl has in every place.
var attack = []string{
	`<script>window.hacked=1;alert(1)</script>`, `"><img src=x onerror="window.hacked=1">`, `'><svg onload=alert(1)>`, `javascript:window.hacked=1`,
	`</title></textarea></style></script><iframe src=//evil.example>`, `{{.}} ${1} <!--`, "\u202egnp.exe\u2066\x00\x1b[31m", `<base href="//evil.example/"><link rel=stylesheet href=//evil.example/x.css>`,
	`<form action=//evil.example><button>`, `<meta http-equiv=refresh content="0;url=//evil.example">`, strings.Repeat("W", 100_000), strings.Repeat("a\u0301\u0300\u0302", 3000), "\xff\xfe",
}

// hostile returns an archive of a crawl that attacks who looks at it.
func hostile(t testing.TB) *fake {
	t.Helper()
	f := newFake(t, []int{14, 3}, 3)
	for _, c := range f.clusters {
		for i, p := range c.members {
			bad := attack[i%len(attack)]
			p.title, p.uri = bad, "http://evil.example/"+bad
			if i == 3 {
				p.uri = attack[3]
			}
			lines := strings.SplitAfter(p.text, "\n")
			p.text = strings.Join(lines[:len(lines)/2], "") + bad + "\n" + strings.Join(lines[len(lines)/2:], "")
		}
	}
	f.close()
	if _, err := f.Draw(context.Background(), "hostile", audit.Design{Population: audit.Pages, Size: 20, Seed: 4}); err != nil {
		t.Fatal(err)
	}
	for i, item := range f.audits["hostile"].items {
		bad := attack[i%len(attack)]
		_ = f.Judge(context.Background(), audit.Judgement{Pair: item.Pair, Judge: bad, Verdict: audit.True, Note: bad, Enforce: true})
		_ = f.Judge(context.Background(), audit.Judgement{Pair: f.audits["hostile"].items[0].Pair, Judge: bad, Verdict: audit.True, Note: bad, Enforce: true})
	}
	return f
}

// hostilePages returns an address of each kind, and of each attack.
func hostilePages(f *fake) []string {
	out := []string{"/", "/clusters", "/contained", "/search", "/search?uri=" + "%3Cscript%3Ealert(1)%3C/script%3E", "/audit", "/audit/hostile", "/audit/hostile?judge=" + "%3Cscript%3Ealert(1)%3C/script%3E",
		"/enforced", "/cluster/" + f.clusters[0].row.ID, "/audit/hostile/1?judge=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E"}
	c := f.clusters[0].members
	for i := range attack {
		out = append(out, "/page/"+c[i].document, "/pair/"+c[i].document+"/"+c[(i+1)%len(c)].document)
	}
	return out
}

// What was crawled adds no element and no attribute to a page.
func TestHostileMarkup(t *testing.T) {
	f := hostile(t)
	s := serve(t, f)
	for _, path := range hostilePages(f) {
		page := s.get(path)
		doc := wellFormed(t, path, page)
		if n := len(doc.all("script")); n != 1 {
			t.Errorf("%s: %d scripts", path, n)
		}
		for _, r := range page {
			if r == 0x202e || r == 0x2066 || r == 0 || r == 0x1b {
				t.Errorf("%s has %U", path, r)
			}
		}
		for _, a := range doc.all("a") {
			if strings.Contains(a.attr("href"), "evil") {
				t.Errorf("%s leads to %s", path, a.attr("href"))
			}
		}
	}
	if len(s.failed) > 0 {
		t.Error(s.failed)
	}
}

// Joiners stay in titles, and are escaped in URIs.
func TestJoiners(t *testing.T) {
	f := newFake(t, []int{2}, 0)
	c := f.clusters[0]
	for _, p := range c.members {
		p.title, p.uri = "می\u200cرسند", "http://fa.example/می\u200cرسند"
	}
	f.close()
	s := serve(t, f)
	for _, path := range []string{"/", "/clusters", "/search", "/cluster/" + c.row.ID, "/page/" + c.row.Document, "/pair/" + c.members[0].document + "/" + c.members[1].document} {
		if page := s.get(path); !strings.Contains(page, ">می\u200cرسند<") || strings.Contains(page, "example/می\u200c") || !strings.Contains(page, `example/می\u200cرسند`) {
			t.Errorf("%s: %s", path, page)
		}
	}
	if page := s.get("/cluster/" + c.row.ID); !strings.Contains(page, "<title>می\u200cرسند ·") {
		t.Error("the title of the page has no joiner")
	}
}
