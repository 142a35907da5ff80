package queue

import (
	"context"
	"errors"
	"testing"
)

func TestLimiter(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l := NewLimiter(ctx, 10)
	var wanted [5]bool
	acquire := func(i int, n int64) <-chan struct{} {
		done := make(chan struct{})
		go func() { l.Acquire(n, &wanted[i]); close(done) }()
		return done
	}
	waits := func(done <-chan struct{}) {
		t.Helper()
		select {
		case <-done:
			t.Fatal("did not wait")
		default:
		}
	}
	<-acquire(0, 100) // alone, a job may be of any size
	first, second := acquire(1, 4), acquire(2, 4)
	waits(first)
	waits(second)
	l.Want(&wanted[2]) // goes first, although there is no room
	<-second
	waits(first)
	l.Release(100)
	<-first
	third := acquire(3, 4)
	waits(third)
	cancel()
	<-third
	<-acquire(4, 1000)
	if l.held != 4+4+4+1000 {
		t.Errorf("%d bytes are held", l.held)
	}
}

type testJob chan struct{}

func (j testJob) Finished() <-chan struct{} { return j }

func TestNext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	queue := make(chan testJob, 2)
	done, working := make(testJob), make(testJob)
	close(done)
	queue <- done
	if j, ok, err := Next(ctx, queue); j != done || !ok || err != nil {
		t.Error(j, ok, err)
	}
	queue <- working
	cancel() // the producer failed: neither a job that is not done, nor the end of the queue
	for range 20 {
		if _, ok, err := Next(ctx, queue); ok || !errors.Is(err, context.Canceled) {
			t.Error(ok, err)
		}
	}
	for len(queue) > 0 {
		<-queue
	}
	close(queue)
	if _, ok, err := Next(context.Background(), queue); ok || err != nil {
		t.Error(ok, err)
	}
}
