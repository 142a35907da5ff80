package compare

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"neardup/screen"
	"neardup/sweep"
	"neardup/truth"
)

// summaryColumns are the counts in the table. Files have all counts.
var summaryColumns = []string{"pairs_compared", "near", "clusters", "pages_in_clusters", "largest_cluster"}

// otherScores are page figures that the paper does not have.
var otherScores = []string{"page_precision", "page_f1"}

// WriteText writes the comparison as tables for a terminal.
func (c Comparison) WriteText(w io.Writer) error {
	if c.Truth != nil {
		// Two tables, since one would be wider than a terminal.
		other := func(col sweep.Column) bool { return slices.Contains(otherScores, col.Name) }
		err := errors.Join(
			c.writeResults(w, "quality", slices.DeleteFunc(sweep.Scored(), other)),
			c.writeResults(w, "all pages", slices.DeleteFunc(sweep.Scored(), func(col sweep.Column) bool { return !other(col) })))
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, sweep.Legend); err != nil {
			return err
		}
	}
	if err := c.writeTable1(w); err != nil {
		return err
	}
	counted := slices.DeleteFunc(sweep.Counted(), func(col sweep.Column) bool { return !slices.Contains(summaryColumns, col.Name) })
	if err := c.writeResults(w, "found", counted); err != nil {
		return err
	}
	if err := c.writeEstimated(w); err != nil {
		return err
	}
	for _, cost := range costs {
		if err := c.writeCosts(w, cost); err != nil {
			return err
		}
	}
	if err := c.writeAgreement(w); err != nil {
		return err
	}
	if err := c.writeCurves(w); err != nil {
		return err
	}
	return c.writeDisputed(w)
}

// writeTable1 writes table 1 of the TLCS paper, if there is a baseline.
func (c Comparison) writeTable1(w io.Writer) error {
	if c.Baseline == "" {
		return nil
	}
	var rows [][]string
	for _, m := range c.Methods {
		row := []string{m.Name}
		for _, a := range []truth.Average{m.Table1.Precision, m.Table1.Recall, m.Table1.Found, m.Table1.PrecisionIn, m.Table1.RecallIn, m.Table1.FoundIn} {
			if a.Pages == 0 {
				row = append(row, "-")
			} else {
				row = append(row, decimals(4)(a.Value))
			}
		}
		rows = append(rows, row)
	}
	if err := sweep.WriteTable(w, []string{"table 1", "ann. P", "recall ratio", "found ratio", "site ann. P", "site recall ratio", "site found ratio"}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "  ratios: true near-duplicates against those of %s, averaged over pages, and over all of them (TLCS paper, table 1)\n\n", c.Baseline)
	return err
}

// writeEstimated names the methods whose scores are estimates.
func (c Comparison) writeEstimated(w io.Writer) error {
	for _, m := range c.Methods {
		if m.EstimatedBy == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "  The scores of %s are estimates, by %s.\n\n", screen.Characters(m.Name, 80), m.EstimatedBy); err != nil {
			return err
		}
	}
	return nil
}

func (c Comparison) writeResults(w io.Writer, title string, columns []sweep.Column) error {
	header := []string{title}
	for _, col := range columns {
		header = append(header, col.Short)
	}
	var rows [][]string
	for _, m := range c.Methods {
		row := []string{m.Name}
		for _, col := range columns {
			row = append(row, col.Text(m.result(), "-"))
		}
		rows = append(rows, row)
	}
	return sweep.WriteTable(w, header, rows)
}

// cost is the time, processor time or memory of stages.
type cost struct {
	title, name string // of the table; of the CSV file's columns
	all         string
	of          func(sweep.Cost) float64
	sum         func(a, b float64) float64
	table, file func(float64) string
}

func decimals(n int) func(float64) string {
	return func(x float64) string { return strconv.FormatFloat(x, 'f', n, 64) }
}

func plus(a, b float64) float64    { return a + b }
func greater(a, b float64) float64 { return max(a, b) }

