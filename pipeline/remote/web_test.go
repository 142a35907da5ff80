package remote

import (
	"net/http"
	"testing"
)

// A redirection from https to http is refused wherever it comes in a chain.
func TestRedirections(t *testing.T) {
	request := func(url string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, x := range []struct {
		chain []string
		ok    bool
	}{
		{[]string{"http://a/", "http://b/"}, true},
		{[]string{"http://a/", "https://b/"}, true},
		{[]string{"https://a/", "https://b/"}, true},
		{[]string{"https://a/", "http://b/"}, false},
		{[]string{"http://a/", "https://b/", "http://c/"}, false},
		{[]string{"http://a/", "https://b/", "https://c/", "http://d/"}, false},
	} {
		var via []*http.Request
		for _, url := range x.chain[:len(x.chain)-1] {
			via = append(via, request(url))
		}
		err := client.CheckRedirect(request(x.chain[len(x.chain)-1]), via)
		if (err == nil) != x.ok {
			t.Errorf("%v: %v", x.chain, err)
		}
	}
}
