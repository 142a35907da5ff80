package statistics

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"

	"neardup/extract"
	"neardup/pipeline/groups"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/report/static"
)

func statisticsOf(t *testing.T, w *workspace.Workspace, o Options) static.Report {
	t.Helper()
	r, err := Gather(context.Background(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// slowDomain is the registrable domain of a URI.
func slowDomain(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	if site, err := publicsuffix.EffectiveTLDPlusOne(u.Hostname()); err == nil {
		return site
	}
	return u.Hostname()
}

// slowCounts are the counts of all pages and by host and month, from the pages of
// the workspace and the exported clusters.
type slowCounts struct {
	totals        static.Counts
	hosts, months map[string]*static.Counts
}

func countSlowly(t *testing.T, w *workspace.Workspace, clusters []report.Cluster) slowCounts {
	t.Helper()
	s := slowCounts{hosts: map[string]*static.Counts{}, months: map[string]*static.Counts{}}
	add := func(uri, date string, c static.Counts) {
		for name, sums := range map[string]map[string]*static.Counts{slowDomain(uri): s.hosts, date[:7]: s.months} {
			if sums[name] == nil {
				sums[name] = &static.Counts{}
			}
			sums[name].Add(c)
		}
		s.totals.Add(c)
	}
	size := map[string]int64{}
	seen := map[extract.ID]bool{}
	for r, err := range w.DB.Table(layout.TableDocument) {
		if err != nil {
			t.Fatal(err)
		}
		var d rows.Document
		if err := r.JSON(&d); err != nil {
			t.Fatal(err)
		}
		id, _, _, err := layout.ParseDocumentKey(r.Key())
		if err != nil || seen[id] {
			continue
		}
		seen[id] = true
		size[d.RecordID] = d.Bytes
		add(d.TargetURI, d.Date, static.Counts{Pages: 1, Bytes: d.Bytes})
	}
	for _, c := range clusters {
		for _, m := range c.Members {
			counts := static.Counts{Clustered: 1}
			if m.RecordID != c.Representative {
				counts.Duplicates, counts.DuplicateBytes = 1, size[m.RecordID]
			}
			add(m.URI, m.Date, counts)
		}
	}
	return s
}

func values(m map[string]*static.Counts) map[string]static.Counts {
	out := map[string]static.Counts{}
	for name, c := range m {
		out[name] = *c
	}
	return out
}

func byName(named []static.Named) map[string]static.Counts {
	out := map[string]static.Counts{}
	for _, n := range named {
		out[n.Name] = n.Counts
	}
	return out
}

// All numbers of a report beside a slow count of what is exported.
func TestStatistics(t *testing.T) {
	for _, settings := range [][]string{nil, {"verify.closing=transitive", "verify.contained=links", "verify.containment=0.5"}, {"verify.resemblance=0.2", "verify.whole=0"}} {
		t.Run(strings.Join(settings, " "), func(t *testing.T) {
			dir := t.TempDir()
			file := pipetest.Crawl(t)
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			again := pipetest.WriteFile(t, filepath.Join(t.TempDir(), "again.warc.gz"), b) // each page twice
			jsonl := pipetest.RunAll(t, dir, pipetest.MustLoad(t, settings...), workspace.Options{}, file, again)
			var clusters []report.Cluster
			for line := range bytes.Lines(jsonl) {
				var c report.Cluster
				if err := json.Unmarshal(line, &c); err != nil {
					t.Fatal(err)
				}
				clusters = append(clusters, c)
			}
			w := pipetest.OpenWith(t, dir, settings...)
			r := statisticsOf(t, w, Options{Samples: 5, Seed: 1})
			checkStatistics(t, w, &r, clusters)
		})
	}
}

func checkStatistics(t *testing.T, w *workspace.Workspace, r *static.Report, clusters []report.Cluster) {
	t.Helper()
	s := &r.Statistics
	want := countSlowly(t, w, clusters)
	if s.Totals != want.totals || s.Totals.Pages != s.Summary.Records.Documents || s.Totals.Duplicates != s.Summary.Duplicates.Pages ||
		s.Totals.DuplicateBytes != s.Summary.Duplicates.Bytes || s.Totals.Clustered != s.Summary.Clusters.Pages {
		t.Errorf("totals are %+v, want %+v", s.Totals, want.totals)
	}
	if got := byName(s.Hosts.Top); !reflect.DeepEqual(got, values(want.hosts)) {
		t.Errorf("by host:\n got %v\nwant %v", got, values(want.hosts))
	}
	if got := byName(s.Periods.Periods); !reflect.DeepEqual(got, values(want.months)) {
		t.Errorf("by month:\n got %v\nwant %v", got, values(want.months))
	}
	checkSums(t, s)

	relations, scores := map[report.Relation]int64{}, int64(0)
	var bins [2][static.Bins]int64
	var resemblance []float64
	spans := map[bool]*static.Span{true: {}, false: {}}
	for _, c := range clusters {
		hosts := map[string]bool{}
		for _, m := range c.Members {
			relations[m.Relation]++
			hosts[slowDomain(m.URI)] = true
			if m.Relation == report.Representative || m.Relation == report.Identical {
				continue
			}
			scores++
			resemblance = append(resemblance, float64(m.Resemblance))
			for i, score := range []report.Score{m.Resemblance, m.Containment} {
				bin := static.Bins - 1
				for bin > 0 && float64(score) < float64(bin)/static.Bins {
					bin--
				}
				bins[i][bin]++
			}
		}
		span := spans[len(hosts) > 1]
		span.Clusters++
		span.Pages += int64(len(c.Members))
		span.Duplicates += int64(len(c.Members) - 1)
	}
	for _, e := range s.Evidence {
		if relations[e.Relation] != e.Pages {
			t.Errorf("%s: %d pages, want %d", e.Relation, e.Pages, relations[e.Relation])
		}
		delete(relations, e.Relation)
	}
	if len(relations) > 0 {
		t.Errorf("not counted: %v", relations)
	}
	if s.Scores.Pages != scores {
		t.Errorf("%d scores, want %d", s.Scores.Pages, scores)
	}
	for i, d := range []static.Distribution{s.Scores.Resemblance, s.Scores.Containment} {
		for bin, b := range d.Bins {
			if b.Sum() != bins[i][bin] {
				t.Errorf("distribution %d, bin %d: %+v, want %d", i, bin, b, bins[i][bin])
			}
		}
	}
	slices.Sort(resemblance)
	if n := len(resemblance); n > 0 {
		if got, want := s.Scores.Resemblance.Median, resemblance[(n+1)/2-1]; float64(got) != want {
			t.Errorf("the median is %v, want %v", got, want)
		}
		if got, want := s.Scores.Resemblance.Tenth, resemblance[(n+9)/10-1]; float64(got) != want {
			t.Errorf("the tenth is %v, want %v", got, want)
		}
	}
	for across, span := range map[bool]static.Span{true: s.Across, false: s.Within} {
		if want := spans[across]; span.Clusters != want.Clusters || span.Pages != want.Pages || span.Duplicates != want.Duplicates {
			t.Errorf("several hosts %v: %+v, want %+v", across, span, want)
		}
	}
	if s.Across.Bytes+s.Within.Bytes != s.Totals.DuplicateBytes {
		t.Errorf("%d and %d bytes, want %d", s.Across.Bytes, s.Within.Bytes, s.Totals.DuplicateBytes)
	}
	checkLargest(t, r, clusters)
}

// checkSums adds up what is counted in parts.
func checkSums(t *testing.T, s *static.Statistics) {
	t.Helper()
	hosts, periods := s.Hosts.Others, s.Periods.Others
	for _, h := range s.Hosts.Top {
		hosts.Add(h.Counts)
	}
	for _, p := range s.Periods.Periods {
		periods.Add(p.Counts)
	}
	if periods.Add(s.Periods.Undated); hosts != s.Totals || periods != s.Totals {
		t.Errorf("by host %+v, by date %+v, want %+v", hosts, periods, s.Totals)
	}
}

// checkLargest holds the clusters that are shown against those that are exported.
func checkLargest(t *testing.T, r *static.Report, clusters []report.Cluster) {
	t.Helper()
	slices.SortFunc(clusters, func(a, b report.Cluster) int { return cmp.Or(b.Size-a.Size, strings.Compare(a.ID, b.ID)) })
	var across, within []string
	for i, c := range clusters {
		if i < largestClusters && (r.Clusters[i].ID != c.ID || r.Clusters[i].Size != c.Size || r.Clusters[i].RecordID != c.Representative) {
			t.Fatalf("cluster %d is %s of %d, want %s of %d", i, r.Clusters[i].ID, r.Clusters[i].Size, c.ID, c.Size)
		}
		hosts := map[string]bool{}
		for _, m := range c.Members {
			hosts[slowDomain(m.URI)] = true
		}
		of := &within
		if len(hosts) > 1 {
			of = &across
		}
		*of = append(*of, c.ID)
		shown := r.Clusters[i]
		if shown.HostSum != len(hosts) || len(shown.Members) != c.Size {
			t.Errorf("cluster %s: %d hosts and %d members, want %d and %d", c.ID, shown.HostSum, len(shown.Members), len(hosts), c.Size)
		}
		for j, m := range shown.Members {
			want := c.Members[j]
			if m.RecordID != want.RecordID || m.Relation != want.Relation || j > 0 && c.Members[m.AgainstAt-1].RecordID != want.VerifiedAgainst {
				t.Errorf("cluster %s, member %d: %+v, want %+v", c.ID, j, m, want)
			}
		}
	}
	if want := across[:min(len(across), largestOfSpan)]; !slices.Equal(r.Statistics.Across.Largest, want) {
		t.Errorf("largest across hosts: %v, want %v", r.Statistics.Across.Largest, want)
	}
	if want := within[:min(len(within), largestOfSpan)]; !slices.Equal(r.Statistics.Within.Largest, want) {
		t.Errorf("largest of one host: %v, want %v", r.Statistics.Within.Largest, want)
	}
}

// A report depends on the pages only: not on workers, memory, or how the inputs
// came.
func TestStatisticsAreTheSame(t *testing.T) {
	// a text that is near the representative by another one, on two pages
	words := strings.Fields(strings.Repeat("Every sentence of this page tells of something else, and of the sea. ", 12))
	page := func(i, changed int) []byte {
		of := slices.Clone(words)
		for j := range changed {
			of[j*3] = fmt.Sprint("w", j)
		}
		return pipetest.Archived("response", fmt.Sprint("near-", i), fmt.Sprintf("http://near%d.example/", i), i, pipetest.OkHTML+"<p>"+strings.Join(of, " "))
	}
	file, near := pipetest.Crawl(t), pipetest.WriteRecords(t, page(1, 0), page(2, 0), page(3, 2), page(4, 4), page(5, 4), page(6, 7))
	text := func(w *workspace.Workspace) string {
		r := statisticsOf(t, w, Options{Title: "t", Samples: 7, Seed: 3})
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := ""
	for i, o := range []workspace.Options{{Workers: 1}, {Workers: 3}, {Workers: 5}} {
		dir := t.TempDir()
		pipetest.RunAll(t, dir, pipetest.MustLoad(t), o, file, near)
		w := pipetest.OpenWith(t, dir)
		if i == 0 {
			want = text(w)
			var r static.Report
			if err := json.Unmarshal([]byte(want), &r); err != nil || len(r.Samples) != 7 {
				t.Fatalf("%d samples (%v)", len(r.Samples), err)
			}
		}
		if i == 2 {
			pipetest.Spill(t)
			names := tallyNames
			tallyNames = 2
			t.Cleanup(func() { tallyNames = names })
		}
		defer func(n int) { groups.PartPages = n }(groups.PartPages)
		groups.PartPages = []int{1, 4, groups.PartPages}[i] // clusters come in parts
		if got := text(w); got != want {
			t.Errorf("%+v: another report", o)
		}
		if files, err := os.ReadDir(w.DB.Tmp); err != nil || len(files) > 0 {
			t.Errorf("left %v (%v)", files, err)
		}
	}
}

// Beside a map, with so little memory that nearly all is in files.
func TestTally(t *testing.T) {
	w := pipetest.OpenTest(t)
	rng := rand.New(rand.NewPCG(7, 8))
	for _, names := range []int{1, 3, 100, 1 << 14} {
		old := tallyNames
		tallyNames = names
		pipetest.Spill(t)
		got, want := newTally(w.DB), map[string]*static.Counts{}
		for range 2000 {
			name := strings.Repeat("x", rng.IntN(3)) + fmt.Sprint(rng.IntN(40))
			c := static.Counts{Pages: rng.Int64N(5), Bytes: rng.Int64N(1 << 40), Clustered: 1, Duplicates: rng.Int64N(2), DuplicateBytes: rng.Int64N(9)}
			if want[name] == nil {
				want[name] = &static.Counts{}
			}
			want[name].Add(c)
			if err := got.add(name, c); err != nil {
				t.Fatal(err)
			}
			if len(got.sums) > names {
				t.Fatalf("%d names in memory", len(got.sums))
			}
		}
		all := map[string]static.Counts{}
		last := ""
		for n, err := range got.named() {
			if err != nil || len(all) > 0 && n.Name <= last {
				t.Fatalf("%q behind %q (%v)", n.Name, last, err)
			}
			all[n.Name], last = n.Counts, n.Name
		}
		if !reflect.DeepEqual(all, values(want)) {
			t.Errorf("%d names in memory: other sums", names)
		}
		if err := got.close(); err != nil {
			t.Error(err)
		}
		tallyNames = old
	}
}

// Hosts and months of any number are summed up, and nothing is lost.
func TestManyHostsAndMonths(t *testing.T) {
	for _, test := range []struct {
		months  int
		unit    string
		periods int
	}{{1, "month", 1}, {60, "month", 60}, {61, "year", 6}, {720, "year", 60}, {1200, "year", 60}} {
		w := pipetest.OpenTest(t)
		g := &statistics{w: w, hosts: newTally(w.DB), months: newTally(w.DB)}
		for i := range test.months {
			c := static.Counts{Pages: int64(i%7 + 1), Duplicates: int64(i % 3), DuplicateBytes: int64(i % 11)}
			g.Totals.Add(c)
			if err := g.count(fmt.Sprintf("host%d.example", i%97), fmt.Sprintf("%04d-%02d", 1000+i/12, i%12+1), c); err != nil {
				t.Fatal(err)
			}
		}
		undated := static.Counts{Pages: 3}
		g.Totals.Add(undated)
		if err := errors.Join(g.count("", "no date", undated), g.finish()); err != nil {
			t.Fatal(err)
		}
		checkSums(t, &g.Statistics)
		if p := g.Periods; p.Unit != test.unit || len(p.Periods) != test.periods || p.Undated != undated {
			t.Errorf("%d months: %d of a %s, undated %+v", test.months, len(p.Periods), p.Unit, p.Undated)
		}
		if !slices.IsSortedFunc(g.Periods.Periods, func(a, b static.Named) int { return cmp.Compare(a.Name, b.Name) }) {
			t.Error("periods are not in order")
		}
		hosts := min(test.months, 97) + 1
		if h := g.Hosts; h.Hosts != int64(hosts) || len(h.Top) != min(hosts, topHosts) ||
			!slices.IsSortedFunc(h.Top, func(a, b static.Named) int { return cmp.Compare(b.DuplicateBytes, a.DuplicateBytes) }) {
			t.Errorf("%d months: %d hosts, %d listed", test.months, h.Hosts, len(h.Top))
		}
		if err := errors.Join(g.hosts.close(), g.months.close()); err != nil {
			t.Error(err)
		}
	}
}

// Of a cluster of 100,000 pages of 1,000 texts, with URIs that are long, little
// is kept.
func TestStatisticsOfALargeCluster(t *testing.T) {
	w := pipetest.OpenTest(t)
	g := &statistics{w: w, o: Options{Samples: 12}, hosts: newTally(w.DB), months: newTally(w.DB), bands: make([]sample, scoreBands),
		largest: [3]largest{{limit: largestClusters}, {limit: largestOfSpan}, {limit: largestOfSpan}}}
	for i := range g.bands {
		g.bands[i].limit = 12
	}
	const pages = 100_000
	long := "http://a.example/" + strings.Repeat("x", 60_000)
	c := report.Cluster{ID: strings.Repeat("0", 32), Size: pages, Representative: "0"}
	for i := range pages {
		m := report.Member{RecordID: fmt.Sprint(i), URI: long, Date: "2024-01-02T03:04:05Z", Relation: report.Near, Resemblance: report.Score(0.8 + float64(i%1000)/10000), Bytes: 1,
			Capture: report.Capture{Document: fmt.Sprint(i), Site: fmt.Sprintf("host%d.example", i%300), Text: fmt.Sprint(i % 1000)}, AgainstDocument: "0"}
		if i == 0 {
			m.Relation = report.Representative
		}
		c.Members = append(c.Members, m)
	}
	if err := errors.Join(g.cluster(c), g.finish()); err != nil {
		t.Fatal(err)
	}
	k := g.largest[0].of[0]
	if k.Size != pages || len(k.Members) != static.MaxMembers || k.HostSum != 300 || len(k.Hosts) != hostsOfCluster || k.Bytes != pages-1 || len(k.pairs) != 2 {
		t.Errorf("kept %d of %d members, %d of %d hosts, %d bytes, %d pairs", len(k.Members), k.Size, len(k.Hosts), k.HostSum, k.Bytes, len(k.pairs))
	}
	b, err := json.Marshal(k.Cluster)
	if err != nil || len(b) > 600<<10 {
		t.Errorf("%d bytes are kept of it (%v)", len(b), err)
	}
	for _, p := range slices.Concat(k.pairs, g.drawn()) {
		if len(p.member.URI) > 3*shownText {
			t.Errorf("a URI of %d bytes is kept", len(p.member.URI))
		}
	}
	if got := g.drawn(); len(got) != 12 {
		t.Errorf("%d pairs are drawn", len(got))
	}
	if g.Totals.Duplicates != pages-1 || g.Scores.Pages != pages-1 {
		t.Errorf("counted %+v", g.Totals)
	}
}

// What people judged is not said to reach a threshold.
func TestScoresByRelation(t *testing.T) {
	for relation, want := range map[report.Relation]static.Bin{report.Near: {Near: 1}, report.Contained: {Contained: 1}, report.Contains: {Contained: 1},
		report.Linked: {Linked: 1}, report.Judged: {Linked: 1}} {
		var g statistics
		g.member(report.Member{Relation: relation, Resemblance: .12})
		if got := g.Scores.Resemblance.Bins[2]; got != want {
			t.Errorf("%s: %+v, want %+v", relation, got, want)
		}
	}
}
