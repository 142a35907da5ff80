package browsing

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"neardup/pipeline/groups"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/review"
	"neardup/uris"
)

// browser is what of review.Archive reads.
type browser interface {
	Overview(ctx context.Context) (review.Overview, error)
	Clusters(ctx context.Context, q review.ClusterQuery) (review.ClusterList, error)
	Pages(ctx context.Context, q review.PageQuery) (review.PageList, error)
	Cluster(ctx context.Context, id, after string, limit int) (review.Cluster, error)
	Pair(ctx context.Context, a, b string) (review.Pair, error)
	Page(ctx context.Context, document string) (review.Page, error)
}

var _ browser = (*Review)(nil)

// oddPage is a record of a page as crawlers and forgers write it.
func oddPage(id, uri, date, body string) []byte {
	block := pipetest.OkHTML + body
	if id != "" {
		id = "WARC-Record-ID: <" + id + ">\r\n"
	}
	if date != "" {
		date = "WARC-Date: " + date + "\r\n"
	}
	return fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: response\r\n%sWARC-Target-URI: %s\r\n%sContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		id, uri, date, len(block), block)
}

// oddURIs are URIs of all kinds, and some that are none.
var oddURIs = []string{
	"http://example.com/", "https://www.example.com/", "http://www2.example.com/a/b", "http://example.com/a", "http://example.com/a/",
	"http://example.com/a/b?x=1", "http://example.com/a?q", "http://example.com/a-b", "http://example.com/ab", "http://EXAMPLE.com/A/B",
	"http://sub.example.com/", "http://a.sub.example.com/x", "http://example.com:8080/a", "http://sub.example.com:81/", "http://example.community/",
	"http://example.communism.example/", "http://xexample.com/", "http://example.com.evil.example/a", "http://user:pw@example.com/login",
	"http://wiki.example/index.php?title=Foo", "http://wiki.example/index.php?title=Foo&oldid=3", "http://wiki.example/index.php?oldid=4&title=Foo",
	"http://wiki.example/index.php?action=edit&title=Foobar", "http://wiki.example/index.php?title=Bar", "http://wiki.example/index.php",
	"urn:text:1", "urn:text:2", "file:///home/x", "mailto:a@b.example", "no URI at all", "http://", "http:///path", "//host.example/x", "http://[::1]:80/x",
	"http://[2001:db8::1]/", "http://127.0.0.1/", "http://1.example/", "http://bad.example:port/x", "ftp://example.com/f", "http://\xff\xfe.example/\xff",
	"http://bücher.example/ü?ß=1", "http://xn--bcher-kva.example/", "http://e.example/%00%01/a b\"<script>", "http://e.example/?", "http://e.example/#x",
	"http://long.example/" + strings.Repeat("x", 60_000), "http://long.example/" + strings.Repeat("x", 60_000) + "y",
	"http://" + strings.Repeat("h", 60_000) + "/", "http://q.example/?" + strings.Repeat("a&", 25_000), "http://q.example/" + strings.Repeat("/", 50_000),
}

var oddDates = []string{"", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.123456789Z", "2020", "2020-03", "2020-03-31T23:59:59Z", "2020-04-01T00:00:00Z",
	"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "99999-01-01", "-5", "yesterday", "2020-13-45T99:99:99Z",
	"2021-06-15T12:00:00Z", "2021-06-15T12:00:01Z", "20210615120002", strings.Repeat("9", 20_000), "\x00\x1b[2J"}

// oddCrawl has a page of each odd URI, with odd dates and ids that are not
// unique, in clusters of equal and near texts; one cluster has hundreds.
func oddCrawl(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 1))
	texts, _ := pipetest.Planted(rng, 6)
	var records [][]byte
	for i, uri := range oddURIs {
		id := []string{"", "urn:same", fmt.Sprint("urn:own:", i)}[i%3]
		body := fmt.Sprintf("<title>Title %d &lt;script></title><p>%s", i, strings.ReplaceAll(texts[i%len(texts)], "\n", "<p>"))
		records = append(records, oddPage(id, uri, oddDates[i%len(oddDates)], body))
		records = append(records, oddPage(id, uri, oddDates[(i+5)%len(oddDates)], body+"<p>again"))
	}
	for i := range 450 {
		date := fmt.Sprintf("20%02d-%02d-01T00:00:00Z", i%20, 1+i%12)
		body := "<p>" + texts[0]
		if i%5 == 0 {
			body += fmt.Sprintf("<p>Number %d is another.", i)
		}
		records = append(records, oddPage(fmt.Sprint("urn:many:", i), fmt.Sprintf("http://h%d.many.example/%d", i%30, i), date, body))
	}
	return pipetest.WriteRecords(t, records...)
}

