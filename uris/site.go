package uris

import (
	"net/netip"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Site returns the registrable domain of uri's host. It returns the host itself if
// that has none (addresses, test domains), and "" if there is no host. A URI
// without a scheme has no host here: it is the path of a page whose URI is unknown.
func Site(uri string) string {
	if !strings.Contains(uri, "://") {
		return ""
	}
	host := Host(uri)
	if host == "" || isAddress(host) {
		return host
	}
	for _, reserved := range reservedNames {
		if moved, ok := strings.CutSuffix(host, reserved); ok {
			site := registrable(moved)
			suffix, icann := publicsuffix.PublicSuffix(moved)
			if listed := icann || strings.Contains(suffix, "."); listed && !strings.HasPrefix(site, "www.") {
				return site + reserved
			}
		}
	}
	return registrable(host)
}

// reservedNames are top-level domains without a registry (RFC 6761). A crawl whose
// hosts were moved below one of them, such as news.site.co.uk.test, keeps its
// sites.
var reservedNames = []string{".test", ".example", ".invalid", ".localhost"}

func registrable(host string) string {
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

// maxHost is how many bytes a host has at most.
const maxHost = 253

// IsHost reports whether a name in the spelling of Host can be a host: an address or a
// name.
func IsHost(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name != "" && len(name) <= maxHost && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}
