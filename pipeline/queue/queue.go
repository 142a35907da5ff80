// Package queue orders jobs that several workers do: a producer sends each job to a
// queue, which keeps its place, and to the workers; a consumer takes the finished
// jobs from the queue in their order.
package queue

import (
	"context"
	"sync"
)

// Send sends a job to a queue, and then to the workers.
func Send[T any](ctx context.Context, job T, queue, work chan<- T) error {
	for _, to := range []chan<- T{queue, work} {
		select {
		case to <- job:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Job is a job that says when it is done.
type Job interface{ Finished() <-chan struct{} }

// Next receives the next job of a queue and waits until it is done; ok is false
// behind the last. A producer closes its queue only when it has sent all jobs. If
// it fails, the context ends instead, so that no missing job counts as done.
func Next[T Job](ctx context.Context, queue <-chan T) (j T, ok bool, err error) {
	select {
	case j, ok = <-queue:
	case <-ctx.Done():
		return j, false, ctx.Err()
	}
	if !ok {
		return j, false, nil
	}
	select {
	case <-j.Finished():
		return j, true, nil
	case <-ctx.Done():
		return j, false, ctx.Err()
	}
}

// Limiter bounds the memory of finished jobs that wait for those before them: a
// small record can become much text. A job that is waited for itself goes
// beyond the bound, or all would wait.
type Limiter struct {
	ctx   context.Context
	mu    sync.Mutex
	free  sync.Cond
	held  int64
	limit int64
}

// NewLimiter returns a limiter of so many bytes.
func NewLimiter(ctx context.Context, limit int64) *Limiter {
	l := &Limiter{ctx: ctx, limit: limit}
	l.free.L = &l.mu
	context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.free.Broadcast()
	})
	return l
}

// Acquire waits until there is room for n bytes of a job, or the job is wanted,
// or the context ends.
func (l *Limiter) Acquire(n int64, wanted *bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.held > 0 && l.held+n > l.limit && !*wanted && l.ctx.Err() == nil {
		l.free.Wait()
	}
	l.held += n
}

// Want says that a job is waited for; wanted is that of its acquire.
func (l *Limiter) Want(wanted *bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*wanted = true
	l.free.Broadcast()
}

func (l *Limiter) Release(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= n
	l.free.Broadcast()
}
