package paper

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"neardup/report"
	"neardup/report/figure"
)

// SimFinder has the figures of section 4 of the SimFinder paper (Gong and others,
// 2008) for one collection of texts or two.
type SimFinder struct {
	Collections  []ShortTexts `json:"collections"`
	Judged       string       `json:"judged"` // what says whether a pair is right; empty: nothing
	Baseline     int64        `json:"baseline_compared"`
	Grams        []Recall     `json:"grams"`       // figures 3 and 4, of the first collection
	AtMost       []Recall     `json:"at_most"`     // figures 5 and 6: a limit of the features
	Beyond       []Recall     `json:"beyond"`      // figures 5 and 6: features beyond k
	Transitivity Transitivity `json:"remark2"`     // of the first collection
	Equation     string       `json:"equation"`    // how terms weigh
	Threshold    float64      `json:"threshold"`   // of the duplicate degree
	Gram         int          `json:"gram"`        // N
	Extra        int          `json:"extra"`       // features beyond k
	FeatureOrder string       `json:"order"`       // in which features are contiguous
	Frequencies  string       `json:"frequencies"` // F(t)
}

// ShortTexts has what is measured of each collection.
type ShortTexts struct {
	Name     string   `json:"name"`
	Texts    int      `json:"texts"`     // without identical ones
	Plain    Degrees  `json:"equation3"` // figures 1 and 2
	Weighted Degrees  `json:"equation4"`
	Growth   []Growth `json:"growth"` // figures 7 to 10
}

// Degrees has the precision of the pairs by their duplicate degree.
type Degrees struct {
	Intervals []Interval `json:"intervals"`
	// AveragePrecision is that of all right pairs by descending degree. It is nil
	// where only some pairs are judged.
	AveragePrecision *float64 `json:"average_precision,omitempty"`
	Near             int      `json:"near"`       // pairs that reach the threshold
	NearRight        int      `json:"near_right"` // of these, those that are known to be right
}

// Interval is an interval of duplicate degrees, of width .05.
type Interval struct {
	To     float64 `json:"to"` // its upper end
	Pairs  int     `json:"pairs"`
	Judged int     `json:"judged"`
	Right  int     `json:"right"`
}

// Precision returns the share of judged pairs that are right, nil if there are none.
func (i Interval) Precision() *float64 {
	if i.Judged == 0 {
		return nil
	}
	p := float64(i.Right) / float64(i.Judged)
	return &p
}

// Recall is a point of figures 3 to 6.
type Recall struct {
	Value    int     `json:"value"`
	Recall   float64 `json:"recall"` // of texts in near pairs, those of the baseline being 1
	Pairs    float64 `json:"pairs"`  // of near pairs
	Compared int64   `json:"compared"`
}

// Growth is a point of figures 7 to 10.
type Growth struct {
	Texts    int     `json:"texts"`
	Seconds  float64 `json:"seconds"` // processor time, from texts to near pairs
	Bytes    int64   `json:"bytes"`   // memory of terms and fingerprints
	Compared int64   `json:"compared"`
	Near     int64   `json:"near"`
}

// Transitivity has what remark 2 saves and costs.
type Transitivity struct {
	Without   int64 `json:"compared_without"`
	With      int64 `json:"compared_with"`
	Potential int64 `json:"potential"` // pairs A, C of which A r B and B r C
	Below     int64 `json:"below"`     // of these, pairs under the threshold
}

// WriteJSON writes the figures as indented JSON.
func (s SimFinder) WriteJSON(w io.Writer) error { return writeJSON(w, s) }

