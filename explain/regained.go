package explain

import (
	"fmt"

	"neardup/configs"
	"neardup/report"
	"neardup/verify"
)

// Again is what the workspace knows of the second comparison of two texts of different sites:
// with what they regain (pair.Judge.Regained).
type Again struct {
	Decides bool      // its texts are those of the two sides
	Texts   [2]string // as they are compared then
	Regains [2]bool   // which of them regain something
	Rare    float64   // their resemblance, weighed by rarity
}

func (b Between) decidedAgain() bool { return b.Again != nil && b.Again.Decides }

// Regained is a second comparison: texts of different sites that do not resemble each other
// without frames are compared with what is in the frame of one of them only.
type Regained struct {
	Decides   bool         `json:"decides"`          // scores, rarity, decision and diff are of it
	Rare      report.Score `json:"rare_resemblance"` // weighed by rarity
	LeastRare float64      `json:"least_rare_resemblance"`
	Score     *Score       `json:"score,omitempty"` // only if it does not decide, and Rare reaches its threshold
}

// again adds the second comparison. Containment does not count for it.
func (e *Explanation) again(c configs.Config, m verify.Measure, a Again) {
	r := &Regained{Decides: a.Decides, Rare: report.Score(a.Rare), LeastRare: c.Verify.Judging().RareRegained()}
	e.Regained = r
	if a.Decides {
		e.Score.LeastContainment = nil
		if e.Rarity != nil {
			e.Rarity.LeastResemblance, e.Rarity.LeastContainment = r.LeastRare, nil
		}
	} else if a.Rare >= r.LeastRare {
		var second Explanation
		second.byMeasure(c, m, Side{Compared: a.Texts[0]}, Side{Compared: a.Texts[1]}, Between{})
		second.Score.LeastContainment = nil
		r.Score = &second.Score
	}
}

// Said says in words what came of the second comparison.
func (r *Regained) Said() string {
	if r.Decides {
		return "Without frames they do not resemble each other, so they are compared with what is in the frame of one of them only."
	}
	what, value, least := "resemblance by rarity", r.Rare, &r.LeastRare
	if s := r.Score; s != nil {
		what, value, least = "resemblance", s.Resemblance, s.LeastResemblance
		if least != nil && float64(value) >= *least {
			what, value, least = "resemblance by the whole LCS", s.Whole, s.LeastWhole
		}
	}
	return fmt.Sprintf("Compared again with what is in the frame of one of them only, they do not resemble each other either: %s %.4f, %s.",
		what, float64(value), against(value, least))
}
