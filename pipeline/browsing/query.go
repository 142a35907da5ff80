package browsing

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"neardup/pipeline/layout"
	"neardup/uris"
)

// pageRange is a range of keys of TableSURT or TableDate.
type pageRange struct {
	lower, upper []byte
	fields       []string // prefixes that fields of the query string must have, in any order
}

// surtPrefix is a prefix of SURTs. If it ends with 00, it is a whole SURT.
type surtPrefix struct {
	prefix string
	fields []string
}

// surtRanges returns the ranges of SURTs that begin with a URI, or belong to a host
// or its subdomains, or both if both are given. They are in order and do not
// overlap.
func surtRanges(uri, host string) (ranges []pageRange) {
	var prefixes []surtPrefix
	switch {
	case host == "":
		prefixes = uriPrefixes(uri)
	case uri == "":
		prefixes = hostPrefixes(host)
	default:
		for _, u := range uriPrefixes(uri) {
			for _, h := range hostPrefixes(host) {
				switch {
				case strings.HasPrefix(u.prefix, h.prefix):
					prefixes = append(prefixes, u)
				case strings.HasPrefix(h.prefix, u.prefix):
					prefixes = append(prefixes, surtPrefix{h.prefix, u.fields})
				}
			}
		}
	}
	for _, p := range prefixes {
		lower, upper := layout.PrefixBounds(layout.SURTsOf(p.prefix))
		ranges = append(ranges, pageRange{lower, upper, p.fields})
	}
	sort.SliceStable(ranges, func(i, j int) bool {
		a, b := ranges[i], ranges[j]
		return bytes.Compare(a.lower, b.lower) < 0
	})
	kept := ranges[:0]
	for _, r := range ranges {
		if len(kept) == 0 || bytes.Compare(r.lower, kept[len(kept)-1].upper) >= 0 { // otherwise it is part of the previous range
			kept = append(kept, r)
		}
	}
	return kept
}

// hostPrefixes returns the SURT prefixes of a host and its subdomains, on any port. The host
// may be given as a URI. SURT has a port that is no number among the labels, so such pages
// are found by host and port only.
func hostPrefixes(host string) []surtPrefix {
	if _, rest, ok := strings.Cut(host, "://"); ok {
		host = rest
	}
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	asked := "http://" + strings.TrimPrefix(host, "*.")
	labels, ok := strings.CutSuffix(uris.SURT("http://"+uris.Host(asked)), ")/")
	if !ok {
		return nil
	}
	prefixes := []surtPrefix{{prefix: labels + ")"}, {prefix: labels + ","}, {prefix: labels + ":"}}
	if whole, ok := strings.CutSuffix(uris.SURT(asked), ")/"); ok && whole != labels { // a port that is no number stands among the labels
		prefixes = append(prefixes, surtPrefix{prefix: whole + ")"})
	}
	return prefixes
}

// uriPrefixes returns the SURT prefixes of the URIs that begin with uri. The scheme
// may be missing; then a port looks like part of a URI without an authority, so
// both readings count.
func uriPrefixes(uri string) []surtPrefix {
	prefixes := prefixesOf(uri)
	if !strings.Contains(uri, "://") {
		prefixes = append(prefixes, prefixesOf("http://"+uri)...)
	}
	return prefixes
}

func prefixesOf(uri string) []surtPrefix {
	surt := uris.SURT(uri)
	surt = surt[:min(layout.MaxSURT, len(surt))]
	if path, query, ok := strings.Cut(surt, "?"); ok {
		// A SURT has its fields sorted, so further fields may come anywhere.
		return []surtPrefix{{path + "?", strings.Split(query, "&")}}
	}
	uri, _, _ = strings.Cut(uri, "#")
	uri, _, _ = strings.Cut(uri, "?")
	_, authority, _ := strings.Cut(uri, "://")
	host, isHost := strings.CutSuffix(surt, ")/")
	switch {
	case isHost && authority != "" && !strings.Contains(authority, "/"):
		return []surtPrefix{{prefix: host + ")"}, {prefix: host + ":"}}
	case strings.HasSuffix(uri, "/") && !strings.HasSuffix(surt, "/"): // SURT drops the slash
		return []surtPrefix{{prefix: surt + "\x00"}, {prefix: surt + "/"}, {prefix: surt + "?"}}
	}
	return []surtPrefix{{prefix: surt}}
}

// has reports whether a page of the range has the wanted fields, as far as its key
// shows.
func (r pageRange) has(p layout.BrowsedPage) bool {
	if len(r.fields) == 0 || len(p.Surt) == layout.MaxSURT {
		return true
	}
	_, query, _ := strings.Cut(p.Surt, "?")
	for _, asked := range r.fields {
		if !slices.ContainsFunc(strings.Split(query, "&"), func(field string) bool { return strings.HasPrefix(field, asked) }) {
			return false
		}
	}
	return true
}