// Figures returns the figures by the names of their files.
func (s SimFinder) Figures() map[string]func(io.Writer) error {
	out := map[string]func(io.Writer) error{
		"figure3.svg": s.recall("recall of texts", "gram size N", "N", s.Grams, nil, Recall.share),
		"figure4.svg": s.recall("pairs compared, log10", "gram size N", "N", s.Grams, nil, Recall.logCompared),
		"figure5.svg": s.recall("recall of texts", "features", "at most", s.AtMost, s.Beyond, Recall.share),
		"figure6.svg": s.recall("pairs compared, log10", "features", "at most", s.AtMost, s.Beyond, Recall.logCompared),
	}
	for i, c := range s.Collections {
		name := func(n int) string { return "figure" + strconv.Itoa(n+i) + ".svg" }
		if s.Judged != "" {
			out[name(1)] = c.writeDegrees
		}
		out[name(7)] = c.growth("processor time, s", func(g Growth) float64 { return g.Seconds })
		out[name(9)] = c.growth("memory, MB", func(g Growth) float64 { return float64(g.Bytes) / 1e6 })
	}
	return out
}

// AllFeatures is a number of features that no short text exceeds.
const AllFeatures = 1000

// beyond names the point of a number of features beyond k.
func (r Recall) beyond(prefix string) string {
	if r.Value == AllFeatures {
		return "all"
	}
	return prefix + strconv.Itoa(r.Value)
}

func (r Recall) share() float64       { return r.Recall }
func (r Recall) logCompared() float64 { return math.Log10(float64(max(1, r.Compared))) }

// recall draws a value over the points. The points of beyond are numbers beyond k.
func (s SimFinder) recall(y, x, name string, points, beyond []Recall, value func(Recall) float64) func(io.Writer) error {
	labels, lines := recallLines(name, points, beyond, value)
	return func(w io.Writer) error { return writeFree(w, x, y, labels, lines...) }
}

// recallLines returns the lines of points and of those beyond k, which are on the
// right of the others.
func recallLines(name string, points, beyond []Recall, value func(Recall) float64) (labels []string, lines []line) {
	lines = []line{{name: name}}
	for _, p := range points {
		v := value(p)
		labels = append(labels, strconv.Itoa(p.Value))
		lines[0].values = append(lines[0].values, &v)
	}
	if beyond != nil {
		lines = append(lines, line{"beyond k", make([]*float64, len(points))})
	}
	for _, p := range beyond {
		v := value(p)
		labels = append(labels, p.beyond("k+"))
		lines[1].values = append(lines[1].values, &v)
	}
	return labels, lines
}

func (c ShortTexts) writeDegrees(w io.Writer) error {
	var labels []string
	lines := []line{{name: "equation 3"}, {name: "equation 4"}}
	for i := range c.Plain.Intervals {
		labels = append(labels, strconv.FormatFloat(c.Plain.Intervals[i].To, 'f', 2, 64))
		lines[0].values = append(lines[0].values, c.Plain.Intervals[i].Precision())
		lines[1].values = append(lines[1].values, c.Weighted.Intervals[i].Precision())
	}
	return write(w, "duplicate degree, up to", "precision", labels, lines...)
}

func (c ShortTexts) growth(y string, value func(Growth) float64) func(io.Writer) error {
	return func(w io.Writer) error {
		var labels []string
		l := line{name: c.Name}
		for _, g := range c.Growth {
			v := value(g)
			labels = append(labels, strconv.Itoa(g.Texts))
			l.values = append(l.values, &v)
		}
		return writeFree(w, "texts", y, labels, l)
	}
}

// writeFree is write for values that are no shares.
func writeFree(w io.Writer, x, y string, labels []string, lines ...line) error {
	return writeLines(w, x, y, labels, func(p *figure.Panel) { p.Y.Min = min(p.Y.Min, 0) }, lines...)
}

