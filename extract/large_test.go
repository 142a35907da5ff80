package extract

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// overlapping records the most bytes of bodies that are read at the same time.
type overlapping struct{ now, most, left atomic.Int64 }

func (o *overlapping) ReadText(b Body) Text {
	defer o.now.Add(-int64(len(b.Bytes)))
	for at := o.now.Add(int64(len(b.Bytes))); ; {
		if most := o.most.Load(); at <= most || o.most.CompareAndSwap(most, at) {
			break
		}
	}
	for range 2000 { // so that other goroutines begin meanwhile
		runtime.Gosched()
	}
	o.left.Add(-1)
	return Text{}
}

// Large bodies wait for each other, and all bodies are read.
func TestLargeBodiesWait(t *testing.T) {
	for size, bounded := range map[int]bool{largeBody - 1: false, 5 * largeBody: true, largeBodies + 1: true} {
		var o overlapping
		const bodies = 40
		o.left.Store(bodies)
		body := make([]byte, size)
		var all sync.WaitGroup
		for range bodies {
			all.Go(func() { readText(&o, Body{Bytes: body}) })
		}
		all.Wait()
		if most := o.most.Load(); bounded && most > max(largeBodies, int64(size)) || !bounded && most < 2*int64(size) {
			t.Errorf("%d bytes of bodies of %d were read at a time", most, size)
		}
		if n := o.left.Load(); n != 0 {
			t.Errorf("%d bodies of %d bytes were not read", n, size)
		}
	}
}
