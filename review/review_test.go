package review_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"neardup/audit"
	"neardup/report/look"
	"neardup/review"
)

// site is a handler to be asked.
type site struct {
	testing.TB
	http.Handler
	failed []error
}

func serve(t testing.TB, a review.Archive) *site {
	s := &site{TB: t}
	s.Handler = review.New(a, review.Options{Name: "site.ws", Version: "test", Hosts: []string{"archive.lan"}, Failed: func(err error) { s.failed = append(s.failed, err) }})
	return s
}

func (s *site) ask(method, path, form string, header ...string) *http.Response {
	s.Helper()
	r := httptest.NewRequest(method, "http://127.0.0.1:8420"+path, strings.NewReader(form))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result()
}

func (s *site) get(path string) string {
	s.Helper()
	return s.body(s.ask("GET", path, ""), http.StatusOK)
}

func (s *site) body(r *http.Response, status int) string {
	s.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status {
		s.Fatalf("status %d, want %d: %v %s", r.StatusCode, status, err, b)
	}
	return string(b)
}

// kinds returns an address of each kind of page of an archive.
func kinds(t testing.TB, f *fake) []string {
	t.Helper()
	if _, err := f.Draw(context.Background(), "kinds", audit.Design{Population: audit.Pages, Size: 5, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	first := f.audits["kinds"].items[0]
	for _, j := range []audit.Judgement{
		{Pair: first.Pair, Judge: "Ines", Verdict: audit.True, Note: "the same", Enforce: true},
		{Pair: first.Pair, Judge: "Ravi", Verdict: audit.False},
	} {
		if err := f.Judge(context.Background(), j); err != nil {
			t.Fatal(err)
		}
	}
	c := f.clusters[0]
	return []string{"/", "/clusters", "/clusters?min=3&max=9", "/clusters?min=999999", "/search", "/search?uri=news.example/", "/search?host=none.example",
		"/search?from=2015-06&to=2016&min=2", "/cluster/" + c.row.ID, "/cluster/" + c.row.ID + "?after=1",
		"/pair/" + first.Documents[0] + "/" + first.Documents[1] + "?judge=Ines", "/page/" + c.members[0].document, "/page/" + f.sorted[0].document,
		"/contained", "/contained?after=2", "/audit", "/audit/kinds", "/audit/kinds?judge=Ines", "/audit/kinds/1?judge=Ines", "/audit/kinds/5?judge=Noor", "/enforced"}
}

func small(t testing.TB) *fake { return newFake(t, []int{120, 7, 5, 4, 3, 2, 2, 2}, 12) }

func TestHeaders(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	for _, path := range append(kinds(t, f), "/nothing", "/cluster/zz", "/audit/none", "/search?from=yesterday", "/audit/kinds/result.json", "/assets/none.js") {
		r := s.ask("GET", path, "")
		h := r.Header
		for key, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store"} {
			if h.Get(key) != want {
				t.Errorf("%s: %s is %q", path, key, h.Get(key))
			}
		}
		csp := h.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp+";", want+";") {
				t.Errorf("%s: no %s in %q", path, want, csp)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") {
			t.Errorf("%s: %q", path, csp)
		}
	}
	if len(s.failed) > 0 {
		t.Error(s.failed)
	}
}

