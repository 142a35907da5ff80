package results

import (
	"neardup/explain"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// Sides returns the two sides of an explanation: the texts by the readings that
// decide about them.
func Sides(w *workspace.Workspace, texts [2]rows.TextID) (sides [2]explain.Side, between explain.Between, err error) {
	reader := OpenReader(w)
	decided, err := reader.Compare(texts[0], texts[1])
	if err != nil {
		return sides, between, err
	}
	for i, t := range texts {
		s := &sides[i]
		s.Compared = decided.Texts[i]
		if s.Stored, err = TextOf(w, t); err != nil {
			return sides, between, err
		}
		readings, err := reader.Readings(t, s.Stored)
		if err != nil {
			return sides, between, err
		}
		s.Signed = readings.Signed(w.Config)
		if s.Pages, err = reader.Pages(t, s.Compared); err != nil {
			return sides, between, err
		}
	}
	return sides, decided.Between, nil
}
