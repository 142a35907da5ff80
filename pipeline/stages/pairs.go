package stages

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"neardup/cluster"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// Candidates that are pairs: each is a row of TableSet, the larger key as the
// set. Nothing is merged, and every pair is verified by itself.

// setRun collects the rows of pairs.
type setRun struct {
	w    *workspace.Workspace
	ctx  context.Context
	rows store.FixedRun
	set  cluster.Key // of the pair before
	left int64       // pairs that may still come
}

func newSetRun(ctx context.Context, w *workspace.Workspace, scored bool) *setRun {
	r := &setRun{w: w, ctx: ctx, rows: store.FixedRun{Size: store.EdgeSize}, left: w.Config.Cluster.MaxPairs}
	if scored {
		r.rows.Size = store.ScoredSetSize
	}
	return r
}

// add adds a pair, in any order, with the score that the search gave it.
func (r *setRun) add(a, b cluster.Key, score float64) error {
	if r.left--; r.left < 0 {
		return fmt.Errorf("over %d candidate pairs: the texts are too much alike for this method; raise cluster.max_pairs, "+
			"ask for more in common, or choose a method that compares with representatives only", r.w.Config.Cluster.MaxPairs)
	}
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	row := func(member cluster.Key, score float64) {
		value := binary.BigEndian.AppendUint64(nil, math.Float64bits(score))
		r.rows.Add([]byte{store.TableSet}, a[:], member[:], value[:r.rows.Size-store.EdgeSize])
	}
	if a != r.set {
		row(a, 1)
		r.set = a
	}
	row(b, score)
	if r.rows.Len() < r.w.Options.RunRows {
		return nil
	}
	return r.flush()
}

func (r *setRun) flush() error {
	err := r.w.DB.Ingest(r.ctx, r.rows.Sorted(r.w.Options.Workers)...)
	r.rows.Clear()
	r.set = cluster.Key{}
	return err
}

// clearSets begins the rows of sets anew.
func clearSets(w *workspace.Workspace) error {
	b := w.DB.Batch()
	return errors.Join(b.Clear(store.TableSet), b.Commit())
}

// tallyEdges takes the edges of enough lists for pairs.
func tallyEdges(w *workspace.Workspace, sr *workspace.StageRun, c *rows.ClusterCounts) (err error) {
	if err := clearSets(w); err != nil {
		return err
	}
	w.Options.Progress.Total(c.Lists.Edges, "edges")
	sets := newSetRun(sr.Ctx, w, false)
	c.Edges, err = dataflow.Tally(storedEdges(w, sr), max(1, w.Config.Cluster.Common), func(e cluster.Edge) error { return sets.add(e.Rep, e.Member, 0) })
	if err != nil {
		return err
	}
	return sets.flush()
}

// storedEdges gives the edges of all lists by representative, then member.
func storedEdges(w *workspace.Workspace, sr *workspace.StageRun) iter.Seq2[cluster.Edge, error] {
	return func(yield func(cluster.Edge, error) bool) {
		read := int64(0)
		for r, err := range w.DB.Table(store.TableEdge) {
			var e cluster.Edge
			if err == nil && len(r.Key()) != edgeSize(w) {
				err = store.Corrupt(r.Key())
			}
			if err == nil {
				e.Rep, e.Member, err = store.ParsePairKey(r.Key()[:store.EdgeSize])
			}
			if read++; err == nil && read&0xffff == 0 {
				w.Options.Progress.Add(0x10000)
				err = sr.Ctx.Err()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// candidates returns the pairs behind the row after, from the largest keys down.
func candidates(w *workspace.Workspace, after []byte) iter.Seq2[rows.Candidate, error] {
	return func(yield func(rows.Candidate, error) bool) {
		lower, upper := store.TableBounds(store.TableSet)
		if after != nil {
			_, lower = store.PrefixBounds(store.Key(store.TableSet, after))
		}
		for r, err := range w.DB.Rows(lower, upper) {
			var c rows.Candidate
			if err == nil {
				c.A, c.B, c.Score, err = store.ParseSetKey(r.Key())
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
