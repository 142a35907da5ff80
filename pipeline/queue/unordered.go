package queue

import (
	"context"
	"iter"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Unordered runs jobs whose order does not matter on several workers. One goroutine
// reads the jobs. worker is called once per worker and returns the function that
// does a job. One goroutine calls done with each finished job. The first error ends
// everything and is returned. At most three jobs per worker are in memory.
func Unordered[T any](ctx context.Context, workers int, jobs iter.Seq2[T, error], worker func() func(T) error, done func(T) error) error {
	g, ctx := errgroup.WithContext(ctx)
	send := func(to chan<- T, j T) error {
		select {
		case to <- j:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	in, out := make(chan T, workers), make(chan T, workers)
	g.Go(func() error {
		defer close(in)
		for j, err := range jobs {
			if err != nil {
				return err
			}
			if err := send(in, j); err != nil {
				return err
			}
		}
		return nil
	})
	var working sync.WaitGroup
	working.Add(workers)
	for range workers {
		g.Go(func() error {
			defer working.Done()
			do := worker()
			for j := range in {
				if err := do(j); err != nil {
					return err
				}
				if err := send(out, j); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.Go(func() error {
		working.Wait()
		close(out)
		return nil
	})
	g.Go(func() error {
		for j := range out {
			if err := done(j); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}
