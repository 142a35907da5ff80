package static

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	template "github.com/DataDog/datadog-agent/pkg/template/html"

	"neardup/report"
	"neardup/report/figure"
	"neardup/report/look"
	"neardup/screen"
)

//go:embed *.html
var pages embed.FS

//go:embed style.css
var style string

// templates are parsed once. They are part of the program.
var templates = template.Must(template.New("").Funcs(look.Funcs).Funcs(template.FuncMap{
	"hostname": hostName,
	"score":    twoDecimals,
	"share":    share,
	"relation": func(r report.Relation) string { return look.Relations[r] },
	"plural":   look.Plural,
	"short":    func(id string) string { return screen.Characters(id, 8) },
	// Templates cannot call methods, see docs/release.md.
	"otherHosts":     (*Report).otherHosts,
	"across":         (*Report).across,
	"within":         (*Report).within,
	"hostsBeyond":    (*Cluster).hostsBeyond,
	"membersBeyond":  (*Cluster).membersBeyond,
	"identicalPages": (*Statistics).identicalPages,
	"number":         func(i int) int { return i + 1 },
	"int64":          func(i int) int64 { return int64(i) },
	"sizes":          sizes,
	"binFrom":        func(i int) string { return fmt.Sprintf("%.2f", float64(i)/Bins) },
	"binTo":          func(i int) string { return fmt.Sprintf("%.2f", float64(i+1)/Bins) },
}).ParseFS(pages, "*.html"))

// The files of a report. Mark marks a directory as a report, so that it may be
// replaced.
const (
	Mark  = "neardup-report.txt"
	Index = "index.html"
)

const markText = `This directory was written by neardup report. Open index.html.
Running neardup report with this directory again replaces it as a whole.
`

var clusterFile = regexp.MustCompile(`^cluster/[0-9a-f]{32}\.html$`)

// Owns reports whether Write makes a file with this path, which is relative to the
// report's directory and uses slashes.
func Owns(name string) bool {
	switch name {
	case Mark, Index, "clusters.html", "style.css", "statistics.json":
		return true
	}
	return clusterFile.MatchString(name)
}

// Write writes the files of a report. create creates a file by its path from
// the report's directory, with slashes. The only folder is cluster.
func Write(r *Report, create func(name string) (io.WriteCloser, error)) error {
	file := func(name string, write func(io.Writer) error) error {
		if !Owns(name) {
			return fmt.Errorf("a report has no file %q", name)
		}
		f, err := create(name)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, s)
			return err
		}
	}
	page := func(name, template, title, up string, of any) error {
		return file(name, func(w io.Writer) error {
			return templates.ExecuteTemplate(w, template, document{r, title, up, of})
		})
	}
	for _, write := range []func() error{
		func() error { return file(Mark, text(markText)) },
		func() error { return file("style.css", text(look.Style+style)) },
		func() error { return file("statistics.json", r.Statistics.writeJSON) },
		func() error { return page(Index, "index.html", r.Title, "", r.index()) },
		func() error {
			return page("clusters.html", "clusters.html", "Largest clusters", "", r.largest(len(r.Clusters)))
		},
	} {
		if err := write(); err != nil {
			return err
		}
	}
	for i := range r.Clusters {
		c := &r.Clusters[i]
		if err := page("cluster/"+c.ID+".html", "cluster.html", "Cluster "+screen.Characters(c.ID, 8), "../", c); err != nil {
			return err
		}
	}
	return nil
}

func (s *Statistics) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(s)
}

// document holds the values of a page's template.
type document struct {
	Report *Report
	Title  string
	Up     string // path to the report's directory
	Of     any
}

// index holds the values of the start page besides the numbers.
type index struct {
	Headline       string
	Findings       []finding
	Hosts          *picture
	Periods        *picture
	Sizes          *picture
	Scores         *picture
	Funnel         []*picture
	Steps          []steps
	Largest        []*Cluster
	Across, Within []*Cluster
	Samples        []sample
}

// sample is a difference, with a link to its cluster if that has a page.
type sample struct {
	Difference
	HasPage bool
}

// partOfAll is a part of all clusters.
type partOfAll struct {
	Span
	All int64 // near-duplicates
}

// picture is a plot with its title.
type picture struct {
	ID          string
	Title       string
	Description string
	Drawing     drawing
}

// firstClusters limits the clusters on the start page.
const firstClusters = 10

