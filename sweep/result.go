package sweep

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"neardup/configs"
	"neardup/truth"
)

// Result is what one variant gave.
type Result struct {
	Settings []Setting     `json:"settings"`
	Scores   *truth.Scores `json:"scores,omitempty"` // with a truth
	Rates    Rates         `json:"rates"`
	Counts   Counts        `json:"counts"`
	Stages   []Cost        `json:"stages"`
}

// Name names the variant by its settings.
func (r Result) Name() string { return name(r.Settings) }

// Rates are those of the TLCS paper, section 4. A rate that could not be
// measured is nil; docs/format.md says what each needs.
type Rates struct {
	Documents int `json:"documents"` // that the first two were measured on, at most

	// Coverage rate (figure 6): "the ratio between the number of true
	// near-duplicates of a selected document that can be detected from its
	// perhaps-similar set (including itself) and that can be detected directly
	// from the whole original document repository, both using TLCS
	// measurement". True are those that the truth says; selected are judged
	// documents that have a near-duplicate, since the others have 1 whatever
	// the settings. A document's set is the union of the sets that it is in.
	Coverage *float64 `json:"coverage,omitempty"`

	// Trustable rate (figure 6): "the ratio between the number of
	// near-duplicates of a selected document detected from its perhaps-similar
	// set by the TLCS measurement and the total document number of that set".
	// The document counts in both numbers, as it does in the coverage rate;
	// selected are documents whose set has another one.
	Trustable *float64 `json:"trustable,omitempty"`

	// TrustableByLabels is the trustable rate with the truth in the place of
	// the TLCS measurement: what table 2 calls the documents of a set that are
	// substantially similar. Documents that are not judged against the selected
	// one count in neither number.
	TrustableByLabels *float64 `json:"trustable_by_labels,omitempty"`

	// Strain-away rate (figure 7): "the ratio between the sum of length of the
	// strained away portions of a not-true-similar pair and the sum of length
	// of this pair", averaged over the pairs of selected documents with
	// documents of their sets.
	StrainAway *float64 `json:"strain_away,omitempty"`

	// Reserve rate (figure 7): "the ratio between the TLCS's length of the
	// filtered sketches of a true-similar pair and the TLCS's length of this
	// original pair", averaged likewise. The TLCS is that of one round. Pairs
	// of equal texts, whose rate is 1 for any window, and pairs whose texts
	// have no TLCS are left out.
	Reserve *float64 `json:"reserve,omitempty"`
}

// Counts are what the stages counted.
type Counts struct {
	Signatures int64 `json:"signatures"`
	Sets       int64 `json:"sets"`
	LargestSet int64 `json:"largest_set"`
	Pairs      int64 `json:"pairs_compared"`
	ByLength   int64 `json:"rejected_by_length"`
	BySketch   int64 `json:"rejected_by_sketch"`
	ByDistance int64 `json:"rejected_by_distance"`
	ByScore    int64 `json:"rejected_by_score"`
	BySubject  int64 `json:"rejected_by_subject"`
	Near       int64 `json:"near"`
	Clusters   int64 `json:"clusters"`
	Pages      int64 `json:"pages_in_clusters"`
	Largest    int64 `json:"largest_cluster"`
}

// Cost is what a stage took, when it was last done.
type Cost struct {
	Stage string  `json:"stage"`
	Wall  float64 `json:"seconds"`
	CPU   float64 `json:"cpu_seconds"`
}

// Sweep is a plan with its results.
type Sweep struct {
	Base    configs.Config `json:"base"`
	Varies  []Vary         `json:"vary"`
	Grid    bool           `json:"grid"`
	Sample  int            `json:"sample"`
	Repeat  int            `json:"repeat"`
	Truth   *TruthUse      `json:"truth,omitempty"`
	Results []Result       `json:"results"` // in the order of the plan, the base first
}

// TruthUse says how many of the judged pages there are as documents.
type TruthUse struct {
	Pages   int `json:"pages"`
	Missing int `json:"missing"` // judged pages that are no document of the base run
}

// WriteJSON writes the sweep as indented JSON.
func (s Sweep) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(s)
}

// column is a number of a result. value is nil where it is not known.
type column struct {
	name, short string
	format      byte // f: a ratio, d: a count, s: seconds
	value       func(Result) *float64
}

