package static

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"neardup/report"
	"neardup/report/figure"
	"neardup/report/static/pagecheck"
	"neardup/verify"
)

// hostile is text that would do something if it were taken for markup, a style, a
// link or an entity, or change what is around it.
const hostile = "\"'><script>alert(1)</script></title></style></textarea><svg onload=alert(2)>{{.}}</svg><!-- --><a href=javascript:x>&lt;&#0;\u202e\x00\x1b[31m\u0085\n]]>`${x}` " +
	"javascript:alert(3) \xff\xfe"

func hexID(i int) string { return fmt.Sprintf("%032x", i) }

// sampleReport has all there is to show. text is in place of all that is crawled.
func sampleReport(text string) *Report {
	page := Page{RecordID: "<urn:" + text + ">", URI: "http://a.example/" + text, Date: "2024-01-02T03:04:05Z" + text, Title: text}
	difference := Difference{Name: "Least alike", Cluster: hexID(1), A: page, B: page, Relation: report.Contained, Resemblance: 0.5, Containment: 0.99,
		Same: 100, OnlyA: 1000, OnlyB: 10, Moved: 3, Left: 2, Excerpts: []Excerpt{{
			{Kind: Both, Left: 10, End: text}, {Kind: OnlyA, Text: text}, {Kind: OnlyB, Text: text, Left: 1234, End: text},
			{Kind: MovedA, Text: text}, {Kind: MovedB, Text: text}, {Kind: Both, Text: text, Left: 3}}}}
	counts := Counts{Pages: 10, Bytes: 5_000_000, Clustered: 6, Duplicates: 4, DuplicateBytes: 2_000_000}
	r := &Report{Title: "A report " + text, Samples: []Difference{difference, {Cluster: hexID(77)}}}
	s := &r.Statistics
	s.Program, s.Seed = "neardup "+text, 7
	s.Method = Method{Name: "signatures ring", Settings: []Setting{{"cluster.quality", text}, {"text.pages", "all"}, {"empty", ""}}}
	s.Summary = report.Summary{Files: 1, Records: report.Records{Read: 20, Documents: 10, Skipped: map[string]int64{text: 10}}, Texts: 8, Unsigned: 1,
		Pairs: report.Pairs{Compared: 9, Outcomes: verify.Outcomes{ByScore: 3, Near: 6}}}
	for i, size := range []int{4, 2} {
		s.Summary.Add(report.Cluster{Size: size})
		c := Cluster{ID: hexID(i), Size: size, Page: page, First: page.Date, Last: text, HostSum: 3 - 2*i, Bytes: 1000, Lowest: 0.47,
			Hosts: []Named{{Name: text}, {Name: ""}}, By: []Evidence{{report.Representative, 1, 5}, {report.Linked, 3, 9}}, Differences: []Difference{difference}}
		for j := range size {
			c.Members = append(c.Members, Member{Page: page, Bytes: 7, Relation: report.Near, Resemblance: 0.9, Containment: 1, Against: text, AgainstAt: j % 2})
		}
		r.Clusters = append(r.Clusters, c)
	}
	s.Totals = counts
	s.Hosts = Hosts{Hosts: 3, Duplicates: 2, Top: []Named{{text, counts}, {"", Counts{Pages: 3}}}, Others: Counts{Pages: 1}}
	s.Periods = Periods{Unit: "month", Periods: []Named{{"2022-11", counts}, {"2023-01", counts}, {"2030-01", counts}}, Undated: Counts{Pages: 1}, Others: Counts{Pages: 1}}
	s.Evidence = []Evidence{{report.Representative, 2, 5}, {report.Identical, 1, 5}, {report.Near, 1, 5}, {report.Contained, 1, 2}, {report.Linked, 1, 5}}
	s.Scores = Scores{Pages: 3, Resemblance: Distribution{Tenth: 0.4, Median: 0.8}, Containment: Distribution{Tenth: 0.7, Median: 0.9}}
	s.Scores.Resemblance.Bins[9] = Bin{1, 1, 1}
	s.Scores.Containment.Bins[19] = Bin{1, 1, 1}
	s.Across = Span{Clusters: 1, Pages: 4, Duplicates: 3, Largest: []string{hexID(0)}}
	s.Within = Span{Clusters: 1, Pages: 2, Duplicates: 1, Largest: []string{hexID(1)}}
	s.Audits = []Audit{{Name: text, Pairs: 200, Value: 0.975, Low: 0.94, High: 0.99, Judges: 1}, {Name: "old", Pairs: 500, Outdated: true}}
	return r
}

