package pdf

import (
	"testing"
	"time"

	"neardup/extract/pdf/pdftest"
)

// One instance at a time has much memory. Those with little do not wait for it.
func TestLargeMemoriesTakeTurns(t *testing.T) {
	e := &Engine{}
	instance := func() *memory { return &memory{e: e, limit: 2 * MaxSpare} }
	taken := func() bool {
		free := e.large.TryLock()
		if free {
			e.large.Unlock()
		}
		return !free
	}
	large, small, waiting := instance(), instance(), instance()
	large.Reallocate(MaxSpare)
	copy(large.b, "what it had")
	if taken() {
		t.Error("memory that is kept for the next instance is large")
	}
	if b := large.Reallocate(MaxSpare + 1); len(b) != MaxSpare+1 || cap(b) != 2*MaxSpare || string(b[:11]) != "what it had" || !taken() {
		t.Errorf("%d of %d bytes, of which the first are %q", len(b), cap(b), b[:11])
	}
	small.Reallocate(MaxSpare)
	done := make(chan []byte)
	go func() { done <- waiting.Reallocate(2 * MaxSpare) }()
	large.Reallocate(2 * MaxSpare)
	large.Free()
	large.end()
	if b := <-done; len(b) != 2*MaxSpare || !taken() {
		t.Errorf("the next one has %d bytes", len(b))
	}
	waiting.Free()
	waiting.end()
	if taken() {
		t.Error("it is taken when all are free")
	}
	if b := instance().Reallocate(2*MaxSpare + 1); b != nil {
		t.Errorf("%d bytes over the limit", len(b))
	}
}

// No more documents are read at a time than the engine may.
func TestInstances(t *testing.T) {
	e := &Engine{CacheDir: engine().CacheDir, Instances: 2}
	b := pdftest.Book{Columns: 60, Lines: 40}.Typeset(prose(2)...).Bytes()
	read := func() {
		if _, outcome, err := e.Read(b, limits, maxText); outcome != Read || err != nil {
			t.Errorf("read: %v (%v)", outcome, err)
		}
	}
	read()
	e.slots <- struct{}{}
	read()
	e.slots <- struct{}{}
	done := make(chan struct{})
	go func() {
		read()
		close(done)
	}()
	select {
	case <-done:
		t.Error("a third document is read beside two")
	case <-time.After(100 * time.Millisecond):
	}
	<-e.slots
	<-done
}
