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
	Stages []sweep.Cost   `json:"stages"`
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

// Point is one value of the threshold.
type Point struct {
	Value     string  `json:"value"`
	Own       bool    `json:"own,omitempty"` // the value is the method's own
	Announced truth.F `json:"announced"`     // as in truth.Scores, with the next two
	Page      truth.F `json:"page"`
	Pair      truth.F `json:"pair"`
}

// Disputed is pairs of pages that one method joins and the other does not.
type Disputed struct {
	Joins string         `json:"joined_by"`
	Parts string         `json:"not_by"`
	Pairs int64          `json:"pairs"` // number of all such pairs
	Shown []DisputedPair `json:"shown"`
}

// DisputedPair is a disputed pair with what a person needs to judge it.
type DisputedPair struct {
	Label      string     `json:"label,omitempty"` // label of the truth; for judged pages only
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
