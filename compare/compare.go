package compare

import (
	"encoding/json"
	"io"

	"neardup/configs"
	"neardup/report"
	"neardup/sweep"
	"neardup/truth"
)

// Comparison is a plan with its results.
type Comparison struct {
	Truth     *sweep.TruthUse `json:"truth,omitempty"`
	Baseline  string          `json:"recall_against,omitempty"` // the method that recall ratios are relative to
	Methods   []Method        `json:"methods"`
	Agreement []Agreement     `json:"agreement"`          // of each two methods
	Curves    []Curve         `json:"curves,omitempty"`   // of each method that has one
	Disputed  []Disputed      `json:"disputed,omitempty"` // between the first method and each other one
}

// Method is the result of one method.
type Method struct {
	Name   string         `json:"method"`
	Config configs.Config `json:"config"`
	Scores *truth.Scores  `json:"scores,omitempty"` // with a truth
	Counts sweep.Counts   `json:"counts"`
	Joined int64          `json:"pairs_joined"` // pairs of pages in one cluster

	EstimatedBy string       `json:"estimated_by,omitempty"` // by what the scores estimate a resemblance
	Stages      []sweep.Cost `json:"stages"`
	Table1      *Table1      `json:"table1,omitempty"` // with a truth and a baseline
}

// Table1 holds the figures of table 1 of the TLCS paper: page precision as the
// paper samples it, and the recall relative to a baseline, each for all pairs and
// for pairs of one site.
type Table1 struct {
	Precision   truth.Average `json:"precision"`
	Recall      truth.Average `json:"recall_ratio"`
	Found       truth.Average `json:"found_ratio"` // ratio over all true positives
	PrecisionIn truth.Average `json:"same_site_precision"`
	RecallIn    truth.Average `json:"same_site_recall_ratio"`
	FoundIn     truth.Average `json:"same_site_found_ratio"`
}

// NewTable1 returns the figures of a method.
func NewTable1(j, baseline truth.Judged) *Table1 {
	return &Table1{j.Precision(false), j.RecallRatio(baseline, false), j.TotalRatio(baseline, false),
		j.Precision(true), j.RecallRatio(baseline, true), j.TotalRatio(baseline, true)}
}

func (m Method) result() sweep.Result {
	return sweep.Result{Scores: m.Scores, Counts: m.Counts, Stages: m.Stages}
}

// Curve is a method's precision and recall over its threshold.
type Curve struct {
	Method string  `json:"method"`
	Key    string  `json:"key"`
	Points []Point `json:"points"` // in the order of the values
}

// Point is a point of a curve: one value of the threshold.
type Point struct {
	Value     string  `json:"value"`
	Own       bool    `json:"own,omitempty"` // the value is the method's own setting
	Announced truth.F `json:"announced"`     // as in truth.Scores, like the next two
	Page      truth.F `json:"page"`
	Pair      truth.F `json:"pair"`
}

// Disputed holds pairs of pages that one method joins and the other does not.
type Disputed struct {
	Joins string         `json:"joined_by"`
	Parts string         `json:"not_by"`
	Pairs int64          `json:"pairs"` // number of all such pairs
	Shown []DisputedPair `json:"shown"`
}

// DisputedPair is a disputed pair with what a person needs to judge it.
type DisputedPair struct {
	Label      string     `json:"label,omitempty"` // label in the truth; for judged pages only
	Pages      [2]Page    `json:"pages"`
	Scores     [2]*Scores `json:"scores"` // by the method that joins and by the other one; nil if a method has no score
	Difference Difference `json:"difference"`
}

// The labels of pairs.
var labels = map[truth.Label]string{truth.Near: "near", truth.NotNear: "not near", truth.Unjudged: "unjudged"}

// LabelName returns the name of a label.
func LabelName(l truth.Label) string { return labels[l] }

// Page is one page of a pair.
type Page struct {
	RecordID string `json:"record_id"`
	URI      string `json:"uri"`
	Date     string `json:"date"`
}

// Scores are the scores of a pair by a method's measure.
type Scores struct {
	Resemblance report.Score `json:"resemblance"`
	Containment report.Score `json:"containment"`
}

// WriteJSON writes the comparison as indented JSON.
func (c Comparison) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(c)
}
