package browsing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"neardup/explain"
	"neardup/pipeline/explaining"
	"neardup/pipeline/groups"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/review"
)

// starts counts what was begun, by its reason.
type starts struct {
	workspace.Silent
	mu  sync.Mutex
	why []string
}

func (s *starts) Start(stage, reason, _ string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = append(s.why, stage+": "+reason)
}

// The index is made once for each clustering, and is that of the last: of other
// crawls, then of other settings.
func TestIndexFollowsTheClusters(t *testing.T) {
	if pipetest.Raced {
		t.Skip("one list after another, in one goroutine")
	}
	dir := filepath.Join(t.TempDir(), "ws")
	strict := []string{"verify.resemblance=0.95", "verify.containment=2"}
	generations := map[string]bool{}
	for i, x := range []struct {
		crawl    string
		settings []string
		want     string
	}{
		{pipetest.Crawl(t), nil, "index: missing"},
		{"", nil, ""},
		{oddCrawl(t), nil, "index: input"},
		{"", strict, "index: input"},
		{"", strict, ""},
		{"", nil, "index: input"},
	} {
		var p starts
		w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t, x.settings...), true, workspace.Options{Progress: &p})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 || x.crawl == "" && x.want != "" {
			if _, err := Open(context.Background(), w); !errors.Is(err, workspace.ErrUsage) {
				t.Errorf("clusters that are not up to date: %v", err)
			}
		}
		var sources []inputs.Source
		if x.crawl != "" {
			if sources, _, err = inputs.Find(t.Context(), dir, []string{x.crawl}, nil, pipetest.Limits); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Run(context.Background(), "extract", "verify", sources); err != nil {
			t.Fatal(err)
		}
		p.why = nil
		o, err := everywhere(t, w).Overview(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		generations[o.Generation] = true
		if got := strings.Join(p.why, ", "); got != x.want {
			t.Errorf("%d: began %q, want %q", i, got, x.want)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(generations) != 3 {
		t.Errorf("%d generations", len(generations))
	}
}

// patient is a context that ends when it was asked a number of times.
type patient struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func (p *patient) Err() error {
	if p.left.Add(-1) == 0 {
		p.cancel()
	}
	return p.Context.Err()
}

// Wherever making the index is interrupted, it is made anew, and with little
// memory it is the same.
func TestInterruptedIndexIsMadeAnew(t *testing.T) {
	pipetest.Spill(t)
	small(t, &ingestBytes, 2000)
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	w := pipetest.OpenWith(t, dir)
	batch := w.DB.Batch() // as if there were an index of other clusters
	if err := errors.Join(batch.SetJSON(layout.MetaKey(browseIndex), browsed{Version: browseVersion, Generation: "others"}), batch.Commit()); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 9))
	interrupted := 0
	for n := int64(1); ; n += 1 + rng.Int64N(1+n/2) {
		ctx, cancel := context.WithCancel(context.Background())
		p := &patient{Context: ctx, cancel: cancel}
		p.left.Store(n)
		_, err := Open(p, w)
		cancel()
		if err == nil {
			break
		}
		interrupted++
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if ok, err := w.DB.GetJSON(layout.MetaKey(browseIndex), new(browsed)); ok || err != nil {
			t.Fatalf("an index that is not whole: %v", err)
		}
	}
	if interrupted < 10 {
		t.Errorf("only %d interruptions", interrupted)
	}
	everywhere(t, w)
	if b, err := w.DB.Count(layout.TableSURT); err != nil || b == 0 {
		t.Error(b, err)
	}
	if left := pipetest.Tree(t, w.Path("tmp")); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}

// A pair is explained as by its names, and the texts are those that the
// explanation has places in.
func TestPairsOfDocuments(t *testing.T) {
	if pipetest.Raced {
		t.Skip("one pair after another, in one goroutine")
	}
	for _, settings := range [][]string{nil, {"text.frames=2"}, {"text.max_columns=300"}} {
		dir := filepath.Join(t.TempDir(), "ws")
		pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{}, pipetest.Crawl(t))
		w := pipetest.OpenWith(t, dir, settings...)
		r, err := Open(context.Background(), w)
		if err != nil {
			t.Fatal(err)
		}
		_, pages := slowly(t, w)
		rng := rand.New(rand.NewPCG(5, 5))
		for range maxPairs { // who goes while others are at work is not waited for
			r.pairs <- struct{}{}
		}
		gone, leave := context.WithCancel(context.Background())
		leave()
		if _, err := r.Pair(gone, pages[0].Document, pages[1].Document); !errors.Is(err, context.Canceled) {
			t.Errorf("a pair nobody waits for: %v", err)
		}
		for range maxPairs {
			<-r.pairs
		}
		for range 40 {
			a, b := pages[rng.IntN(len(pages))], pages[rng.IntN(len(pages))]
			p, err := r.Pair(context.Background(), a.Document, strings.ToUpper(b.Document))
			if err != nil {
				t.Fatal(err)
			}
			want, err := explaining.Pages(context.Background(), w, a.RecordID, b.RecordID)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(p.Explanation, want) || p.Documents != [2]string{a.Document, b.Document} {
				t.Errorf("%v: %+v, want %+v", p.Documents, p.Explanation, want)
			}
			for _, s := range p.Explanation.Diff.Segments {
				of, at := p.Texts[0], s.A
				if s.Kind == explain.OnlyB || s.Kind == explain.MovedB {
					of, at = p.Texts[1], s.B
				}
				if got := string([]rune(of)[at[0]:at[1]]); !strings.HasPrefix(got, s.Text) || s.End == "" && got != s.Text {
					t.Errorf("%s at %v: %q is not %q", s.Kind, at, got, s.Text)
				}
			}
		}
	}
}

