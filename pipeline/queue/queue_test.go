package queue

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestLimiter(t *testing.T) { synctest.Test(t, testLimiter) }

func testLimiter(t *testing.T) {
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
		synctest.Wait() // all goroutines are blocked now
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
