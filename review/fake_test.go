package review_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"neardup/audit"
	"neardup/configs"
	"neardup/explain"
	"neardup/report"
	"neardup/review"
)

// fake is an archive in memory, of made-up pages. Its pairs are explained by the
// real explain.Pair.
type fake struct {
	fakeAuditor
	config   configs.Config
	pages    map[string]*fakePage // by document
	sorted   []*fakePage          // by date
	clusters []*fakeCluster       // the largest first
	partial  int                  // Pages looks at so many; 0: at all
}

type fakePage struct {
	document, record, uri, date, title, text string
	frame                                    string // before the text; not compared
	cluster                                  *fakeCluster
	member                                   report.Member
}

type fakeCluster struct {
	row     review.ClusterRow
	members []*fakePage
}

// scripts are words to make texts of, with what ends a sentence.
var scripts = []struct{ words, space, stop string }{
	{"harbour ferry council winter market lantern bakery recipe flour butter kettle museum bridge timetable orchard festival storm island reading signal", " ", ". "},
	{"Hafen Fähre Gemeinderat Winter Markt Laterne Bäckerei Rezept Mehl Butter Museum Brücke Fahrplan Obstgarten Sturm Insel", " ", ". "},
	{"港口 渡轮 议会 冬天 市场 灯笼 面包 食谱 面粉 黄油 水壶 博物馆 大桥 时刻表 果园 节日 风暴 岛屿", "", "。"},
	{"ميناء عبارة مجلس شتاء سوق فانوس مخبز وصفة دقيق زبدة متحف جسر جدول بستان مهرجان عاصفة جزيرة", " ", ". "},
	{"נמל מעבורת מועצה חורף שוק פנס מאפייה מתכון קמח חמאה מוזיאון גשר לוח פרדס פסטיבל סערה אי", " ", ". "},
	{"гавань паром совет зима рынок фонарь пекарня рецепт мука масло музей мост расписание сад праздник буря остров", " ", ". "},
	{"बंदरगाह नौका परिषद सर्दी बाज़ार लालटेन बेकरी नुस्खा आटा मक्खन संग्रहालय पुल समय बाग़ उत्सव तूफ़ान द्वीप", " ", "। "},
}

// prose makes so many lines of a few sentences each.
func prose(rng *rand.Rand, script, lines int) []string {
	s := scripts[script%len(scripts)]
	words := strings.Fields(s.words)
	var out []string
	for range lines {
		var line strings.Builder
		for range 2 + rng.IntN(4) {
			var sentence []string
			for range 6 + rng.IntN(9) {
				sentence = append(sentence, words[rng.IntN(len(words))])
			}
			line.WriteString(strings.Join(sentence, s.space) + s.stop)
		}
		out = append(out, strings.TrimSpace(line.String()))
	}
	return out
}

