package queue

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
)

// turn does jobs so that of each two the second is done first. It adds 100 to each.
func turn(n int) func(context.Context) func(*int) error {
	done := make([]chan struct{}, n)
	for i := range done {
		done[i] = make(chan struct{})
	}
	return func(ctx context.Context) func(*int) error {
		return func(i *int) error {
			defer close(done[*i%100])
			if *i%2 == 0 {
				select {
				case <-done[*i+1]:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			*i += 100
			return nil
		}
	}
}

func TestOrderedKeepsTheOrder(t *testing.T) {
	for _, workers := range []int{2, 3, 100} {
		next := 0
		err := Ordered(context.Background(), workers, numbers(50, nil), turn(50), func(i *int) error {
			if *i != 100+next {
				return fmt.Errorf("job %d came in place of %d", *i, 100+next)
			}
			next++
			return nil
		})
		if err != nil || next != 50 {
			t.Errorf("%d workers: %d of 50 jobs came back, %v", workers, next, err)
		}
	}
}

func TestOrderedEndsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	fine := func(context.Context) func(*int) error { return func(*int) error { return nil } }
	failing := func(context.Context) func(*int) error {
		return func(i *int) error {
			if *i >= 10 {
				return fmt.Errorf("job %d is %w", *i, broken)
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		ctx    context.Context
		jobs   iter.Seq2[*int, error]
		worker func(context.Context) func(*int) error
		emit   func(*int) error
		want   error
		says   string
		emits  int // jobs at the most; of those that can be read, all before the error
	}{
		"reading":   {context.Background(), numbers(10, broken), fine, func(*int) error { return nil }, broken, "broken", 10},
		"a worker":  {context.Background(), numbers(1e5, nil), failing, func(*int) error { return nil }, broken, "job 10 is broken", 10},
		"emitting":  {context.Background(), numbers(1e5, nil), fine, func(i *int) error { return failing(nil)(i) }, broken, "job 10 is broken", 11},
		"cancelled": {cancelled, numbers(1e5, nil), fine, func(*int) error { return nil }, context.Canceled, "context canceled", 1e9},
	} {
		emitted := 0
		err := Ordered(c.ctx, 3, c.jobs, c.worker, func(i *int) error { emitted++; return c.emit(i) })
		if !errors.Is(err, c.want) || err.Error() != c.says {
			t.Errorf("%s: got error %v, want %s", name, err, c.says)
		}
		if emitted > c.emits || emitted < c.emits && name != "reading" && name != "cancelled" {
			t.Errorf("%s: emitted %d jobs, want %d", name, emitted, c.emits)
		}
	}
}

// A caller that has gone while finished jobs wait is told so: their results are missing.
func TestOrderedTellsThatResultsAreMissing(t *testing.T) {
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		var done sync.WaitGroup
		done.Add(6)
		emitted := 0
		err := Ordered(ctx, 2, numbers(6, nil), func(context.Context) func(*int) error {
			return func(*int) error { done.Done(); return nil }
		}, func(*int) error {
			done.Wait()
			if emitted++; emitted == 2 {
				cancel()
			}
			return nil
		})
		if err == nil && emitted < 6 {
			t.Fatalf("%d of 6 jobs, and no error", emitted)
		}
		cancel()
	}
}