// A page has all that its row has, by the same names.
func TestPagesHaveTheFieldsOfTheirRows(t *testing.T) {
	long := strings.Repeat("長い文。", 1<<17)
	records, _ := pipetest.Revisits()
	file := pipetest.WriteRecords(t, append(records, oddPage("urn:long", "http://long.example/", "2020", "<p>"+long), oddPage("", "http://odd.example/", "", "<meta charset=utf-8><p>"+long[:300]+"\xff\xff\xff"))...)
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, file, pipetest.Crawl(t))
	w := pipetest.OpenWith(t, dir)
	r, err := Open(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	places, err := results.Places(w)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	_, pages := slowly(t, w)
	rows := map[string]slowPage{}
	for _, p := range pages {
		rows[p.Document] = p
	}
	for row, err := range w.DB.Table(layout.TableDocument) {
		var want map[string]any
		if err := errors.Join(err, row.JSON(&want)); err != nil {
			t.Fatal(err)
		}
		id, source, offset, err := layout.ParseDocumentKey(row.Key())
		warc := groups.FileOf(source)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.Page(context.Background(), id.String())
		if err != nil {
			t.Fatal(err)
		}
		if p.PageRow != rows[id.String()].PageRow {
			t.Errorf("%+v, want %+v", p.PageRow, rows[id.String()].PageRow)
		}
		want["document"], want["warc"], want["offset"] = id.String(), warc, float64(offset)
		want["path"], _ = places.Of(source)
		delete(want, "repeats")
		got := map[string]string{}
		for _, f := range p.Fields {
			got[f.Name] = f.Value
			seen[f.Name]++
		}
		text, err := results.TextOf(w, mustTextID(t, got["text_id"]))
		if err != nil {
			t.Fatal(err)
		}
		if p.Text != text || !utf8.ValidString(p.Text) {
			t.Errorf("%d bytes of a text of %d", len(p.Text), len(text))
		}
		for name, v := range want {
			s := fmt.Sprint(v)
			switch v := v.(type) {
			case float64:
				if s = fmt.Sprint(int64(v)); name == "replaced" {
					s = got[name][:min(3, len(got[name]))] // the rest is rounded
				}
			case []any:
				s = strings.Trim(strings.ReplaceAll(s, " ", ", "), "[]")
			}
			if v == "" || v == float64(0) && name != "offset" {
				s = ""
			}
			if !strings.HasPrefix(got[name], s) || s == "" && got[name] != "" {
				t.Errorf("%s is %q, want %v", name, got[name], v)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("%v is in no row", got)
		}
	}
	for _, name := range []string{"replaced", "choices", "revisit_of", "kind", "status", "record_bytes", "charset_from"} {
		if seen[name] == 0 {
			t.Errorf("no page has %s", name)
		}
	}
}

func mustTextID(t *testing.T, s string) rows.TextID {
	t.Helper()
	id, err := layout.ParseTextID(s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// What is not there is not found, and a place that there is not ends the list.
func TestWhatIsNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, oddCrawl(t))
	w := pipetest.OpenWith(t, dir)
	r, err := Open(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	clusters, pages := slowly(t, w)
	there, document := clusters[0].ID, pages[0].Document
	for _, id := range []string{"", "z", "zz", there[:31], there + "0", there[:30] + "zz", strings.Repeat("f", 32), strings.Repeat("\x00", 32), strings.Repeat("ü", 16)} {
		_, clusterErr := r.Cluster(ctx, id, "", 1)
		_, pageErr := r.Page(ctx, id)
		_, pairErr := r.Pair(ctx, document, id)
		_, otherErr := r.Pair(ctx, id, document)
		for _, err := range []error{clusterErr, pageErr, pairErr, otherErr} {
			if !errors.Is(err, review.ErrNotFound) {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
	for _, after := range []string{"!", "A", "é", strings.Repeat("=", 9)} {
		_, pagesErr := r.Pages(ctx, review.PageQuery{After: after})
		_, clustersErr := r.Clusters(ctx, review.ClusterQuery{After: after})
		_, clusterErr := r.Cluster(ctx, there, after, 1)
		for _, err := range []error{pagesErr, clustersErr, clusterErr} {
			if !errors.Is(err, review.ErrNotFound) {
				t.Errorf("behind %q: %v", after, err)
			}
		}
	}
	behindAll := position([]byte("x" + strings.Repeat("\xff", 60)))
	p, err := r.Pages(ctx, review.PageQuery{After: behindAll})
	c, err2 := r.Clusters(ctx, review.ClusterQuery{After: behindAll})
	m, err3 := r.Cluster(ctx, there, behindAll, 1)
	if err := errors.Join(err, err2, err3); err != nil || len(p.Pages)+len(c.Clusters)+len(m.Members) > 0 || p.Next+c.Next+m.Next != "" || m.Size != clusters[0].Size {
		t.Errorf("behind all: %v, %+v, %+v, %+v", err, p, c, m)
	}
	for limit, want := range map[int]int{-1: usualRows, 0: usualRows, 1: 1, maxRows: maxRows, 1 << 40: maxRows} {
		if p, err := r.Pages(ctx, review.PageQuery{Limit: limit}); err != nil || len(p.Pages) != want {
			t.Errorf("limit %d: %d pages, %v", limit, len(p.Pages), err)
		}
		if m, err := r.Cluster(ctx, there, "", limit); err != nil || len(m.Members) != want {
			t.Errorf("limit %d: %d members, %v", limit, len(m.Members), err)
		}
	}
}

// Many may look at once.
func TestManyLookAtOnce(t *testing.T) {
	for _, settings := range [][]string{{"text.frames=2"}, {"sign.scheme=terms"}} {
		dir := filepath.Join(t.TempDir(), "ws")
		pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{}, pipetest.Crawl(t))
		w := pipetest.OpenWith(t, dir, settings...)
		r, err := Open(context.Background(), w)
		if err != nil {
			t.Fatal(err)
		}
		_, pages := slowly(t, w)
		look := func(i int) (string, error) {
			ctx := context.Background()
			o, err := r.Overview(ctx)
			c, err2 := r.Clusters(ctx, review.ClusterQuery{Limit: 5})
			l, err3 := r.Pages(ctx, review.PageQuery{Host: "example", Limit: 5})
			p, err4 := r.Page(ctx, pages[i].Document)
			pair, err5 := r.Pair(ctx, pages[i].Document, pages[i+1].Document)
			m, err6 := r.Cluster(ctx, c.Clusters[i%len(c.Clusters)].ID, "", 5)
			b, err7 := json.Marshal([]any{o, c, l, p, pair, m})
			return string(b), errors.Join(err, err2, err3, err4, err5, err6, err7)
		}
		var want []string
		const each = 4
		for i := range each {
			s, err := look(i)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, s)
		}
		var g errgroup.Group
		for k := range 4 * each {
			g.Go(func() error {
				got, err := look(k % each)
				if err == nil && got != want[k%each] {
					err = fmt.Errorf("%d: other answers at once", k)
				}
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// The timeline has no gaps, and is short whatever dates there are.
func TestTimeline(t *testing.T) {
	for _, x := range []struct{ dates, want string }{
		{"", ""},
		{"2024-11-05 2025-02 20250228", "2024-11:1 2024-12:0 2025-01:0 2025-02:2"},
		{"2024", "2024-01:1"},
		{"2019-12-31 2020-01-01 2024-11-30", "2019-12:1 2020-01:1"},
		{"2020-01-31 2024-12-01", "2020-01:1 2020-02:0"},
		{"2020-01-31 2025-01-01", "2020:1 2021:0"},
		{"2019-12-31 2020-01-01 2025-01-01", "2019:1 2020:1 2021:0 2022:0 2023:0 2024:0 2025:1"},
		{"1893-05 1990 2024", "1890–1899:1 1900–1909:0"},
		{"0001-01-01T00:00:00Z 2024-01-01", "0000–0099:1 0100–0199:0"},
	} {
		months := map[int]int{}
		for date := range strings.FieldsSeq(x.dates) {
			months[monthOf(pageDate(date))]++
		}
		got := ""
		buckets := timeline(months)
		for _, b := range buckets {
			got += fmt.Sprintf("%s:%d ", b.Label, b.Pages)
		}
		if !strings.HasPrefix(got, x.want) || (got == "") != (x.want == "") || len(buckets) > 100 {
			t.Errorf("%s: %s", x.dates, got)
		}
	}
	for date, want := range map[string]string{"2020": "2020", "2020-3": "2020", "2020-03": "2020-03", "2020-03-31T23:59:59.5Z": "2020-03-31T23:59:59Z", "": "", "2020-00": "",
		"20200331235959": "2020-03-31T23:59:59Z", "-5": "", "0000": ""} {
		if got := showDate(pageDate(date)); got != want {
			t.Errorf("%q is %q, want %q", date, got, want)
		}
	}
}
