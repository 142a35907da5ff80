package stages

import (
	"testing"

	"neardup/cluster/judged"
	"neardup/pipeline/results"
	"neardup/pipeline/store"
	"neardup/report"
)

// Evidence that leads the other way says what the other text is.
func TestEvidenceIsTurnedAround(t *testing.T) {
	a, b, c := store.TextID{1}, store.TextID{2}, store.TextID{3}
	e := &enforcer{rows: map[store.TextID]results.ClusterRow{
		a: {Cluster: a, Member: a, Against: a, Score: store.Score{Relation: report.Near, Resemblance: 1, Containment: 1}},
		b: {Cluster: a, Member: b, Against: a, Score: store.Score{Relation: report.Near, Resemblance: .9, Containment: .95}},
		c: {Cluster: a, Member: c, Against: b, Score: store.Score{Relation: report.Contained, Resemblance: .2, Containment: .8}},
	}}
	for _, tt := range []struct {
		text, against store.TextID
		want          store.Score
	}{{b, a, store.Score{Relation: report.Near, Resemblance: .9, Containment: .95}}, {a, b, store.Score{Relation: report.Near, Resemblance: .9, Containment: .95}}, {c, b, store.Score{Relation: report.Contained, Resemblance: .2, Containment: .8}}, {b, c, store.Score{Relation: report.Contains, Resemblance: .2, Containment: .8}}} {
		if got, err := e.score(judged.Text{ID: tt.text, Cluster: c, Against: tt.against}); err != nil || got != tt.want {
			t.Errorf("%v against %v: %+v, want %+v: %v", tt.text[0], tt.against[0], got, tt.want, err)
		}
	}
}