var costs = []cost{
	{"processor seconds", "cpu_seconds", "all", func(c sweep.Cost) float64 { return c.CPU }, plus, decimals(2), decimals(2)},
	{"wall seconds", "seconds", "all", func(c sweep.Cost) float64 { return c.Wall }, plus, decimals(2), decimals(2)},
	{"peak memory, MB", "peak_bytes", "most", func(c sweep.Cost) float64 { return float64(c.Peak) }, greater,
		func(x float64) string { return decimals(1)(x / 1e6) }, decimals(0)},
}

// each returns the cost of each stage of a method, and of all together.
func (k cost) each(m Method) (stages []float64, all float64) {
	for _, s := range m.Stages {
		x := k.of(s)
		stages, all = append(stages, x), k.sum(all, x)
	}
	return stages, all
}

func (c Comparison) stages() []string {
	var names []string
	if len(c.Methods) > 0 {
		for _, s := range c.Methods[0].Stages {
			names = append(names, s.Stage)
		}
	}
	return names
}

func (c Comparison) writeCosts(w io.Writer, k cost) error {
	header := append(append([]string{k.title}, c.stages()...), k.all)
	var rows [][]string
	for _, m := range c.Methods {
		row := []string{m.Name}
		stages, all := k.each(m)
		for _, x := range append(stages, all) {
			row = append(row, k.table(x))
		}
		rows = append(rows, row)
	}
	return sweep.WriteTable(w, header, rows)
}

// writeAgreement writes two matrices.
func (c Comparison) writeAgreement(w io.Writer) error {
	n := len(c.Methods)
	if n < 2 {
		return nil
	}
	at := map[string]int{}
	jaccard, only := make([][]string, n), make([][]string, n)
	var joined []string
	for i, m := range c.Methods {
		at[m.Name] = i
		jaccard[i], only[i] = make([]string, n), make([]string, n)
		jaccard[i][i], only[i][i] = "-", "-"
		joined = append(joined, short(m.Joined))
	}
	for _, g := range c.Agreement {
		a, b := at[g.A], at[g.B]
		jaccard[a][b], jaccard[b][a] = share(g.Jaccard), share(g.Jaccard)
		only[a][b], only[b][a] = short(g.OnlyA), short(g.OnlyB)
	}
	if err := c.writeMatrix(w, "agreement", 12, "", nil, jaccard); err != nil {
		return err
	}
	return c.writeMatrix(w, "pairs that others do not join", 9, "joined", joined, only)
}

// writeMatrix writes a matrix of methods. A table has at most columns columns, so
// that it fits a terminal, and the column own in front.
func (c Comparison) writeMatrix(w io.Writer, title string, columns int, own string, owns []string, cells [][]string) error {
	fmt.Fprintf(w, "  %s\n", title)
	for from := 0; from < len(c.Methods); from += columns {
		to := min(from+columns, len(c.Methods))
		header, rows := []string{""}, [][]string{}
		if owns != nil {
			header = append(header, own)
		}
		for i := from; i < to; i++ {
			header = append(header, strconv.Itoa(i+1))
		}
		for i, m := range c.Methods {
			row := []string{fmt.Sprintf("%2d %s", i+1, m.Name)}
			if owns != nil {
				row = append(row, owns[i])
			}
			rows = append(rows, append(row, cells[i][from:to]...))
		}
		if err := sweep.WriteTable(w, header, rows); err != nil {
			return err
		}
	}
	return nil
}

// share returns a Jaccard coefficient with two decimals, rounded down, so that only
// equal clusterings have 1.
func share(x float64) string {
	if x == 1 {
		return "1"
	}
	return fmt.Sprintf(".%02d", int(x*100))
}

// short returns a count in at most four characters.
func short(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	x := float64(n)
	units := "kMGTPE"
	for i := range units {
		x /= 1000
		if x < 9.95 {
			return strconv.FormatFloat(x, 'f', 1, 64) + units[i:i+1]
		}
		if x < 999.5 {
			return strconv.FormatFloat(x, 'f', 0, 64) + units[i:i+1]
		}
	}
	return "many"
}

