// Package paper writes the measurements of three papers for the collections of a
// user, as JSON, SVG and one page each: section 4 of the TLCS paper for labelled
// pages, section 8.1 of the TODS paper and section 4 of the SimFinder paper for short
// texts.
package paper

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"neardup/audit"
	"neardup/compare"
	"neardup/configs"
	"neardup/report"
	"neardup/report/figure"
	"neardup/sweep"
	"neardup/truth"
)

// Report has the measurements of a collection.
type Report struct {
	Name    string           `json:"name"`
	Truth   *sweep.TruthUse  `json:"truth,omitempty"`
	Sample  int              `json:"sample"` // limit of the documents for which rates are measured
	Recall  float64          `json:"figure8_recall"`
	Table1  []compare.Method `json:"table1"`                  // recall ratios are relative to the last method
	Judged  *Judged          `json:"table1_judged,omitempty"` // nil if nobody judged a sample
	Figure6 []sweep.Result   `json:"figure6"`
	Figure7 []sweep.Result   `json:"figure7"`
	Figure8 []Slope          `json:"figure8"`
	Table2  Table2           `json:"table2"`
	Causes  *Causes          `json:"false_positives,omitempty"` // nil without a judged audit
}

// Causes has the shares of the causes of false positives, from a judged audit.
type Causes struct {
	Audit    string              `json:"audit"` // its name
	False    int                 `json:"false"` // pairs that are false
	Causes   []audit.CauseResult `json:"causes"`
	Uncaused int                 `json:"uncaused"`
}

// NewCauses returns the causes of a sample's false pairs.
func NewCauses(l audit.Labels) *Causes {
	var items []audit.Item
	var judgements [][]audit.Judgement
	for _, p := range l.Pairs {
		items, judgements = append(items, p.Item()), append(judgements, p.Given())
	}
	r := audit.Evaluate(*l.Audit, items, judgements)
	return &Causes{l.Audit.Name, r.Overall.False, r.Causes, r.Uncaused}
}

// published has the shares of the causes in the paper.
var published = map[audit.Cause]string{audit.Object: "0.60", audit.Boilerplate: "0.20", audit.Replies: "0.15", audit.Transitivity: "0.05"}

