package uris

import (
	"slices"
	"strings"
)

// PageOf returns a name of the page that a URI of HTTP leads to: its SURT, without
// what tells who asks for the page or where the link to it stood. Other URIs are
// their own names.
func PageOf(uri string) string {
	if scheme, _, ok := strings.Cut(uri, "://"); !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return uri
	}
	key, query, _ := strings.Cut(SURT(uri), "?")
	if path, rest, ok := strings.Cut(key, ";jsessionid="); ok { // as Java servers write it
		_, rest, _ = strings.Cut(rest, "/")
		key = strings.TrimSuffix(path+"/"+rest, "/")
	}
	fields := slices.DeleteFunc(strings.Split(query, "&"), isOfVisit)
	if query = strings.Join(fields, "&"); query == "" {
		return key
	}
	return key + "?" + query
}

// isOfVisit reports whether a field of a query, in lower case, belongs to a visit
// and not to a page.
func isOfVisit(field string) bool {
	name, _, _ := strings.Cut(field, "=")
	return ofVisit[name] || strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "aspsessionid")
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
