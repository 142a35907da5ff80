package stages

import (
	"context"

	"neardup/cluster/search"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/workspace"
)

// Counted is what the tasks of a cluster counted and the tables do not tell.
type Counted struct {
	search.Counts
	Verified rows.VerifyCounts
}

// Adopt marks all stages as done, in a workspace whose tables were filled with the
// rows of another run of them.
func Adopt(ctx context.Context, w *workspace.Workspace, counted Counted) error {
	counts := []func(*workspace.StageRun) error{
		func(sr *workspace.StageRun) error {
			revisits, err := countRevisits(w)
			if err != nil {
				return err
			}
			return countExtraction(w, sr, revisits)
		},
		func(sr *workspace.StageRun) error {
			texts, err := w.DB.Count(layout.TableText)
			if err != nil {
				return err
			}
			return countSigned(w, sr, texts)
		},
		func(sr *workspace.StageRun) error {
			return countSets(w, sr, &rows.ClusterCounts{Lists: counted.ListCounts, Edges: counted.Edges})
		},
		func(sr *workspace.StageRun) error { return countClusters(w, sr, counted.Verified) },
	}
	for i, st := range w.Stages {
		if err := w.Adopt(ctx, st, counts[i]); err != nil {
			return err
		}
	}
	return nil
}

// countClusters counts the clusters and the contained texts.
func countClusters(w *workspace.Workspace, sr *workspace.StageRun, c rows.VerifyCounts) error {
	if w.Config.Pairs() {
		var clustered rows.ClusterCounts
		if err := w.Counts(workspace.StageCluster, &clustered); err != nil {
			return err
		}
		c.Sets = clustered.Sets
	}
	for r, err := range w.DB.Table(layout.TableCluster) {
		if err != nil {
			return err
		}
		row, err := r.Cluster()
		if err != nil {
			return err
		}
		if row.Cluster == row.Member {
			c.Clusters++
		}
	}
	held := &closer{w: w, sr: sr}
	for r, err := range w.DB.Table(layout.TableContained) {
		if err != nil {
			return err
		}
		row, err := r.Contained()
		if err == nil {
			err = held.countContained(row)
		}
		if err != nil {
			return err
		}
	}
	c.Contained = held.contained
	return sr.SetCounts(c)
}
