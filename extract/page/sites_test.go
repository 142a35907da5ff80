package page

import (
	"strings"
	"testing"

	"neardup/extract/internal/testkit"
	"neardup/uris"
)

const sitePage = `<title>T</title><header>head</header><nav><a href=x>nav</a></nav>
<main id=m><h1>One</h1><p>two <b class=mark>three</b> four</p><div class="related"><p>rel</p></div><div class=inner>five</div></main>
<div id=cmpbox>We use</div><aside class=related>side</aside><div hidden><p class=late>late</p></div>`

func TestSiteRules(t *testing.T) {
	whole := "head|nav|One|two three four|rel|five|side"
	for _, c := range []struct {
		name       string
		keep, drop []string
		want       string // empty: the rules leave nothing
	}{
		{"keep", []string{"main"}, nil, "One|two three four|rel|five"},
		{"keep and drop", []string{"main"}, []string{".related"}, "One|two three four|five"},
		{"drop", nil, []string{".related", "header, nav"}, "One|two three four|five"},
		{"drop what is not there", nil, []string{"#ads"}, whole},
		{"nothing twice", []string{".inner", "main", "main *", "#m"}, nil, "One|two three four|rel|five"},
		{"in the order of the page", []string{"aside", "h1"}, nil, "One|side"},
		{"out of a line", []string{"b, header"}, nil, "head|three"},
		{"an overlay is no content", []string{"main > h1, #cmpbox"}, nil, "One"},
		{"what is not shown stays so", []string{".late"}, nil, ""},
		{"nothing kept", []string{".gone"}, nil, ""},
		{"all dropped", nil, []string{"body"}, ""},
		{"kept and dropped", []string{"h1"}, []string{"main"}, ""},
	} {
		o := options
		o.Sites = []SiteRules{{Host: "Example.org.", Keep: c.keep, Drop: c.drop}}
		if err := o.Validate(); err != nil {
			t.Fatal(c.name, err)
		}
		got := NewReader(o).Read(sitePage, "www.example.org", 1000)
		want := strings.ReplaceAll(c.want, "|", "\n")
		if c.want == "" {
			want = strings.ReplaceAll(whole, "|", "\n")
		}
		if got.Text != want || got.Title != "T" {
			t.Errorf("%s: title %q\ngot  %q\nwant %q", c.name, got.Title, got.Text, want)
		}
		if unmatched := got.RulesUnmatched; unmatched != (c.want == "") || got.Parsed == unmatched {
			t.Errorf("%s: unmatched %v, parsed %v", c.name, unmatched, got.Parsed)
		}
	}
}

func TestSiteRulesKeepTheTextInItsLimit(t *testing.T) {
	site := testSite(t, SiteRules{Host: "x.org", Keep: []string{"p, div"}})
	for max := range 40 {
		s, _ := site.text(sitePage, max, true)
		testkit.CheckLines(t, s.text, max)
		checkBlocks(t, s)
	}
	if _, ok := site.text(strings.Repeat("<div>", 600)+"a", 100, true); ok {
		t.Error("a page without a tree has no elements to select")
	}
}

func testSite(t testing.TB, rules SiteRules) *site {
	t.Helper()
	sites, err := compileSites([]SiteRules{rules})
	if err != nil {
		t.Fatal(err)
	}
	return &sites[0]
}

func TestTheLongestHostHasTheRules(t *testing.T) {
	all := []string{"h1"}
	sites, err := compileSites([]SiteRules{
		{Host: "org", Keep: all}, {Host: "example.org", Keep: all}, {Host: "blog.example.org", Keep: all}, {Host: "bücher.example", Keep: all},
	})
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		"http://example.org/":                   "example.org",
		"https://user@WWW.Example.ORG.:8080/?q": "example.org",
		"http://blog.example.org":               "blog.example.org",
		"http://my.blog.example.org/a":          "blog.example.org",
		"http://myblog.example.org/":            "example.org",
		"http://notexample.org/":                "org",
		"http://example.com/example.org":        "",
		"http://b%C3%BCcher.example/":           "xn--bcher-kva.example",
		"http://BÜCHER.example/":                "xn--bcher-kva.example",
		"http://xn--bcher-kva.example/%zz":      "xn--bcher-kva.example",
		"urn:x":                                 "",
		"":                                      "",
	} {
		got := ""
		if s := siteFor(sites, uris.Host(target)); s != nil {
			got = s.host
		}
		if got != want {
			t.Errorf("%s: got the rules of %q, want %q", target, got, want)
		}
	}
}

func TestSiteRulesAreValidated(t *testing.T) {
	keep := []string{"main"}
	for _, c := range []struct {
		want  string
		sites []SiteRules
	}{
		{`sites: rule 2 has no host`, []SiteRules{{Host: "x.org", Keep: keep}, {Keep: keep}}},
		{`sites: "http://x.org" is no host`, []SiteRules{{Host: "http://x.org", Keep: keep}}},
		{`sites: "x.org/a" is no host`, []SiteRules{{Host: "x.org/a", Keep: keep}}},
		{`sites: "x.org:80" is no host`, []SiteRules{{Host: "x.org:80", Keep: keep}}},
		{`sites: "*.x.org" is no host`, []SiteRules{{Host: "*.x.org", Keep: keep}}},
		{`sites: ".x.org" is no host`, []SiteRules{{Host: ".x.org", Keep: keep}}},
		{`sites: X.org: there are two rules`, []SiteRules{{Host: "x.org", Keep: keep}, {Host: "X.org", Drop: keep}}},
		{`sites: x.org: a rule needs selectors`, []SiteRules{{Host: "x.org"}}},
		{`sites: x.org: keep: "div[" is no CSS selector: `, []SiteRules{{Host: "x.org", Keep: []string{"main", "div["}}}},
		{`sites: x.org: drop: "" is no CSS selector: `, []SiteRules{{Host: "x.org", Drop: []string{""}}}},
		{`sites: x.org: drop: "a, :nope" is no CSS selector: `, []SiteRules{{Host: "x.org", Drop: []string{"a, :nope"}}}},
	} {
		o := options
		o.Sites = c.sites
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.sites, err)
		}
	}
	o := options
	o.Sites = []SiteRules{{Host: "localhost", Drop: keep}, {Host: "192.0.2.1", Drop: []string{"main > p:nth-child(2), [role=banner]"}}}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}
