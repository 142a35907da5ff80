package remote_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"neardup/pipeline/remote"
	"neardup/pipeline/remote/remotetest"
)

// page returns a page of a list. An empty token is left out.
func page(truncated bool, token string, keys ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<ListBucketResult><IsTruncated>%v</IsTruncated>", truncated)
	if token != "" {
		fmt.Fprintf(&b, "<NextContinuationToken>%s</NextContinuationToken>", token)
	}
	for _, key := range keys {
		fmt.Fprintf(&b, "<Contents><Key>%s</Key><Size>1</Size></Contents>", key)
	}
	b.WriteString("</ListBucketResult>")
	return b.String()
}

// list lists a bucket whose store answers as pages does. n counts requests from 0.
func list(t *testing.T, pages func(n int, token string) string) ([]string, int, error) {
	t.Helper()
	theFaults.Set(func(n int, w http.ResponseWriter, r *http.Request, _ http.Handler) {
		w.Header().Set("Content-Type", "application/xml")
		_, _ = w.Write([]byte(pages(n, r.URL.Query().Get("continuation-token"))))
	})
	defer theFaults.Set(nil)
	names, err := remote.List(t.Context(), "s3://"+remotetest.Bucket+"/of-pages/")
	return names, len(theFaults.Asked()), err
}

// TestListPages lists buckets whose pages come with tokens of one kind or another.
func TestListPages(t *testing.T) {
	pages := [][]string{{"0"}, nil, {"1", "2"}, nil, nil, {"3"}}
	names, _, err := list(t, func(_ int, token string) string {
		i, _ := strconv.Atoi(token)
		if i == len(pages)-1 {
			return page(false, "", pages[i]...)
		}
		return page(true, strconv.Itoa(i+1), pages[i]...)
	})
	if want := []string{"s3://crawls/0", "s3://crawls/1", "s3://crawls/2", "s3://crawls/3"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("pages without an object: %v %v", names, err)
	}
	for _, x := range []struct {
		name  string
		page  func(n int, token string) string
		asked int
		err   string
	}{
		{"no token", func(int, string) string { return page(true, "", "a") }, 1, `list of objects goes on, and not where$`},
		{"the same token", func(int, string) string { return page(true, "x", "a") }, 2, `list of objects begins again and never ends$`},
		{"two tokens by turns", func(n int, _ string) string { return page(true, strconv.Itoa(n%2), "a") }, 3, `list of objects begins again`},
		{"empty pages for ever", func(n int, _ string) string { return page(true, strconv.Itoa(n)) }, 1000, `1000 pages in a row without an object$`},
	} {
		names, asked, err := list(t, x.page)
		matches(t, err, x.err)
		if len(names) != 0 || asked != x.asked {
			t.Errorf("%s: %d names, %d requests, want %d", x.name, len(names), asked, x.asked)
		}
	}
}

// TestListKeys lists objects with keys that XML cannot have, of a store that encodes keys
// and of one that does not.
func TestListKeys(t *testing.T) {
	keys := []string{"a b.warc", "a+b.warc", "a%20b.warc", "ü.warc", "line\nend.warc", "x\x01.warc", "d/../y.warc"}
	asked := ""
	names, _, err := list(t, func(int, string) string {
		var encoded []string
		for _, key := range keys {
			encoded = append(encoded, url.QueryEscape(key))
		}
		asked = theFaults.Asked()[0].URL.Query().Get("encoding-type")
		return strings.Replace(page(false, "", encoded...), "<Contents>", "<EncodingType>url</EncodingType><Contents>", 1)
	})
	if err != nil || asked != "url" || !slices.Equal(names, urls(keys)) {
		t.Errorf("encoded: %q, asked for %q, %v", names, asked, err)
	}
	plain := []string{"a b.warc", "a+b.warc", "a%20b.warc", "ü.warc"}
	names, _, err = list(t, func(int, string) string { return page(false, "", plain...) })
	if err != nil || !slices.Equal(names, urls(plain)) {
		t.Errorf("not encoded: %q, %v", names, err)
	}
	_, n, err := list(t, func(int, string) string { return page(false, "", "line&#x1;end.warc") })
	matches(t, err, `^the object store's answer cannot be read: .*illegal character code U\+0001.*given up after 8 tries`)
	if n != 8 {
		t.Errorf("%d requests for a list that cannot be read", n)
	}
}

func urls(keys []string) []string {
	var out []string
	for _, key := range keys {
		out = append(out, "s3://"+remotetest.Bucket+"/"+key)
	}
	return out
}