func (c Comparison) writeCurves(w io.Writer) error {
	for _, curve := range c.Curves {
		fmt.Fprintf(w, "  curve of %s\n", curve.Method)
		header := []string{curve.Key, "ann. P", "page R", "ann. F1", "pair P", "pair R", "pair F1"}
		var rows [][]string
		for _, p := range curve.Points {
			row := []string{p.Value}
			if p.Own {
				row[0] += " (its own)"
			}
			for _, x := range []float64{p.Announced.Precision, p.Announced.Recall, p.Announced.F1, p.Pair.Precision, p.Pair.Recall, p.Pair.F1} {
				row = append(row, decimals(4)(x))
			}
			rows = append(rows, row)
		}
		if err := sweep.WriteTable(w, header, rows); err != nil {
			return err
		}
	}
	return nil
}

const uriColumns = 200

func (c Comparison) writeDisputed(w io.Writer) error {
	for _, d := range c.Disputed {
		plural := "s"
		if d.Pairs == 1 {
			plural = ""
		}
		fmt.Fprintf(w, "  joined by %s, not by %s: %d pair%s", d.Joins, d.Parts, d.Pairs, plural)
		if d.Pairs > int64(len(d.Shown)) {
			fmt.Fprintf(w, ", %d shown", len(d.Shown))
		}
		fmt.Fprint(w, "\n\n")
		for _, p := range d.Shown {
			if err := p.write(w, d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p DisputedPair) write(w io.Writer, d Disputed) error {
	if p.Label != "" {
		fmt.Fprintf(w, "    label: %s\n", p.Label)
	}
	for i, page := range p.Pages {
		fmt.Fprintf(w, "    %c  %s\n       %s %s\n", 'a'+i, screen.Columns(page.URI, uriColumns), screen.Columns(page.Date, uriColumns), screen.Columns(page.RecordID, uriColumns))
	}
	for i, method := range []string{d.Joins, d.Parts} {
		if s := p.Scores[i]; s != nil {
			fmt.Fprintf(w, "    %s: resemblance %.4f, containment %.4f\n", method, float64(s.Resemblance), float64(s.Containment))
		} else {
			fmt.Fprintf(w, "    %s: no score\n", method)
		}
	}
	diff := p.Difference
	fmt.Fprintf(w, "    lines: %d in a, %d in b, %d of them in both\n", diff.Lines[0], diff.Lines[1], diff.Common)
	for i, lines := range diff.Only {
		for _, l := range lines {
			fmt.Fprintf(w, "    only %c| %s\n", 'a'+i, l)
		}
	}
	for _, l := range diff.Begin {
		fmt.Fprintf(w, "      both| %s\n", l)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// WriteCSV writes one line for each method: all numbers, then its agreement with
// each method. Unknown values are empty.
func (c Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	columns := append(sweep.Scored(), sweep.Counted()...)
	header := []string{"method"}
	for _, col := range columns {
		header = append(header, col.Name)
	}
	header = append(header, "pairs_joined")
	for _, k := range costs {
		for _, stage := range c.stages() {
			header = append(header, stage+"_"+k.name)
		}
		header = append(header, k.name)
	}
	jaccard := map[[2]string]float64{}
	for _, g := range c.Agreement {
		jaccard[[2]string{g.A, g.B}], jaccard[[2]string{g.B, g.A}] = g.Jaccard, g.Jaccard
	}
	for _, m := range c.Methods {
		header = append(header, "jaccard_"+m.Name)
		jaccard[[2]string{m.Name, m.Name}] = 1
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for _, m := range c.Methods {
		line := []string{m.Name}
		for _, col := range columns {
			line = append(line, col.Text(m.result(), ""))
		}
		line = append(line, strconv.FormatInt(m.Joined, 10))
		for _, k := range costs {
			stages, all := k.each(m)
			for _, x := range append(stages, all) {
				line = append(line, k.file(x))
			}
		}
		for _, o := range c.Methods {
			line = append(line, decimals(4)(jaccard[[2]string{m.Name, o.Name}]))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
