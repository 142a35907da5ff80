// Package uris takes URIs apart as web archives do: the key by which an archive
// looks a URI up, and its host.
package uris

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// SURT returns the key by which web archives look up a URI: the host's labels in
// reverse order, then path and query, in a canonical spelling. It follows the
// Python package surt 0.3 with its default options, which pywb and Common Crawl
// use, and thereby its Java ancestor (webarchive-commons): escapes are undone and
// made again; user, default port, fragment, www, session IDs and the trailing slash
// are dropped; the fields of the query are sorted; all is lower case. The result is
// ASCII without spaces for any URI.
//
// Where the package fails (a port that is no number) the authority is kept as it
// is, though the port is no part of Host, and a numeric host is not looked up.
func SURT(uri string) string {
	u := Split(uri)
	if u == (Parts{}) {
		return "-"
	}
	query := withoutQuerySessions(strings.ToLower(escape(unescape(u.Query))))
	var b strings.Builder
	path := unescape(u.Path)
	if host := CanonicalHost(u.keyHost); host != "" {
		labels := strings.Split(withoutWWW(host), ".")
		slices.Reverse(labels)
		b.WriteString(strings.Join(labels, ","))
		if u.keyPort != "" && u.keyPort != defaultPorts[strings.ToLower(u.Scheme)] {
			b.WriteString(":" + u.keyPort)
		}
		b.WriteByte(')')
		path = plainPath(path)
	} else {
		b.WriteString(u.Scheme + ":")
		if path == "" && query != "" {
			path = "/"
		}
	}
	path = withoutPathSessions(strings.ToLower(escape(path)))
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	b.WriteString(path)
	if query != "" {
		b.WriteString("?" + sortedQuery(query))
	}
	return b.String()
}

// Host returns the host of a URI in the spelling of SURT, but with www and without
// any port. It is empty if there is none.
func Host(uri string) string { return CanonicalHost(Split(uri).Host) }

// Parts are the parts of a URI that count. The host is as written; the port is
// without leading zeros, or as written if it is not a number up to 65535.
type Parts struct {
	Scheme, Host, Port, Path, Query string

	keyHost, keyPort string // as SURT has them: what is no port is part of the host
}

var (
	breaks = strings.NewReplacer("\n", "", "\r", "", "\t", "")

	defaultPorts = map[string]string{"http": "80", "https": "443"}
)

// Split splits a URI as in RFC 2396, appendix B. A URI without a scheme counts as
// http, and of several http:// in a row the last one counts.
func Split(uri string) (u Parts) {
	rest := breaks.Replace(strings.Trim(uri, " \t\n\r\v\f"))
	if rest == "" {
		return u
	}
	if !hasScheme(rest) {
		rest = "http://" + rest
	}
	rest = lastHTTP(rest)
	rest, _, _ = strings.Cut(rest, "#")
	u.Scheme, rest, _ = strings.Cut(rest, ":")
	rest, u.Query, _ = strings.Cut(rest, "?")
	u.Path = rest
	if authority, ok := strings.CutPrefix(rest, "//"); ok {
		authority, u.Path, ok = strings.Cut(authority, "/")
		if ok {
			u.Path = "/" + u.Path
		}
		u.setAuthority(authority)
	}
	if u.keyHost == "" && u.Path != "" && strings.HasPrefix(u.Scheme, "http") { // http:////host/path
		u.keyHost, u.Path, _ = strings.Cut(strings.TrimLeft(u.Path, "/"), "/")
		u.Path = "/" + u.Path
		u.Host, u.Port = splitAuthority(u.keyHost)
	}
	return u
}

// hasScheme reports whether a URI starts with a scheme and its colon.
func hasScheme(uri string) bool {
	for i := range len(uri) {
		switch c := uri[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return i > 0 && c == ':'
		}
	}
	return false
}

// lastHTTP returns a URI from the last http:// or https:// on that it starts with.
func lastHTTP(uri string) string {
	for last := uri; ; {
		rest, http := strings.CutPrefix(uri, "http://")
		if !http {
			if rest, http = strings.CutPrefix(uri, "https://"); !http {
				return last
			}
		}
		last, uri = uri, rest
	}
}

// setAuthority sets host and port.
func (u *Parts) setAuthority(a string) {
	u.Host, u.Port = splitAuthority(a)
	u.keyHost, u.keyPort = u.Host, u.Port
	if !isPort(u.Port) {
		u.keyHost, u.keyPort = withoutUser(a), ""
	}
}

// withoutUser drops the user of an authority, and colons without a port.
func withoutUser(a string) string {
	return strings.TrimRight(a[strings.LastIndexByte(a, '@')+1:], ":")
}

// splitAuthority returns host and port. It drops the user.
func splitAuthority(a string) (host, port string) {
	a = withoutUser(a)
	host, port, _ = strings.Cut(a, ":")
	if _, bracketed, ok := strings.Cut(a, "["); ok { // an IPv6 address
		host, port, _ = strings.Cut(bracketed, "]")
		_, port, _ = strings.Cut(port, ":")
	}
	switch {
	case isPort(port):
		return host, strings.TrimLeft(port, "0")
	case isAddress(a): // an IPv6 address without brackets
		return a, ""
	}
	return host, port
}

// isPort reports whether a port is none, or a number up to 65535.
func isPort(port string) bool {
	_, err := strconv.ParseUint(cmp.Or(port, "0"), 10, 16)
	return err == nil
}

var hostToASCII = idna.New(idna.MapForLookup(), idna.Transitional(true), idna.StrictDomainName(false))

