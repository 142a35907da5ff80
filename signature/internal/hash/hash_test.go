package hash

import (
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Signatures are kept in workspaces: what they are made of must not change. The
// first numbers of SplitMix64 from 0 are those of its reference.
func TestAtIsSplitMix64(t *testing.T) {
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := At(0, i); got != want {
			t.Errorf("number %d is %#x, want %#x", i, got, want)
		}
	}
}

func TestMixIsAPermutation(t *testing.T) {
	// Its inverse, step by step.
	unshift := func(y uint64, s uint) uint64 {
		x := y
		for range 64 / s {
			x = y ^ x>>s
		}
		return x
	}
	inverse := func(c uint64) uint64 {
		m := new(big.Int).Lsh(big.NewInt(1), 64)
		return new(big.Int).ModInverse(new(big.Int).SetUint64(c), m).Uint64()
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		x := r.Uint64()
		y := unshift(Mix(x), 31) * inverse(0x94d049bb133111eb)
		y = unshift(y, 27) * inverse(0xbf58476d1ce4e5b9)
		if y = unshift(y, 30); y != x {
			t.Fatalf("Mix(%x) goes back to %x", x, y)
		}
	}
}

// Each bit of the hash of a word is a fair coin that any change of the word
// throws anew.
func TestStringSpreads(t *testing.T) {
	const words = 4096
	var flips [64]int
	n := 0
	for i := range words {
		w := "page" + strings.Repeat("x", i%13) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		b := []byte(w)
		b[i%len(b)] ^= 1
		d := Mix(String(w)) ^ Mix(String(string(b)))
		for j := range flips {
			flips[j] += int(d >> j & 1)
		}
		n++
	}
	for j, f := range flips { // 6 standard deviations: sqrt(4096)/2 = 32
		if f < n/2-6*32 || f > n/2+6*32 {
			t.Errorf("bit %d flips %d times of %d", j, f, n)
		}
	}
}

func TestStringsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	add := func(s string) {
		if o, ok := seen[String(s)]; ok && o != s {
			t.Fatalf("%q and %q have the same hash", s, o)
		}
		seen[String(s)] = s
	}
	for n := range 300 { // runs of one byte, of zeros too
		add(strings.Repeat("a", n))
		add(strings.Repeat("\x00", n))
	}
	var all func(s string, n int)
	all = func(s string, n int) {
		add(s)
		if n > 0 {
			for _, c := range "ab\x00语" {
				all(s+string(c), n-1)
			}
		}
	}
	all("", 6)
}

func TestWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	modulus := new(big.Int).Lsh(big.NewInt(1), 64)
	for n := range 20 {
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = r.Uint64()
		}
		for w := 1; w <= 8; w++ {
			var want []uint64
			k := min(w, n)
			for i := 0; n > 0 && i+k <= n; i++ {
				sum := new(big.Int)
				for _, h := range hashes[i : i+k] {
					sum.Mul(sum, new(big.Int).SetUint64(base))
					sum.Add(sum, new(big.Int).SetUint64(h))
				}
				want = append(want, Mix(sum.Mod(sum, modulus).Uint64()))
			}
			if got := Windows(nil, hashes, w); !slices.Equal(got, want) {
				t.Fatalf("%d hashes, w %d: %x, want %x", n, w, got, want)
			}
		}
	}
}

// At passes a coarse test of uniformity, started at small numbers.
func TestAt(t *testing.T) {
	ones := 0
	for x := range uint64(64) {
		for i := range 64 {
			ones += bits.OnesCount64(At(x, i))
		}
	}
	if d := ones - 64*64*32; d < -6*256 || d > 6*256 { // standard deviation sqrt(2^18)/2 = 256
		t.Errorf("%d ones, want about %d", ones, 64*64*32)
	}
}
