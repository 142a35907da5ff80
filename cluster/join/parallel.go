package join

import (
	"sync"
	"sync/atomic"
)

// chunk is how many records a worker probes before it hands over their pairs.
const chunk = 512

// join probes with all records.
func (t *table) join(emit func(Pair) error) (Counts, error) {
	if t.o.Workers > 1 && len(t.records) > chunk {
		return t.joinParallel(emit)
	}
	p := t.newProber(emit)
	for n := range t.records {
		if err := p.probe(int32(n)); err != nil {
			t.counts.add(p.counts)
			return t.counts, err
		}
	}
	t.counts.add(p.counts)
	return t.counts, nil
}

// joinParallel has workers take chunks in turn; their pairs are emitted, by
// the caller's goroutine, in the order of the chunks.
func (t *table) joinParallel(emit func(Pair) error) (Counts, error) {
	chunks := (len(t.records) + chunk - 1) / chunk
	done := make([]chan []Pair, chunks)
	for i := range done {
		done[i] = make(chan []Pair, 1)
	}
	ahead := make(chan struct{}, 4*t.o.Workers) // chunks taken, but not emitted: bounds the pairs in memory
	stop := make(chan struct{})
	var next atomic.Int64
	var group sync.WaitGroup
	counts := make([]Counts, t.o.Workers)
	for w := range t.o.Workers {
		group.Go(func() {
			var pairs []Pair
			p := t.newProber(func(q Pair) error {
				pairs = append(pairs, q)
				return nil
			})
			defer func() { counts[w] = p.counts }()
			for {
				select {
				case ahead <- struct{}{}:
				case <-stop:
					return
				}
				c := int(next.Add(1)) - 1
				if c >= chunks {
					<-ahead
					return
				}
				pairs = nil
				for n := c * chunk; n < min((c+1)*chunk, len(t.records)); n++ {
					_ = p.probe(int32(n)) // appending does not fail
				}
				done[c] <- pairs
			}
		})
	}
	err := func() error {
		for _, c := range done {
			for _, q := range <-c {
				if err := emit(q); err != nil {
					return err
				}
			}
			<-ahead
		}
		return nil
	}()
	close(stop)
	group.Wait()
	for _, c := range counts {
		t.counts.add(c)
	}
	return t.counts, err
}

// inChunks calls work with 0 to n-1, by several workers.
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
