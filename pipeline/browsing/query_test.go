package browsing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/review"
	"neardup/uris"
)

// addressed is a workspace of a page for each URI, and what browses it.
func addressed(t testing.TB, uris []string) *Review {
	t.Helper()
	var records [][]byte
	for i, uri := range uris {
		records = append(records, oddPage(fmt.Sprint("urn:own:", i), uri, "2020-01-01T00:00:00Z", fmt.Sprintf("<p>This is page %d.", i%9)))
	}
	dir := filepath.Join(t.TempDir(), "ws")
	file := pipetest.WriteRecords(t, records...)
	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	sources, _, err := inputs.Find(t.Context(), dir, []string{file}, nil, pipetest.Limits)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(context.Background(), "extract", "verify", sources); err != nil {
		t.Fatal(err)
	}
	r, err := Open(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What people type finds what they mean.
func TestAddressesPeopleType(t *testing.T) {
	uris := map[string]string{
		"root": "http://example.com/", "www": "https://www.example.com/x", "a": "http://example.com/a", "a/": "http://example.com/a/", "a/b": "http://example.com/a/b",
		"a?q": "http://example.com/a/?q", "a-b": "http://example.com/a-b", "ab": "http://example.com/ab", "port": "http://example.com:8080/a", "sub": "http://sub.example.com/a",
		"community": "http://example.community/a", "evil": "http://example.com.evil.example/a", "x": "http://xexample.com/a",
		"foo": "http://wiki.example/index.php?title=Foo", "foo3": "http://wiki.example/index.php?title=Foo&oldid=3", "editfoo": "http://wiki.example/index.php?title=Foo&action=edit",
		"foobar": "http://wiki.example/index.php?title=Foobar", "bar": "http://wiki.example/index.php?oldid=4&title=Bar", "index": "http://wiki.example/index.php",
		"text1": "urn:text:1", "text12": "urn:text:12", "book": "http://bücher.example/über", "v6": "http://[2001:db8::1]/x",
		"noport": "http://noport.example:99999/x",
		"long":   "http://long.example/?a=" + strings.Repeat("b", 600) + "&z=1",
	}
	var list []string
	for _, uri := range uris {
		list = append(list, uri)
	}
	r := addressed(t, list)
	site := "root www a a/ a/b a?q a-b ab"
	for _, x := range []struct{ uri, host, want string }{
		{"http://example.com/", "", site}, {"https://www.example.com", "", site + " port"}, {"example.com", "", site + " port"}, {" EXAMPLE.COM/* ", "", site},
		{"http://example.com/a", "", "a a/ a/b a?q a-b ab"}, {"example.com/a", "", "a a/ a/b a?q a-b ab"}, {"www.example.com/A", "", "a a/ a/b a?q a-b ab"},
		{"example.com/a/", "", "a a/ a/b a?q"}, {"example.com/a/?", "", "a a/ a/b a?q"}, {"example.com/a/?q", "", "a?q"}, {"example.com/a#top", "", "a a/ a/b a?q a-b ab"},
		{"example.com:8080", "", "port"}, {"http://example.com:8080/a", "", "port"}, {"example.com:8080/a", "", "port"}, {"example.com:81", "", ""},
		{"http://exam", "", ""}, {"example.co", "", ""}, {"sub.example.com", "", "sub"}, {"com", "", ""},
		{"wiki.example/index.php?title=Foo", "", "foo foo3 editfoo foobar"}, {"http://wiki.example/index.php?title=Foo&oldid=3", "", "foo3"},
		{"wiki.example/index.php?oldid=3&title=foo", "", "foo3"}, {"wiki.example/index.php?", "", "foo foo3 editfoo foobar bar index"}, {"wiki.example/index.php?oldid", "", "foo3 bar"},
		{"urn:text:1", "", "text1 text12"}, {"urn:text:12", "", "text12"}, {"urn:", "", "text1 text12"}, {"bücher.example", "", "book"}, {"xn--bcher-kva.example/%C3%BC", "", "book"},
		{"http://[2001:db8::1]/", "", "v6"}, {"long.example/?z=1", "", "long"}, {uris["long"], "", "long"},
		{"", "example.com", site + " port sub"}, {"", "www.example.com", site + " port sub"}, {"", "https://Example.COM:8080/what?ever", site + " port sub"},
		{"", "*.example.com", site + " port sub"}, {"", "sub.example.com", "sub"}, {"", "com", site + " port sub x"}, {"", "example.community", "community"},
		{"", "evil.example", "evil"}, {"", "xample.com", ""}, {"", ".", ""}, {"", "http://", ""}, {"", "[2001:db8::1]", "v6"}, {"", "bücher.example.", "book"}, {"", "noport.example:99999", "noport"}, {"", "noport.example:99998", ""},
		{"example.com/a", "example.com", "a a/ a/b a?q a-b ab"}, {"example.com/a", "sub.example.com", ""}, {"example.com", "com", site + " port"}, {"urn:text:1", "com", ""},
		{"*", "", strings.Join(names(uris), " ")}, {"", "", strings.Join(names(uris), " ")},
	} {
		var want []string
		for name := range strings.FieldsSeq(x.want) {
			want = append(want, uris[name])
		}
		var got []string
		for _, p := range allPages(t, r, review.PageQuery{URI: x.uri, Host: x.host, Limit: 2}) {
			got = append(got, p.URI)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("URI %q, host %q: %q, want %q", x.uri, x.host, got, want)
		}
	}
}

func names(of map[string]string) (all []string) {
	for name := range of {
		all = append(all, name)
	}
	return all
}

// Every beginning of a URI that has its host finds the page, with the scheme and
// without.
func TestBeginningsOfURIsFindThem(t *testing.T) {
	odd := slices.DeleteFunc(slices.Clone(oddURIs), func(uri string) bool {
		return !utf8.ValidString(uri) || len(uri) > 1000 && strings.ContainsAny(uri, "&h") && !strings.Contains(uri, "long.") || strings.Contains(uri, ":port")
	})
	r := addressed(t, odd)
	rng := rand.New(rand.NewPCG(2, 3))
	found := func(asked, uri string) {
		t.Helper()
		var at string
		for range 100 {
			l, err := r.Pages(context.Background(), review.PageQuery{URI: asked, After: at, Limit: 200})
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(l.Pages, func(p review.PageRow) bool { return p.URI == uri }) {
				return
			}
			if at = l.Next; at == "" {
				break
			}
		}
		t.Errorf("%.300q does not find %.300q", asked, uri)
	}
	tried := 0
	for _, p := range allPages(t, r, review.PageQuery{Limit: 200}) {
		uri := p.URI
		scheme, rest, ok := strings.Cut(uri, "://")
		if !ok || rest == "" || rest[0] == '/' || uris.Host(uri) == "" {
			found(uri, uri)
			continue
		}
		authority := len(scheme) + 3 + strings.IndexAny(rest+"/", "/?#")
		for _, end := range []int{authority, authority + 1, len(uri), authority + rng.IntN(len(uri)-authority+1), authority + rng.IntN(len(uri)-authority+1)} {
			end = min(end, len(uri))
			if i := strings.LastIndexByte(uri[:end], '%'); i >= 0 && i > end-3 || !utf8.ValidString(uri[:end]) {
				continue // half of an escape or of a character
			}
			tried++
			found(uri[:end], uri)
			found(strings.TrimPrefix(uri[:end], "http://"), uri)
		}
	}
	if tried < 100 {
		t.Errorf("only %d beginnings", tried)
	}
}

// Whatever is asked for, there is an answer of the right length, or none.
func FuzzBrowse(f *testing.F) {
	r := addressed(f, oddURIs[:40])
	clusters, err := r.Clusters(context.Background(), review.ClusterQuery{})
	if err != nil || len(clusters.Clusters) == 0 {
		f.Fatal(err, len(clusters.Clusters))
	}
	known := clusters.Clusters[0]
	f.Add("example.com", "", "2020", "2020-03", 0, 0, 50, "", known.ID, known.Document)
	f.Add("", "com", "", "", -1, 2, -1, "AAAA", known.Document, known.ID)
	f.Add("http://[", "%", "x", "0", 1<<40, 1<<40, 1<<40, "!", "", "zz")
	f.Add("?&=", "..", "99999999999999999", "-", 3, 2, 0, strings.Repeat("_", 3000), strings.ToUpper(known.ID), known.Document+"0")
	f.Fuzz(func(t *testing.T, uri, host, from, to string, least, most, limit int, after, a, b string) {
		ctx := context.Background()
		check := func(rows int, next string, err error) {
			t.Helper()
			if err != nil && !errors.Is(err, review.ErrNotFound) {
				t.Error(err)
			}
			if rows > maxRows || limit > 0 && rows > limit {
				t.Errorf("%d rows, of at most %d", rows, limit)
			}
		}
		p, err := r.Pages(ctx, review.PageQuery{URI: uri, Host: host, From: from, To: to, MinSize: least, MaxSize: most, After: after, Limit: limit})
		check(len(p.Pages), p.Next, err)
		c, err := r.Clusters(ctx, review.ClusterQuery{MinSize: least, MaxSize: most, After: after, Limit: limit})
		check(len(c.Clusters), c.Next, err)
		m, err := r.Cluster(ctx, a, after, limit)
		check(len(m.Members), m.Next, err)
		_, err = r.Page(ctx, b)
		check(0, "", err)
		_, err = r.Pair(ctx, a, b)
		check(0, "", err)
	})
}