func (r *Report) index() *index {
	s := &r.Statistics
	x := &index{Headline: s.headline(), Findings: s.findings(), Largest: r.largest(firstClusters)}
	for _, d := range r.Samples {
		x.Samples = append(x.Samples, sample{d, len(r.byID([]string{d.Cluster})) > 0})
	}
	x.Across = r.byID(s.Across.Largest)
	for _, c := range r.byID(s.Within.Largest) {
		if !slices.Contains(x.Largest, c) {
			x.Within = r.byID(s.Within.Largest) // otherwise all of them are shown above
		}
	}
	records, pairs := s.funnel()
	x.Steps = []steps{records, pairs}
	picture := func(id, title, description string, f figure.Figure) *picture {
		return &picture{ID: id, Title: title, Description: description, Drawing: draw(f)}
	}
	if s.Totals.Duplicates > 0 {
		x.Hosts = picture("hosts", "Payload by host, near-duplicates and other", s.Hosts.describe(), s.Hosts.figure())
		if !s.Hosts.weighed() {
			x.Hosts.Title = "Pages by host, near-duplicates and other"
		}
		x.Sizes = picture("sizes", "Clusters by their size, and the pages in them", s.describeSizes(), s.sizesFigure())
	}
	if len(s.Periods.Periods) > 0 {
		x.Periods = picture("periods", "Pages by "+s.Periods.Unit+" of capture, near-duplicates and other", s.Periods.describe(), s.Periods.figure())
	}
	if s.Scores.Pages > 0 {
		x.Scores = picture("scores", "Scores of the pages whose text differs", s.Scores.describe(), s.Scores.figure())
	}
	x.Funnel = append(x.Funnel, picture("funnel-texts", "From records to texts", records.describe(), records.figure()))
	if s.Summary.Pairs.Compared > 0 {
		x.Funnel = append(x.Funnel, picture("funnel-pairs", "From pairs to near pairs", pairs.describe(), pairs.figure()))
	}
	return x
}

// largest returns the first clusters.
func (r *Report) largest(limit int) (out []*Cluster) {
	for i := range r.Clusters[:min(len(r.Clusters), limit)] {
		out = append(out, &r.Clusters[i])
	}
	return out
}

func (r *Report) byID(ids []string) (out []*Cluster) {
	for _, id := range ids {
		for i := range r.Clusters {
			if r.Clusters[i].ID == id {
				out = append(out, &r.Clusters[i])
			}
		}
	}
	return out
}

// otherHosts returns the number of hosts that are not listed.
func (r *Report) otherHosts() int {
	return int(r.Statistics.Hosts.Hosts) - len(r.Statistics.Hosts.Top)
}

// across returns the clusters of several hosts.
func (r *Report) across() partOfAll {
	return partOfAll{r.Statistics.Across, r.Statistics.Totals.Duplicates}
}

// within returns the clusters of one host.
func (r *Report) within() partOfAll {
	return partOfAll{r.Statistics.Within, r.Statistics.Totals.Duplicates}
}

// hostsBeyond returns the number of hosts that are not listed.
func (c *Cluster) hostsBeyond() int { return c.HostSum - len(c.Hosts) }

// membersBeyond returns the number of members that are not listed.
func (c *Cluster) membersBeyond() int { return c.Size - len(c.Members) }

// identicalPages returns the number of pages with the text of their
// representative.
func (s *Statistics) identicalPages() int64 { return s.of(report.Identical) }

// Descriptions of the plots. Their numbers are in a table below.

func (h *Hosts) describe() string {
	n := min(len(h.Top), hostsDrawn)
	top := h.Top[0]
	return fmt.Sprintf("A bar for each of %s, the one with most near-duplicates on top: %s, with %s of %s near-duplicates.",
		look.Plural(n, "host", "hosts"), label(top.Name), look.Count(top.Duplicates), look.Plural(top.Pages, "page", "pages"))
}

func (p *Periods) describe() string {
	most := p.Periods[0]
	for _, period := range p.Periods {
		if period.Duplicates > most.Duplicates {
			most = period
		}
	}
	return fmt.Sprintf("A column a %s from %s to %s. Most near-duplicates were captured in %s: %s of %s.", p.Unit,
		p.Periods[0].Name, p.Periods[len(p.Periods)-1].Name, most.Name, look.Count(most.Duplicates), look.Plural(most.Pages, "page", "pages"))
}

func (s *Statistics) describeSizes() string {
	all := s.Summary.Clusters.BySize
	most := all[0]
	for _, b := range all {
		if b.Pages > most.Pages {
			most = b
		}
	}
	return fmt.Sprintf("Columns of clusters and of their pages by size, each size twice the one before. Clusters of %d to %d pages have most pages: %s in %s.",
		most.From, most.To, look.Count(most.Pages), look.Plural(most.Clusters, "cluster", "clusters"))
}

func (s *Scores) describe() string {
	return fmt.Sprintf("Two histograms of %s. The median is %s of resemblance and %s of containment.", look.Plural(s.Pages, "page", "pages"),
		twoDecimals(s.Resemblance.Median), twoDecimals(s.Containment.Median))
}

func (s steps) describe() string {
	var parts []string
	for _, step := range s.Steps {
		if !step.Lost {
			parts = append(parts, look.Count(step.Count)+" "+step.Name)
		}
	}
	return "Bars, each step below the one before: " + strings.Join(parts, ", then ") + "."
}
