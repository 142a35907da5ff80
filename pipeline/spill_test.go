package pipeline

import (
	"encoding/binary"
	"testing"

	"neardup/cluster"
)

func TestSpilledRunsComeBackAsTheyWere(t *testing.T) {
	message := func(i int) (m cluster.Message) {
		binary.BigEndian.PutUint32(m.To[:], uint32(i))
		binary.BigEndian.PutUint32(m.Value[:], ^uint32(i))
		return m
	}
	for _, n := range []int{0, 1, 6553, 6554, 30000} { // around and over the buffer of 256 KiB
		run, err := fileSpill{t.TempDir()}.Write(func(yield func(cluster.Message) bool) {
			for i := range n {
				if !yield(message(i)) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if m, ok, err := run.Next(); err != nil || !ok || m != message(i) {
				t.Fatalf("of %d messages, %d is %v, %v, %v", n, i, m, ok, err)
			}
		}
		if _, ok, err := run.Next(); ok || err != nil {
			t.Errorf("of %d messages: one more, or %v", n, err)
		}
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	}
}
