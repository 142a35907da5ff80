package uris

import "testing"

func TestSiteOf(t *testing.T) {
	for uri, want := range map[string]string{
		"http://www.example.com/":                "example.com",
		"https://a.b.example.co.uk:8443/x":       "example.co.uk",
		"HTTP://WWW.Example.COM":                 "example.com",
		"http://example.com./":                   "example.com",
		"http://user:pw@example.com/":            "example.com",
		"http://a.github.io/":                    "a.github.io",
		"http://192.0.2.1:80/":                   "192.0.2.1",
		"http://[2001:db8::1]/":                  "2001:db8::1",
		"http://www.site.test/":                  "site.test",
		"http://localhost:8080/":                 "localhost",
		"http://com/":                            "com",
		"http://www.example.com/100%":            "example.com",
		"http://www.example.com/a b?c=%zz#%":     "example.com",
		"http://www.example.com?q=http://x.org/": "example.com",
		"http://www.例子.中国/":                      "xn--fsqu00a.xn--fiqs8s",
		"ftp://ftp.example.com/x":                "example.com",
		"urn:uuid:1":                             "",
		"dns:example.com":                        "",
		"/path":                                  "",
		"http://":                                "",
	} {
		if got := Site(uri); got != want {
			t.Errorf("Site(%q) = %q, want %q", uri, got, want)
		}
	}
}
