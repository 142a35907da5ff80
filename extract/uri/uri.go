// Package uri reads hosts and sites from URIs as crawls hold them.
package uri

import (
	"net"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// Host is the host of a URI in lower case, without its port, or "".
func Host(uri string) string {
	_, authority, _ := strings.Cut(uri, "://")
	if i := strings.IndexAny(authority, "/?#\\"); i >= 0 {
		authority = authority[:i] // a stray % in a path says nothing about the host
	}
	u, err := url.Parse("//" + authority)
	if err != nil {
		return ""
	}
	return FoldHost(u.Hostname())
}

// FoldHost is a host in the form in which two are compared: URIs have names
// beyond ASCII in Punycode, people write them as they are read.
func FoldHost(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.IndexFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return host
	}
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		return ascii
	}
	return host
}

// Site is the registrable domain of uri's host, or the host itself where it
// has none (addresses, test domains), or "" where there is no host.
func Site(uri string) string {
	host := Host(uri)
	if host == "" || net.ParseIP(host) != nil {
		return host
	}
	if site, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return site
	}
	return host
}

// StartsWithScheme tells whether b starts with a URI's scheme and its colon, as far as it goes.
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
