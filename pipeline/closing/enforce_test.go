package closing

import (
	"testing"

	"neardup/cluster/judged"
	"neardup/pipeline/rows"
	"neardup/report"
)

// Evidence that leads the other way says what the other text is.
func TestEvidenceIsTurnedAround(t *testing.T) {
	a, b, c := rows.TextID{1}, rows.TextID{2}, rows.TextID{3}
	e := &enforcer{rows: map[rows.TextID]rows.Cluster{
		a: {Cluster: a, Member: a, Against: a, Score: rows.Score{Relation: report.Near, Resemblance: 1, Containment: 1}},
		b: {Cluster: a, Member: b, Against: a, Score: rows.Score{Relation: report.Near, Resemblance: .9, Containment: .95}},
		c: {Cluster: a, Member: c, Against: b, Score: rows.Score{Relation: report.Contained, Resemblance: .2, Containment: .8}},
	}}
	for _, tt := range []struct {
		text, against rows.TextID
		want          rows.Score
	}{{b, a, rows.Score{Relation: report.Near, Resemblance: .9, Containment: .95}}, {a, b, rows.Score{Relation: report.Near, Resemblance: .9, Containment: .95}}, {c, b, rows.Score{Relation: report.Contained, Resemblance: .2, Containment: .8}}, {b, c, rows.Score{Relation: report.Contains, Resemblance: .2, Containment: .8}}} {
		if got, err := e.score(judged.Text{ID: tt.text, Cluster: c, Against: tt.against}); err != nil || got != tt.want {
			t.Errorf("%v against %v: %+v, want %+v: %v", tt.text[0], tt.against[0], got, tt.want, err)
		}
	}
}
