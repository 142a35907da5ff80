package withdrawn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"neardup/extract"
)

// Patterns are the URI patterns of a list of withdrawals. A workspace may have thousands, so
// a URI is compared with few of them: those that are the same in lower case, those of its
// host, and those with a * in their host.
type Patterns struct {
	// Generation identifies the patterns. It is part of the generation of sources whose
	// captures they remove.
	Generation string

	of     []pattern        // by place in the list; of an input, none
	whole  map[string][]int // places of those without a *, in lower case
	hosts  map[string][]int // places of others, by the host in lower case
	others []int            // places of those with a * in the host
}

// Patterns returns the patterns of the list.
func (l List) Patterns() *Patterns {
	p := &Patterns{of: make([]pattern, len(l)), whole: map[string][]int{}, hosts: map[string][]int{}}
	h := sha256.New()
	for i, d := range l {
		if d.URI == "" {
			continue
		}
		fmt.Fprintf(h, "%s\x00", d.name())
		address := asPattern(d.URI)
		p.of[i] = parsePattern(address)
		first, _, more := strings.Cut(address, "*")
		switch end := hostEnd(first); {
		case !more:
			whole := strings.ToLower(first)
			p.whole[whole] = append(p.whole[whole], i)
		case end < len(first):
			host := strings.ToLower(first[:end])
			p.hosts[host] = append(p.hosts[host], i)
		default:
			p.others = append(p.others, i)
		}
	}
	p.Generation = hex.EncodeToString(h.Sum(nil)[:16])
	return p
}

// Has reports whether a capture of the URI has to stay out.
func (p *Patterns) Has(uri string) bool { return p.First(uri) >= 0 }

// First returns the place in the list of the first withdrawal that covers a URI, or -1. A
// URI that names another one, as urn:text:https://a.example/ does, is covered as itself and
// as the other: it is of that page.
func (p *Patterns) First(uri string) int {
	if len(p.of) == 0 {
		return -1
	}
	address, host := extract.Document{TargetURI: uri}.Address(), 0
	if strings.Contains(uri, "://") {
		host = hostEnd(address)
	}
	place := p.first(address, host)
	uri, _, _ = strings.Cut(uri, "#")
	if scheme, _, _ := strings.Cut(uri, "://"); scheme != uri && !isScheme(scheme) {
		if itself := p.first(uri, 0); place < 0 || itself >= 0 && itself < place {
			place = itself
		}
	}
	return place
}

// first is First for an address, which begins with a host of so many bytes.
func (p *Patterns) first(address string, host int) int {
	place := -1
	lower := strings.ToLower(address)
	for _, places := range [][]int{p.whole[lower], p.hosts[lower[:hostEnd(lower)]], p.others} {
		for _, i := range places {
			if place >= 0 && i >= place {
				break
			}
			if p.of[i].matches(address, host) {
				place = i
			}
		}
	}
	return place
}