// slowPage is a page as a slow search finds it.
type slowPage struct {
	review.PageRow
	date, surt string
}

var nonDigits = regexp.MustCompile(`\D`)

// slowDate are the digits of a date, nothing where it has no year and month.
func slowDate(s string) string {
	digits := nonDigits.ReplaceAllString(s, "")
	digits = digits[:min(14, len(digits))]
	if !regexp.MustCompile(`^\d{4}(\d?$|(0[1-9]|1[0-2])\d*$)`).MatchString(digits) {
		return ""
	}
	if len(digits)%2 == 1 {
		digits = digits[:len(digits)-1]
	}
	return (digits + noDate)[:14]
}

// slowly lists clusters by size and pages by docID, with all in memory.
func slowly(t *testing.T, w *workspace.Workspace) (clusters []report.Cluster, pages []slowPage) {
	t.Helper()
	in := map[string]report.Cluster{}
	for c, err := range results.Clusters(context.Background(), w) {
		if err != nil {
			t.Fatal(err)
		}
		clusters = append(clusters, c)
		for _, m := range c.Members {
			in[m.Document] = c
		}
	}
	slices.SortFunc(clusters, func(a, b report.Cluster) int { return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.ID, b.ID)) })
	for r, err := range w.DB.Table(layout.TableDocument) {
		var d rows.Document
		if err := errors.Join(err, r.JSON(&d)); err != nil {
			t.Fatal(err)
		}
		id, _, _, err := layout.ParseDocumentKey(r.Key())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(pages); n > 0 && pages[n-1].Document == id.String() {
			continue
		}
		c := in[id.String()]
		pages = append(pages, slowPage{review.PageRow{Document: id.String(), RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, Title: d.Title,
			Cluster: c.ID, Size: c.Size}, slowDate(d.Date), uris.SURT(d.TargetURI)})
	}
	return clusters, pages
}

// everywhere checks what a Review gives of a workspace against the slow lists.
func everywhere(t *testing.T, w *workspace.Workspace) *Review {
	t.Helper()
	ctx := context.Background()
	r, err := Open(ctx, w)
	if err != nil {
		t.Fatal(err)
	}
	clusters, pages := slowly(t, w)
	checkOverview(t, w, r, clusters)
	checkClusters(t, r, clusters, pages)
	checkPages(t, r, pages)
	return r
}