type memoryFile struct {
	*bytes.Buffer
	closed *int
}

func (m memoryFile) Close() error { *m.closed++; return nil }

// written returns the files of a report.
func written(t *testing.T, r *Report) map[string]string {
	t.Helper()
	buffers, closed := map[string]*bytes.Buffer{}, 0
	err := Write(r, func(name string) (io.WriteCloser, error) {
		if buffers[name] != nil {
			t.Errorf("%s is written twice", name)
		}
		buffers[name] = new(bytes.Buffer)
		return memoryFile{buffers[name], &closed}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if closed != len(buffers) {
		t.Errorf("%d files of %d are closed", closed, len(buffers))
	}
	files := map[string]string{}
	for name, b := range buffers {
		files[name] = b.String()
	}
	return files
}

func check(t *testing.T, files map[string]string) {
	t.Helper()
	for _, problem := range pagecheck.Check(files) {
		t.Error(problem)
	}
}

func TestPages(t *testing.T) {
	files := written(t, sampleReport("kite"))
	check(t, files)
	for _, name := range []string{Mark, Index, "clusters.html", "style.css", "statistics.json", "cluster/" + hexID(0) + ".html", "cluster/" + hexID(1) + ".html"} {
		if files[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	if len(files) != 7 {
		t.Errorf("%d files", len(files))
	}
	index := files[Index]
	plots := strings.Count(index, `<figure class="plot">`)
	if plots != 6 || strings.Count(index, "<desc id=") != plots {
		t.Errorf("%d plots", plots)
	}
	if tables := strings.Count(index, "<details>"); tables != 6 { // both plots of the funnel share one; settings have one
		t.Errorf("%d tables", tables)
	}
	if !strings.Contains(index, `<span class="date">2024-01-02</span>`) {
		t.Error("dates are not shown as days")
	}
	var s Statistics
	if err := json.Unmarshal([]byte(files["statistics.json"]), &s); err != nil || !reflect.DeepEqual(s, sampleReport("kite").Statistics) {
		t.Errorf("statistics.json has other numbers (%v)", err)
	}
	for name, content := range files {
		if !reflect.DeepEqual(content, written(t, sampleReport("kite"))[name]) {
			t.Errorf("%s is not the same each time", name)
		}
	}
}

// Whatever is crawled makes the same elements with the same attributes, but for
// those that have text, as harmless text does.
func TestHostileText(t *testing.T) {
	files, harmless := written(t, sampleReport(hostile)), written(t, sampleReport("kite"))
	check(t, files)
	for name, content := range files {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		if got, want := elements(content), elements(harmless[name]); got != want {
			t.Errorf("%s has other elements:\n%s", name, firstDifference(got, want))
		}
		for _, r := range "\u202e\x00\x1b\u0085" {
			if strings.ContainsRune(content, r) {
				t.Errorf("%s has %U", name, r)
			}
		}
		if !strings.Contains(content, "&lt;script&gt;alert(1)") {
			t.Errorf("%s does not show what was crawled", name)
		}
	}
}

// Joiners stay in titles and texts, and are escaped elsewhere.
func TestJoiners(t *testing.T) {
	for name, content := range written(t, sampleReport("می\u200cرسند")) {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		if !strings.Contains(content, "می\u200cرسند</span>") || strings.Contains(content, "a.example/می\u200c") {
			t.Errorf("%s: joiners", name)
		}
		if strings.Contains(content, "excerpt") && !strings.Contains(content, "</span> می\u200cرسند</del>") {
			t.Errorf("%s: joiners of excerpts", name)
		}
	}
}

// elements returns the tags of a page with the names of their attributes, and what
// these have where it matters.
func elements(content string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(content))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return b.String()
		}
		t := z.Token()
		if t.Data == "text" || t.Data == "g" || t.Data == "path" || kind == html.TextToken {
			continue // plots depend on the lengths of labels
		}
		fmt.Fprintf(&b, "%v %s", kind, t.Data)
		for _, a := range t.Attr {
			if b.WriteString(" " + a.Key); a.Key == "href" || a.Key == "class" || a.Key == "id" {
				b.WriteString("=" + a.Val)
			}
		}
		b.WriteByte('\n')
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: %s, want %s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

func FuzzHostileText(f *testing.F) {
	f.Add(hostile)
	f.Add("</svg></title>")
	f.Add(strings.Repeat("a", 5000))
	f.Add("עברית\u2067 中文 \U000e0041")
	page := func(t *testing.T, text string) string {
		r := sampleReport(text)
		var b bytes.Buffer
		if err := templates.ExecuteTemplate(&b, "cluster.html", document{r, text, "../", &r.Clusters[0]}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	f.Fuzz(func(t *testing.T, text string) { // a page without plots, which take their time
		if text == "" {
			return // a page without title has another one
		}
		content := page(t, text)
		for _, problem := range pagecheck.Check(map[string]string{"cluster/x.html": content, "style.css": "", Index: "", "clusters.html": "", "statistics.json": ""}) {
			if strings.HasPrefix(problem, "cluster/x.html") {
				t.Error(problem)
			}
		}
		if got, want := elements(content), elements(page(t, "kite")); got != want {
			t.Errorf("other elements:\n%s", firstDifference(got, want))
		}
	})
}

// Of nothing, and of reports that lack this or that, there are pages, too.
func TestLittleToShow(t *testing.T) {
	whole := func() *Report { return sampleReport("kite") }
	tests := map[string]func(r *Report){
		"nothing at all": func(r *Report) { *r = Report{Title: "t"} },
		"no clusters":    func(r *Report) { *r = Report{Title: "t", Statistics: Statistics{Totals: Counts{Pages: 5}}} },
		"no bytes":       func(r *Report) { r.Statistics.Totals.DuplicateBytes, r.Statistics.Hosts.Top[0].DuplicateBytes = 0, 0 },
		"identical only": func(r *Report) { r.Statistics.Scores = Scores{}; r.Samples = nil },
		"no dates":       func(r *Report) { r.Statistics.Periods = Periods{Unit: "month"} },
		"years": func(r *Report) {
			r.Statistics.Periods = Periods{Unit: "year", Periods: []Named{{"0001", Counts{}}, {"2024", Counts{Pages: 3}}}}
		},
		"no cluster pages": func(r *Report) { r.Clusters = nil },
		"hosts only":       func(r *Report) { r.Statistics.Across = Span{} },
		"contained": func(r *Report) {
			r.Statistics.Summary.Contained = report.ContainedCounts{Texts: 3, Pages: 4}
			r.Contained, r.ContainedLeft = []report.ContainedPage{{URI: "http://a.example/<b>", InURI: "http://b.example/", Pages: 2, Containment: .99}}, 2
		},
		"candidates":          func(r *Report) { n := int64(5); r.Statistics.Summary.Candidates = &n },
		"pairs without texts": func(r *Report) { r.Samples[0].Excerpts = nil },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			r := whole()
			change(r)
			files := written(t, r)
			check(t, files)
			if !strings.Contains(files[Index], `<p class="lead">`) {
				t.Error("no finding")
			}
		})
	}
}

func TestHeadline(t *testing.T) {
	for want, totals := range map[string]Counts{
		"There are no pages in this workspace.":                                                                             {},
		"There are no near-duplicates here: none of the 1,234 pages was found to repeat another.":                           {Pages: 1234},
		"Of 1,234 pages, 1 is a near-duplicate: it has about the main content of another page, which stands for it.":        {Pages: 1234, Clustered: 2, Duplicates: 1},
		"Of 12,345 pages, 2,000 are near-duplicates: each has about the main content of another page, which stands for it.": {Pages: 12345, Clustered: 2100, Duplicates: 2000},
	} {
		s := Statistics{Totals: totals}
		if got := s.headline(); got != want {
			t.Errorf("%+v:\n got %s\nwant %s", totals, got, want)
		}
	}
}

func TestFindings(t *testing.T) {
	said := func(s *Statistics) string {
		var b strings.Builder
		for _, f := range s.findings() {
			fmt.Fprintln(&b, f.Question, f.Figure, f.Of, f.Text)
		}
		return b.String()
	}
	s := &sampleReport("kite.example").Statistics
	s.Keep.Kept = report.Kept{Keep: 2, Redundant: 3, Lossless: 1, Review: 1, Characters: 5000, Lost: 40}
	for _, want := range []string{
		"How much? 40.0% of the pages are near-duplicates [They take 2.0 MB of 5.0 MB of payload: 40.0%. 2 clusters hold them with the pages that stand for them; the largest has 4 pages. 4 pages are in none.]",
		"What could be dropped? 30.0% of the pages are redundant: a keep list would drop them [Of 3 redundant pages 1 loses nothing. What the others lose is 40 characters of the 5,000 of all. 1 page is to be reviewed by people; it stays until then.]",
		"Where? 100.0% of the bytes of near-duplicates at one host, kite.example [Near-duplicates are at 2 of 3 hosts. 1 cluster reaches across hosts, with 75.0% of the near-duplicates; the other clusters keep to one host.]",
		"How sure? 97.5% of a sample of pairs are right, as people judged them: 200 pairs, 95% interval 94.0% to 99.0% [25.0% of the near-duplicates have exactly",
		"50.0% were compared with it and are near it, or contained in it (25.0%). Where texts differ, the median resemblance is 0.80; the tenth that is least alike has 0.40 or less.",
		"1 page (25.0%) should be looked at before anything is dropped",
	} {
		if got := said(s); !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	s.Audits = append(s.Audits, Audit{Name: "hard", Different: true, Pairs: 300, Value: .8}, Audit{Name: "part", Missing: 2, Pairs: 400, Value: .9})
	if f := s.howSure(); f.Figure != "97.5%" || strings.Contains(f.Of, "differ") {
		t.Errorf("%+v", f)
	}
	s.Audits = s.Audits[1:]
	if f := s.howSure(); f.Figure != "80.0%" || !strings.Contains(f.Of, "pairs whose texts differ are right") {
		t.Errorf("%+v", f)
	}
	s.Audits = slices.Delete(s.Audits, 1, 2)
	if f := s.howSure(); f.Figure != "90.0%" || !strings.Contains(f.Text[0], "In 2 strata nothing is judged") {
		t.Errorf("%+v", f)
	}
	s.Audits = s.Audits[:1] // of other clusters
	s.Hosts.Top[0].DuplicateBytes = 0
	for _, want := range []string{
		"How sure? 25.0% of the near-duplicates have exactly the text of the page that stands for them [",
		"No sample of these clusters was judged by people, so how many are right is not measured.",
		"Where? 100.0% of the near-duplicates at one host",
	} {
		if got := said(s); !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// Figures and findings of odd numbers: the largest is not the first, months lack, and
// near-duplicates have no bytes.
func TestFiguresOfOddNumbers(t *testing.T) {
	s := &Statistics{}
	for size, n := range map[int]int{2: 1, 4: 3, 8: 1} {
		for range n {
			s.Summary.Add(report.Cluster{Size: size})
		}
	}
	if got, want := s.describeSizes(), "Clusters of 4 to 7 pages have most pages: 12 in 3 clusters."; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	p := Periods{Unit: "month", Periods: []Named{{Name: "2022-11"}, {Name: "2023-01"}, {Name: "2024-02"}, {Name: "2025-03"}}}
	var labels []string
	for _, b := range p.bars() {
		labels = append(labels, b.label)
	}
	want := []string{"2022-11", "2022-12", "2023-01"}
	for month := range 12 {
		want = append(want, fmt.Sprintf("2023-%02d", 2+month))
	}
	want = append(slices.Replace(want, 14, 15, "2024-01"), "2024-02")
	for month := range 12 {
		want = append(want, fmt.Sprintf("2024-%02d", 3+month))
	}
	want = append(slices.Replace(want, 26, 28, "2025-01", "2025-02"), "2025-03")
	if !slices.Equal(labels, want) {
		t.Errorf("columns %q, want %q", labels, want)
	}
	for name, x := range map[string]struct {
		top  []Named
		want bool
	}{
		"none": {nil, false}, "bytes": {[]Named{{"a", Counts{DuplicateBytes: 1}}}, true}, "no bytes": {[]Named{{"a", Counts{}}, {"b", Counts{DuplicateBytes: 1}}}, false},
	} {
		if h := (&Hosts{Top: x.top}); h.weighed() != x.want {
			t.Errorf("hosts with %s: weighed is %v", name, !x.want)
		}
	}
	s.Totals = Counts{Pages: 10, Clustered: 6, Duplicates: 4}
	if f := s.howMuch(); len(f.Text) != 1 {
		t.Errorf("near-duplicates without bytes: %q", f.Text)
	}
}

// What each step leaves is what the one before left, without what was taken out.
func TestFunnelAddsUp(t *testing.T) {
	r := report.Records{Read: 100, Documents: 60, Duplicates: 5, Skipped: map[string]int64{"a": 30, "b": 5}}
	s := Statistics{Summary: report.Summary{Records: r, Texts: 50, Unsigned: 3, Navigation: 4,
		Pairs: report.Pairs{Compared: 34, Outcomes: verify.Outcomes{ByLength: 1, BySketch: 2, ByDistance: 3, ByScore: 4, ByRarity: 5, ByTitle: 6, Near: 13}}}}
	records, pairs := s.funnel()
	for _, f := range []steps{records, pairs} {
		left := f.Steps[0].Count
		for _, step := range f.Steps[1:] {
			if step.Lost {
				left -= step.Count
			} else if step.Count != left {
				t.Errorf("%s: %d, want %d", step.Name, step.Count, left)
			}
		}
		if last := f.Steps[len(f.Steps)-1]; last.Lost || last.Count != left {
			t.Errorf("%s is left out of the sum: %d, want %d", last.Name, last.Count, left)
		}
	}
}

func TestOwns(t *testing.T) {
	for name, want := range map[string]bool{
		Mark: true, Index: true, "cluster/" + hexID(3) + ".html": true, "cluster/x.html": false, "cluster": false, "notes.txt": false,
		"cluster/" + hexID(3) + ".html/x": false, "../" + Index: false, "": false, "Index.html": false, "cluster/../" + Index: false,
	} {
		if Owns(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	r := sampleReport("kite")
	r.Clusters[0].ID = "../../escape"
	err := Write(r, func(name string) (io.WriteCloser, error) {
		if strings.Contains(name, "..") {
			t.Errorf("%s is made", name)
		}
		return memoryFile{new(bytes.Buffer), new(int)}, nil
	})
	if err == nil {
		t.Error("an id that is a path is written")
	}
}

// The error of any file comes back.
func TestWriteErrors(t *testing.T) {
	full := errors.New("full")
	for i := range 7 {
		made := 0
		err := Write(sampleReport("kite"), func(string) (io.WriteCloser, error) {
			if made++; made == i+1 {
				return nil, full
			}
			return memoryFile{new(bytes.Buffer), new(int)}, nil
		})
		if !errors.Is(err, full) || made != i+1 {
			t.Errorf("file %d: %v after %d files", i, err, made)
		}
	}
}

// Every colour of figures has a name in the style sheet, in light and in print.
func TestInks(t *testing.T) {
	for _, ink := range inks {
		for _, rule := range []string{".fill-" + ink + " {", ".stroke-" + ink + " {"} {
			if !strings.Contains(style, rule) {
				t.Errorf("the style sheet has no %s", rule)
			}
		}
	}
	if inks[figure.Black] != "ink" || inks[figure.White] != "none" || len(inks) != 5+len(figure.Colours())-1 {
		t.Errorf("inks are %v", inks)
	}
	for _, rule := range []string{".fill-ink { fill: currentColor; }", ".fill-none { fill: none; }"} {
		if !strings.Contains(style, rule) {
			t.Errorf("the style sheet has no %s", rule)
		}
	}
}

// A figure's parts keep their places on the page. The background is the page's.
func TestDraw(t *testing.T) {
	p := figure.NewPanel("across", "up")
	p.Add(figure.Series{Name: "a<b", Colour: figure.Blue, Points: []figure.Point{{X: 1, Y: 2}, {X: 3, Y: 4}}, Line: 1.2, Dashes: []float64{4, 2}, Radius: 2})
	f := figure.Figure{Width: 300, PanelHeight: 120, Panels: []*figure.Panel{p}}
	d := draw(f)
	if d.ViewBox != "0 0 300 120" || len(d.Nodes) != len(f.Draw().Elements)-1 {
		t.Errorf("%s with %d nodes", d.ViewBox, len(d.Nodes))
	}
	has := func(want string, is func(n node) bool) {
		if !slices.ContainsFunc(d.Nodes, is) {
			t.Errorf("no %s in %+v", want, d.Nodes)
		}
	}
	has("dashed line", func(n node) bool {
		return n.Class == "fill-none stroke-colour0" && n.Dashes == "4,2" && n.Width == "1.2" && strings.HasPrefix(n.Path, "M")
	})
	has("marker", func(n node) bool { return n.Class == "fill-colour0 stroke-none" && n.Width == "" })
	has("grid", func(n node) bool { return n.Class == "fill-none stroke-grid" && n.Width == "0.5" })
	has("legend", func(n node) bool {
		return n.Text == "a<b" && n.Class == "fill-ink stroke-none" && n.Anchor == "start" && n.Size == "9"
	})
	has("name of the axis", func(n node) bool { return n.Text == "up" && n.Transform == "rotate(-90 "+n.X+" "+n.Y+")" })
}

// Every colour that the report's figures use has a class.
func TestFiguresHaveInks(t *testing.T) {
	x, drawn := sampleReport("kite").index(), 0
	for _, p := range append(x.Funnel, x.Hosts, x.Sizes, x.Periods, x.Scores) {
		for _, n := range p.Drawing.Nodes {
			if drawn++; strings.Contains(n.Class+" ", "- ") {
				t.Fatalf("%s: %+v", p.Title, n)
			}
		}
	}
	if drawn == 0 {
		t.Error("nothing is drawn")
	}
}

func TestLabel(t *testing.T) {
	for name, want := range map[string]string{
		"": "(no host)", "a.example": "a.example", "bücher.example": "xn--bcher-kva.example", "日本.example": "xn--wgv71a.example",
		strings.Repeat("a", 40) + ".example": "aaaaaaaaaaaaaa...aaaaa.example", "\xff\x00 b": "??? b",
	} {
		got := label(name)
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) || len(got) > longLabel+1 {
			t.Errorf("%q: %q", name, got)
		}
		if name != "\xff\x00 b" && got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
