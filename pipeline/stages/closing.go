package stages

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"neardup/cluster"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// closer writes clusters. It implements dataflow.Clusters.
type closer struct {
	w        *workspace.Workspace
	ctx      context.Context
	b        store.Batch
	clusters int64
}

// Assign puts a text into the cluster of a representative.
func (c *closer) Assign(row rows.Cluster) error {
	if row.Member == row.Cluster {
		c.clusters++
	}
	err := errors.Join(
		c.b.Set(store.AssignedKey(row.Member), row.Cluster[:]),
		c.b.Set(store.ClusterKey(row.Cluster, row.Member), results.ClusterValue(row.Against, row.Score)))
	if err == nil && c.b.Len() >= workspace.CommitBytes {
		err = c.Flush()
	}
	return err
}

// Flush commits what was assigned.
func (c *closer) Flush() error {
	if err := errors.Join(c.b.Commit(), context.Cause(c.ctx)); err != nil {
		return err
	}
	c.b = c.w.DB.Batch()
	return nil
}

// Of returns the representative of the text's cluster.
func (c *closer) Of(t rows.TextID) (rows.TextID, bool, error) { return results.ClusterOf(c.w, t) }

// tablesOfClosing are what closeClusters writes.
var tablesOfClosing = []byte{store.TableAssigned, store.TableCluster, store.TableFormer, store.TableOutcome}

// closeClusters makes clusters of the near pairs, and of texts that several
// pages share; judged pairs have the last word.
func closeClusters(w *workspace.Workspace, sr *workspace.StageRun, counts *rows.VerifyCounts) error {
	c := &closer{w: w, ctx: sr.Ctx, b: w.DB.Batch()}
	if err := errors.Join(c.b.Clear(tablesOfClosing...), c.Flush()); err != nil {
		return err
	}
	if err := dataflow.Close(verdicts{w}, w.Config.Verify, extsort.Messages(w.DB.Tmp), c); err != nil {
		return err
	}
	judged, err := c.enforce(sr.Judged)
	if err != nil {
		return err
	}
	counts.Clusters, counts.Judged = c.clusters, judged
	return nil
}

// verdicts are those of a workspace. It implements dataflow.Verdicts.
type verdicts struct{ w *workspace.Workspace }

func (v verdicts) Links() iter.Seq2[rows.Link, error] { return results.NearPairs(v.w) }

func (v verdicts) Parts() iter.Seq2[rows.Link, error] {
	return results.ScoredPairs(v.w, store.TablePart)
}

func (v verdicts) Score(leader, member cluster.Key) (rows.Score, error) {
	s, ok, err := results.VerdictOn(v.w, leader, member)
	if err == nil && !ok {
		err = fmt.Errorf("no verdict: %w", store.Corrupt(store.PairKey(store.TableVerdict, leader, member)))
	}
	return s, err
}

// Shared gives the texts that more than one document has, and that are compared.
func (v verdicts) Shared() iter.Seq2[rows.TextID, error] {
	return func(yield func(rows.TextID, error) bool) {
		var last rows.TextID
		n := 0
		for r, err := range v.w.DB.Table(store.TableOccurrence) {
			var t rows.TextID
			if err == nil {
				t, _, err = store.ParseOccurrenceKey(r.Key())
			}
			if err == nil && (n == 0 || t != last) {
				last, n = t, 0
			}
			if n++; err == nil && n != 2 {
				continue
			}
			out := false
			if err == nil {
				out, err = results.LeftOut(v.w, t)
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
