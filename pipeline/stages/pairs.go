package stages

import (
	"errors"
	"fmt"
	"iter"

	"neardup/cluster"
	"neardup/cluster/search"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// setRun collects rows of TableSet. A candidate pair is such a row, too, with the
// larger key as the set; pairs are not merged into sets, and each is verified by
// itself.
type setRun struct {
	w    *workspace.Workspace
	sr   *workspace.StageRun
	rows layout.FixedRun
	more bool        // rows were written already
	set  cluster.Key // set of the previous pair
	left int64       // pairs that may still come
}

func newSetRun(sr *workspace.StageRun, w *workspace.Workspace, emits search.Kind) *setRun {
	return &setRun{w: w, sr: sr, rows: layout.NewSetRun(emits == search.Scored), left: w.Config.Cluster.MaxPairs}
}

// member adds a member of a perhaps-similar set.
func (r *setRun) member(m cluster.Membership) error { return r.add(m.Set, m.Member, 0) }

// pair adds a candidate pair, in either order, with the score that the search gave
// it.
func (r *setRun) pair(a, b cluster.Key, score float64) error {
	if r.left--; r.left < 0 {
		return fmt.Errorf("over %d candidate pairs: the texts are too much alike for this method; raise cluster.max_pairs, "+
			"ask for more in common, or choose a method that compares with representatives only", r.w.Config.Cluster.MaxPairs)
	}
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	if a != r.set {
		r.set = a
		if err := r.add(a, a, 1); err != nil {
			return err
		}
	}
	return r.add(a, b, score)
}

func (r *setRun) add(set, member cluster.Key, score float64) error {
	r.rows.AddMember(set, member, score)
	if r.rows.Len() < r.w.Options.RunRows {
		return nil
	}
	return r.flush()
}

// flush writes the rows so far. The first ones replace those of an earlier run.
func (r *setRun) flush() error {
	var err error
	if !r.more {
		err = r.w.DB.Clear(layout.TableSet)
	}
	err = errors.Join(err, r.w.DB.Ingest(r.sr.Ctx, r.rows.Sorted(r.w.Options.Workers)...))
	r.rows.Clear()
	r.more = true
	return err
}

// end writes the last rows.
func (r *setRun) end() error {
	if r.more {
		return r.flush()
	}
	return r.sr.Replace(r.w.DB, layout.TableSet, func(yield func(extsort.Entry, error) bool) {
		for _, run := range r.rows.Sorted(1) {
			for e := range run {
				if !yield(e, nil) {
					return
				}
			}
		}
	})
}

// candidates yields the candidate pairs behind the row after, from the largest keys
// down.
func candidates(w *workspace.Workspace, after []byte) iter.Seq2[rows.Candidate, error] {
	return func(yield func(rows.Candidate, error) bool) {
		lower, upper := layout.BehindSet(after)
		for r, err := range w.DB.Rows(lower, upper) {
			var c rows.Candidate
			if err == nil {
				c.A, c.B, c.Score, err = layout.ParseSetKey(r.Key())
			}
			if err == nil && c.A == c.B {
				continue
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}
