package page

import (
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"neardup/uris"
)

// site is a host's compiled rules.
type site struct {
	host       string
	keep, drop cascadia.SelectorGroup
}

// compileSites compiles the rules, or returns an error.
func compileSites(rules []SiteRules) ([]site, error) {
	var sites []site
	seen := map[string]bool{}
	for i, r := range rules {
		host := uris.CanonicalHost(r.Host)
		switch {
		case host == "":
			return nil, fmt.Errorf("sites: rule %d has no host", i+1)
		case host != uris.Host("http://"+host) || strings.ContainsAny(host, "* ") || strings.Contains("."+r.Host, ".."):
			return nil, fmt.Errorf("sites: %q is no host: write it without scheme, port, path and wildcard, such as example.org", r.Host)
		case seen[host]:
			return nil, fmt.Errorf("sites: %s: there are two rules for this host; put their selectors into one", r.Host)
		case len(r.Keep)+len(r.Drop) == 0:
			return nil, fmt.Errorf("sites: %s: a rule needs selectors, in keep or in drop", r.Host)
		}
		seen[host] = true
		s := site{host: host}
		for _, list := range []struct {
			name  string
			texts []string
			into  *cascadia.SelectorGroup
		}{{"keep", r.Keep, &s.keep}, {"drop", r.Drop, &s.drop}} {
			for _, text := range list.texts {
				group, err := cascadia.ParseGroup(text)
				if err != nil {
					return nil, fmt.Errorf("sites: %s: %s: %q is no CSS selector: %w", r.Host, list.name, text, err)
				}
				*list.into = append(*list.into, group...)
			}
		}
		sites = append(sites, s)
	}
	return sites, nil
}

// siteFor returns the rules for a host: those of the longest host that it equals or
// is a subdomain of.
func siteFor(sites []site, host string) *site {
	var best *site
	for i := range sites {
		s := &sites[i]
		if (host == s.host || strings.HasSuffix(host, "."+s.host)) && (best == nil || len(s.host) > len(best.host)) {
			best = s
		}
	}
	return best
}

// selected holds the elements of a page that a site's selectors select.
type selected struct {
	keep, drop map[*html.Node]bool
}

// text returns the page's visible content by the rules. ok is false if they leave
// nothing, because they were written for another layout, or cost too much.
func (r *site) text(page string, max int, drop bool) (s shown, ok bool) {
	err := withTree(page, func(root *html.Node) {
		w := lines{max: max, drop: drop, rules: &selected{}}
		d := documentOf(root)
		w.rules.drop = d.selects(r.drop)
		if r.keep != nil {
			w.rules.keep = d.selects(r.keep)
		}
		if d.spent > maxSelecting {
			return
		}
		w.node(root, place{})
		s, ok = w.shown(titleOf(goquery.NewDocumentFromNode(root))), w.b.Len() > 0
		s.selected = r.keep != nil
	})
	return s, ok && err == nil
}
