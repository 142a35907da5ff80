package results

import (
	"neardup/explain"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// Sides are the sides of an explanation of two texts: by the readings that decide
// about them. weighed tells whether what they share is weighed by its rarity.
func Sides(w *workspace.Workspace, texts [2]rows.TextID) (sides [2]explain.Side, weighed bool, err error) {
	reader := OpenReader(w)
	decided, err := reader.Compare(texts[0], texts[1])
	if err != nil {
		return sides, false, err
	}
	for i, t := range texts {
		s := &sides[i]
		s.Compared = decided.Texts[i]
		if s.Stored, err = TextOf(w, t); err != nil {
			return sides, false, err
		}
		readings, err := reader.Readings(t, s.Stored)
		if err != nil {
			return sides, false, err
		}
		s.Signed = readings.Signed(w.Config)
		if s.Pages, err = reader.Pages(t, s.Compared); err != nil {
			return sides, false, err
		}
	}
	return sides, decided.Weighed, nil
}
