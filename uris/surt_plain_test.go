package uris

import (
	"regexp"
	"testing"
)

// FuzzSchemes compares how a URI's beginning is read with regular expressions, which
// take ten times as long.
func FuzzSchemes(f *testing.F) {
	for _, s := range []string{"", "a:", "a", "1a:", "h+1.-:x", "http://http://a", "https://http://a", "http://https:/a", "http:http://a", "HTTP://http://a", "é:", "http://"} {
		f.Add(s)
	}
	scheme := regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)
	repeated := regexp.MustCompile(`^(?:https?://)*(https?://)`)
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := hasScheme(s), scheme.MatchString(s); got != want {
			t.Errorf("%q has a scheme: got %t, want %t", s, got, want)
		}
		if got, want := lastHTTP(s), repeated.ReplaceAllString(s, "$1"); got != want {
			t.Errorf("%q from its last scheme: got %q, want %q", s, got, want)
		}
	})
}
