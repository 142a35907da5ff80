package results

import (
	"fmt"
	"iter"

	"neardup/cluster"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// Verdicts reads the workspace's verdicts. It implements closing.Verdicts.
type Verdicts struct{ W *workspace.Workspace }

// Links implements closing.Verdicts.
func (v Verdicts) Links() iter.Seq2[rows.Link, error] { return NearPairs(v.W) }

// Parts implements closing.Verdicts.
func (v Verdicts) Parts() iter.Seq2[rows.Link, error] {
	return ScoredPairs(v.W, layout.TablePart)
}

// Score implements closing.Verdicts.
func (v Verdicts) Score(leader, member cluster.Key) (rows.Score, error) {
	s, ok, err := VerdictOn(v.W, leader, member)
	if err == nil && !ok {
		err = fmt.Errorf("no verdict: %w", layout.Corrupt(layout.PairKey(layout.TableVerdict, leader, member)))
	}
	return s, err
}

// Shared implements closing.Verdicts: it yields the compared texts that more than
// one document has.
func (v Verdicts) Shared() iter.Seq2[rows.TextID, error] {
	return func(yield func(rows.TextID, error) bool) {
		var last rows.TextID
		n := 0
		for r, err := range v.W.DB.Table(layout.TableOccurrence) {
			var t rows.TextID
			if err == nil {
				t, _, err = layout.ParseOccurrenceKey(r.Key())
			}
			if err == nil && (n == 0 || t != last) {
				last, n = t, 0
			}
			if n++; err == nil && n != 2 {
				continue
			}
			out := false
			if err == nil {
				out, err = LeftOut(v.W, t)
			}
			if out {
				continue
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}
