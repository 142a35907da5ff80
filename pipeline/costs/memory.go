package costs

import (
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// sampleEvery is the time between two samples of a running stage's memory.
const sampleEvery = 20 * time.Millisecond

// memoryMeter records the peak of the memory that the Go runtime holds: heap,
// stacks and their management, less what it returned to the system. Memory outside
// the runtime (cgo) does not count.
type memoryMeter struct {
	peak atomic.Int64 // bytes
	quit chan struct{}
}

func startMemoryMeter() *memoryMeter {
	m := &memoryMeter{quit: make(chan struct{})}
	m.look()
	go func() {
		every := time.NewTicker(sampleEvery)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				m.look()
			case <-m.quit:
				return
			}
		}
	}()
	return m
}

// look takes a sample and returns the peak so far, in bytes.
func (m *memoryMeter) look() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	held := int64(samples[0].Value.Uint64() - samples[1].Value.Uint64())
	for old := m.peak.Load(); held > old; old = m.peak.Load() {
		if m.peak.CompareAndSwap(old, held) {
			return held
		}
	}
	return m.peak.Load()
}

func (m *memoryMeter) stop() { close(m.quit) }
