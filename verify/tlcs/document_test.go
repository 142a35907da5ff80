package tlcs

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestMul(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 15))
	p := big.NewInt(prime)
	edge := []uint64{0, 1, 2, base, prime - 2, prime - 1}
	for i := range 1000 {
		x, y := rng.Uint64N(prime), rng.Uint64N(prime)
		if i < len(edge)*len(edge) {
			x, y = edge[i/len(edge)], edge[i%len(edge)]
		}
		want := new(big.Int).Mul(new(big.Int).SetUint64(x), new(big.Int).SetUint64(y))
		if got := mul(x, y); got != want.Mod(want, p).Uint64() {
			t.Fatalf("mul(%d, %d) = %d, want %d", x, y, got, want)
		}
	}
}

// Two windows share a slot if and only if they are the same text.
func TestFingerprints(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 16))
	for window := 1; window < 12; window++ {
		s := prose(rng, 600, mixed)
		d := Prepare(s+s[:len(s)/2], window)
		seen := map[string]int32{}
		slots := map[int32]bool{}
		for i, end := range d.ends {
			w := string(d.text[i:end])
			if slot, ok := seen[w]; ok != slots[d.slots[i]] || ok && slot != d.slots[i] {
				t.Fatalf("window %d columns: %q at %d is in slot %d, before in %d", window, w, i, d.slots[i], slot)
			}
			seen[w], slots[d.slots[i]] = d.slots[i], true
		}
	}
}
