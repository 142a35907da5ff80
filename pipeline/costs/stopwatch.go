package costs

import "time"

// Stopwatch measures the wall time, processor time and memory of a stage.
type Stopwatch struct {
	wall   time.Time
	cpu    float64
	memory *memoryMeter
}

// Start starts a stopwatch. The caller stops it.
func Start() *Stopwatch { return &Stopwatch{time.Now(), CPUSeconds(), startMemoryMeter()} }

// Stop ends the samples of memory.
func (s *Stopwatch) Stop() { s.memory.stop() }

// Seconds returns the wall time and the processor time of the process since the start.
func (s *Stopwatch) Seconds() (wall, cpu float64) {
	return time.Since(s.wall).Seconds(), CPUSeconds() - s.cpu
}

// Peak returns the peak of the memory of the process since the start, in bytes.
func (s *Stopwatch) Peak() int64 { return s.memory.look() }
