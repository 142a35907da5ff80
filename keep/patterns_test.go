package keep

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A URI is compared with few of many patterns, and matches the same as if it were compared
// with all.
func TestMatchingOfManyPatterns(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	uri := func(any string) string {
		scheme := pick("http://", "https://", "HTTP://", "", "//", "http:/", "urn:text:", "urn:text:http://", "urn:view:", "urn:", "dns:", "http://http://", "https:", "\t", "[::1]@", any)
		host := pick("", "u@", any) + pick("a.example", "b.example", "müller.test", "xn--mller-kva.test", "A.Example.", "[::1]", "", any, any+".example") + pick("", "", ":80", ":", ":"+any)
		return scheme + host + pick("", "/", "/x", "/X/y", "[::1]", "%61", "//", "/"+any, any) + pick("", "", "?q=1", "?"+any, "#f", any)
	}
	found := 0
	for range 4000 {
		var written []string
		for range random.IntN(30) {
			written = append(written, uri("*"))
		}
		patterns := NewPatterns(written...)
		for range 30 {
			u := uri(pick("", "a", "x/y", "@", "*"))
			var want []int
			for i, w := range written {
				if addressOf(w).matches(addressOf(u)) {
					want = append(want, i)
				}
			}
			got := slices.Sorted(patterns.Matching(u))
			if !slices.Equal(got, want) {
				t.Fatalf("%q matches %v of %q, want %v", u, got, written, want)
			}
			if patterns.Has(u) != (len(want) > 0) {
				t.Fatalf("%q: %v of %q", u, patterns.Has(u), written)
			}
			if len(want) > 0 && !strings.Contains(written[want[0]], "*") {
				found++
			}
		}
	}
	if found < 1000 {
		t.Errorf("only %d match", found)
	}
}
