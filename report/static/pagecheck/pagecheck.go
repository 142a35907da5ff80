// Package pagecheck checks the HTML pages of a directory, for tests. They must
// run nothing, load nothing from elsewhere, and refer only to what is there.
package pagecheck

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/net/html"
)

// policy has the directives that each page must have. In Firefox a page from
// disk has an origin of its own, so 'self' matches nothing.
var policy = []string{"default-src 'none'", "style-src 'self' file:", "base-uri 'none'", "form-action 'none'"}

// allowed has the elements that pages may have. None of them loads or runs
// anything except link, which is checked.
var allowed = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(`html head meta title link body a header nav main section article footer
		h1 h2 h3 h4 p span div dl dt dd br strong small table caption thead tbody tr th td details summary
		figure figcaption svg g path text desc del ins mark`) {
		m[name] = true
	}
	return m
}()

// Check returns what is wrong with the files, which it gets by their paths with
// slashes.
func Check(files map[string]string) (problems []string) {
	pages := map[string]*page{}
	for name, content := range files {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		p := &page{name: name, ids: map[string]int{}}
		p.parse(content)
		pages[name] = p
	}
	for name, p := range pages {
		for _, r := range p.refs {
			target, fragment, _ := strings.Cut(r, "#")
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			if _, ok := files[to]; !ok || strings.Contains(target, ":") || strings.HasPrefix(target, "/") {
				p.problem("refers to %q, which is not there", r)
			} else if fragment != "" && (pages[to] == nil || pages[to].ids[fragment] == 0) {
				p.problem("refers to %q, which has no such place", r)
			}
		}
		for _, id := range p.named {
			if p.ids[id] == 0 {
				p.problem("is named by %q, which is not there", id)
			}
		}
		for id, n := range p.ids {
			if n > 1 {
				p.problem("has %d elements %q", n, id)
			}
		}
		for _, directive := range policy {
			if !strings.Contains(p.policy, directive) {
				p.problem("has no %s", directive)
			}
		}
		if p.headings != 1 {
			p.problem("has %d elements h1", p.headings)
		}
		problems = append(problems, p.problems...)
	}
	return problems
}

type page struct {
	name     string
	ids      map[string]int
	refs     []string // in href
	named    []string // ids that name or describe elements
	policy   string
	headings int
	open     []string
	problems []string
}

func (p *page) problem(format string, args ...any) {
	p.problems = append(p.problems, p.name+": "+fmt.Sprintf(format, args...))
}

// parse reads the tokens as they are written. A tree would mend mistakes.
func (p *page) parse(content string) {
	z := html.NewTokenizer(strings.NewReader(content))
	for {
		kind := z.Next()
		t := z.Token()
		switch kind {
		case html.ErrorToken:
			if len(p.open) > 0 {
				p.problem("ends inside %v", p.open)
			}
			return
		case html.CommentToken:
			p.problem("has a comment")
		case html.StartTagToken, html.SelfClosingTagToken:
			p.element(t)
			if kind == html.StartTagToken && t.Data != "meta" && t.Data != "link" && t.Data != "br" {
				p.open = append(p.open, t.Data)
			}
		case html.EndTagToken:
			if n := len(p.open); n == 0 || p.open[n-1] != t.Data {
				p.problem("closes %s inside %v", t.Data, p.open)
				return
			}
			p.open = p.open[:len(p.open)-1]
		}
	}
}

func (p *page) element(t html.Token) {
	if !allowed[t.Data] {
		p.problem("has an element %s", t.Data)
	}
	if t.Data == "h1" {
		p.headings++
	}
	attributes := map[string]string{}
	for _, a := range t.Attr {
		attributes[a.Key] = a.Val
		switch {
		case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "src", a.Key == "srcset", a.Key == "xlink:href", a.Key == "ping", a.Key == "target":
			p.problem("has an attribute %s=%q", a.Key, a.Val)
		case a.Key == "id":
			p.ids[a.Val]++
		case a.Key == "href" && a.Val != "data:,":
			p.refs = append(p.refs, a.Val)
		case a.Key == "aria-labelledby":
			p.named = append(p.named, strings.Fields(a.Val)...)
		}
	}
	switch {
	case t.Data == "meta" && attributes["http-equiv"] == "Content-Security-Policy":
		p.policy = attributes["content"]
	case t.Data == "meta" && attributes["http-equiv"] != "":
		p.problem("has meta %s", attributes["http-equiv"])
	case t.Data == "svg" && (attributes["role"] != "img" || attributes["aria-labelledby"] == ""):
		p.problem("has a plot without a name")
	case t.Data == "th" && attributes["scope"] == "":
		p.problem("has a th without scope")
	}
}
