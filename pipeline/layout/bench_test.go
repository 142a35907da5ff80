package layout

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkFixedRun(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	run := FixedRun{Size: PostingSize}
	key := make([]byte, PostingSize)
	for range 300_000 {
		for i := range key[1:] {
			key[1+i] = byte(random.Uint32())
		}
		run.Add(key)
	}
	for b.Loop() {
		for _, part := range run.Sorted(2) {
			for range part {
			}
		}
	}
}
