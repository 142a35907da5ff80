package tlcs

import (
	"math/rand/v2"
	"testing"
)

// The lengths are those of the slow oracle under thresholds that end nothing
// early, in both orders and on a Comparer that has been used before.
func TestLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 21))
	shrunk, untrusted := 0, 0
	for range 400 {
		o := Options{Window: 1 + rng.IntN(9), Blocks: 1 + rng.IntN(10), Slope: float64(rng.IntN(6)) / 10,
			Resemblance: 1e-9, Containment: 2, Trustable: rng.IntN(4) > 0, Rounds: 1}
		common := prose(rng, 60, mixed)
		x := prose(rng, rng.IntN(80), mixed) + common + prose(rng, rng.IntN(40), latin)
		y := common[:len(common)/2] + prose(rng, rng.IntN(30), mixed) + common[len(common)/2:]

		strict := o // thresholds must not matter
		strict.Resemblance = 1
		c := NewComparer(strict)
		for range 2 {
			dx, dy := Prepare(x, o.Window), Prepare(y, o.Window)
			want := slowScore(o, x, y)
			lenX, lenY := c.SketchLengths(dx, dy)
			swappedY, swappedX := c.SketchLengths(dy, dx)
			if a, _ := order(dx, dy); a != dx {
				want.SketchA, want.SketchB = want.SketchB, want.SketchA
			}
			if lenX != want.SketchA || lenY != want.SketchB || swappedX != lenX || swappedY != lenY {
				t.Fatalf("%+v\n%q\n%q\nsketches of %d and %d, swapped %d and %d, want %d and %d", o, x, y,
					lenX, lenY, swappedX, swappedY, want.SketchA, want.SketchB)
			}
			got := c.TLCSLength(dx, dy)
			if other := c.TLCSLength(dy, dx); got != want.TLCS || other != got {
				t.Fatalf("%+v\n%q\n%q\nTLCS of %d, swapped %d, want %d", o, x, y, got, other, want.TLCS)
			}
			if lenX < dx.Len() {
				shrunk++
			}
			if got < want.LCS {
				untrusted++
			}
		}
	}
	if shrunk == 0 || untrusted == 0 {
		t.Errorf("%d sketches shorter than the text, %d TLCS shorter than the LCS", shrunk, untrusted)
	}
}

// With a window of 1 the length is that of the unfiltered texts: with the whole
// text trusted, the textbook LCS.
func TestLengthOfUnfilteredTexts(t *testing.T) {
	o := Options{Window: 1, Blocks: 1, Resemblance: 1, Containment: 1, Rounds: 1}
	c := NewComparer(o)
	for _, test := range []struct {
		x, y string
		want int
	}{
		{"abcabba", "cbabac", 4}, // Myers' figure 2
		{"", "abc", 0},
		{"xay", "bac", 1},
		{"网页相似", "网相页似", 3},
	} {
		if got := c.TLCSLength(Prepare(test.x, 1), Prepare(test.y, 1)); got != test.want {
			t.Errorf("%q, %q: %d, want %d", test.x, test.y, got, test.want)
		}
	}
	if x, y := c.SketchLengths(Prepare("xay", 1), Prepare("", 1)); x != 0 || y != 0 {
		t.Errorf("sketches of %d and %d with an empty text", x, y)
	}
}
