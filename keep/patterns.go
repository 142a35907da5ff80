package keep

import (
	"iter"
	"strings"

	"neardup/uris"
)

// Patterns are URIs in which * stands for any characters. A pattern without a scheme matches
// all schemes, and a host alone all of its pages. Upper and lower case are the same, and so
// are all spellings of a host: crawls write one in several ways, and a pattern that matches
// too much only keeps more pages.
//
// There may be thousands, so a URI is compared with few of them: those without a * that are
// the same, others of its host, and those with a * in their host.
type Patterns struct {
	written []string
	of      []address
	whole   map[string][]int // places of those without a *, by key
	hosts   map[string][]int // places of others, by host
	others  []int            // places of those that may match any host
}

// NewPatterns returns the patterns that are written so.
func NewPatterns(written ...string) Patterns {
	p := Patterns{written: written, whole: map[string][]int{}, hosts: map[string][]int{}}
	for i, w := range written {
		p.of = append(p.of, addressOf(w))
		first, _, more := strings.Cut(w, "*")
		a := addressOf(first)
		hasPath := a.Path != "" || a.Query != ""
		switch {
		case !more && (hasPath || a.host == ""):
			p.whole[a.key()] = append(p.whole[a.key()], i)
		case !more, hasPath && a.host != "" && a.sameSite(first+"x") && a.sameSite(first+"/x"): // the * is behind the host
			p.hosts[a.host] = append(p.hosts[a.host], i)
		default:
			p.others = append(p.others, i)
		}
	}
	return p
}

// Written returns the patterns as they are written.
func (p Patterns) Written() []string { return p.written }

// Has reports whether a pattern matches the URI.
func (p Patterns) Has(uri string) bool {
	for range p.Matching(uri) {
		return true
	}
	return false
}

// Matching yields the places of the patterns that match the URI, in no order.
func (p Patterns) Matching(uri string) iter.Seq[int] {
	return func(yield func(int) bool) {
		if len(p.of) == 0 {
			return
		}
		a := addressOf(uri)
		if a.host == "" { // its path may begin with the host of a pattern
			for i := range p.of {
				if p.of[i].matches(a) && !yield(i) {
					return
				}
			}
			return
		}
		for _, places := range [][]int{p.whole[a.key()], p.hosts[a.host], p.others} {
			for _, i := range places {
				if p.of[i].matches(a) && !yield(i) {
					return
				}
			}
		}
	}
}

// address is a URI or a pattern in lower case, with its parts.
type address struct {
	whole string
	uris.Parts
	host string // in the spelling of uris.CanonicalHost
}

func addressOf(uri string) address {
	a := address{whole: strings.ToLower(uri)}
	// The text of a page that Browsertrix writes has the page's URI behind a prefix.
	a.Parts = uris.Split(strings.TrimPrefix(a.whole, "urn:text:"))
	a.host = uris.CanonicalHost(a.Host)
	return a
}

// sameSite reports whether a URI has the same host and port.
func (a address) sameSite(uri string) bool {
	b := addressOf(uri)
	return a.host == b.host && a.Port == b.Port
}

// key is the same for two addresses of which one matches the other without a *.
func (a address) key() string {
	if a.host == "" {
		return a.whole
	}
	return a.host + behind(a.Parts)
}

// matches reports whether an address matches one that is a pattern.
func (a address) matches(b address) bool {
	switch {
	case matches(a.whole, b.whole):
		return true
	case a.host == "" || strings.Contains(a.whole, "://") && a.Scheme != b.Scheme || a.Port != "" && b.Port != "" && !matches(a.Port, b.Port):
		return false
	case a.Path == "" && a.Query == "":
		return matches(a.host, b.host)
	}
	return matches(a.host+behind(a.Parts), b.host+behind(b.Parts))
}

// behind returns what is behind the host and port of a URI, without its fragment.
func behind(u uris.Parts) string {
	if u.Query == "" {
		return u.Path
	}
	return u.Path + "?" + u.Query
}

// matches reports whether a URI matches a pattern, both in lower case.
func matches(pattern, uri string) bool {
	pieces := strings.Split(pattern, "*")
	if len(pieces) == 1 {
		return uri == pattern
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	if !strings.HasPrefix(uri, first) || len(uri) < len(first)+len(last) || !strings.HasSuffix(uri, last) {
		return false
	}
	uri = uri[len(first) : len(uri)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		_, rest, ok := strings.Cut(uri, piece)
		if !ok {
			return false
		}
		uri = rest
	}
	return true
}