func TestStatuses(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	kinds(t, f)
	d := f.clusters[0].members
	long := strings.Repeat("a", 5000)
	for path, want := range map[string]int{
		"/nothing": 404, "/cluster/": 404, "/cluster/00ff": 404, "/cluster/..%2f": 404, "/cluster/" + strings.Repeat("ab", 300): 404, "/page/00ff": 404, "/page/%3Cscript%3E": 404,
		"/pair/00ff/" + d[0].document: 404, "/audit/none": 404, "/audit/none/1?judge=x": 404, "/audit/kinds/0?judge=x": 404, "/audit/kinds/6?judge=x": 404,
		"/audit/kinds/99999999999999999999": 404, "/audit/none/pages.tsv": 404, "/audit/.hidden": 404, "/assets/review.css": 404, "/assets/..%2fbase.html": 404,
		"/clusters?min=x": 400, "/clusters?min=-1": 400, "/clusters?min=5&max=4": 400, "/clusters?min=99999999999": 400, "/clusters?after=" + long: 400,
		"/clusters?max=0": 400, "/search?max=0": 400, "/search?max=00&min=0": 400, "/search?max=&min=0": 200,
		"/search?from=2024&to=2020": 400, "/search?from=2024-03&to=2024-02-28": 400, "/search?from=2024-03-31&to=2024-03": 200, "/search?from=2024&to=2024-01-01": 200,
		"/search?from=2015-6": 400, "/search?from=2015-13": 400, "/search?to=2015-10-32": 400, "/search?to=2015-10-31": 200, "/search?to=soon": 400, "/search?uri=" + long: 400, "/search?host=" + long[:300]: 400, "/search?uri=%ff": 400,
		"/cluster/" + d[0].document + "?after=" + long: 400, "/pair": 400, "/pair?a=" + d[0].document + "&b=" + d[0].document: 400,
		"/pair?a=" + d[0].document + "&b=" + d[1].document: 303, "/audit/kinds?judge=%00": 400, "/audit/kinds?judge=" + long[:65]: 400,
		"/audit/kinds/1": 303, "/audit/kinds/1?judge=x&last=-1": 400, "/audit/kinds/pages.tsv": 200, "/audit/kinds/truth.tsv": 200, "/audit/kinds/labels.jsonl": 200, "/audit/none/labels.jsonl": 404, "/audit/kinds/result.json": 200,
	} {
		r := s.ask("GET", path, "")
		if r.StatusCode != want {
			t.Errorf("%.80s: status %d, want %d", path, r.StatusCode, want)
		}
		if want >= 400 {
			wellFormed(t, path, s.body(r, r.StatusCode))
		}
	}
	for _, tt := range []struct {
		method, path string
		want         int
	}{{"POST", "/", 405}, {"POST", "/clusters", 405}, {"DELETE", "/audit/kinds", 405}, {"HEAD", "/", 200}, {"PUT", "/audit", 405}} {
		if got := s.ask(tt.method, tt.path, "").StatusCode; got != tt.want {
			t.Errorf("%s %s: status %d, want %d", tt.method, tt.path, got, tt.want)
		}
	}
	if len(s.failed) > 0 {
		t.Error(s.failed)
	}
}

// Only names of this server are answered: another name that leads to its
// address is of a site that wants to read along.
func TestHosts(t *testing.T) {
	s := serve(t, small(t))
	for host, want := range map[string]int{
		"127.0.0.1:8420": 200, "localhost:8420": 200, "LOCALHOST": 200, "[::1]:8420": 200, "[::1]": 200, "archive.lan:8420": 200, "Archive.LAN": 200,
		"evil.example": 421, "evil.example:8420": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example:8420": 421, "": 421, "169.254.1.1": 421,
	} {
		if got := s.ask("GET", "/", "", "Host", host).StatusCode; got != want {
			t.Errorf("host %q: status %d, want %d", host, got, want)
		}
	}
}

// A form that another site sends changes nothing.
func TestFormsOfOtherSites(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	kinds(t, f)
	item := f.audits["kinds"].items[1]
	form := "judge=Eve&verdict=true"
	for path, form := range map[string]string{
		"/audit": "name=evil&population=pages&size=3&seed=1", "/audit/kinds": "judge=Eve", "/audit/kinds/2": form,
		"/pair/" + item.Documents[0] + "/" + item.Documents[1]: form,
	} {
		for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"},
			{"Origin", "http://127.0.0.1:9999"}} {
			if r := s.ask("POST", path, form, header...); r.StatusCode != 403 || len(r.Cookies()) > 0 {
				t.Errorf("%s with %v: status %d", path, header, r.StatusCode)
			}
		}
	}
	given, _ := f.Judgements(context.Background(), item.Pair)
	all, _ := f.Audits(context.Background())
	if len(given) > 0 || len(all) != 1 {
		t.Errorf("%v, %v", given, all)
	}
	if r := s.ask("POST", "/audit/kinds/2", form, "Sec-Fetch-Site", "same-origin", "Origin", "http://127.0.0.1:8420"); r.StatusCode != 303 {
		t.Errorf("the own form: status %d", r.StatusCode)
	}
	// A proxy has another name than this server: over HTTPS browsers say that its form is its own.
	if r := s.ask("POST", "/audit/kinds/2", form, "Sec-Fetch-Site", "same-origin", "Origin", "https://review.example"); r.StatusCode != 303 {
		t.Errorf("a form through a proxy: status %d", r.StatusCode)
	}
}

