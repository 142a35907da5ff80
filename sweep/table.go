package sweep

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
	"unicode/utf8"

	"neardup/truth"
)

// Column is one number of each result.
type Column struct {
	Name  string // in JSON and CSV
	Short string // name in tables

	format byte                  // f: ratio, d: count, s: seconds
	Value  func(Result) *float64 // nil if unknown
}

// Text returns the number as text, or unknown if it is unknown.
func (c Column) Text(r Result, unknown string) string {
	x := c.Value(r)
	switch {
	case x == nil:
		return unknown
	case c.format == 'd':
		return strconv.FormatInt(int64(*x), 10)
	case c.format == 's':
		return strconv.FormatFloat(*x, 'f', 2, 64)
	}
	return strconv.FormatFloat(*x, 'f', 4, 64)
}

func scored(name, short string, get func(*truth.Scores) float64) Column {
	return Column{name, short, 'f', func(r Result) *float64 {
		if r.Scores == nil {
			return nil
		}
		x := get(r.Scores)
		return &x
	}}
}

func rate(name, short string, get func(Rates) *float64) Column {
	return Column{name, short, 'f', func(r Result) *float64 { return get(r.Rates) }}
}

func count(name, short string, get func(Counts) int64) Column {
	return Column{name, short, 'd', func(r Result) *float64 { x := float64(get(r.Counts)); return &x }}
}

var scores = []Column{
	scored("announced_precision", "ann. P", func(s *truth.Scores) float64 { return s.Announced.Precision }),
	scored("page_recall", "page R", func(s *truth.Scores) float64 { return s.Announced.Recall }),
	scored("announced_f1", "ann. F1", func(s *truth.Scores) float64 { return s.Announced.F1 }),
	scored("page_precision", "page P", func(s *truth.Scores) float64 { return s.Page.Precision }),
	scored("page_f1", "page F1", func(s *truth.Scores) float64 { return s.Page.F1 }),
	scored("pair_precision", "pair P", func(s *truth.Scores) float64 { return s.Pair.Precision }),
	scored("pair_recall", "pair R", func(s *truth.Scores) float64 { return s.Pair.Recall }),
	scored("pair_f1", "pair F1", func(s *truth.Scores) float64 { return s.Pair.F1 }),
	scored("same_site_precision", "site P", func(s *truth.Scores) float64 { return s.SameSite }),
}

var rates = []Column{
	rate("coverage", "coverage", func(r Rates) *float64 { return r.Coverage }),
	rate("trustable", "trustable", func(r Rates) *float64 { return r.Trustable }),
	rate("trustable_by_labels", "by labels", func(r Rates) *float64 { return r.TrustableByLabels }),
	rate("strain_away", "strain-away", func(r Rates) *float64 { return r.StrainAway }),
	rate("reserve", "reserve", func(r Rates) *float64 { return r.Reserve }),
	rate("set_precision", "set P", func(r Rates) *float64 { return r.SetPrecision }),
	rate("set_recall", "set R", func(r Rates) *float64 { return r.SetRecall }),
}

var quality = slices.Concat(scores, rates)

var quantity = []Column{
	count("signatures", "signatures", func(c Counts) int64 { return c.Signatures }),
	count("sets", "sets", func(c Counts) int64 { return c.Sets }),
	count("largest_set", "largest", func(c Counts) int64 { return c.LargestSet }),
	count("pairs_compared", "pairs", func(c Counts) int64 { return c.Pairs }),
	count("rejected_by_length", "by length", func(c Counts) int64 { return c.ByLength }),
	count("rejected_by_sketch", "by sketch", func(c Counts) int64 { return c.BySketch }),
	count("rejected_by_distance", "by distance", func(c Counts) int64 { return c.ByDistance }),
	count("rejected_by_score", "by score", func(c Counts) int64 { return c.ByScore }),
	count("rejected_by_rarity", "by rarity", func(c Counts) int64 { return c.ByRarity }),
	count("rejected_by_title", "by title", func(c Counts) int64 { return c.ByTitle }),
	count("near", "near", func(c Counts) int64 { return c.Near }),
	count("clusters", "clusters", func(c Counts) int64 { return c.Clusters }),
	count("pages_in_clusters", "pages", func(c Counts) int64 { return c.Pages }),
	count("largest_cluster", "largest", func(c Counts) int64 { return c.Largest }),
}

// Scored returns the columns of the scores.
func Scored() []Column { return slices.Clone(scores) }

// Legend is a note below tables of scores. It tells which page figures are the
// paper's.
const Legend = "  ann.: of pages that have an announced near-duplicate (TLCS paper, section 4);\n" +
	"  page P and page F1 count the other pages, too, as right\n\n"

// Counted returns the columns of the counts.
func Counted() []Column { return slices.Clone(quantity) }

// secondsOf names the column of a stage's processor time.
func secondsOf(stage string) string { return stage + "_cpu_seconds" }

// costs returns the columns of the stages of the results.
func costs(results []Result) []Column {
	var out []Column
	if len(results) > 0 {
		for i, c := range results[0].Stages {
			out = append(out, Column{secondsOf(c.Stage), c.Stage, 's', func(r Result) *float64 { return &r.Stages[i].CPU }})
		}
	}
	return append(out,
		Column{"cpu_seconds", "all stages", 's', total(func(c Cost) float64 { return c.CPU })},
		Column{"seconds", "wall", 's', total(func(c Cost) float64 { return c.Wall })})
}

func total(get func(Cost) float64) func(Result) *float64 {
	return func(r Result) *float64 {
		sum := 0.0
		for _, c := range r.Stages {
			sum += get(c)
		}
		return &sum
	}
}

// known returns the columns with a value in at least one result.
func (s Sweep) known(columns []Column) []Column {
	var out []Column
	for _, c := range columns {
		for _, r := range s.Results {
			if c.Value(r) != nil {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

// WriteText writes the results as aligned tables.
func (s Sweep) WriteText(w io.Writer) error {
	for _, table := range []struct {
		title   string
		columns []Column
	}{
		{"quality", s.known(quality)},
		{"counts", quantity},
		{"processor seconds", costs(s.Results)},
	} {
		if len(table.columns) == 0 {
			continue
		}
		header := []string{table.title}
		for _, c := range table.columns {
			header = append(header, c.Short)
		}
		var rows [][]string
		for _, r := range s.Results {
			row := []string{r.Name()}
			for _, c := range table.columns {
				row = append(row, c.Text(r, "-"))
			}
			rows = append(rows, row)
		}
		if err := WriteTable(w, header, rows); err != nil {
			return err
		}
		if table.columns[0].Name == scores[0].Name {
			if _, err := io.WriteString(w, Legend); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteTable writes an aligned table and an empty line. The first column, of
// names, is aligned to the left, the others to the right.
func WriteTable(w io.Writer, header []string, rows [][]string) error {
	rows = append([][]string{header}, rows...)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	width := 0 // names are padded by hand
	for _, row := range rows {
		width = max(width, utf8.RuneCountInString(row[0]))
	}
	for _, row := range rows {
		fmt.Fprintf(t, "%-*s\t", width, row[0])
		for _, cell := range row[1:] {
			fmt.Fprintf(t, "%s\t", cell)
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t)
	return t.Flush()
}
