package statistics

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/report/static"
	"neardup/report/static/pagecheck"
)

// Pairs are drawn by the seed alone, whatever the order of the clusters, and from
// all bands of scores alike.
func TestSampleOfPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	db := pipetest.OpenTest(t).DB
	var clusters []report.Cluster
	for i := range 400 {
		c := report.Cluster{ID: fmt.Sprintf("%032x", i), Size: 4}
		first := fmt.Sprintf("d%d", i)
		c.Members = append(c.Members, report.Member{RecordID: first, Relation: report.Representative, Resemblance: 1,
			Capture: report.Capture{Document: first, Text: "t" + first}})
		for j := range 3 {
			name := fmt.Sprintf("%s.%d", first, j)
			m := report.Member{RecordID: name, Relation: report.Near, Resemblance: report.Score(0.9 + rng.Float64()/10),
				Capture: report.Capture{Document: name, Text: "t" + name}, AgainstDocument: first, AgainstText: "t" + first}
			if i%40 == 0 {
				m.Resemblance = report.Score(0.31 + rng.Float64()/20)
			}
			if j == 2 {
				m.Text = c.Members[2].Text // two pages of one text
				m.Resemblance = c.Members[2].Resemblance
			}
			c.Members = append(c.Members, m)
		}
		clusters = append(clusters, c)
	}
	draw := func(seed uint64, most int) (out []pair) {
		g := &statistics{o: Options{Samples: most, Seed: seed}, bands: make([]sample, scoreBands), hosts: newTally(db), months: newTally(db)}
		for i := range g.bands {
			g.bands[i].limit = most
		}
		for _, i := range rng.Perm(len(clusters)) {
			c := clusters[i]
			c.Members, c.More = clusters[i].Members[:2], true
			err := g.cluster(c)
			c.Members, c.From, c.More = clusters[i].Members[2:], 2, false
			if err := errors.Join(err, g.cluster(c)); err != nil {
				t.Fatal(err)
			}
		}
		return g.drawn()
	}
	want := draw(1, 12)
	low := 0
	for i, p := range want {
		if p.member.Resemblance < 0.5 {
			low++
		}
		if i > 0 && want[i-1].member.Resemblance > p.member.Resemblance {
			t.Error("the least alike are not first")
		}
		if strings.HasSuffix(p.member.RecordID, ".2") {
			t.Error("a text is drawn by its second page")
		}
	}
	if len(want) != 12 || low != 6 {
		t.Errorf("%d pairs, %d of them of the band that has few", len(want), low)
	}
	for range 5 {
		if got := draw(1, 12); !reflect.DeepEqual(got, want) {
			t.Error("in another order others are drawn")
		}
	}
	if reflect.DeepEqual(draw(2, 12), want) {
		t.Error("another seed draws the same")
	}
	if got := draw(1, 0); len(got) != 0 {
		t.Errorf("%d pairs of none", len(got))
	}
	if got := draw(1, 5000); len(got) != 800 {
		t.Errorf("%d pairs of all", len(got))
	}
}

// A report of a crawl whose titles, URIs and texts would do something.
func TestReportOfAHostileCrawl(t *testing.T) {
	const bad = `"'><script>alert(1)</script><svg onload=alert(2)>`
	words := func(from int) string {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, "word%d &lt;script&gt;alert(%d)&lt;/script&gt;. ", from+i, i)
		}
		return b.String()
	}
	page := func(i int, text string) string {
		return pipetest.PageRecord(fmt.Sprintf("http://h%d.test/%s", i, bad), "2024-01-01T00:00:00Z"+bad,
			"<title>"+strings.ReplaceAll(bad, "<", "&lt;")+"</title><p>"+text, 0)
	}
	file := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "bad.warc"), []byte(page(1, words(0))+page(2, words(0)+" and more \u202e\u0085")+page(3, words(0)+words(500)[:900])))
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, file)
	r := statisticsOf(t, pipetest.OpenWith(t, dir), Options{Title: bad, Samples: 3})
	if len(r.Samples) == 0 || len(r.Samples[0].Excerpts) == 0 || r.Clusters[0].Title != bad || !strings.Contains(r.Clusters[0].URI, bad[:len(bad)-1]) {
		t.Fatalf("the pages are not in the report: %+v", r.Clusters)
	}
	files := map[string]string{}
	err := static.Write(&r, func(name string) (io.WriteCloser, error) { return collected{&bytes.Buffer{}, name, files}, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range pagecheck.Check(files) {
		t.Error(problem)
	}
}

// collected puts what was written to it among files.
type collected struct {
	*bytes.Buffer
	name  string
	files map[string]string
}

func (c collected) Close() error { c.files[c.name] = c.String(); return nil }

// A report that is interrupted at any moment is an error, and leaves nothing in
// the workspace's tmp.
func TestStatisticsInterrupted(t *testing.T) {
	dir := t.TempDir()
	pipetest.RunAll(t, dir, pipetest.MustLoad(t), workspace.Options{}, pipetest.Crawl(t))
	w := pipetest.OpenWith(t, dir)
	pipetest.Spill(t)
	asked := &pipetest.Countdown{Context: context.Background(), Left: 1 << 30}
	if _, err := Gather(asked, w, Options{}); err != nil {
		t.Fatal(err)
	}
	most := 1<<30 - asked.Left
	for _, left := range []int{0, 1, most / 2, most - 1} {
		if _, err := Gather(&pipetest.Countdown{Context: context.Background(), Left: left}, w, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at check %d of %d: %v", left, most, err)
		}
		if files, err := os.ReadDir(w.DB.Tmp); err != nil || len(files) > 0 {
			t.Errorf("left %v (%v)", files, err)
		}
	}
}

func TestStatisticsNeedARun(t *testing.T) {
	if _, err := Gather(context.Background(), pipetest.OpenTest(t), Options{}); !errors.Is(err, workspace.ErrUsage) {
		t.Errorf("an empty workspace: %v", err)
	}
}

// The largest of those added, in whatever order, beside a sort.
func TestLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{0, 3, 7, 8, 200} {
		var all []report.Cluster
		for i := range n {
			all = append(all, report.Cluster{ID: fmt.Sprintf("%032x", i), Size: 2 + rng.IntN(20)})
		}
		rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		l := largest{limit: 7}
		for _, c := range all {
			if l.wants(c) {
				l.add(&keptCluster{Cluster: static.Cluster{ID: c.ID, Size: c.Size}})
			}
		}
		slices.SortFunc(all, func(a, b report.Cluster) int { return cmp.Or(b.Size-a.Size, strings.Compare(a.ID, b.ID)) })
		var got, want []string
		for _, k := range l.of {
			got = append(got, k.ID)
		}
		for _, c := range all[:min(n, l.limit)] {
			want = append(want, c.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", n, got, want)
		}
	}
}
