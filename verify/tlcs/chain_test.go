package tlcs

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// What is hinted is a common subsequence of the sketches, and a long one where
// the texts are nearly the same.
func TestCommon(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 23))
	for range 300 {
		o := Options{Window: 1 + rng.IntN(9), Blocks: 4, Slope: 0.1, Resemblance: 1e-9, Containment: 2, Trustable: true, Rounds: 1}
		letters := [][]rune{latin, mixed, []rune("ab")}[rng.IntN(3)]
		var parts []string
		for range 1 + rng.IntN(8) {
			parts = append(parts, prose(rng, rng.IntN(80), letters))
		}
		x := strings.Join(parts, "")
		switch rng.IntN(3) {
		case 0:
			rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		case 1:
			parts[rng.IntN(len(parts))] = prose(rng, 10, letters)
		}
		c := NewComparer(o)
		a, b := order(Prepare(x, o.Window), Prepare(strings.Join(parts, ""), o.Window))
		if c.Compare(a, b).SketchA == 0 {
			continue
		}
		n, atA, atB := 0, 0, 0
		for _, m := range c.common() {
			if m.Len <= 0 || m.X < atA || m.Y < atB || !slices.Equal(c.a.text[m.X:m.X+m.Len], c.b.text[m.Y:m.Y+m.Len]) {
				t.Fatalf("%v does not follow %d, %d or is no match", m, atA, atB)
			}
			n, atA, atB = n+m.Len, m.X+m.Len, m.Y+m.Len
		}
		if slices.Equal(a.text, b.text) && n != len(a.ends) {
			t.Fatalf("%d of %d windows in the chain of equal texts %q", n, len(a.ends), x)
		}
	}
}

// The chain is as long as the quadratic recurrence says.
func TestLongestChain(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 24))
	for range 500 {
		var h chain
		var xs []int32
		for y := range int32(rng.IntN(40)) {
			xs = append(xs, rng.Int32N(30))
			h.add(xs[y], y)
		}
		want, lengths := 0, make([]int, len(xs))
		for i, x := range xs {
			for j, before := range xs[:i] {
				if before < x {
					lengths[i] = max(lengths[i], lengths[j])
				}
			}
			lengths[i]++
			want = max(want, lengths[i])
		}
		got, x, y := 0, -1, -1
		for _, m := range h.matches() {
			if m.X <= x || m.Y <= y || int(xs[m.Y]) != m.X {
				t.Fatalf("%v: %v", xs, h.runs)
			}
			got, x, y = got+m.Len, m.X+m.Len-1, m.Y+m.Len-1
		}
		if got != want {
			t.Fatalf("%v: a chain of %d, not %d", xs, got, want)
		}
	}
}
