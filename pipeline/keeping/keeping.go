// Package keeping chooses what to keep of the clusters of a workspace, by comparing
// the stored texts of pages with those of the pages that stand for them.
package keeping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"golang.org/x/sync/errgroup"

	"neardup/keep"
	"neardup/pipeline/queue"
	"neardup/pipeline/results"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Rules returns the rules ready for use: with the scores of the quality file, if the
// policy asks for it.
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

// Cluster is a cluster with the choices for its members.
type Cluster struct {
	report.Cluster
	Choices []report.Choice
}

// chooseJob is a cluster on its way through the workers.
type chooseJob struct {
	Cluster
	err  error
	done chan struct{}
}

func (j *chooseJob) Finished() <-chan struct{} { return j.done }

// Clusters returns the clusters of two and more pages by id. Workers compare the
// texts of several clusters at a time.
func Clusters(caller context.Context, w *workspace.Workspace, r keep.Rules) iter.Seq2[Cluster, error] {
	return func(yield func(Cluster, error) bool) {
		ctx, cancel := context.WithCancel(caller)
		defer cancel()
		g, ctx := errgroup.WithContext(ctx)
		jobs, work := make(chan *chooseJob, 4*w.Options.Workers), make(chan *chooseJob)
		g.Go(func() error {
			defer close(work)
			for c, err := range results.Clusters(ctx, w) {
				if err != nil {
					return err
				}
				if err := queue.Send(ctx, &chooseJob{Cluster: Cluster{Cluster: c}, done: make(chan struct{})}, jobs, work); err != nil {
					return err
				}
			}
			close(jobs)
			return nil
		})
		for range w.Options.Workers {
			g.Go(func() error {
				t := newTexts(ctx, w)
				for j := range work {
					j.Choices, j.err = r.Choose(j.Cluster.Cluster, t)
					close(j.done)
				}
				return nil
			})
		}
		for {
			j, ok, err := queue.Next(ctx, jobs)
			if err == nil && ok {
				err = cmp.Or(j.err, caller.Err())
			}
			if err != nil {
				cancel()
				first := g.Wait()
				if errors.Is(err, context.Canceled) && caller.Err() == nil {
					err = first // why the work ended
				}
				yield(Cluster{}, err)
				return
			}
			if !ok {
				break
			}
			if !yield(j.Cluster, nil) {
				cancel()
				_ = g.Wait()
				return
			}
		}
		if err := g.Wait(); err != nil {
			yield(Cluster{}, err)
		}
	}
}
