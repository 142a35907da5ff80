package tlcs

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// first is the same for two windows if and only if they are the same text; also
// where fingerprints collide, as they do when most of their bits are gone.
func TestFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 16))
	for window := 1; window < 12; window++ {
		s := prose(rng, 600, mixed)
		s += s[:len(s)/2]
		for _, mask := range []uint32{^uint32(0), 63 << 26} {
			d := Prepare(s, window)
			for i := range d.prints {
				d.prints[i] &= mask
			}
			seen := map[string]int32{}
			for i, end := range d.ends {
				w := string(d.text[i:end])
				if _, ok := seen[w]; !ok {
					seen[w] = int32(i)
				}
				if d.firsts()[i] != seen[w] || d.has(d, i) != seen[w] {
					t.Fatalf("window %d columns: %q at %d is as at %d, not %d", window, w, i, d.firsts()[i], seen[w])
				}
			}
		}
	}
}

// The windows of a text without wide characters are found by a shorter way, which finds
// the same.
func TestNarrowWindows(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 17))
	for window := 1; window < 40; window++ {
		for n := range 60 {
			d := Prepare(prose(rng, n, latin), window)
			other := &Document{window: window, text: d.text}
			other.windows(bytes.Repeat([]byte{1}, len(d.text)))
			if !slices.Equal(d.ends, other.ends) || !slices.Equal(d.prints, other.prints) {
				t.Fatalf("%q, window of %d columns: ends %v, prints %x, not %v, %x", string(d.text), window, d.ends, d.prints, other.ends, other.prints)
			}
		}
	}
}

// A window is found in another document if and only if it is there, looked up
// or as one that continues the window before.
func TestFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 18))
	for range 100 {
		window := 1 + rng.IntN(12)
		x := prose(rng, 300, mixed)
		y := prose(rng, 40, mixed) + x[:len(x)/3] + prose(rng, 20, mixed) + x[len(x)/2:]
		a, b := Prepare(x, window), Prepare(y, window)
		a.firsts()
		there := map[string]int{}
		for w, end := range a.ends {
			if s := string(a.text[w:end]); there[s] == 0 {
				there[s] = w + 1
			}
		}
		for i, end := range b.ends {
			s := string(b.text[i:end])
			first := int(a.has(b, i))
			if first != there[s]-1 {
				t.Fatalf("%q: window %d, not %d", s, first, there[s]-1)
			}
			if i == 0 {
				continue
			}
			last := int(a.has(b, i-1))
			if last >= 0 && last+1 < len(a.ends) && a.continues(last+1, b, i) != (string(a.text[last+1:a.ends[last+1]]) == s) {
				t.Fatalf("%q after %d", s, last)
			}
		}
	}
}

// Windows of neighbouring fingerprints, which a hostile text can have, are not found side
// by side.
func TestHostileFingerprints(t *testing.T) {
	d := Prepare(strings.Repeat("seal", 10_000), 16)
	d.firsts()
	slots, bits := map[int]bool{}, map[uint64]bool{}
	for print := range uint32(1000) {
		slots[d.slot(print)], bits[d.bit(print)] = true, true
	}
	if len(slots) < 100 || len(bits) < 100 {
		t.Errorf("1,000 fingerprints have %d slots and %d bits", len(slots), len(bits))
	}
}

// Of windows with one fingerprint, so many are found that a text does not have all of
// them compared with each other.
func TestEqualFingerprints(t *testing.T) {
	const n = 500
	var b strings.Builder
	for i := range n {
		b.WriteRune(rune(0x3400 + i))
	}
	d := Prepare(b.String(), 2)
	for i := range d.prints {
		d.prints[i] = 7
	}
	for i, first := range d.firsts() {
		if int(first) != i {
			t.Fatalf("window %d is as window %d", i, first)
		}
		want := int32(i)
		if i >= samePrints {
			want = -1
		}
		if got := d.has(d, i); got != want {
			t.Fatalf("window %d is found at %d, wanted %d", i, got, want)
		}
	}
}
