package results

import (
	"neardup/pipeline/groups"
	"neardup/pipeline/preferences"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// TextScores returns the best page score of each text, or nil if there are no page
// scores. It takes about 24 bytes per line and 20 per scored text in memory, doubled
// by the maps.
func TextScores(w *workspace.Workspace) (map[rows.TextID]float32, error) {
	pages, err := preferences.PageScores(w)
	if err != nil || pages == nil {
		return nil, err
	}
	scores := map[rows.TextID]float32{}
	for stored, err := range DocumentRows[groups.DocumentView](w) {
		if err != nil {
			return nil, err
		}
		d := stored.Row
		if score, ok := pages.Of(d.TargetURI); ok {
			id, err := d.ParsedTextID()
			if err != nil {
				return nil, err
			}
			scores[id] = max(scores[id], score)
		}
	}
	return scores, nil
}
