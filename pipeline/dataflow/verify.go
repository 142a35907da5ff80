package dataflow

import (
	"context"
	"iter"

	"golang.org/x/sync/errgroup"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/queue"
	"neardup/pipeline/rows"
)

const (
	batchTexts = 64  // members of small sets, or texts of small components, that a worker takes at a time
	largeSet   = 256 // sets of more members are shared out among all workers
)

// VerifiedSets is what came of some sets.
type VerifiedSets struct {
	Last    cluster.Key // names the last of the sets
	Members int64       // of all of them
	Links   []rows.Link
	Counts  rows.VerifyCounts
}

// VerifySets verifies the pairs of perhaps-similar sets. A set has its members from
// the largest key down; the first names it.
func VerifySets(ctx context.Context, sets iter.Seq2[[]cluster.Key, error], texts *Texts, c configs.Verify, workers int, emit func(VerifiedSets) error) error {
	jobs := func(yield func(*setsJob, error) bool) {
		j := newSetsJob()
		for set, err := range sets {
			if err != nil {
				yield(nil, err)
				return
			}
			j.sets, j.Last = append(j.sets, set), set[0]
			if j.Members += int64(len(set)); j.Members >= batchTexts {
				if !yield(j, nil) {
					return
				}
				j = newSetsJob()
			}
		}
		if len(j.sets) > 0 {
			yield(j, nil)
		}
	}
	worker := func(ctx context.Context) func(*setsJob) error {
		one := texts.Judge.Comparers(1)
		return func(j *setsJob) error {
			for _, set := range j.sets {
				comparers := one
				if len(set) > largeSet {
					comparers = texts.Judge.Comparers(workers)
				}
				v := setVerifier{Judge: texts.Judge, config: &c, docs: texts.Get, workers: comparers}
				if err := v.verify(ctx, set); err != nil {
					return err
				}
				j.Links = append(j.Links, v.links...)
				j.Counts.Add(v.counts)
			}
			return nil
		}
	}
	return inOrder(ctx, jobs, workers, worker, func(j *setsJob) error { return emit(j.VerifiedSets) })
}

// setsJob is some sets on their way through the workers.
type setsJob struct {
	job
	sets [][]cluster.Key
	VerifiedSets
}

func newSetsJob() *setsJob { return &setsJob{job: newJob()} }

// job is embedded in the jobs of inOrder.
type job struct {
	err  error
	done chan struct{}
}

func newJob() job { return job{done: make(chan struct{})} }

// Finished implements queue.Job.
func (j *job) Finished() <-chan struct{} { return j.done }

func (j *job) finish(err error) {
	j.err = err
	close(j.done)
}

func (j *job) failed() error { return j.err }

// inOrder does jobs by several workers, and emits them in their order when they are
// done. A worker is a function, which may keep what it needs for one job after
// another.
func inOrder[J interface {
	queue.Job
	finish(error)
	failed() error
}](ctx context.Context, all iter.Seq2[J, error], workers int, worker func(context.Context) func(J) error, emit func(J) error) error {
	g, ctx := errgroup.WithContext(ctx)
	jobs, work := make(chan J, 4*workers), make(chan J)
	g.Go(func() error {
		defer close(work)
		for j, err := range all {
			if err != nil {
				return err
			}
			if err := queue.Send(ctx, j, jobs, work); err != nil {
				return err
			}
		}
		close(jobs)
		return nil
	})
	for range workers {
		g.Go(func() error {
			do := worker(ctx)
			for j := range work {
				j.finish(do(j))
			}
			return nil
		})
	}
	g.Go(func() error {
		for {
			j, more, err := queue.Next(ctx, jobs)
			if err != nil || !more {
				return err
			}
			if err := j.failed(); err != nil {
				return err
			}
			if err := emit(j); err != nil {
				return err
			}
		}
	})
	return g.Wait()
}