func (c *Causes) table() figure.Table {
	t := figure.Table{Header: []string{"cause", "pairs", "share", "share in the paper"}}
	for _, cause := range audit.Causes {
		row := []string{string(cause), "0", "-", cmp.Or(published[cause], "-")}
		for _, r := range c.Causes {
			if r.Cause == cause {
				row[1], row[2] = strconv.Itoa(r.Pairs), strconv.FormatFloat(r.Share, 'f', 4, 64)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Slope is a point of figure 8: the precision within perhaps-similar sets at a
// slope, with the resemblance threshold at which the recall within them is the
// wanted one. Containment is not used.
type Slope struct {
	Slope       float64 `json:"slope"`
	Resemblance float64 `json:"resemblance"` // the largest threshold that keeps the recall
	Precision   float64 `json:"precision"`
	Recall      float64 `json:"recall"` // recall at that threshold
}

// Pair is a pair of texts of a set with a known label. It is listed once for each
// selected document that meets it.
type Pair struct {
	Document int // the selected document
	Near     bool
	Score    float64 // resemblance by the trustable part
}

// AtRecall returns the largest threshold at which the recall is at least the given
// one, and the precision there. The recall is averaged over the documents that have
// a true near-duplicate in their set, the precision over the documents for which a
// near-duplicate is announced. If no threshold reaches the recall, the smallest
// positive score is the threshold.
func AtRecall(pairs []Pair, recall float64) Slope {
	var thresholds []float64
	for _, p := range pairs {
		if p.Score > 0 {
			thresholds = append(thresholds, p.Score)
		}
	}
	slices.Sort(thresholds)
	thresholds = slices.Compact(thresholds)
	if len(thresholds) == 0 {
		return Slope{}
	}
	// The recall falls as the threshold rises.
	i, _ := slices.BinarySearchFunc(thresholds, recall, func(t, want float64) int {
		if _, r := at(pairs, t); r >= want {
			return -1
		}
		return 1
	})
	t := thresholds[max(0, i-1)]
	p, r := at(pairs, t)
	return Slope{Resemblance: t, Precision: p, Recall: r}
}

// at returns precision and recall at a threshold.
func at(pairs []Pair, threshold float64) (precision, recall float64) {
	type one struct{ right, announced, near int }
	by := map[int]one{}
	for _, p := range pairs {
		o := by[p.Document]
		if p.Near {
			o.near++
		}
		if p.Score >= threshold {
			o.announced++
			if p.Near {
				o.right++
			}
		}
		by[p.Document] = o
	}
	announced, withNear := 0, 0
	documents := make([]int, 0, len(by))
	for d := range by {
		documents = append(documents, d)
	}
	slices.Sort(documents) // sums of floats depend on their order
	for _, d := range documents {
		o := by[d]
		if o.announced > 0 {
			announced++
			precision += float64(o.right) / float64(o.announced)
		}
		if o.near > 0 {
			withNear++
			recall += float64(o.right) / float64(o.near)
		}
	}
	return precision / float64(max(1, announced)), recall / float64(max(1, withNear))
}

// Table2 holds what each step saves.
type Table2 struct {
	Texts      int     `json:"texts"`
	Pairs      int64   `json:"pairs"`         // compared by all steps
	AllPairs   int64   `json:"all_pairs"`     // number of pairs without step 1
	Timed      int     `json:"timed_pairs"`   // number of these pairs that were timed
	Without1   float64 `json:"without_step1"` // seconds for all pairs, extrapolated from the timed ones
	Without2   float64 `json:"without_step2"` // processor seconds of verify with whole texts as sketches
	Seconds    float64 `json:"all_steps"`     // processor seconds of verify
	AfterStep1 float64 `json:"precision_after_step1"`
	AfterStep3 float64 `json:"precision_after_step3"`
}

// WriteJSON writes the report as indented JSON.
func (r Report) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

func writeJSON(w io.Writer, report any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(report)
}

// line is a line of a figure. Unknown values are left out.
type line struct {
	name   string
	values []*float64
}

// write draws shares.
func write(w io.Writer, x, y string, labels []string, lines ...line) error {
	return writeLines(w, x, y, labels, func(p *figure.Panel) { p.Y.Min, p.Y.Max = min(p.Y.Min, 0.9), 1 }, lines...)
}

// writeLines draws lines over labels.
func writeLines(w io.Writer, x, y string, labels []string, limit func(*figure.Panel), lines ...line) error {
	p := figure.NewPanel(x, y)
	colours := figure.Colours()
	markers := []figure.Marker{figure.Disc, figure.Box, figure.Pyramid}
	for i, l := range lines {
		var points []figure.Point
		for at, v := range l.values {
			if v != nil {
				points = append(points, figure.Point{X: float64(at), Y: *v})
			}
		}
		if len(points) == 0 {
			continue
		}
		p.Add(figure.Series{Name: l.name, Colour: colours[i], Points: points, Line: 1.2, Marker: markers[i%len(markers)], Radius: 3})
	}
	for i, label := range labels {
		p.X.Ticks = append(p.X.Ticks, figure.Tick{Value: float64(i), Label: label})
	}
	p.X.Min, p.X.Max = -0.25, float64(len(labels))-0.75
	limit(p)
	return figure.Figure{Width: 6.5 * figure.Inch, PanelHeight: 2.8 * figure.Inch, Panels: []*figure.Panel{p}}.WriteSVG(w)
}

// labels returns the value that each result varies.
func labels(results []sweep.Result) (out []string) {
	for _, r := range results {
		out = append(out, r.Settings[0].Text())
	}
	return out
}

func values(results []sweep.Result, of func(sweep.Rates) *float64) (out []*float64) {
	for _, r := range results {
		out = append(out, of(r.Rates))
	}
	return out
}

// WriteFigure6 draws coverage and trustable rate over the number of signatures.
func (r Report) WriteFigure6(w io.Writer) error {
	var signatures []string
	for _, l := range labels(r.Figure6) {
		n, _ := strconv.Atoi(l)
		signatures = append(signatures, strconv.Itoa(7*n))
	}
	return write(w, "signatures of a document, at most", "rate", signatures,
		line{"coverage rate", values(r.Figure6, func(r sweep.Rates) *float64 { return r.Coverage })},
		line{"trustable rate", values(r.Figure6, func(r sweep.Rates) *float64 { return r.Trustable })})
}

// WriteFigure7 draws strain-away and reserve rate over the width of the window.
func (r Report) WriteFigure7(w io.Writer) error {
	return write(w, "width of the sliding window, columns", "rate", labels(r.Figure7),
		line{"strain-away rate", values(r.Figure7, func(r sweep.Rates) *float64 { return r.StrainAway })},
		line{"reserve rate", values(r.Figure7, func(r sweep.Rates) *float64 { return r.Reserve })})
}

// WriteFigure8 draws the precision over the threshold of the slope.
func (r Report) WriteFigure8(w io.Writer) error {
	var at []string
	var precision, recall []*float64
	for i := range r.Figure8 {
		at = append(at, strconv.FormatFloat(r.Figure8[i].Slope, 'g', -1, 64))
		precision, recall = append(precision, &r.Figure8[i].Precision), append(recall, &r.Figure8[i].Recall)
	}
	return write(w, "threshold of the slope", "rate", at, line{"precision", precision}, line{"recall", recall})
}

func share(a truth.Average) string {
	if a.Pages == 0 {
		return "-"
	}
	return strconv.FormatFloat(a.Value, 'f', 4, 64)
}

func known(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'f', 4, 64)
}

// head1 is the head of table 1, without its last column.
var head1 = []string{"method", "precision", "recall ratio", "found ratio", "same-site precision", "same-site recall ratio", "same-site found ratio"}

// judgedTable1 is table 1 by judges. The last columns are numbers of pages.
func (r Report) judgedTable1() figure.Table {
	t := figure.Table{Header: append(slices.Clone(head1), "pages", "same-site pages")}
	for i, one := range r.Judged.Methods {
		t.Rows = append(t.Rows, []string{r.Table1[i].Name, share(one.Precision), share(one.Recall), share(one.Found),
			share(one.PrecisionIn), share(one.RecallIn), share(one.FoundIn), strconv.Itoa(one.Precision.Pages), strconv.Itoa(one.PrecisionIn.Pages)})
	}
	return t
}

func (r Report) table1() figure.Table {
	t := figure.Table{Header: append(slices.Clone(head1), "processor, s")}
	for _, m := range r.Table1 {
		seconds := 0.0
		for _, s := range m.Stages {
			if s.Stage != configs.StageExtract {
				seconds += s.CPU
			}
		}
		one := m.Table1
		t.Rows = append(t.Rows, []string{m.Name, share(one.Precision), share(one.Recall), share(one.Found),
			share(one.PrecisionIn), share(one.RecallIn), share(one.FoundIn), strconv.FormatFloat(seconds, 'f', 2, 64)})
	}
	return t
}

func (r Report) table2() figure.Table {
	t := r.Table2
	row := func(name string, pairs int64, seconds, precision string) []string {
		return []string{name, whole(pairs), seconds, precision}
	}
	number := func(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }
	return figure.Table{Header: []string{"", "pairs", "seconds", "precision"}, Rows: [][]string{
		row("all steps (after step 3)", t.Pairs, number(t.Seconds, 2), number(t.AfterStep3, 4)),
		row("without step 1", t.AllPairs, number(t.Without1, 1), "-"),
		row("without step 2", t.Pairs, number(t.Without2, 2), "-"),
		row("after step 1", t.Pairs, "-", number(t.AfterStep1, 4)),
	}}
}

// WriteTable1 draws table 1.
func (r Report) WriteTable1(w io.Writer) error { return r.table1().WriteSVG(w) }

// WriteJudgedTable1 draws table 1 by judges.
func (r Report) WriteJudgedTable1(w io.Writer) error { return r.judgedTable1().WriteSVG(w) }

// WriteTable2 draws table 2.
func (r Report) WriteTable2(w io.Writer) error { return r.table2().WriteSVG(w) }

// WritePage writes the page in Markdown. The figures are files beside it.
func (r Report) WritePage(w io.Writer) error {
	var b strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&b, format, a...) }
	p("# Section 4 of the TLCS paper, on %s\n\n", r.Name)
	if r.Truth != nil {
		p("The labels judge %d pages, of which %d match no document. ", r.Truth.Pages, r.Truth.Missing)
	}
	p("Where nobody has judged, they stand for the judges of the paper. Rates are of at most %d documents. %s\n\n", r.Sample, report.Terms)
	p("## Table 1\n\nPrecision is the share of the near-duplicates announced for a page that are true, averaged over the pages that have any. The recall ratio is the number of a page's true near-duplicates by the number of those that `simhash` finds, averaged over the pages of which it finds one. The found ratio is that of the sums over all pages. The paper: precision .95, .82 and .71, recall 1.86, 1.13 and 1; on one site precision .91, .63 and .50, and almost the same number of true near-duplicates.\n\n")
	if j := r.Judged; j == nil {
		p("Nobody has judged a sample yet (`--judged`). By the labels of all pages:\n\n")
	} else {
		p("%s\n\n%s\nBy the labels of all pages:\n\n", j.text(), r.judgedTable1().Markdown())
	}
	p("%s", r.table1().Markdown())
	t := r.Table2
	p("\n## Table 2\n\nSeconds are the processor's for verifying; without step 1, those of all %d pairs of %d texts, as %d of them took. Precision after step 1 is the share of a document's set that is labelled near it, itself included (the paper: 67%%); after step 3 the precision of table 1 (the paper: 95%%).\n\n", t.AllPairs, t.Texts, t.Timed)
	p("%s\n", r.table2().Markdown())
	p("## Causes of false positives\n\n")
	if r.Causes == nil {
		p("No audit is named (`--audit`). The paper: 60%% similar but different objects, 20%% boilerplate, 15%% critical replies, 5%% transitivity.\n\n")
	} else {
		p("From the judged audit `%s`: %d pairs are false, %d of them without a cause.\n\n%s\n", r.Causes.Audit, r.Causes.False, r.Causes.Uncaused, r.Causes.table().Markdown())
	}
	p("## Figures 4 and 5\n\nThe curve of edit operations of a near pair, with its trustable region.\n\n![figure 4](figure4.svg)\n\n")
	p("## Figure 6\n\n![figure 6](figure6.svg)\n\n| signatures, at most | coverage | trustable |\n|---|---|---|\n")
	for i, l := range labels(r.Figure6) {
		n, _ := strconv.Atoi(l)
		p("| %d | %s | %s |\n", 7*n, known(r.Figure6[i].Rates.Coverage), known(r.Figure6[i].Rates.Trustable))
	}
	p("\n## Figure 7\n\n![figure 7](figure7.svg)\n\n| window, columns | strain-away | reserve |\n|---|---|---|\n")
	for i, l := range labels(r.Figure7) {
		p("| %s | %s | %s |\n", l, known(r.Figure7[i].Rates.StrainAway), known(r.Figure7[i].Rates.Reserve))
	}
	p("\n## Figure 8\n\nThe threshold of resemblance is the largest that keeps the recall within sets at %.2f; containment is not used. The paper has its peak, .948, at a slope of 0.1.\n\n![figure 8](figure8.svg)\n\n| slope | resemblance | precision | recall |\n|---|---|---|---|\n", r.Recall)
	for _, s := range r.Figure8 {
		p("| %g | %.4f | %.4f | %.4f |\n", s.Slope, s.Resemblance, s.Precision, s.Recall)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
