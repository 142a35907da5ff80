package uris

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Site returns the registrable domain of uri's host, or the host itself where it
// has none (addresses, test domains), or "" where there is no host. A URI without
// a scheme has none here: it is the path of a page that is not known.
func Site(uri string) string {
	if !strings.Contains(uri, "://") {
		return ""
	}
	host := Host(uri)
	if host == "" || isAddress(host) {
		return host
	}
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

// StartsWithScheme reports whether b starts with a URI's scheme and its colon, as far as it goes.
func StartsWithScheme(b []byte) bool {
	for i, c := range b[:min(len(b), 32)] {
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return i > 0 && c == ':'
		}
	}
	return len(b) > 0 && len(b) < 32
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