func TestJudging(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	kinds(t, f)
	post := func(path, form string, status int) string {
		t.Helper()
		r := s.ask("POST", path, form)
		s.body(r, status)
		return r.Header.Get("Location")
	}
	r := s.ask("POST", "/audit/kinds", "judge=Noor+%26+Co")
	if c := r.Cookies(); len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode || r.Header.Get("Location") != "/audit/kinds/1?judge=Noor+%26+Co" {
		t.Fatalf("%v to %q", c, r.Header.Get("Location"))
	}
	if body := s.body(s.ask("GET", "/audit/kinds/1", "", "Cookie", r.Cookies()[0].String()), 200); !strings.Contains(body, "Noor &amp; Co") {
		t.Error("the cookie does not tell who judges")
	}
	// After item 3 comes 4, after the last the first that is left, and then the result.
	for _, step := range []struct{ item, verdict, to string }{
		{"3", "true", "/audit/kinds/4?judge=N&last=3&said=true"}, {"4", "unknown", "/audit/kinds/5?judge=N&last=4&said=unknown"},
		{"5", "false", "/audit/kinds/1?judge=N&last=5&said=false"}, {"5", "withdraw", "/audit/kinds/5?judge=N&said=withdraw"},
		{"5", "true", "/audit/kinds/1?judge=N&last=5&said=true"}, {"1", "true", "/audit/kinds/2?judge=N&last=1&said=true"}, {"2", "true", "/audit/kinds?judge=N"},
	} {
		if to := post("/audit/kinds/"+step.item, "judge=N&verdict="+step.verdict+"&note=a+note&enforce=1", 303); to != step.to {
			t.Errorf("after %s of %s comes %q, want %q", step.verdict, step.item, to, step.to)
		}
	}
	given, _ := f.Judgements(context.Background(), f.audits["kinds"].items[3].Pair)
	if len(given) != 1 || given[0].Verdict != audit.Unknown || given[0].Note != "a note" || !given[0].Enforce || given[0].Judge != "N" {
		t.Errorf("kept: %+v", given)
	}
	for form, status := range map[string]int{
		"verdict=true": 400, "judge=N": 400, "judge=N&verdict=maybe": 400, "judge=%00&verdict=true": 400, "judge=N&verdict=true&note=" + strings.Repeat("a", 2001): 400,
		"judge=N&verdict=true&note=" + strings.Repeat("a", 100_000):                               413,
		"judge=N&verdict=true&note=" + strings.Repeat(strings.Repeat("a", 99)+"%0D%0A", 20) + "a": 400,
	} {
		post("/audit/kinds/1", form, status)
	}
	// A line end is one character, as it is kept. Browsers send two.
	lines := strings.Repeat(strings.Repeat("宽", 99)+"\r\n", 19) + strings.Repeat("宽", 100)
	post("/audit/kinds/1", url.Values{"judge": {"L"}, "verdict": {"true"}, "note": {lines}}.Encode(), 303)
	if got := f.judgements[f.audits["kinds"].items[0].Pair]["L"].Note; utf8.RuneCountInString(got) != audit.MaxNote {
		t.Errorf("a note of %d characters is kept", utf8.RuneCountInString(got))
	}
	// A judge does not see what others say, nor what the method trusts.
	page := s.get("/audit/kinds/1?judge=Noor")
	if strings.Contains(page, "Ines") || strings.Contains(page, "the same</td>") || strings.Contains(page, "in-trusted") {
		t.Error("a judge is led")
	}
	// The page of a pair has all judgements, and takes one.
	item := f.audits["kinds"].items[0]
	path := "/pair/" + item.Documents[0] + "/" + item.Documents[1]
	if to := post(path, "judge=Z&verdict=false", 303); to != path+"?judge=Z&said=false#judgements" {
		t.Errorf("to %q", to)
	}
	if page := s.get(path); !strings.Contains(page, "Ines") || !strings.Contains(page, "must join") || !strings.Contains(page, ">Z<") {
		t.Error("a judgement is not shown")
	}
	// The cause of a false pair is kept, shown and chosen again; another verdict has none.
	post(path, "judge=Y&verdict=false&cause=replies", 303)
	if page := s.get(path + "?judge=Y"); !strings.Contains(page, `<span class="quiet">replies</span>`) || !strings.Contains(page, `value="replies" selected`) {
		t.Error("a cause is not shown")
	}
	post(path, "judge=X&verdict=true&cause=replies", 303)
	if j := f.judgements[item.Pair]["X"]; j.Cause != "" || f.judgements[item.Pair]["Y"].Cause != audit.Replies {
		t.Errorf("%+v", j)
	}
	post(path, "judge=W&verdict=false&cause=rain", 400)
	if page := s.get("/audit/kinds"); !strings.Contains(page, "Causes of false pairs: replies 0.250 (2 pairs); without one 0 pairs.") {
		t.Error("causes are not shown")
	}
	if len(s.failed) > 0 {
		t.Error(s.failed)
	}
}

