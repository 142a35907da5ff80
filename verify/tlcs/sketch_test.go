package tlcs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// To take a stretch out is to take out each of its code points, of a view that
// has been cut before, too, and in place.
func TestSplice(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 25))
	for range 500 {
		d := Prepare(prose(rng, 1+rng.IntN(120), mixed), 1+rng.IntN(9))
		old := view{d.text, d.ends, d.firsts()}
		var got, want view
		for range 1 + rng.IntN(4) {
			n := len(old.text)
			start := rng.IntN(n + 1)
			end := start + rng.IntN(n-start+1)
			gone := make([]int32, n+1)
			for i := start; i < end; i++ {
				gone[i+1] = 1
			}
			want = view{}
			want.without(old, gone)
			got.splice(old, start, end)
			if !slices.Equal(got.text, want.text) || !slices.Equal(got.ends, want.ends) || !slices.Equal(got.ids, want.ids) {
				t.Fatalf("[%d,%d) of %v:\n%v\n%v", start, end, old, got, want)
			}
			old = got
		}
	}
}