func (c column) text(r Result, unknown string) string {
	x := c.value(r)
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

func scored(name, short string, get func(*truth.Scores) float64) column {
	return column{name, short, 'f', func(r Result) *float64 {
		if r.Scores == nil {
			return nil
		}
		x := get(r.Scores)
		return &x
	}}
}

func rate(name, short string, get func(Rates) *float64) column {
	return column{name, short, 'f', func(r Result) *float64 { return get(r.Rates) }}
}

func count(name, short string, get func(Counts) int64) column {
	return column{name, short, 'd', func(r Result) *float64 { x := float64(get(r.Counts)); return &x }}
}

var quality = []column{
	scored("page_precision", "page P", func(s *truth.Scores) float64 { return s.Page.Precision }),
	scored("page_recall", "page R", func(s *truth.Scores) float64 { return s.Page.Recall }),
	scored("page_f1", "page F1", func(s *truth.Scores) float64 { return s.Page.F1 }),
	scored("pair_precision", "pair P", func(s *truth.Scores) float64 { return s.Pair.Precision }),
	scored("pair_recall", "pair R", func(s *truth.Scores) float64 { return s.Pair.Recall }),
	scored("pair_f1", "pair F1", func(s *truth.Scores) float64 { return s.Pair.F1 }),
	scored("same_site_precision", "same site P", func(s *truth.Scores) float64 { return s.SameSite }),
	rate("coverage", "coverage", func(r Rates) *float64 { return r.Coverage }),
	rate("trustable", "trustable", func(r Rates) *float64 { return r.Trustable }),
	rate("trustable_by_labels", "by labels", func(r Rates) *float64 { return r.TrustableByLabels }),
	rate("strain_away", "strain-away", func(r Rates) *float64 { return r.StrainAway }),
	rate("reserve", "reserve", func(r Rates) *float64 { return r.Reserve }),
}

var quantity = []column{
	count("signatures", "signatures", func(c Counts) int64 { return c.Signatures }),
	count("sets", "sets", func(c Counts) int64 { return c.Sets }),
	count("largest_set", "largest", func(c Counts) int64 { return c.LargestSet }),
	count("pairs_compared", "pairs", func(c Counts) int64 { return c.Pairs }),
	count("rejected_by_length", "by length", func(c Counts) int64 { return c.ByLength }),
	count("rejected_by_sketch", "by sketch", func(c Counts) int64 { return c.BySketch }),
	count("rejected_by_distance", "by distance", func(c Counts) int64 { return c.ByDistance }),
	count("rejected_by_score", "by score", func(c Counts) int64 { return c.ByScore }),
	count("rejected_by_subject", "by subject", func(c Counts) int64 { return c.BySubject }),
	count("near", "near", func(c Counts) int64 { return c.Near }),
	count("clusters", "clusters", func(c Counts) int64 { return c.Clusters }),
	count("pages_in_clusters", "pages", func(c Counts) int64 { return c.Pages }),
	count("largest_cluster", "largest", func(c Counts) int64 { return c.Largest }),
}

// costs are the columns of the stages that the results have.
func (s Sweep) costs() []column {
	total := func(get func(Cost) float64) func(Result) *float64 {
		return func(r Result) *float64 {
			sum := 0.0
			for _, c := range r.Stages {
				sum += get(c)
			}
			return &sum
		}
	}
	var out []column
	if len(s.Results) > 0 {
		for i, c := range s.Results[0].Stages {
			out = append(out, column{c.Stage + "_cpu_seconds", c.Stage, 's', func(r Result) *float64 { return &r.Stages[i].CPU }})
		}
	}
	return append(out,
		column{"cpu_seconds", "all stages", 's', total(func(c Cost) float64 { return c.CPU })},
		column{"seconds", "wall", 's', total(func(c Cost) float64 { return c.Wall })})
}

// known are the columns that at least one result has a value for.
func (s Sweep) known(columns []column) []column {
	var out []column
	for _, c := range columns {
		for _, r := range s.Results {
			if c.value(r) != nil {
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
		columns []column
	}{
		{"quality", s.known(quality)},
		{"counts", quantity},
		{"processor seconds", s.costs()},
	} {
		if len(table.columns) == 0 {
			continue
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		// Names are padded by hand: they stand to the left, numbers to the right.
		width := len(table.title)
		for _, r := range s.Results {
			width = max(width, len(r.Name()))
		}
		fmt.Fprintf(t, "%-*s\t", width, table.title)
		for _, c := range table.columns {
			fmt.Fprintf(t, "%s\t", c.short)
		}
		fmt.Fprintln(t)
		for _, r := range s.Results {
			fmt.Fprintf(t, "%-*s\t", width, r.Name())
			for _, c := range table.columns {
				fmt.Fprintf(t, "%s\t", c.text(r, "-"))
			}
			fmt.Fprintln(t)
		}
		fmt.Fprintln(t)
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// WriteCSV writes a line a result: the varied settings, then all numbers. What
// is not known is empty.
func (s Sweep) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	var header []string
	for _, v := range s.Varies {
		header = append(header, v.Key)
	}
	var columns []column
	for _, c := range [][]column{quality, quantity, s.costs()} {
		columns = append(columns, c...)
	}
	for _, c := range columns {
		header = append(header, c.name)
	}
	if err := out.Write(header); err != nil {
		return err
	}
	for _, r := range s.Results {
		var line []string
		for _, v := range s.Varies {
			value, err := s.setting(r, v.Key)
			if err != nil {
				return err
			}
			line = append(line, strings.ReplaceAll(value.Text(), "\n", " "))
		}
		for _, c := range columns {
			line = append(line, c.text(r, ""))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// setting is the value that a setting has in a result: its own or the base's.
func (s Sweep) setting(r Result, key string) (Setting, error) {
	for _, own := range r.Settings {
		if own.Key == key {
			return own, nil
		}
	}
	value, err := valueOf(s.Base, key)
	return Setting{key, value}, err
}