func checkOverview(t *testing.T, w *workspace.Workspace, r *Review, clusters []report.Cluster) {
	t.Helper()
	o, err := r.Overview(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want, err := results.Summary(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(o.Summary, want) {
		t.Errorf("summary %+v, want %+v", o.Summary, want)
	}
	var dates []string
	for _, c := range clusters {
		for _, m := range c.Members {
			if d := slowDate(m.Date); d != "" {
				dates = append(dates, d)
			}
		}
	}
	if len(dates) > 0 && (slowDate(o.First) != slices.Min(dates) || slowDate(o.Last) != slices.Max(dates)) {
		t.Errorf("from %s to %s, want %s to %s", o.First, o.Last, slices.Min(dates), slices.Max(dates))
	}
}

// parts puts a list together from parts of a number of rows.
func parts[T any](t *testing.T, limit int, part func(after string) (rows []T, next string, err error)) (all []T) {
	t.Helper()
	for after, n := "", 0; ; n++ {
		rows, next, err := part(after)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > limit || n > 10_000 {
			t.Fatalf("%d rows in part %d, of at most %d", len(rows), n, limit)
		}
		all = append(all, rows...)
		if next == "" {
			return all
		}
		if next == after || len(rows) < limit {
			t.Fatalf("a part of %d rows, and there are more behind it", len(rows))
		}
		after = next
	}
}

func checkClusters(t *testing.T, r *Review, clusters []report.Cluster, pages []slowPage) {
	t.Helper()
	ctx := context.Background()
	byDocument := map[string]slowPage{}
	for _, p := range pages {
		byDocument[p.Document] = p
	}
	var rows []review.ClusterRow
	for _, c := range clusters {
		rows = append(rows, slowRow(c, byDocument))
	}
	for _, sizes := range [][2]int{{}, {2, 2}, {3, 0}, {0, 3}, {4, 100}, {1 << 40, 0}, {-1, -1}, {5, 4}, {0, 1}} {
		want := slices.DeleteFunc(slices.Clone(rows), func(c review.ClusterRow) bool {
			return c.Size < sizes[0] || sizes[1] > 0 && c.Size > sizes[1]
		})
		for _, limit := range []int{1, 2, 7, maxRows} {
			got := parts(t, limit, func(after string) ([]review.ClusterRow, string, error) {
				l, err := r.Clusters(ctx, review.ClusterQuery{MinSize: sizes[0], MaxSize: sizes[1], After: after, Limit: limit})
				return l.Clusters, l.Next, err
			})
			if !slices.Equal(got, want) {
				t.Fatalf("sizes %v, %d at a time: %d clusters, want %d\n%+v\n%+v", sizes, limit, len(got), len(want), got, want)
			}
		}
	}
	for i, c := range clusters {
		for _, limit := range []int{1, 3, maxRows} {
			if limit == 1 && c.Size > 50 {
				continue
			}
			var whole review.Cluster
			got := parts(t, limit, func(after string) ([]report.Member, string, error) {
				part, err := r.Cluster(ctx, c.ID, after, limit)
				whole = part
				return part.Members, part.Next, err
			})
			for k, m := range c.Members {
				if m.Title != byDocument[m.Document].Title || k >= len(got) || got[k] != m {
					t.Fatalf("member %d of %d: %+v, want %+v", k, len(got), got[:min(k+1, len(got))], m)
				}
				if against := byDocument[m.AgainstDocument]; against.RecordID != m.VerifiedAgainst || against.Cluster != c.ID {
					t.Errorf("verified against %s, which is %s", m.VerifiedAgainst, against.RecordID)
				}
			}
			if len(got) != c.Size || whole.ClusterRow != rows[i] {
				t.Errorf("%d members of %d; %+v, want %+v", len(got), c.Size, whole.ClusterRow, rows[i])
			}
			checkBuckets(t, whole, c)
		}
	}
}

func slowRow(c report.Cluster, pages map[string]slowPage) review.ClusterRow {
	p := pages[c.Members[0].Document]
	row := review.ClusterRow{ID: c.ID, Size: c.Size, Document: p.Document, RecordID: c.Representative, URI: p.URI, Date: p.Date, Title: p.Title, Lowest: 1}
	hosts := map[string]bool{}
	var dates []string
	for _, m := range c.Members {
		hosts[uris.Host(m.URI)] = true
		if m.Relation == report.Identical {
			row.Identical++
		}
		row.Lowest = min(row.Lowest, m.Resemblance)
		if d := slowDate(m.Date); d != "" {
			dates = append(dates, showDate(d))
		}
	}
	delete(hosts, "")
	if row.Hosts = len(hosts); len(dates) > 0 {
		row.First, row.Last = slices.Min(dates), slices.Max(dates)
	}
	return row
}

func checkBuckets(t *testing.T, got review.Cluster, c report.Cluster) {
	t.Helper()
	dated, sum := 0, 0
	for _, m := range c.Members {
		if slowDate(m.Date) != "" {
			dated++
		}
	}
	for i, b := range got.Timeline {
		if sum += b.Pages; i > 0 && b.Label <= got.Timeline[i-1].Label {
			t.Errorf("timeline %v", got.Timeline)
		}
	}
	if sum != dated || len(got.Timeline) > 100 || dated > 0 && (got.Timeline[0].Pages == 0 || got.Timeline[len(got.Timeline)-1].Pages == 0) {
		t.Errorf("%d pages with a date, timeline %v", dated, got.Timeline)
	}
	hosts := map[string]int{}
	for _, m := range c.Members {
		if h := uris.Host(m.URI); h != "" {
			hosts[h]++
		}
	}
	for i, b := range got.HostList {
		matches := 0
		for h, n := range hosts {
			if n == b.Pages && h[:min(maxHost, len(h))] == b.Label {
				matches++
			}
			if n > got.HostList[len(got.HostList)-1].Pages && !slices.ContainsFunc(got.HostList, func(b review.Bucket) bool { return strings.HasPrefix(h, b.Label) }) {
				t.Errorf("%s, with %d pages, is not in the list", h, n)
			}
		}
		if matches != 1 || i > 0 && b.Pages > got.HostList[i-1].Pages {
			t.Errorf("hosts %v", got.HostList)
		}
	}
	if len(got.HostList) != min(maxHosts, len(hosts)) {
		t.Errorf("%d hosts in the list, of %d", len(got.HostList), len(hosts))
	}
}

// slowHost reports whether a page is of a host or a subdomain.
func slowHost(uri, host string) bool {
	h := regexp.MustCompile(`^www\d*\.`).ReplaceAllString(uris.Host(uri), "")
	return h == host || strings.HasSuffix(h, "."+host)
}

func checkPages(t *testing.T, r *Review, pages []slowPage) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	dates := []string{"", "", "2020", "2020-03", "2020-03-31", "20200401", "2020-04-01T00:00:00Z", "2021-06-15T12:00:01", "1999-1", "0000", "9999", "soon", "24"}
	for range 150 {
		q := review.PageQuery{From: pick(dates...), To: pick(dates...), MinSize: rng.IntN(8) - 1, MaxSize: []int{0, 0, 1, 5, 600}[rng.IntN(5)],
			Host: pick("", "example.com", "many.example", "h7.many.example", "com", "e.example", "none.example"), Limit: []int{1, 20, 200}[rng.IntN(3)]}
		if q.Limit == 1 && rng.IntN(4) > 0 {
			q.Limit = 13
		}
		from, to := nonDigits.ReplaceAllString(q.From, ""), nonDigits.ReplaceAllString(q.To, "")
		from, to = from[:len(from)/2*2], to[:len(to)/2*2]
		want := slices.DeleteFunc(slices.Clone(pages), func(p slowPage) bool {
			return q.From != "" && (len(from) < 4 || p.date == "" || p.date[:min(14, len(from))] < from) ||
				q.To != "" && (len(to) < 4 || p.date == "" || p.date[:min(14, len(to))] > to) ||
				p.Size < q.MinSize || q.MaxSize > 0 && p.Size > q.MaxSize || q.Host != "" && !slowHost(p.URI, q.Host)
		})
		slices.SortFunc(want, func(a, b slowPage) int {
			bySURT := 0
			if q.Host != "" {
				bySURT = cmp.Compare(a.surt[:min(layout.MaxSURT, len(a.surt))], b.surt[:min(layout.MaxSURT, len(b.surt))])
			}
			return cmp.Or(bySURT, cmp.Compare(a.date, b.date), cmp.Compare(a.Document, b.Document))
		})
		got := allPages(t, r, q)
		if len(got) != len(want) || !slices.EqualFunc(got, want, func(p review.PageRow, s slowPage) bool { return p == s.PageRow }) {
			t.Fatalf("%+v: %d pages, want %d", q, len(got), len(want))
		}
	}
}

// allPages puts a list of pages together.
func allPages(t *testing.T, r *Review, q review.PageQuery) (all []review.PageRow) {
	t.Helper()
	for n := 0; ; n++ {
		l, err := r.Pages(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Pages) > q.Limit || l.Next != "" && l.Partial == (len(l.Pages) == q.Limit) || l.Next != "" && l.Next == q.After || n > 100_000 ||
			len(l.Pages) == 0 && n > 0 && maxExamined > len(oddURIs)*100 {
			t.Fatalf("%d pages of at most %d, partial %v, next %q behind %q", len(l.Pages), q.Limit, l.Partial, l.Next, q.After)
		}
		all = append(all, l.Pages...)
		if q.After = l.Next; l.Next == "" {
			return all
		}
	}
}

// What is browsed is what is exported, whatever is in it and however it is cut
// into parts.
func TestBrowsingAgreesWithTheExports(t *testing.T) {
	if pipetest.Raced {
		t.Skip("one list after another, in one goroutine")
	}
	texts, _ := pipetest.Planted(rand.New(rand.NewPCG(1, 9)), 20)
	for _, x := range []struct {
		name, file string
		settings   []string
	}{
		{"example", pipetest.Crawl(t), nil},
		{"texts without dates", pipetest.WriteLines(t, texts), []string{"verify.closing=transitive"}},
		{"odd", oddCrawl(t), []string{"verify.contained=links"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ws")
			var c struct{ Size int }
			b, err := os.ReadFile(x.file)
			if err != nil {
				t.Fatal(err)
			}
			again := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "again-"+filepath.Base(x.file)), b)
			out := pipetest.RunAll(t, dir, pipetest.MustLoad(t, x.settings...), workspace.Options{}, x.file, again)
			if err := json.Unmarshal(out[:bytes.IndexByte(out, '\n')], &c); err != nil || c.Size < 2 {
				t.Fatal("no clusters", err)
			}
			w := pipetest.OpenWith(t, dir, x.settings...)
			everywhere(t, w)
			small(t, &maxExamined, 7)
			small(t, &groups.PartPages, 2)
			clusters, pages := slowly(t, w)
			if len(clusters) < 3 || len(pages) < 20 {
				t.Fatalf("%d clusters, %d pages", len(clusters), len(pages))
			}
			for row, err := range w.DB.Table(layout.TableSURT) {
				if err != nil || len(row.Key()) > 1+layout.MaxSURT+1+layout.NameDate+16 {
					t.Fatalf("a key of %d bytes, %v", len(row.Key()), err)
				}
			}
			checkPages(t, everywhere(t, w), pages)
		})
	}
}

// small sets a limit to a value for a test.
func small(t *testing.T, limit *int, to int) {
	old := *limit
	*limit = to
	t.Cleanup(func() { *limit = old })
}