func TestDrawing(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	good := url.Values{"name": {"first"}, "population": {"verified"}, "size": {"7"}, "seed": {"18446744073709551615"}, "stratified": {"1"}, "different": {"1"}}
	if r := s.ask("POST", "/audit", good.Encode()); r.StatusCode != 303 || r.Header.Get("Location") != "/audit/first?said=drawn" {
		t.Fatalf("status %d to %s", r.StatusCode, r.Header.Get("Location"))
	}
	if d := f.audits["first"].Design; d != (audit.Design{Population: audit.Verified, Stratified: true, Different: true, Size: 7, Seed: 1<<64 - 1}) {
		t.Errorf("drawn: %+v", d)
	}
	if body := s.body(s.ask("POST", "/audit", good.Encode()), 422); !strings.Contains(body, "there is an audit first already") {
		t.Errorf("a name taken: %s", body)
	}
	for key, values := range map[string][]string{"name": {"", "a b", "../x", ".x", "Spring", "a.b", "a_b", strings.Repeat("x", 65), "<b>"}, "population": {"", "all", "pages"}, "size": {"", "0", "-1", "x", "10001"},
		"seed": {"", "-1", "x", "18446744073709551616"}} {
		for _, value := range values {
			form := url.Values{}
			for k, v := range good {
				form[k] = v
			}
			form.Set("name", "second")
			form.Set(key, value)
			s.body(s.ask("POST", "/audit", form.Encode()), 400)
		}
	}
}

// What is taken along is named, and written, as other commands read it.
func TestTakingAlong(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	kinds(t, f)
	page := s.get("/audit/kinds")
	for file, as := range map[string]string{"pages.tsv": "kinds.pages.tsv", "truth.tsv": "kinds.truth.tsv", "labels.jsonl": "kinds.labels.jsonl", "result.json": "kinds.result.json"} {
		r := s.ask("GET", "/audit/kinds/"+file, "")
		body := s.body(r, 200)
		if !strings.Contains(page, `href="/audit/kinds/`+file+`"`) || r.Header.Get("Content-Disposition") != `attachment; filename="`+as+`"` {
			t.Errorf("%s: %v", file, r.Header)
		}
		if file != "labels.jsonl" {
			continue
		}
		l, err := audit.ReadLabels(strings.NewReader(body))
		if err != nil || l.Audit.Name != "kinds" || len(l.Pairs) != 5 || len(l.Pairs[0].Given()) != 2 {
			t.Errorf("%+v, %v", l, err)
		}
	}
}

// What cannot be known is not shown as a number.
func TestWhatAResultLacks(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	kinds(t, f)
	if page := s.get("/audit/kinds"); !strings.Contains(page, "α is 0.710") || strings.Contains(page, "Nothing is decided in") {
		t.Error(page)
	}
	f.change = func(r *audit.Result) {
		r.Agreement.Unvaried, r.Agreement.Alpha, r.Overall.True, r.Overall.Missing = true, 0, 1, []int{1}
	}
	page := s.get("/audit/kinds")
	if !strings.Contains(page, "there is no Krippendorff’s α") || strings.Contains(page, "α is") || !strings.Contains(page, "Nothing is decided in 1 stratum:") {
		t.Error(page)
	}
}

// A pair of an audit that was made elsewhere may not be here; the others are.
func TestPairThatIsNotHere(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	kinds(t, f)
	f.audits["kinds"].items[1].Documents[1] = ""
	if body := s.body(s.ask("GET", "/audit/kinds/2?judge=Noor", ""), 404); !strings.Contains(body, "not in this workspace") || !strings.Contains(body, `href="/audit/kinds/3?judge=Noor"`) ||
		!strings.Contains(body, `href="/audit" aria-current="true"`) {
		t.Error(body)
	}
}

// Whoever compares or judges two pages is told how much of them is not compared.
func TestPartThatIsCompared(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	kinds(t, f)
	documents := f.audits["kinds"].items[0].Documents
	paths := []string{"/pair/" + documents[0] + "/" + documents[1], "/audit/kinds/1?judge=Noor"}
	for _, path := range paths {
		if page := s.get(path); strings.Contains(page, "are compared and shown") {
			t.Errorf("%s: part of a text that is compared whole", path)
		}
	}
	p := f.pages[documents[1]]
	p.frame = strings.Repeat("Menu. ", 1000)
	n := utf8.RuneCountInString(p.text)
	want := fmt.Sprintf("%s of %s characters are compared and shown: without the frame of its site", look.Count(n), look.Count(6000+n))
	for _, path := range paths {
		if page := s.get(path); strings.Count(page, want) != 1 || strings.Count(page, "are compared and shown") != 1 {
			t.Errorf("%s does not say that %s", path, want)
		}
	}
}

