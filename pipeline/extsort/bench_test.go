package extsort

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkSorter(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range []int{0, 300} {
		name := "keys"
		if size > 0 {
			name = "rows"
		}
		b.Run(name, func(b *testing.B) {
			keys := make([]byte, 100_000*48)
			for i := range keys {
				keys[i] = byte(rng.Uint32())
			}
			value := make([]byte, size)
			for b.Loop() {
				s := New(b.TempDir())
				for i := 0; i < len(keys); i += 48 {
					if err := s.Add(keys[i:i+48], value); err != nil {
						b.Fatal(err)
					}
				}
				for _, err := range s.Sorted() {
					if err != nil {
						b.Fatal(err)
					}
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
