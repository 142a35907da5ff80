package pipeline

import (
	"context"
	"errors"
	"testing"
)

func TestLimiter(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l := newLimiter(ctx, 10)
	var wanted [5]bool
	acquire := func(i int, n int64) <-chan struct{} {
		done := make(chan struct{})
		go func() { l.acquire(n, &wanted[i]); close(done) }()
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
	l.want(&wanted[2]) // goes first, although there is no room
	<-second
	waits(first)
	l.release(100)
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

func TestNext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	queue := make(chan int, 2)
	queue <- 1
	if j, ok, err := next(ctx, queue); j != 1 || !ok || err != nil {
		t.Error(j, ok, err)
	}
	cancel() // the producer failed: no end of the queue
	if _, ok, err := next(ctx, queue); ok || !errors.Is(err, context.Canceled) {
		t.Error(ok, err)
	}
	close(queue)
	if _, ok, err := next(context.Background(), queue); ok || err != nil {
		t.Error(ok, err)
	}
}
