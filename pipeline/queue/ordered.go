package queue

import (
	"cmp"
	"context"
	"iter"

	"golang.org/x/sync/errgroup"
)

// ordered is a job on its way through the workers.
type ordered[T any] struct {
	job  T
	err  error
	done chan struct{}
}

// Ordered lets several workers do jobs, and calls emit with each in the order of jobs
// when it is done. worker is called once for each of the workers and returns what does
// a job, which may keep what it needs for one job after another; emit is called by the
// caller's goroutine. The first error ends everything and is returned: of the jobs that
// fail, that of the first in their order.
func Ordered[T any](ctx context.Context, workers int, jobs iter.Seq2[T, error], worker func(context.Context) func(T) error, emit func(T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	queue, work := make(chan *ordered[T], 4*workers), make(chan *ordered[T])
	g.Go(func() error {
		defer close(work)
		for j, err := range jobs {
			if err != nil {
				return err
			}
			if err := Send(ctx, &ordered[T]{job: j, done: make(chan struct{})}, queue, work); err != nil {
				return err
			}
		}
		close(queue) // only now: no missing job counts as done
		return nil
	})
	for range workers {
		g.Go(func() error {
			do := worker(ctx)
			for j := range work {
				j.err = do(j.job)
				close(j.done)
			}
			return nil
		})
	}
	for {
		j, err := next(ctx, queue)
		if err != nil || j == nil {
			return cmp.Or(g.Wait(), err) // the first says why the context has ended
		}
		if err = j.err; err == nil {
			err = emit(j.job)
		}
		if err != nil {
			cancel()
			_ = g.Wait()
			return err
		}
	}
}

// next receives the next job of a queue and waits until it is done; nil is behind the
// last.
func next[T any](ctx context.Context, queue <-chan *ordered[T]) (*ordered[T], error) {
	select {
	case j, ok := <-queue:
		if !ok {
			return nil, nil
		}
		select {
		case <-j.done:
			return j, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