// WritePage writes the page in Markdown. The figures are files beside it.
func (s SimFinder) WritePage(w io.Writer) error {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format, a...) }
	var names []string
	for _, c := range s.Collections {
		names = append(names, fmt.Sprintf("%s (%d different texts)", c.Name, c.Texts))
	}
	p("# Section 4 of the SimFinder paper, on %s\n\n", strings.Join(names, " and "))
	p("%s; frequencies of the %s; N = %d, k + %d features, contiguous by %s; threshold %g. %s\n\n", s.Equation, s.Frequencies, s.Gram, s.Extra, s.FeatureOrder, s.Threshold, report.Terms)
	p("## Figures 1 and 2\n\n")
	if s.Judged == "" {
		p("No pair is judged. Judge those of pairs.tsv and name the file with `--judged`.\n\n")
	} else {
		p("The precision of pairs by their duplicate degree. A pair is right %s. The paper takes .65 as the threshold, where more than half of the pairs are right.\n\n", s.Judged)
		for i, c := range s.Collections {
			t := figure.Table{Header: []string{"degree, up to", "equation 3: pairs", "judged", "precision", "equation 4: pairs", "judged", "precision"}}
			for k, x := range c.Plain.Intervals {
				y := c.Weighted.Intervals[k]
				t.Rows = append(t.Rows, []string{strconv.FormatFloat(x.To, 'f', 2, 64), strconv.Itoa(x.Pairs), strconv.Itoa(x.Judged), known(x.Precision()),
					strconv.Itoa(y.Pairs), strconv.Itoa(y.Judged), known(y.Precision())})
			}
			p("![figure %d](figure%d.svg)\n\n%s\n", 1+i, 1+i, t.Markdown())
			if c.Plain.AveragePrecision != nil {
				p("Average precision %s by equation 3, %s by equation 4; %d and %d pairs reach the threshold, of which %d and %d are right.\n\n",
					known(c.Plain.AveragePrecision), known(c.Weighted.AveragePrecision), c.Plain.Near, c.Weighted.Near, c.Plain.NearRight, c.Weighted.NearRight)
			}
		}
	}
	points := func(first string, all []Recall) string {
		t := figure.Table{Header: []string{first, "recall of texts", "recall of pairs", "compared"}}
		for _, r := range all {
			t.Rows = append(t.Rows, []string{r.beyond(""), known(&r.Recall), known(&r.Pairs), whole(r.Compared)})
		}
		return t.Markdown()
	}
	p("## Figures 3 and 4\n\nRecall against the comparison of all texts with two continuous words in common (%d pairs), with k + N features. The paper takes N = 3.\n\n![figure 3](figure3.svg)\n![figure 4](figure4.svg)\n\n%s\n", s.Baseline, points("N", s.Grams))
	p("## Figures 5 and 6\n\nThe same over the number of features.\n\n![figure 5](figure5.svg)\n![figure 6](figure6.svg)\n\n%s\n%s\n", points("at most", s.AtMost), points("beyond k", s.Beyond))
	p("## Remark 2\n\n%d comparisons without transitivity, %d with it. Of %d potential duplicate pairs, %d are below the threshold. The paper: 642,404,813 and 120,725,627; 23 of 10,000.\n\n", s.Transitivity.Without, s.Transitivity.With, s.Transitivity.Potential, s.Transitivity.Below)
	p("## Figures 7 to 10\n\nProcessor time and memory over the size of the collection.\n\n")
	for i, c := range s.Collections {
		t := figure.Table{Header: []string{"texts", "processor, s", "memory, MB", "compared", "near"}}
		for _, g := range c.Growth {
			t.Rows = append(t.Rows, []string{strconv.Itoa(g.Texts), strconv.FormatFloat(g.Seconds, 'f', 2, 64), strconv.FormatFloat(float64(g.Bytes)/1e6, 'f', 1, 64), whole(g.Compared), whole(g.Near)})
		}
		p("![figure %d](figure%d.svg)\n![figure %d](figure%d.svg)\n\n%s\n", 7+i, 7+i, 9+i, 9+i, t.Markdown())
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}

var cells = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// Cell returns a text as WriteAsked writes it.
func Cell(text string) string { return cells.Replace(text) }

// WriteAsked writes pairs to be judged, two IDs and two texts, each after an empty
// verdict.
func WriteAsked(w io.Writer, pairs [][4]string) error {
	var b strings.Builder
	for _, p := range pairs {
		for _, cell := range p {
			b.WriteString("\t" + Cell(cell))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}
