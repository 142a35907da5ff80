package uris

import (
	"strings"
	"testing"
)

// surts are URIs and what surt.surt of the Python package surt 0.3.1 makes of
// them, with a name server that knows nothing but numbers.
var surts = [][2]string{
	{"http://archive.org/goo/?a=2&b&a=1", "org,archive)/goo?a=1&a=2&b"},
	{"", "-"},
	{"http://www.Example.com:80/", "com,example)/"},
	{"https://www2.example.com:443/A/../B/./c//d/?Q=1", "com,example)/b/c/d?q=1"},
	{"http://example.com/?", "com,example)/"},
	{"http://example.com/#x", "com,example)/"},
	{"example.com/x", "com,example)/x"},
	{"http://http://a.org/", "org,a)/"},
	{"http:////a.org/b", "org,a)/b"},
	{"ftp://ftp.example.org/a b", "org,example,ftp)/a%20b"},
	{"urn:text:Abc%41", "urn:text:abca"},
	{"mailto:Me@X.org", "mailto:me@x.org"},
	{"http://u:p@host.org:8080/p?x#y", "org,host:8080)/p?x"},
	{"http://[::1]:80/x", "::1)/x"},
	{"http://3232235777/", "1,1,168,192)/"},
	{"http://1.2.3/", "3,0,2,1)/"},
	{"http://010.0.0.1/", "1,0,0,8)/"},
	{"http://123.456.78.910/goo", "910,78,456,123)/goo"},
	{"http://münchen.example/straße?ü=ö", "example,xn--mnchen-3ya)/stra%c3%9fe?%c3%bc=%c3%b6"},
	{"http://xn--mnchen-3ya.example/", "example,xn--mnchen-3ya)/"},
	{"http://EXAMPLE.org/%7Euser/%2525", "org,example)/~user/%25"},
	{"http://a.org/x;jsessionid=0123456789ABCDEF0123456789ABCDEF", "org,a)/x;jsessionid=0123456789abcdef0123456789abcdef"},
	{"http://a.org/?jsessionid=0123456789ABCDEF0123456789ABCDEF&b=1", "org,a)/?b=1"},
	{"http://a.org/x?PHPSESSID=0123456789abcdef0123456789abcdef", "org,a)/x"},
	{"http://a.org/(S(abcdefghij0123456789abcd))/p.aspx?x=1", "org,a)/p.aspx?x=1"},
	{"http://a.org/p?cfid=1&cftoken=2&z=3", "org,a)/p?z=3"},
	{"http://a..org./x", "org,a)/x"},
	{"dns:www.example.org", "dns:www.example.org"},
	{"http://a.org/..", "org,a)/.."},
	{"http://a.org/../../x", "org,a)/x"},
	{"http://a.org/x/..", "org,a)/"},
	{"http://a.org/x/../", "org,a)/"},
	{"http://a.org//", "org,a)/"},
	{"http://a.org/?b&a=&a&a=1", "org,a)/?a&a=&a=1&b"},
	{"http://www.www.org/", "org,www)/"},
	{"http://www12.org/", "org)/"},
	{"http://wwwx.org/", "org,wwwx)/"},
	{"http://a.org/%00%0a%20%ff", "org,a)/%00%0a%20%ff"},
	{"http://%77%77%77.a.org/", "org,a)/"},
	{"http://a.org:/x", "org,a)/x"},
	{"http://a.org:0080/", "org,a)/"},
	{"http://Straße.de/", "de,strasse)/"},
	{"http://ΑΒΓ.gr/Δ", "gr,xn--mxacd)/%ce%94"},
	{"filed:x", "filed:x"},
	{"http://", "http:"},
	{"http:", "http:"},
	{"a", "a)/"},
	{"?q", "http:/?q"},
	{"http:?q=1", "http:/?q=1"},
	{"http://a.org/a?b?c", "org,a)/a?b?c"},
	{"http://a.org?b", "org,a)/?b"},
	{"HTTP://A.org:80/", "org,a)/"},
	{"http://0.9.9.9/", "9,9,9,0)/"},
	{"http://00.9.9.9/", "9,9,9,00)/"},
	{"http://99999999999/", "255,231,118,72)/"},
	{"http://日本語.jp/あ", "jp,xn--wgv71a119e)/%e3%81%82"},
}

