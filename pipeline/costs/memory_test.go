package costs

import (
	"testing"
)

// The memory of a stage is at least what it holds, and is not what was held
// before it began.
func TestMemoryMeter(t *testing.T) {
	const block = 64 << 20
	m := startMemoryMeter()
	before := m.look()
	held := make([]byte, block)
	for i := range held {
		held[i] = 1
	}
	after := m.look()
	m.stop()
	if held[block/2] != 1 || after < before || after < block {
		t.Errorf("%d bytes, then %d with %d more", before, after, block)
	}
	if again := m.look(); again < after {
		t.Errorf("the peak fell from %d to %d", after, again)
	}
}
