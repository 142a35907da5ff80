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
	var compared [2]string
	for i, t := range []rows.TextID{a, b} {
		stored, err := results.TextOf(w, t)
		if err != nil {
			return 0, 0, false, err
		}
		if compared[i], err = results.ComparedText(w, t, stored); err != nil {
			return 0, 0, false, err
		}
	}
	if compared[0] == "" || compared[1] == "" {
		return 0, 0, false, nil
	}
	return scores.Texts(w.Config, compared[0], compared[1])
}
