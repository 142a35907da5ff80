// Package queue orders the jobs of several workers. A producer sends each job both
// to a queue, which keeps the order, and to the workers. A consumer takes finished
// jobs from the queue in that order.
package queue

import (
	"context"
	"sync"
)

// Send sends a job to the queue and then to the workers. It returns the context's
// error if that ends first.
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

// Limiter bounds the memory of finished jobs that wait for earlier ones. It is
// needed because a small record can become much text. The job that the consumer
// waits for may exceed the bound, or all would wait for each other.
type Limiter struct {
	ctx   context.Context
	mu    sync.Mutex
	free  sync.Cond
	held  int64
	limit int64
}

// NewLimiter returns a limiter of limit bytes.
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

// Acquire waits until there is room for the n bytes of a job, the job is wanted, or
// the context ends.
func (l *Limiter) Acquire(n int64, wanted *bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.held > 0 && l.held+n > l.limit && !*wanted && l.ctx.Err() == nil {
		l.free.Wait()
	}
	l.held += n
}

// Want marks a job as the one that the consumer waits for. wanted is the pointer
// that the job passes to Acquire.
func (l *Limiter) Want(wanted *bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*wanted = true
	l.free.Broadcast()
}

// Release gives back n bytes of a job that Acquire took.
func (l *Limiter) Release(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= n
	l.free.Broadcast()
}
