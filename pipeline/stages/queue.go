package stages

import (
	"context"
	"sync"
)

// next receives the next job of a queue and waits until it is done; ok is false
// behind the last. A producer closes its queue only when it has sent all: when
// it fails, the context ends instead, so that what is not there is not taken
// for done.
func next[T interface{ finished() <-chan struct{} }](ctx context.Context, queue <-chan T) (j T, ok bool, err error) {
	select {
	case j, ok = <-queue:
	case <-ctx.Done():
		return j, false, ctx.Err()
	}
	if !ok {
		return j, false, nil
	}
	select {
	case <-j.finished():
		return j, true, nil
	case <-ctx.Done():
		return j, false, ctx.Err()
	}
}

// Limiter bounds the memory of finished jobs that wait for those before them: a
// small record can become much text. A job that is waited for itself goes
// beyond the bound, or all would wait.
type Limiter struct {
	ctx  context.Context
	mu   sync.Mutex
	free sync.Cond
	held int64
	most int64
}

func NewLimiter(ctx context.Context, most int64) *Limiter {
	l := &Limiter{ctx: ctx, most: most}
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
	for l.held > 0 && l.held+n > l.most && !*wanted && l.ctx.Err() == nil {
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
