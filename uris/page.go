package uris

import (
	"slices"
	"strings"
)

// PageOf returns a name of the page that a URI of HTTP leads to: the URI without scheme,
// user, www, default port, fragment and a slash at the end, and without what tells who asks
// for the page or where the link to it stood. The fields of the query are sorted. Case counts
// except in the host. Other URIs are their own names.
func PageOf(uri string) string {
	if scheme, _, ok := strings.Cut(uri, "://"); !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return uri
	}
	u := Split(uri)
	name := withoutWWW(CanonicalHost(u.keyHost))
	if u.keyPort != "" && u.keyPort != defaultPorts[strings.ToLower(u.Scheme)] {
		name += ":" + u.keyPort
	}
	name += strings.TrimSuffix(withoutJSession(u.Path), "/")
	var fields []string
	for _, field := range strings.Split(u.Query, "&") {
		field = strings.Join(slices.DeleteFunc(strings.Split(field, ";"), isOfVisit), ";") // some servers take both marks
		if field != "" {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return name
	}
	slices.Sort(fields)
	return name + "?" + strings.Join(fields, "&")
}

// withoutJSession returns a path without the session that Java servers write into it.
func withoutJSession(path string) string {
	const session = ";jsessionid="
	at := strings.Index(strings.ToLower(path), session)
	if at < 0 {
		return path
	}
	rest := path[at:]
	if end := strings.IndexByte(rest, '/'); end >= 0 {
		return path[:at] + rest[end:]
	}
	return path[:at]
}

// isOfVisit reports whether a field of a query belongs to a visit and not to a page.
func isOfVisit(field string) bool {
	name, value, _ := strings.Cut(field, "=")
	name = strings.ToLower(name)
	return ofVisit[name] || strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "aspsessionid") ||
		name == "sid" && len(value) == 32 && strings.Trim(strings.ToLower(value), "0123456789abcdef") == "" // of phpBB; others number stories so
}

var ofVisit = map[string]bool{
	// sessions of PHP, Java, ColdFusion, osCommerce and Zen Cart, whatever their IDs are
	"phpsessid": true, "jsessionid": true, "cfid": true, "cftoken": true, "oscsid": true, "zenid": true,
	// WordPress: the comment that a form is to answer
	"replytocom": true,
	// advertisements and letters, by Google, Microsoft, Meta, Yandex and Mailchimp
	"gclid": true, "dclid": true, "gbraid": true, "wbraid": true, "_ga": true, "_gl": true,
	"msclkid": true, "fbclid": true, "yclid": true, "mc_cid": true, "mc_eid": true,
}