func TestSURT(t *testing.T) {
	for _, c := range surts {
		if got := SURT(c[0]); got != c[1] {
			t.Errorf("%q: got %q, want %q", c[0], got, c[1])
		}
	}
}

// Where the Python package fails, or asks the name server.
func TestSURTOfWhatIsNoURI(t *testing.T) {
	for uri, want := range map[string]string{
		"http://a.org:port/x":                         "org:port,a)/x",
		"http://a.org:70000/":                         "org:70000,a)/",
		"http://u@a.org:b:80/":                        "org:b:80,a)/",
		"http://:port/x":                              ":port)/x",
		"http://[::1]:port/x":                         "[::1]:port)/x",
		"http://2001:db8::1/x":                        "2001:db8::1)/x",
		"http:////a.org:8080/x":                       "org:8080,a)/x",
		"http://1.2.3.999/":                           "999,3,2,1)/",
		"filedesc:x.arc":                              "filedesc:x.arc",
		"http://a.org/\xff\x00":                       "org,a)/%ff%00",
		"http://\xff\xfe.org/":                        "org,%ff%fe)/",
		"http://" + strings.Repeat("ü", 70) + ".org/": "org," + strings.Repeat("%c3%bc", 70) + ")/",
	} {
		if got := SURT(uri); got != want {
			t.Errorf("%q: got %q, want %q", uri, got, want)
		}
	}
}

// The port of a URI is no part of its host, whatever it is.
func TestHost(t *testing.T) {
	for uri, want := range map[string]string{
		"http://www.A.org/x":            "www.a.org",
		"a.org":                         "a.org",
		"http://a.org:8080/x":           "a.org",
		"http://a.org:65535/":           "a.org",
		"http://a.org:65536/":           "a.org",
		"http://a.org:port/x":           "a.org",
		"http://a.org:-1/x":             "a.org",
		"http://a.org.:80 /x":           "a.org",
		"http://u:p@A.org:b:80/":        "a.org",
		"http://a.org:/x":               "a.org",
		"http:////a.org:8080/x":         "a.org",
		"http://münchen.example:99999/": "xn--mnchen-3ya.example",
		"http://192.0.2.1:99999/":       "192.0.2.1",
		"http://[2001:db8::1]/":         "2001:db8::1",
		"http://[2001:db8::1]:8080/":    "2001:db8::1",
		"http://[2001:db8::1]:99999/":   "2001:db8::1",
		"http://[2001:db8::1]:port/":    "2001:db8::1",
		"http://2001:db8::1/":           "2001:db8::1",
		"http://::1/":                   "::1",
		"http://:port/x":                "",
		"http://":                       "",
		"urn:uuid:1":                    "",
	} {
		if got := Host(uri); got != want {
			t.Errorf("%q: got %q, want %q", uri, got, want)
		}
	}
}

// unescapeSlowly undoes one layer of escapes after the other.
func unescapeSlowly(s string) string {
	for {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if i+2 < len(s) && s[i] == '%' && hexDigit(s[i+1]) >= 0 && hexDigit(s[i+2]) >= 0 {
				b.WriteByte(byte(hexDigit(s[i+1])<<4 | hexDigit(s[i+2])))
				i += 2
			} else {
				b.WriteByte(s[i])
			}
		}
		if b.String() == s {
			return s
		}
		s = b.String()
	}
}

func FuzzSURT(f *testing.F) {
	for _, c := range surts {
		f.Add(c[0])
	}
	f.Add("http://a.org/\u0085")
	f.Add("http://a.org/%" + strings.Repeat("25", 1000) + "41%%341%2%355")
	f.Fuzz(func(t *testing.T, uri string) {
		if len(uri) > 4<<10 { // over which the slow way is too slow
			return
		}
		if got, want := unescape(uri), unescapeSlowly(uri); got != want {
			t.Fatalf("unescape(%q) is %q, want %q", uri, got, want)
		}
		key := SURT(uri)
		if key == "" || strings.IndexFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) >= 0 || strings.ToLower(key) != key && !strings.Contains(key, ":") {
			t.Fatalf("%q: %q is no key", uri, key)
		}
		if SURT(" "+uri+"\n") != key {
			t.Fatalf("%q: white space around it counts", uri)
		}
		if clean := strings.Trim(uri, " \t\n\r\v\f"); !strings.Contains(clean, "#") && SURT(clean+"#x?y") != key && clean != "" {
			t.Fatalf("%q: the fragment counts", uri)
		}
	})
}
