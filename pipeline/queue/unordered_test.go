package queue

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
)

func numbers(n int, then error) iter.Seq2[*int, error] {
	return func(yield func(*int, error) bool) {
		for i := range n {
			if !yield(&i, nil) {
				return
			}
		}
		if then != nil {
			yield(nil, then)
		}
	}
}

func double() func(*int) error { return func(i *int) error { *i *= 2; return nil } }

func TestUnorderedDoesEachJobOnce(t *testing.T) {
	for _, workers := range []int{1, 3, 100} {
		var made atomic.Int32
		var got []int
		err := Unordered(context.Background(), workers, numbers(50, nil),
			func() func(*int) error { made.Add(1); return double() },
			func(i *int) error { got = append(got, *i); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if int(made.Load()) != workers {
			t.Errorf("%d workers were made for %d", made.Load(), workers)
		}
		slices.Sort(got)
		for i, g := range got {
			if g != 2*i {
				t.Fatalf("%d workers: job %d gave %d", workers, i, g)
			}
		}
		if len(got) != 50 {
			t.Errorf("%d workers: %d of 50 jobs came back", workers, len(got))
		}
	}
}

func TestUnorderedEndsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	fails := func(i *int) error {
		if *i >= 10 {
			return broken
		}
		return nil
	}
	fine := func(*int) error { return nil }
	for name, c := range map[string]struct {
		ctx    context.Context
		jobs   iter.Seq2[*int, error]
		worker func() func(*int) error
		done   func(*int) error
		want   error
	}{
		"reading":   {context.Background(), numbers(10, broken), double, fine, broken},
		"a worker":  {context.Background(), numbers(1e9, nil), func() func(*int) error { return fails }, fine, broken},
		"done":      {context.Background(), numbers(1e9, nil), double, fails, broken},
		"cancelled": {cancelled, numbers(1e9, nil), double, fine, context.Canceled},
	} {
		if err := Unordered(c.ctx, 3, c.jobs, c.worker, c.done); !errors.Is(err, c.want) {
			t.Errorf("%s: got error %v, want %v", name, err, c.want)
		}
	}
}
