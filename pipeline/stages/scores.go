package stages

import (
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/scores"
	"neardup/pipeline/workspace"
)

// Scored is scorePair by the workspace's own config.
func Scored(w *workspace.Workspace, a, b rows.TextID) (resemblance, containment float64, ok bool, err error) {
	if a == b {
		return 1, 1, true, nil
	}
	c, err := results.OpenReader(w).Compare(a, b)
	if err != nil || c.Texts[0] == "" || c.Texts[1] == "" {
		return 0, 0, false, err
	}
	return scores.Texts(w.Config, c.Texts[0], c.Texts[1])
}
