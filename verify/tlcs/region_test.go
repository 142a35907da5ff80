package tlcs

import (
	"math/rand/v2"
	"testing"
)

func checkRegion(t *testing.T, o Options, d []int32) {
	t.Helper()
	start, end := o.region(d)
	s, e, weight := slowRegion(o, d)
	if start != s || end != e {
		t.Fatalf("%+v, d=%v: region [%d,%d), want [%d,%d) of weight %d", o, d, start, end, s, e, weight)
	}
	if start < end && !o.trusted(d, start, end) {
		t.Fatalf("%+v, d=%v: region [%d,%d) is too steep", o, d, start, end)
	}
}

// curve makes d of steps.
func curve(steps []byte) []int32 {
	d := make([]int32, max(len(steps), 1))
	n := int32(0)
	for i, s := range steps {
		n += int32(s)
		d[i] = n
	}
	return d
}

func TestRegionRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5000 {
		steps := make([]byte, rng.IntN(60))
		density := rng.IntN(10)
		for i := range steps {
			if rng.IntN(10) < density {
				steps[i] = byte(rng.IntN(4))
			}
		}
		slopes := []float64{0, 0.1, 0.2, 0.5, 1, 2}
		checkRegion(t, Options{Blocks: 1 + rng.IntN(12), Slope: slopes[rng.IntN(len(slopes))]}, curve(steps))
	}
}

func TestRegion(t *testing.T) {
	o := Options{Blocks: 5, Slope: 0.1}
	for _, c := range []struct {
		name       string
		steps      string // operations at 0 and at each of the 20 positions of A; "." is none
		start, end int
	}{
		{"nothing edited", ".....................", 0, 20},
		{"all edited", ".11111111111111111111", 0, 0},
		{"insertion before the start is not in the region", "9....................", 0, 20},
		{"template at both ends, centre wins", "......111....111.....", 8, 12},
		{"two mirrored regions, the longer after extension", ".........111.........", 10, 20},
		{"two mirrored regions, the first if equally long", ".........1111........", 0, 8},
		{"extended within the slope", "..........11.........", 0, 20},
	} {
		steps := []byte(c.steps)
		for i := range steps {
			if steps[i] == '.' {
				steps[i] = 0
			} else {
				steps[i] -= '0'
			}
		}
		d := curve(steps)
		checkRegion(t, o, d)
		if start, end := o.region(d); start != c.start || end != c.end {
			t.Errorf("%s: [%d,%d), want [%d,%d)", c.name, start, end, c.start, c.end)
		}
	}
}

func FuzzRegion(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0, 2, 0, 0}, 3, 0.25)
	f.Add([]byte{1, 1, 1}, 1, 0.1)
	f.Add([]byte{0, 0, 0, 0, 1, 0, 0, 0, 0}, 9, 0.0)
	f.Fuzz(func(t *testing.T, steps []byte, blocks int, slope float64) {
		o := Options{Window: 1, Blocks: blocks, Slope: slope, Resemblance: 1, Containment: 1, Rounds: 1}
		if len(steps) > 200 || o.Validate() != nil {
			return
		}
		o.Blocks = min(o.Blocks, 300)
		checkRegion(t, o, curve(steps))
	})
}
