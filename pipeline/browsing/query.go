package browsing

import (
	"bytes"
	"slices"
	"strings"

	"neardup/pipeline/store"
	"neardup/uris"
)

// pageRange is a range of keys of TableSURT or TableDate.
type pageRange struct {
	lower, upper []byte
	fields       []string // what fields of the query string must begin with, in any order
}

// surtPrefix is what SURTs begin with; one that ends with 00 is a whole one.
type surtPrefix struct {
	prefix string
	fields []string
}

// surtRanges returns the ranges of SURTs that begin with a URI, or are of a host or
// its subdomains, or both where both are asked for. They do not overlap and are
// in order.
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
		lower, upper := store.PrefixBounds(store.Key(store.TableSURT, []byte(p.prefix[:min(store.MaxSURT, len(p.prefix))])))
		ranges = append(ranges, pageRange{lower, upper, p.fields})
	}
	slices.SortStableFunc(ranges, func(a, b pageRange) int { return bytes.Compare(a.lower, b.lower) })
	kept := ranges[:0]
	for _, r := range ranges {
		if len(kept) == 0 || bytes.Compare(r.lower, kept[len(kept)-1].upper) >= 0 { // else it is a part of the one before
			kept = append(kept, r)
		}
	}
	return kept
}

// hostPrefixes returns what the SURTs of a host and its subdomains begin with, on any
// port. People write hosts as URIs, too.
func hostPrefixes(host string) []surtPrefix {
	if _, rest, ok := strings.Cut(host, "://"); ok {
		host = rest
	}
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	host = uris.Host("http://" + strings.TrimPrefix(host, "*."))
	labels, ok := strings.CutSuffix(uris.SURT("http://"+host), ")/")
	if !ok {
		return nil
	}
	return []surtPrefix{{prefix: labels + ")"}, {prefix: labels + ","}, {prefix: labels + ":"}}
}

// uriPrefixes returns what the SURTs of URIs begin with that begin with this one. Its
// scheme may be left out; a port then looks like the rest of a URI without an
// authority, so both readings count.
func uriPrefixes(uri string) []surtPrefix {
	prefixes := prefixesOf(uri)
	if !strings.Contains(uri, "://") {
		prefixes = append(prefixes, prefixesOf("http://"+uri)...)
	}
	return prefixes
}

func prefixesOf(uri string) []surtPrefix {
	surt := uris.SURT(uri)
	surt = surt[:min(store.MaxSURT, len(surt))]
	if path, query, ok := strings.Cut(surt, "?"); ok {
		// A SURT has the fields sorted, so more of them can be anywhere.
		return []surtPrefix{{path + "?", strings.Split(query, "&")}}
	}
	uri, _, _ = strings.Cut(uri, "#")
	uri, _, _ = strings.Cut(uri, "?")
	_, authority, _ := strings.Cut(uri, "://")
	host, isHost := strings.CutSuffix(surt, ")/")
	switch {
	case isHost && authority != "" && !strings.Contains(authority, "/"):
		return []surtPrefix{{prefix: host + ")"}, {prefix: host + ":"}}
	case strings.HasSuffix(uri, "/") && !strings.HasSuffix(surt, "/"): // SURT drops it
		return []surtPrefix{{prefix: surt + "\x00"}, {prefix: surt + "/"}, {prefix: surt + "?"}}
	}
	return []surtPrefix{{prefix: surt}}
}

// has reports whether a page of the range has the fields that are asked for, as far
// as its key can tell.
func (r pageRange) has(p store.BrowsedPage) bool {
	if len(r.fields) == 0 || len(p.Surt) == store.MaxSURT {
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
