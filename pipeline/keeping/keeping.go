// Package keeping chooses which pages of a workspace's clusters to keep. It
// compares the stored texts of pages with those of the pages that are kept in their
// place.
package keeping

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"neardup/keep"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Rules returns the rules ready for use, with the scores of the quality file if the
// policy needs it.
func Rules(w *workspace.Workspace, r keep.Rules) (keep.Rules, error) {
	if r.Policy == keep.Quality {
		if w.Config.Cluster.Quality == "" {
			return r, fmt.Errorf("%w: --policy quality needs a quality file: run with --set cluster.quality=FILE", workspace.ErrUsage)
		}
		q, err := results.ReadQualities(w.Config.Cluster.Quality)
		if err != nil {
			return r, err
		}
		r.Score = func(uri string) float64 {
			of, _ := q.Of(uri)
			return float64(of)
		}
	}
	if err := r.Validate(); err != nil {
		return r, fmt.Errorf("%w: %w", workspace.ErrUsage, err)
	}
	return r, nil
}

// Cluster is a cluster with the choice for each member.
type Cluster struct {
	report.Cluster
	Choices []report.Choice
}

// Clusters yields the clusters of at least two pages, by ID. Workers compare the
// texts of several clusters concurrently.
func Clusters(ctx context.Context, w *workspace.Workspace, r keep.Rules) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		jobs := func(yield func(*Cluster, error) bool) {
			for c, err := range results.Clusters(ctx, w) {
				if !yield(&Cluster{Cluster: c}, err) {
					return
				}
			}
		}
		worker := func(ctx context.Context) func(*Cluster) error {
			t := newTexts(ctx, w)
			return func(c *Cluster) (err error) {
				c.Choices, err = r.Choose(c.Cluster, t)
				return err
			}
		}
		err := queue.Ordered(ctx, w.Options.Workers, jobs, worker, func(c *Cluster) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(*c, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(Cluster{}, err)
		}
	}
}

// errStopped ends the work when the caller wants no more clusters.
var errStopped = errors.New("stopped")