// A page says how many characters of its text it does not show.
func TestPageOfLongText(t *testing.T) {
	f := small(t)
	s := serve(t, f)
	p := f.clusters[0].members[0]
	for text, want := range map[string]string{
		strings.Repeat("宽", 400_000):               "",
		strings.Repeat("宽", 400_000) + "x":         "1 character more is not shown.",
		strings.Repeat("word ", 1<<20) + "the end": "4,842,887 characters more are not shown.",
	} {
		p.text = text
		page := s.get("/page/" + p.document)
		if strings.Contains(page, "not shown") != (want != "") || !strings.Contains(page, want) || strings.Contains(page, "the end") {
			t.Errorf("%d characters: no %q", utf8.RuneCountInString(text), want)
		}
		if shown := parse(t, page).text(); strings.Count(shown, "宽") != strings.Count(text, "宽") {
			t.Errorf("%d characters are shown", strings.Count(shown, "宽"))
		}
	}
}

// The dates of the overview are those of pages in clusters.
func TestDatesOfTheOverview(t *testing.T) {
	if page := serve(t, small(t)).get("/"); !strings.Contains(page, "Method default, clusters with pages of 2012-01-04 to 2021-12-28.") {
		t.Error(page)
	}
}

// broken is an archive whose disk has gone.
type broken struct{ review.Archive }

func (broken) Overview(context.Context) (o review.Overview, err error) {
	return o, errors.New("read /secret/place: input/output error")
}
func (broken) Clusters(context.Context, review.ClusterQuery) (review.ClusterList, error) {
	panic("index out of range")
}

func TestFailures(t *testing.T) {
	s := serve(t, broken{})
	for i, path := range []string{"/", "/clusters", "/audit"} { // an error, a panic, and a nil pointer
		body := s.body(s.ask("GET", path, ""), 500)
		if strings.Contains(body, "secret") || strings.Contains(body, "goroutine") || !strings.Contains(body, "terminal") {
			t.Errorf("%s: %s", path, body)
		}
		wellFormed(t, path, body)
		if len(s.failed) != i+1 {
			t.Fatalf("%s: failed %v", path, s.failed)
		}
	}
	if !strings.Contains(fmt.Sprint(s.failed[1]), "index out of range") {
		t.Error(s.failed[1])
	}
}

// All of a list comes, each once, by going on.
func TestGoingOn(t *testing.T) {
	f := newFake(t, []int{230, 3, 2}, 120)
	s := serve(t, f)
	for path, want := range map[string]int{"/search": len(f.pages), "/cluster/" + f.clusters[0].row.ID: 230, "/search?host=single.example": 120} {
		seen := map[string]int{}
		for next := path; next != ""; {
			doc := parse(t, s.get(next))
			next = ""
			for _, a := range doc.all("a") {
				switch href := a.attr("href"); {
				case a.attr("rel") == "next":
					next = href
				case strings.HasPrefix(href, "/page/"):
					seen[href]++
				}
			}
		}
		if len(seen) != want {
			t.Errorf("%s: %d pages, want %d", path, len(seen), want)
		}
		for href, n := range seen {
			if n > 1 && !strings.HasSuffix(href, f.clusters[0].members[0].document) { // the representative begins each part
				t.Errorf("%s: %s is there %d times", path, href, n)
			}
		}
	}
	f.partial = 50
	if page := s.get("/search?host=single.example&to=2012"); !strings.Contains(page, "stopped here") || !strings.Contains(page, "Go on</a>") {
		t.Error("a search that stopped does not say so")
	}
}

func TestAssets(t *testing.T) {
	s := serve(t, small(t))
	doc := parse(t, s.get("/"))
	n := 0
	for _, e := range append(doc.all("link"), doc.all("script")...) {
		r := s.ask("GET", e.attr("href")+e.attr("src"), "")
		body := s.body(r, 200)
		if kind := r.Header.Get("Content-Type"); !strings.Contains(kind, map[string]string{"stylesheet": "text/css", "icon": "image/svg+xml", "": "javascript"}[e.attr("rel")]) ||
			!strings.Contains(r.Header.Get("Cache-Control"), "immutable") || body == "" {
			t.Errorf("%s: %v", e.attr("href"), r.Header)
		}
		if strings.Contains(body, "url(") || strings.Contains(body, "@import") || strings.Contains(strings.ReplaceAll(body, "http://www.w3.org/2000/svg", ""), "http") {
			t.Errorf("%s loads something", e.attr("href"))
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d assets", n)
	}
}
