package sweep

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strings"

	"neardup/configs"
	"neardup/truth"
	"neardup/verify"
)

// Result is the result of one variant.
type Result struct {
	Settings []Setting     `json:"settings"`
	Scores   *truth.Scores `json:"scores,omitempty"` // with a truth
	Rates    Rates         `json:"rates"`
	Counts   Counts        `json:"counts"`
	Stages   []Cost        `json:"stages"`
}

// Name returns the name of the variant, which is its settings.
func (r Result) Name() string { return name(r.Settings) }

// Rates are the rates of the TLCS paper, section 4. A rate that could not be
// measured is nil. docs/format.md says what each needs.
type Rates struct {
	Documents int `json:"documents"` // limit of the documents measured for the first two rates

	// Coverage rate (figure 6): "the ratio between the number of true
	// near-duplicates of a selected document that can be detected from its
	// perhaps-similar set (including itself) and that can be detected directly
	// from the whole original document repository, both using TLCS
	// measurement". The truth says which are true. Selected documents are
	// judged ones that have a near-duplicate; others would have 1 whatever the
	// settings. A document's set is the union of the sets that it is in.
	Coverage *float64 `json:"coverage,omitempty"`

	// Trustable rate (figure 6): "the ratio between the number of
	// near-duplicates of a selected document detected from its perhaps-similar
	// set by the TLCS measurement and the total document number of that set".
	// The document counts in both numbers, as in the coverage rate. Selected
	// documents are those whose set has another one.
	Trustable *float64 `json:"trustable,omitempty"`

	// TrustableByLabels is the trustable rate by the truth instead of the TLCS
	// measurement. Table 2 calls this the documents of a set that are substantially
	// similar. Documents that are not judged against the selected one do not count.
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

	// Precision and recall within perhaps-similar sets (figure 8): of the judged
	// documents of its set that the TLCS measurement finds near a selected one, the
	// share that are true, over the documents for which it finds any; and of the true
	// near-duplicates in the set the share that it finds, "assuming that all
	// true-near-duplicates of each selected document had been included in its
	// perhaps-similar set", over the documents that have any.
	SetPrecision *float64 `json:"set_precision,omitempty"`
	SetRecall    *float64 `json:"set_recall,omitempty"`
}

// Counts holds the counts of the stages.
type Counts struct {
	Signatures int64 `json:"signatures"`
	Sets       int64 `json:"sets"`
	LargestSet int64 `json:"largest_set"`
	Pairs      int64 `json:"pairs_compared"`
	verify.Outcomes
	Clusters int64 `json:"clusters"`
	Pages    int64 `json:"pages_in_clusters"`
	Largest  int64 `json:"largest_cluster"`
}

// Cost is the cost of a stage when it was last done.
type Cost struct {
	Stage string  `json:"stage"`
	Wall  float64 `json:"seconds"`
	CPU   float64 `json:"cpu_seconds"`
	Peak  int64   `json:"peak_bytes"` // peak memory
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

// TruthUse counts how many of the judged pages are documents.
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

// WriteCSV writes one line for each result: the varied settings, then all
// numbers. Unknown values are empty.
func (s Sweep) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	var header []string
	for _, v := range s.Varies {
		header = append(header, v.Key)
	}
	var columns []Column
	for _, c := range [][]Column{quality, quantity, costs(s.Results)} {
		columns = append(columns, c...)
	}
	for _, c := range columns {
		header = append(header, c.Name)
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
			line = append(line, c.Text(r, ""))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// setting returns a setting with its value in a result: the variant's or the
// base's.
func (s Sweep) setting(r Result, key string) (Setting, error) {
	for _, own := range r.Settings {
		if own.Key == key {
			return own, nil
		}
	}
	value, err := s.Base.Value(key)
	return Setting{key, value}, err
}
