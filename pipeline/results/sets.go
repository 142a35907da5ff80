package results

import (
	"iter"

	"neardup/cluster"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// VerifiedPairs yields all near pairs: those of sets, then those that were verified
// for a partition.
func VerifiedPairs(w *workspace.Workspace) iter.Seq2[rows.Link, error] {
	return func(yield func(rows.Link, error) bool) {
		for _, pairs := range []iter.Seq2[rows.Link, error]{NearPairs(w), ScoredPairs(w, layout.TableChecked)} {
			for l, err := range pairs {
				if err == nil && l.Score.Relation == "" {
					continue // verified, but not near
				}
				if !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}

// VerdictOn returns the score of a near pair, the text with the smaller key as seen
// from the other. ok is false for a pair that is not near or was not verified.
func VerdictOn(w *workspace.Workspace, larger, smaller cluster.Key) (s rows.Score, ok bool, err error) {
	for _, table := range []byte{layout.TableVerdict, layout.TableChecked} {
		s, found, err := w.DB.ScoreOf(table, larger, smaller)
		if err != nil || found {
			return s, found && s.Relation != "", err
		}
	}
	return s, false, nil
}

// NearPairs yields the near pairs by leader, then member, from the largest key
// down.
func NearPairs(w *workspace.Workspace) iter.Seq2[rows.Link, error] {
	return ScoredPairs(w, layout.TableVerdict)
}

// ScoredPairs yields the rows of a table of pairs with their scores.
func ScoredPairs(w *workspace.Workspace, table byte) iter.Seq2[rows.Link, error] {
	return func(yield func(rows.Link, error) bool) {
		for r, err := range w.DB.Table(table) {
			var l rows.Link
			if err == nil {
				l, err = r.Link()
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// Sets yields the members of each perhaps-similar set, from the largest key down;
// the first member names the set. The caller owns each slice.
func Sets(w *workspace.Workspace) iter.Seq2[[]cluster.Key, error] {
	return func(yield func([]cluster.Key, error) bool) {
		var set []cluster.Key
		for r, err := range w.DB.Table(layout.TableSet) {
			var owner, member cluster.Key
			if err == nil {
				owner, member, _, err = layout.ParseSetKey(r.Key())
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(set) > 0 && set[0] != owner {
				if !yield(set, nil) {
					return
				}
				set = nil
			}
			set = append(set, member)
		}
		if len(set) > 0 {
			yield(set, nil)
		}
	}
}
