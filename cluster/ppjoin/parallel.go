package ppjoin

import (
	"context"
	"sync"
	"sync/atomic"
)

const (
	chunk = 512     // records that a worker takes at a time
	batch = 1 << 14 // pairs that it hands over together
)

// join probes the index with all records.
func (t *table) join(ctx context.Context, emit func(Pair) error) (Counts, error) {
	if t.o.Workers > 1 && len(t.records) > chunk {
		return t.joinParallel(ctx, emit)
	}
	p := t.newProber(ctx, emit)
	for n := range t.records {
		if err := p.probe(int32(n)); err != nil {
			t.counts.add(p.counts)
			return t.counts, err
		}
	}
	t.counts.add(p.counts)
	return t.counts, nil
}

// joinParallel lets workers take chunks in turn. The caller's goroutine emits
// their pairs in the order of the chunks. A worker that is ahead waits before its
// second batch. Otherwise pairs would pile up in memory where records have very
// many similar ones.
func (t *table) joinParallel(ctx context.Context, emit func(Pair) error) (Counts, error) {
	chunks := (len(t.records) + chunk - 1) / chunk
	done := make([]chan []Pair, chunks)
	for i := range done {
		done[i] = make(chan []Pair, 1)
	}
	ctx, stop := context.WithCancel(ctx)
	s := &shared{t: t, ctx: ctx, done: done, ahead: make(chan struct{}, 4*t.o.Workers)}
	var group sync.WaitGroup
	counts := make([]Counts, t.o.Workers)
	for w := range t.o.Workers {
		group.Go(func() { counts[w] = s.work() })
	}
	err := s.emit(emit)
	stop()
	group.Wait()
	for _, c := range counts {
		t.counts.add(c)
	}
	return t.counts, err
}

// shared is what the workers of a join share.
type shared struct {
	t     *table
	ctx   context.Context
	next  atomic.Int64  // the next chunk
	done  []chan []Pair // of each chunk, closed when it is finished
	ahead chan struct{} // chunks taken but not emitted; limits the pairs in memory
}

// work probes one chunk after another.
func (s *shared) work() Counts {
	var pairs []Pair
	var c int
	hand := func() error {
		select {
		case s.done[c] <- pairs:
			pairs = nil
			return nil
		case <-s.ctx.Done():
			return s.ctx.Err()
		}
	}
	p := s.t.newProber(s.ctx, func(q Pair) error {
		if pairs = append(pairs, q); len(pairs) < batch {
			return nil
		}
		return hand()
	})
	for {
		select {
		case s.ahead <- struct{}{}:
		case <-s.ctx.Done():
			return p.counts
		}
		if c = int(s.next.Add(1)) - 1; c >= len(s.done) {
			<-s.ahead
			return p.counts
		}
		for n := c * chunk; n < min((c+1)*chunk, len(s.t.records)); n++ {
			if p.probe(int32(n)) != nil {
				return p.counts
			}
		}
		if hand() != nil {
			return p.counts
		}
		close(s.done[c])
	}
}

// emit emits the pairs of the chunks in order.
func (s *shared) emit(emit func(Pair) error) error {
	for _, c := range s.done {
		for more := true; more; {
			var pairs []Pair
			select {
			case pairs, more = <-c:
			case <-s.ctx.Done():
				return s.ctx.Err()
			}
			for _, q := range pairs {
				if err := s.ctx.Err(); err != nil {
					return err
				}
				if err := emit(q); err != nil {
					return err
				}
			}
		}
		<-s.ahead
	}
	return nil
}

// inChunks calls work with 0 to n-1, from several workers.
func inChunks(n, workers int, work func(i int)) {
	var next atomic.Int64
	run := func() {
		for {
			from := int(next.Add(chunk)) - chunk
			if from >= n {
				return
			}
			for i := from; i < min(from+chunk, n); i++ {
				work(i)
			}
		}
	}
	var group sync.WaitGroup
	for range min(workers, n/chunk) - 1 {
		group.Go(run)
	}
	run()
	group.Wait()
}