// CanonicalHost returns the canonical spelling of a host: names in Punycode,
// numbers as an address.
func CanonicalHost(host string) string {
	host = unescape(host)
	if strings.IndexFunc(host, func(r rune) bool { return r >= 0x80 }) >= 0 {
		if ascii, err := hostToASCII.ToASCII(strings.ToValidUTF8(host, "")); err == nil && labelsFit(ascii) {
			host = ascii
		}
	}
	host = strings.Trim(strings.ReplaceAll(host, "..", "."), ".")
	if address, ok := numericHost(host); ok {
		return address
	}
	return strings.ToLower(escape(host))
}

// labelsFit reports whether all labels of a name, except an empty one at its end,
// have 1 to 63 bytes (RFC 3490, section 4.1). A name with other labels is kept as
// written.
func labelsFit(name string) bool {
	return name == "" || !slices.ContainsFunc(strings.Split(strings.TrimSuffix(name, "."), "."), func(label string) bool {
		return label == "" || len(label) > 63
	})
}

// numericHost returns the IPv4 address that numbers stand for, as inet_aton reads
// them: the last of one to four numbers fills the rest of the address; numbers with
// a leading 0 are octal. A single number is decimal, and its lower four bytes
// count.
func numericHost(host string) (address string, ok bool) {
	parts := strings.Split(host, ".")
	octal := strings.HasPrefix(host, "0") && len(parts) > 1
	if len(parts) > 4 || octal && strings.ContainsAny(host, "89") {
		return "", false
	}
	var sum uint64
	for i, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return "", false
		}
		base, bits := 10, 8
		if p[0] == '0' && len(parts) > 1 {
			base = 8
		}
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if len(parts) == 1 {
			sum = lowerWord(p)
			break
		}
		n, err := strconv.ParseUint(p, base, bits)
		if err != nil {
			return "", false
		}
		sum = sum<<bits | n
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(sum))
	return netip.AddrFrom4(b).String(), true
}

// lowerWord returns a number of any length modulo 2^32.
func lowerWord(digits string) (n uint64) {
	for _, c := range []byte(digits) {
		n = (n*10 + uint64(c-'0')) & 0xffffffff
	}
	return n
}

// withoutWWW drops a first label www, www1 and so on.
func withoutWWW(host string) string {
	if rest, ok := strings.CutPrefix(host, "www"); ok {
		if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, "0123456789"), "."); ok {
			return rest
		}
	}
	return host
}

// plainPath resolves . and .. and removes empty names in a path.
func plainPath(path string) string {
	var kept []string
	names := strings.Split(path, "/")
	for _, name := range names[1:] {
		switch {
		case name == ".":
		case name == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		default: // also a .. that leads out
			kept = append(kept, name)
		}
	}
	if len(kept) == 0 {
		return "/"
	}
	last := len(kept) - 1
	dirs := slices.DeleteFunc(kept[:last:last], func(name string) bool { return name == "" })
	return "/" + strings.Join(append(slices.Clone(dirs), kept[last]), "/")
}

// Session IDs as servers write them into paths and queries, in lower case. The
// captured groups are kept.
var (
	pathSessions = []*regexp.Regexp{
		regexp.MustCompile(`^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$`),
		regexp.MustCompile(`^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$`),
	}
	querySessions = []*regexp.Regexp{
		regexp.MustCompile(`^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)sid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`),
		regexp.MustCompile(`^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$`),
	}
)

func withoutPathSessions(path string) string {
	if !strings.Contains(path, ".aspx") { // the expressions cost more than all the rest
		return path
	}
	return withoutSessions(pathSessions, path)
}

func withoutQuerySessions(query string) string {
	if !strings.Contains(query, "sid=") && !strings.Contains(query, "sessionid") && !strings.Contains(query, "cfid=") {
		return query
	}
	return withoutSessions(querySessions, query)
}

func withoutSessions(sessions []*regexp.Regexp, s string) string {
	for _, session := range sessions {
		if m := session.FindStringSubmatch(s); m != nil {
			s = m[1] + m[2]
		}
	}
	return s
}

// sortedQuery sorts the fields of a query by name, then value.
func sortedQuery(query string) string {
	if len(query) <= 1 {
		return query
	}
	fields := strings.Split(query, "&")
	slices.SortFunc(fields, func(a, b string) int {
		an, av, aHas := strings.Cut(a, "=")
		bn, bv, bHas := strings.Cut(b, "=")
		switch c := cmp.Or(strings.Compare(an, bn), strings.Compare(av, bv)); {
		case c != 0:
			return c
		case aHas == bHas:
			return 0
		case bHas:
			return -1
		}
		return 1
	})
	return strings.Join(fields, "&")
}

// unescape undoes percent escapes until none is left. An undone escape may be part
// of another one, so it is looked at again; every byte is written once.
func unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		out = append(out, s[i])
		for n := len(out); n >= 3 && out[n-3] == '%'; n = len(out) {
			high, low := hexDigit(out[n-2]), hexDigit(out[n-1])
			if high < 0 || low < 0 {
				break
			}
			out = append(out[:n-3], byte(high<<4|low))
		}
	}
	return string(out)
}

// hexDigit returns the value of a hexadecimal digit, or -1.
func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c - 'a' + 10)
	case 'A' <= c && c <= 'F':
		return int(c - 'A' + 10)
	}
	return -1
}

// escape escapes everything but visible ASCII, and also # and %.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || c == '#' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
