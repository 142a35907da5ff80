package withdrawn

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"neardup/extract"
)

func TestPatternsHave(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		has     []string
		hasNot  []string
	}{
		{"https://x.example/Orders/1", []string{"http://X.example/Orders/1", "https://x.example/Orders/1#top"}, []string{"https://x.example/orders/1", "https://x.example/Orders/12"}},
		{"https://X.EXAMPLE/*", []string{"http://x.example/", "https://x.example/A"}, []string{"https://x.example.org/", "https://y.example/x.example/"}},
		{"*Orders*", []string{"https://x.example/Orders/1", "https://orders.example/"}, []string{"https://x.example/orders/1"}},
		{"*Orders", []string{"https://x.example/Orders", "https://my-orders"}, []string{"https://x.example/orders"}},
		{"https://x.example*Orders*", []string{"https://x.example/Orders/1", "https://x.exampleORDERS/"}, []string{"https://x.example/orders/1"}},
		{"*.Example/Draft/*", []string{"https://a.b.example/Draft/1"}, []string{"https://a.example/draft/1"}},
		{"*://shop.example/*", []string{"https://shop.example/a"}, []string{"https://other.example/shop.example/a"}},
		{"*?to=http://x.example/A", []string{"https://r.example/?to=http://x.example/A"}, []string{"https://r.example/?to=http://x.example/a"}},
		{"urn:text:Doc1", []string{"urn:text:Doc1"}, []string{"urn:text:doc1", "urn:text:Doc11"}},
		{"urn:text:D*", []string{"urn:text:Doc1"}, []string{"urn:text:doc1"}},
		{"urn:text:https://x.example/A", []string{"urn:text:https://x.example/A"}, []string{"https://x.example/A", "urn:text:https://x.example/a", "urn:view:https://x.example/A"}},
		{"urn:text:*", []string{"urn:text:https://x.example/A", "urn:text:Doc1"}, []string{"https://x.example/urn:text:A"}},
		{"urn:*", []string{"urn:view:https://x.example/A#top"}, []string{"http://x.example/"}},
		{"screenshot:http://x.example/", []string{"screenshot:http://x.example/"}, []string{"http://x.example/"}},
		{"https://x.example/A", []string{"urn:view:http://X.example/A"}, []string{"urn:view:http://x.example/a"}},
		{"https://x.example?q=A", []string{"https://X.example?q=A"}, []string{"https://x.example?q=a"}},
	} {
		d := List{{URI: tt.pattern}}.Patterns()
		for _, uri := range tt.has {
			if !d.Has(uri) {
				t.Errorf("%s does not cover %s", tt.pattern, uri)
			}
		}
		for _, uri := range tt.hasNot {
			if d.Has(uri) {
				t.Errorf("%s covers %s", tt.pattern, uri)
			}
		}
	}
}

// covers is matches by its definition, a character at a time.
func covers(pattern, address string, host int) bool {
	switch {
	case pattern == "":
		return address == ""
	case pattern[0] == '*':
		return covers(pattern[1:], address, host) || address != "" && covers(pattern, address[1:], host-1)
	case address == "" || pattern[0] != address[0] && (host <= 0 || strings.ToLower(pattern[:1]) != address[:1]):
		return false
	}
	return covers(pattern[1:], address[1:], host-1)
}

func TestMatchesByDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(of string, n int) string {
		var b strings.Builder
		for range random.IntN(n) {
			b.WriteByte(of[random.IntN(len(of))])
		}
		return b.String()
	}
	found := 0
	for range 300_000 {
		address, host := word("ab", 5)+word("/?", 2)+word("abAB/?", 6), 0
		if random.IntN(4) > 0 {
			host = hostEnd(address)
			address = strings.ToLower(address[:host]) + address[host:]
		}
		pattern := word("abAB*/?", 8)
		got, want := parsePattern(pattern).matches(address, host), covers(pattern, address, host)
		if got != want {
			t.Fatalf("%q covers %q, with a host of %d bytes: %v, want %v", pattern, address, host, got, want)
		}
		if got {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("only %d match", found)
	}
}

// hasURI reports whether a pattern covers a URI, compared with nothing else.
func hasURI(pattern, uri string) bool {
	address, host := extract.Document{TargetURI: uri}.Address(), 0
	if strings.Contains(uri, "://") {
		host = hostEnd(address)
	}
	uri, _, _ = strings.Cut(uri, "#")
	scheme, _, ok := strings.Cut(uri, "://")
	return parsePattern(pattern).matches(address, host) || ok && !isScheme(scheme) && parsePattern(pattern).matches(uri, 0)
}

// A URI is compared with few of many patterns, and the first that covers it is that of all.
func TestFirstOfManyPatterns(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	word := func(of string, n int) string {
		var b strings.Builder
		for range random.IntN(n) {
			b.WriteByte(of[random.IntN(len(of))])
		}
		return b.String()
	}
	uri := func(of string) string {
		schemes := []string{"http://", "https://", "", "urn:text:http://", "urn:text:", "URN:"}
		return schemes[random.IntN(len(schemes))] + word(of, 3) + word("/?", 2) + word(of+"/?", 4) + word("#", 2)
	}
	found := 0
	for range 3000 {
		list := List{{Input: "crawl.warc"}}
		for range random.IntN(30) {
			list = append(list, Withdrawal{URI: uri("aB*İ\xff")})
		}
		patterns := list.Patterns()
		for range 30 {
			u := uri("aAbB\xffİi")
			want := slices.IndexFunc(list, func(d Withdrawal) bool { return d.URI != "" && hasURI(asPattern(d.URI), u) })
			got := patterns.First(u)
			if got != want {
				t.Fatalf("%q: %d of %v, want %d", u, got, list, want)
			}
			if got >= 0 {
				found++
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d are covered", found)
	}
}

func TestMistakenForAll(t *testing.T) {
	for pattern, want := range map[string]bool{"ftp://*": true, "https://*/*": true, "http*://**": true, "*": false, "*://*": false, "*://*/*": false, "*/*": false,
		"http://": false, "http://a*": false, "http://*/a": false, "urn:text:http://*": false, "*?url=http://*": false, "http:///": false, "http://*/": false, "http://*": true, "http://*a*": false} {
		if got := MistakenForAll(pattern); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}
