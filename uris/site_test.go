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
		"http://a.b.example.co.uk.test/":         "example.co.uk.test",
		"http://www.example.com.invalid/":        "example.com.invalid",
		"http://a.github.io.test/":               "a.github.io.test",
		"http://com.test/":                       "com.test",
		"http://www.moved.test.example/":         "test.example",
		"http://localhost:8080/":                 "localhost",
		"http://www.example.com:99999/x":         "example.com",
		"http://www.example.com:port/x":          "example.com",
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

func TestStartsWithScheme(t *testing.T) {
	for s, want := range map[string]bool{
		"http://a.example/": true, "urn:a": true, "svn+ssh://a": true, "H.323-x9:a": true,
		"ht": true, "h2": true, // as far as it goes
		"": false, ":a": false, "9p:a": false, "+a:b": false, "http//a": false, "a b:": false, "\xff:": false,
		"this-is-a-very-long-word-with-no-colon-at-all": false, "this-is-a-scheme-of-32-columns.:": true,
	} {
		if got := StartsWithScheme([]byte(s)); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}
