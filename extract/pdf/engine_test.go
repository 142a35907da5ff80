package pdf

import "testing"

// One instance at a time has much memory. Those with little do not wait for it.
func TestLargeMemoriesTakeTurns(t *testing.T) {
	e := &Engine{}
	instance := func() *memory { return &memory{e: e, limit: 2 * maxSpare} }
	taken := func() bool {
		free := e.large.TryLock()
		if free {
			e.large.Unlock()
		}
		return !free
	}
	large, small, waiting := instance(), instance(), instance()
	large.Reallocate(maxSpare)
	copy(large.b, "what it had")
	if taken() {
		t.Error("memory that is kept for the next instance is large")
	}
	if b := large.Reallocate(maxSpare + 1); len(b) != maxSpare+1 || cap(b) != 2*maxSpare || string(b[:11]) != "what it had" || !taken() {
		t.Errorf("%d of %d bytes, of which the first are %q", len(b), cap(b), b[:11])
	}
	small.Reallocate(maxSpare)
	done := make(chan []byte)
	go func() { done <- waiting.Reallocate(2 * maxSpare) }()
	large.Reallocate(2 * maxSpare)
	large.Free()
	if b := <-done; len(b) != 2*maxSpare || !taken() {
		t.Errorf("the next one has %d bytes", len(b))
	}
	waiting.Free()
	if taken() {
		t.Error("it is taken when all are free")
	}
	if b := instance().Reallocate(2*maxSpare + 1); b != nil {
		t.Errorf("%d bytes over the limit", len(b))
	}
}