// newFake makes an archive of clusters of such sizes, and pages that are in none.
func newFake(t testing.TB, sizes []int, single int) *fake {
	t.Helper()
	config, err := configs.Load("default", nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{config: config, pages: map[string]*fakePage{}}
	f.fakeAuditor = fakeAuditor{archive: f, audits: map[string]*fakeAudit{}, judgements: map[audit.Pair]map[string]audit.Judgement{}}
	rng := rand.New(rand.NewPCG(7, 7))
	hosts := []string{"news.example", "www.news.example", "recipes.example", "mirror.example", "archive.example.org", "print.news.example"}
	for i, size := range sizes {
		lines := prose(rng, i, 12+rng.IntN(20))
		title := strings.TrimRight(strings.Join(strings.Fields(lines[0])[:min(5, len(strings.Fields(lines[0])))], " "), ".。।")
		if runes := []rune(title); len(runes) > 40 {
			title = string(runes[:20])
		}
		c := &fakeCluster{}
		for k := range size {
			own := slices.Clone(lines)
			for range (k * 7 % 5) % 4 { // the first, and some others, have the text as it is
				own[rng.IntN(len(own))] = prose(rng, i, 1)[0]
			}
			if k%4 == 3 {
				own = slices.Insert(own, rng.IntN(len(own)), prose(rng, i, 2)...)
			}
			date := fmt.Sprintf("%d-%02d-%02dT06:%02d:%02dZ", 2012+k*9/max(size, 9)+rng.IntN(2), 1+rng.IntN(12), 1+rng.IntN(28), rng.IntN(60), rng.IntN(60))
			uri := fmt.Sprintf("https://%s/%d/story-%d.html", hosts[(i+k)%(1+i%len(hosts))], 2000+i, k)
			p := f.add(uri, date, title, strings.Join(own, "\n")+"\n")
			c.members = append(c.members, p)
			p.cluster = c
		}
		f.clusters = append(f.clusters, c)
	}
	for i := range single {
		f.add(fmt.Sprintf("https://single.example/%d", i), fmt.Sprintf("2020-%02d-01T00:00:00Z", 1+i%12), fmt.Sprintf("Single page %d", i), strings.Join(prose(rng, i, 5), "\n"))
	}
	f.close()
	return f
}

func (f *fake) add(uri, date, title, text string) *fakePage {
	sum := sha256.Sum256([]byte(uri + date + strconv.Itoa(len(f.pages))))
	p := &fakePage{document: hex.EncodeToString(sum[:16]), record: fmt.Sprintf("<urn:uuid:%x>", sum[16:]), uri: uri, date: date, title: title, text: text}
	f.pages[p.document] = p
	return p
}

// close makes rows and members of what was added.
func (f *fake) close() {
	f.sorted = nil
	for _, p := range f.pages {
		f.sorted = append(f.sorted, p)
	}
	slices.SortFunc(f.sorted, func(a, b *fakePage) int { return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.record, b.record)) })
	slices.SortStableFunc(f.clusters, func(a, b *fakeCluster) int { return cmp.Compare(len(b.members), len(a.members)) })
	for _, c := range f.clusters {
		first := c.members[0]
		slices.SortFunc(c.members[1:], func(a, b *fakePage) int { return cmp.Compare(a.date, b.date) })
		c.row = review.ClusterRow{ID: first.document, Size: len(c.members), Document: first.document, RecordID: first.record, URI: first.uri,
			Date: first.date, Title: first.title, First: first.date, Last: first.date, Lowest: 1}
		seen := map[string]bool{}
		for i, p := range c.members {
			p.cluster = c
			p.member = report.Member{RecordID: p.record, URI: p.uri, Date: p.date, Relation: report.Representative, Resemblance: 1, Containment: 1, VerifiedAgainst: first.record}
			p.member.Document = p.document
			switch {
			case i == 0:
			case p.text == first.text:
				p.member.Relation = report.Identical
				c.row.Identical++
			default:
				p.member.Relation = []report.Relation{report.Near, report.Near, report.Contained, report.Contains, report.Linked}[i%5]
				p.member.Resemblance, p.member.Containment = report.Score(0.5+float64(i%50)/100), report.Score(0.9+float64(i%10)/100)
			}
			c.row.Lowest = min(c.row.Lowest, p.member.Resemblance)
			c.row.First, c.row.Last = min(c.row.First, p.date), max(c.row.Last, p.date)
			seen[host(p.uri)] = true
		}
		c.row.Hosts = len(seen)
	}
}

func host(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	return u.Host
}

func (f *fake) Overview(context.Context) (review.Overview, error) {
	o := review.Overview{Method: "default", First: "2012-01-04", Last: "2021-12-28", Generation: "1"}
	s := &o.Summary
	s.Files, s.Records.Read, s.Records.Documents, s.Texts = 3, int64(len(f.pages))+41, int64(len(f.pages)), int64(len(f.pages))*3/4
	for _, c := range f.clusters {
		s.Clusters.Clusters++
		s.Clusters.Pages += int64(len(c.members))
		s.Clusters.Largest = max(s.Clusters.Largest, len(c.members))
		s.Duplicates.Pages += int64(len(c.members) - 1)
	}
	s.Duplicates.Bytes, s.Pairs.Near, s.Pairs.Compared = s.Duplicates.Pages*31_415, s.Duplicates.Pages*2, s.Duplicates.Pages*3
	return o, nil
}

// begin returns the place that a list goes on from.
func begin(after string) (int, error) {
	if after == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(after)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("after: %w", review.ErrNotFound)
	}
	return n, nil
}

func fits(size, least, most int) bool { return size >= least && (most == 0 || size <= most) }

func (f *fake) Clusters(_ context.Context, q review.ClusterQuery) (l review.ClusterList, err error) {
	from, err := begin(q.After)
	for i := from; i < len(f.clusters) && err == nil; i++ {
		if !fits(len(f.clusters[i].members), q.MinSize, q.MaxSize) {
			continue
		}
		if len(l.Clusters) == q.Limit {
			l.Next = strconv.Itoa(i)
			break
		}
		l.Clusters = append(l.Clusters, f.clusters[i].row)
	}
	return l, err
}

// Contained says that each page in no cluster is contained in the first of the largest.
func (f *fake) Contained(_ context.Context, after string, limit int) (l review.ContainedList, err error) {
	from, err := begin(after)
	in := f.clusters[0].members[0]
	n := 0
	for _, p := range f.sorted {
		if p.cluster != nil || err != nil {
			continue
		}
		if n++; n <= from {
			continue
		}
		if len(l.Pages) == limit {
			l.Next = strconv.Itoa(n - 1)
			break
		}
		l.Pages = append(l.Pages, report.ContainedPage{RecordID: p.record, URI: p.uri, Date: p.date, Document: p.document, Pages: 2, Containment: .99, Resemblance: .41,
			In: in.record, InURI: in.uri, InDate: in.date, InDocument: in.document, InCluster: f.clusters[0].row.ID})
	}
	return l, err
}

