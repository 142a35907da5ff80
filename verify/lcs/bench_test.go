package lcs

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"testing"
)

// letters draws from an alphabet where the i-th weighs 1/(i+5), about as in
// texts: 60 letters for a Latin script, 3,000 for Chinese, all over its block.
func letters(rng *rand.Rand, alphabet int) func(n int) []int32 {
	codes := rand.New(rand.NewPCG(7, 7)).Perm(20_000)
	sums := make([]float64, alphabet)
	sum := 0.0
	for i := range sums {
		sum += 1 / float64(i+5)
		sums[i] = sum
	}
	return func(n int) []int32 {
		a := make([]int32, n)
		for i := range a {
			letter := sort.SearchFloat64s(sums, rng.Float64()*sum)
			if a[i] = int32(' ' + letter); alphabet > 1000 {
				a[i] = int32(0x4E00 + codes[letter])
			}
		}
		return a
	}
}

// retouched copies a and replaces n stretches of about six by others.
func retouched(rng *rand.Rand, a []int32, n int, draw func(n int) []int32) []int32 {
	out := make([]int32, 0, len(a))
	for i := 0; i < len(a); i++ {
		if rng.IntN(len(a)) < n {
			out = append(out, draw(3+rng.IntN(7))...)
			i += 3 + rng.IntN(7)
		} else {
			out = append(out, a[i])
		}
	}
	return out
}

func BenchmarkMatches(b *testing.B) {
	for _, c := range []struct {
		script   string
		alphabet int
	}{{"latin", 60}, {"chinese", 3000}} {
		for _, size := range []struct {
			n     int
			edits []int
		}{{10_000, []int{0, 2, 20, 100, 220, 650, 3000}}, {100_000, []int{100, 2600}}} {
			for _, edits := range size.edits {
				rng := rand.New(rand.NewPCG(5, 6))
				draw := letters(rng, c.alphabet)
				x := draw(size.n)
				y := retouched(rng, x, edits, draw)
				if edits*6 > size.n {
					y = draw(size.n) // nothing in common
				}
				var s Solver
				m, _ := s.Matches(nil, x, y, -1, Hint{}) // grows the scratch
				d := len(x) + len(y)
				for _, r := range m {
					d -= 2 * r.Len
				}
				run := func(limit string, maxD int) {
					b.Run(fmt.Sprintf("%s/n=%d/D=%d%s", c.script, size.n, d, limit), func(b *testing.B) {
						b.ReportAllocs()
						for b.Loop() {
							m, _ = s.Matches(m[:0], x, y, maxD, Hint{})
						}
					})
				}
				run("", -1)
				if size.n == 10_000 && d > 3000 {
					run("/maxD=1000", 1000)
				}
			}
		}
	}
}
