package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"neardup/audit"
	"neardup/explain"
	"neardup/pipeline/browsing"
	"neardup/pipeline/explaining"
	"neardup/pipeline/workspace"
	"neardup/review"
	"neardup/screen"
)

// auditLine describes an audit in one line.
func auditLine(a audit.Audit) string {
	s := fmt.Sprintf("%s  %d pairs of %s, seed %d", a.Name, a.Size, a.Design.Population, a.Design.Seed)
	if a.Design.Stratified {
		s += ", stratified"
	}
	if a.Design.Different {
		s += ", different texts"
	}
	s += ", drawn " + a.Drawn
	if !a.Current {
		s += ", from other clusters than those of now"
	}
	return s
}

func writeAudit(out io.Writer, a audit.Audit) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, auditLine(a))
	for _, s := range a.Strata {
		fmt.Fprintf(w, "%d\tof %d\t  %s\n", s.Sampled, s.Population, s.Name)
	}
	return w.Flush()
}

// intervalCells returns the cells of a table for an estimate.
func intervalCells(i audit.Interval) string {
	if !i.Known() {
		return "-\t-\t0\t0"
	}
	return fmt.Sprintf("%.4f\t%.4f to %.4f\t%d\t%d", i.Value, i.Low, i.High, i.True, i.False)
}

func writeResult(out io.Writer, r audit.Result) error {
	a := r.Audit
	fmt.Fprintln(out, auditLine(a))
	fmt.Fprintf(out, "%d of %d pairs judged, %d of them undecided: unknown, or judges divided\n", r.Judged, a.Size, r.Unknown)
	if len(r.Disputed) > 0 {
		var numbers []string
		for _, i := range r.Disputed {
			numbers = append(numbers, fmt.Sprint(i+1))
		}
		fmt.Fprintf(out, "disputed: %s\n", strings.Join(numbers, " "))
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\tprecision\t95%% interval\ttrue\tfalse\noverall\t%s\nsame site\t%s\nother site\t%s\n",
		intervalCells(r.Overall), intervalCells(r.SameSite), intervalCells(r.CrossSite))
	if a.Design.Stratified {
		for h, s := range a.Strata {
			fmt.Fprintf(w, "  %s\t%s\n", s.Name, intervalCells(r.Strata[h]))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "precision: %s\n", a.Design.Estimates())
	writeCauses(out, r)
	if n := len(r.Overall.Missing); n > 0 && r.Overall.Known() {
		var pairs int64
		for _, h := range r.Overall.Missing {
			pairs += a.Strata[h].Population
		}
		fmt.Fprintf(out, "nothing is decided in %d strata of %d pairs: the precision is that of the others, the intervals allow for all of these right and all wrong\n", n, pairs)
	}
	if len(r.Judges) > 0 {
		fmt.Fprintf(w, "\njudge\tprecision\t95%% interval\ttrue\tfalse\tunknown\n")
		for _, j := range r.Judges {
			fmt.Fprintf(w, "%s\t%s\t%d\n", j.Judge, intervalCells(j.Overall), j.Unknown)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	g := r.Agreement
	if g == nil {
		return nil
	}
	alpha := fmt.Sprintf("Krippendorff's alpha %.4f", g.Alpha)
	if g.Unvaried {
		alpha = "no alpha, because all these judgements are the same"
	}
	_, err := fmt.Fprintf(out, "\nagreement on %d pairs: %.4f observed, %s\n", g.Pairs, g.Observed, alpha)
	return err
}

// writeCauses writes the shares of the causes of false positives.
func writeCauses(out io.Writer, r audit.Result) {
	if len(r.Causes) == 0 {
		return
	}
	var shares []string
	for _, c := range r.Causes {
		shares = append(shares, fmt.Sprintf("%s %.4f (%d)", c.Cause, c.Share, c.Pairs))
	}
	fmt.Fprintf(out, "causes of false pairs: %s; without one %d\n", strings.Join(shares, ", "), r.Uncaused)
}

// itemStyle holds the options of showing an item.
type itemStyle struct {
	json, plain bool
	lines       int
}

// shownItem is an item as JSON. It has no explanation if a page of it is no longer
// in the workspace.
type shownItem struct {
	Item        audit.Item           `json:"item"`
	Judgements  []audit.Judgement    `json:"judgements"`
	Explanation *explain.Explanation `json:"explanation,omitempty"`
	Gone        string               `json:"gone,omitempty"`
}

// explainItem explains the documents that were drawn, or if they are gone, pages of their
// names: as the next run of an equal crawl has them.
func explainItem(c *cobra.Command, j *job, r *browsing.Review, it audit.Item) (explain.Explanation, error) {
	if it.Documents[0] != "" && it.Documents[1] != "" {
		p, err := r.Pair(c.Context(), it.Documents[0], it.Documents[1])
		if !errors.Is(err, review.ErrNotFound) {
			return p.Explanation, err
		}
	}
	return explaining.Pages(c.Context(), j.Workspace, it.A, it.B)
}

func showItem(c *cobra.Command, j *job, r *browsing.Review, name string, n int, style itemStyle) error {
	var s shownItem
	var err error
	if s.Item, err = r.Item(c.Context(), name, n); err != nil {
		return err
	}
	if s.Judgements, err = r.Judgements(c.Context(), s.Item.Pair); err != nil {
		return err
	}
	e, err := explainItem(c, j, r, s.Item)
	switch {
	case errors.Is(err, workspace.ErrUsage):
		s.Gone = strings.TrimPrefix(err.Error(), workspace.ErrUsage.Error()+": ")
	case err != nil:
		return err
	default:
		s.Explanation = &e
	}
	out := c.OutOrStdout()
	if style.json {
		return printJSON(out, s)
	}
	const columns = 200
	fmt.Fprintf(out, "pair %d of %s\n", n+1, name)
	for _, g := range s.Judgements {
		verdict := string(g.Verdict)
		if g.Cause != "" {
			verdict += ", " + string(g.Cause)
		}
		fmt.Fprintf(out, "%s: %s  %s\n", g.Judge, verdict, screen.Columns(g.Note, columns))
	}
	if s.Gone != "" {
		for i, id := range [2]string{s.Item.A, s.Item.B} {
			fmt.Fprintf(out, "%c  %s\n   %s  %s\n", 'a'+i, screen.Columns(s.Item.URIs[i], columns), screen.Columns(s.Item.Dates[i], columns), screen.Columns(id, columns))
		}
		_, err := fmt.Fprintf(out, "not to be shown now: %s\n", s.Gone)
		return err
	}
	fmt.Fprintln(out)
	o := explainOptions{plain: style.plain, lines: style.lines}
	return e.WriteText(out, o.style(out))
}