func rowOf(p *fakePage) review.PageRow {
	r := review.PageRow{Document: p.document, RecordID: p.record, URI: p.uri, Date: p.date, Title: p.title}
	if p.cluster != nil {
		r.Cluster, r.Size = p.cluster.row.ID, len(p.cluster.members)
	}
	return r
}

func (f *fake) Pages(_ context.Context, q review.PageQuery) (l review.PageList, err error) {
	from, err := begin(q.After)
	looked := 0
	for i := from; i < len(f.sorted) && err == nil; i++ {
		p := f.sorted[i]
		if looked++; f.partial > 0 && looked > f.partial {
			l.Partial, l.Next = true, strconv.Itoa(i)
			break
		}
		r := rowOf(p)
		_, bare, _ := strings.Cut(p.uri, "://")
		h := host(p.uri)
		if !strings.HasPrefix(p.uri, q.URI) && !strings.HasPrefix(bare, q.URI) || q.Host != "" && h != q.Host && !strings.HasSuffix(h, "."+q.Host) ||
			p.date < q.From || q.To != "" && p.date[:min(len(p.date), len(q.To))] > q.To || !fits(r.Size, q.MinSize, q.MaxSize) {
			continue
		}
		if len(l.Pages) == q.Limit {
			l.Next = strconv.Itoa(i)
			break
		}
		l.Pages = append(l.Pages, r)
	}
	return l, err
}

func (f *fake) Cluster(_ context.Context, id, after string, limit int) (c review.Cluster, err error) {
	from, err := begin(after)
	if err != nil {
		return c, err
	}
	at := slices.IndexFunc(f.clusters, func(c *fakeCluster) bool { return c.row.ID == id })
	if at < 0 {
		return c, fmt.Errorf("cluster %s: %w", id, review.ErrNotFound)
	}
	all := f.clusters[at].members
	c.ClusterRow = f.clusters[at].row
	c.Timeline = timeline(all)
	hosts := map[string]int{}
	for _, p := range all {
		hosts[host(p.uri)]++
	}
	for h, n := range hosts {
		c.HostList = append(c.HostList, review.Bucket{Label: h, Pages: n})
	}
	slices.SortFunc(c.HostList, func(a, b review.Bucket) int {
		return cmp.Or(cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Label, b.Label))
	})
	c.HostList = c.HostList[:min(20, len(c.HostList))]
	for i := from; i < len(all); i++ {
		if len(c.Members) == limit {
			c.Next = strconv.Itoa(i)
			break
		}
		m := all[i].member
		m.Title = all[i].title
		if i > 0 {
			m.AgainstDocument = all[0].document
		}
		c.Members = append(c.Members, m)
	}
	return c, nil
}

// timeline counts pages by year, without gaps.
func timeline(pages []*fakePage) (out []review.Bucket) {
	years := map[string]int{}
	for _, p := range pages {
		years[p.date[:4]]++
	}
	for y := 1996; y < 2030; y++ {
		if n := years[strconv.Itoa(y)]; n > 0 || len(out) > 0 {
			out = append(out, review.Bucket{Label: strconv.Itoa(y), Pages: n})
		}
	}
	for len(out) > 0 && out[len(out)-1].Pages == 0 {
		out = out[:len(out)-1]
	}
	return out
}

func (f *fake) Pair(_ context.Context, a, b string) (p review.Pair, err error) {
	var sides [2]explain.Side
	for i, d := range [2]string{a, b} {
		page := f.pages[d]
		if page == nil {
			return p, fmt.Errorf("page %s: %w", d, review.ErrNotFound)
		}
		sides[i] = explain.Side{Stored: page.frame + page.text, Compared: page.text,
			Page: &explain.Page{RecordID: page.record, URI: page.uri, Date: page.date, Title: page.title, TextID: d}}
		p.Documents[i], p.Texts[i] = d, page.text
	}
	p.Explanation, err = explain.Pair(f.config, sides[0], sides[1], explain.Between{Weighed: true})
	return p, err
}

func (f *fake) Page(_ context.Context, document string) (review.Page, error) {
	p := f.pages[document]
	if p == nil {
		return review.Page{}, fmt.Errorf("page %s: %w", document, review.ErrNotFound)
	}
	return review.Page{PageRow: rowOf(p), Text: p.frame + p.text, Fields: []review.Field{{Name: "record_id", Value: p.record}, {Name: "uri", Value: p.uri},
		{Name: "date", Value: p.date}, {Name: "media_type", Value: "text/html"}, {Name: "charset", Value: "utf-8"}}}, nil
}

// usual returns an archive like that of a small crawl.
func usual(t testing.TB) *fake {
	sizes := []int{500, 120, 40, 17, 9, 7, 6, 5, 4, 4, 3, 3, 3}
	for range 60 {
		sizes = append(sizes, 2)
	}
	return newFake(t, sizes, 80)
}
