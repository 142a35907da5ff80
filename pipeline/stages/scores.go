package stages

import (
	"fmt"

	"neardup/cluster/search"
	"neardup/configs"
	"neardup/explain"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
	"neardup/verify"
)

// Scored returns the Scores of two stored texts by the workspace's config.
func Scored(w *workspace.Workspace, a, b rows.TextID) (resemblance, containment float64, ok bool, err error) {
	if a == b {
		return 1, 1, true, nil
	}
	c, err := results.OpenReader(w).Compare(a, b)
	if err != nil || c.Texts[0] == "" || c.Texts[1] == "" {
		return 0, 0, false, err
	}
	config, err := w.Method()
	if err != nil {
		return 0, 0, false, err
	}
	return Scores(config, c.Texts[0], c.Texts[1])
}

// Scores returns resemblance and containment of two different texts by the method
// of a config. ok is false if the two texts alone do not determine the scores, as
// with the weights of a join, or if computing them costs too much: the edit
// distance of long texts takes the product of their lengths.
func Scores(config configs.Config, a, b string) (resemblance, containment float64, ok bool, err error) {
	if m := config.NewMeasure(); m != nil {
		c := m.Comparer()
		compare := c.Compare
		if s, ok := c.(verify.Scorer); ok {
			compare = s.Score
		}
		v := compare(m.Prepare(a), m.Prepare(b))
		return v.Resemblance, v.Containment, true, nil
	}
	scorer, ok := config.NewSearch().(search.Scorer)
	if !ok {
		return 0, 0, false, fmt.Errorf("search %s scores no pairs", config.Cluster.Search)
	}
	s, err := scorer.Score(explain.TwoOf(config, explain.Side{Compared: a}, explain.Side{Compared: b}))
	return s.Similarity, s.Similarity, s.Scored, err
}
