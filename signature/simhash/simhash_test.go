package simhash

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// slow is the lecture's formula, bit by bit.
func slow(features []Feature) (uint64, bool) {
	var s uint64
	any := false
	for k := range Bits {
		v := new(big.Int)
		for _, f := range features {
			any = any || f.Weight > 0
			w := big.NewInt(int64(f.Weight))
			if f.Hash>>k&1 == 1 {
				v.Add(v, w)
			} else {
				v.Sub(v, w)
			}
		}
		if v.Sign() > 0 {
			s |= 1 << k
		}
	}
	return s, any
}

func check(t *testing.T, features []Feature) {
	t.Helper()
	got, ok := Of(features)
	want, wantOK := slow(features)
	if got != want || ok != wantOK {
		t.Fatalf("%v: %x, %v; want %x, %v", features, got, ok, want, wantOK)
	}
}

func TestOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	check(t, nil)
	check(t, []Feature{{5, 0}})
	check(t, []Feature{{5, 0}, {^uint64(0), 0}, {3, 1}})
	check(t, []Feature{{5, 2}, {^uint64(5), 2}}) // a tie is a 0
	for n := range 60 {
		for _, most := range []uint32{1, 2, 3, 1000, math.MaxUint32} {
			var features []Feature
			for range n {
				features = append(features, Feature{r.Uint64(), r.Uint32N(most) + r.Uint32N(2)})
			}
			check(t, features)
		}
	}
	many := slices.Repeat([]Feature{{0xF0F0, math.MaxUint32}, {0x0FF0, math.MaxUint32 - 1}, {0xAAAA, 2}}, 2000)
	check(t, many)
}

func TestOfHashes(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for n := range 100 {
		hashes := make([]uint64, n)
		var features []Feature
		for i := range hashes {
			hashes[i] = r.Uint64() & r.Uint64()
			if i > 0 && i%3 == 0 {
				hashes[i] = hashes[r.IntN(i)]
			}
			features = append(features, Feature{hashes[i], 1})
		}
		got, ok := OfHashes(hashes)
		if want, wantOK := slow(features); got != want || ok != wantOK {
			t.Fatalf("%d hashes: %x, %v; want %x, %v", n, got, ok, want, wantOK)
		}
	}
	huge := make([]uint64, 1_000_000)
	var counts [Bits]int
	for i := range huge {
		huge[i] = r.Uint64()
		for k := range counts {
			counts[k] += int(huge[i] >> k & 1)
		}
	}
	got, _ := OfHashes(huge)
	for k, n := range counts {
		if got>>k&1 == 1 != (2*n > len(huge)) {
			t.Errorf("bit %d of a million hashes is %d, %d have a 1", k, got>>k&1, n)
		}
	}
}

// Order and parts do not matter.
func TestOfTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var features, parts []Feature
	for range 100 {
		f := Feature{r.Uint64(), 2 + r.Uint32N(1000)}
		part := 1 + r.Uint32N(f.Weight-1)
		features = append(features, f)
		parts = append(parts, Feature{f.Hash, part}, Feature{f.Hash, f.Weight - part})
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	a, _ := Of(features)
	b, _ := Of(parts)
	if a != b {
		t.Errorf("%x, in parts and another order %x", a, b)
	}
}

func TestFixedPoint(t *testing.T) {
	for _, c := range []struct {
		weight float64
		want   uint32
	}{
		{0, 0}, {-1, 0}, {math.NaN(), 0}, {math.Inf(-1), 0}, {1, 1024}, {.5, 512}, {1.0 / 4096, 0}, {1.0 / 1024, 1},
		{1e300, math.MaxUint32}, {math.Inf(1), math.MaxUint32},
	} {
		if got := FixedPoint(c.weight); got != c.want {
			t.Errorf("FixedPoint(%v) is %d, want %d", c.weight, got, c.want)
		}
	}
}

// A bit differs with probability θ/π: measured on documents whose angle is
// known, with 64 bits of each of many draws of the features' hashes.
func TestAngle(t *testing.T) {
	const rounds, terms = 1500, 200
	r := rand.New(rand.NewPCG(4, 4))
	for _, common := range []int{0, 50, 100, 150, 190, 200} { // of terms of equal weight: cos θ = common / terms
		theta := math.Acos(float64(common) / terms)
		want := theta / math.Pi
		differ := 0
		for range rounds {
			a, b := make([]uint64, terms), make([]uint64, terms)
			for i := range a {
				a[i] = r.Uint64()
				b[i] = a[i]
				if i >= common {
					b[i] = r.Uint64()
				}
			}
			x, _ := OfHashes(a)
			y, _ := OfHashes(b)
			if Differ(x, y) != Differ(y, x) || Agree(x, y)+Differ(x, y) != Bits {
				t.Fatal("not symmetric")
			}
			differ += Differ(x, y)
		}
		got := float64(differ) / (rounds * Bits)
		// The bound: 4.5 standard errors, and .012 because sums of 200 random
		// signs are not yet normal, and ties are zeros.
		if bound := 4.5*math.Sqrt(want*(1-want)/(rounds*Bits)) + .012*want; math.Abs(got-want) > bound {
			t.Errorf("%d of %d terms in common: %v of the bits differ, want %v within %v", common, terms, got, want, bound)
		}
	}
	for _, c := range []struct {
		differ int
		want   float64
	}{{0, 1}, {32, 0}, {64, -1}, {Distance, .9700}, {DistanceManku, .9892}} {
		if got := Cosine(c.differ); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("Cosine(%d) is %v, want %v", c.differ, got, c.want)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("12345678abcd12345678ABCD"))
	f.Add(make([]byte, 36))
	f.Fuzz(func(t *testing.T, data []byte) {
		var features []Feature
		for ; len(data) >= 12; data = data[12:] {
			features = append(features, Feature{binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint32(data[8:])})
		}
		check(t, features)
	})
}

func BenchmarkOf(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 5))
	features := make([]Feature, 1000)
	for i := range features {
		features[i] = Feature{r.Uint64(), FixedPoint(1 + 3*r.Float64())}
	}
	for b.Loop() {
		Of(features)
	}
}

func BenchmarkOfHashes(b *testing.B) {
	r := rand.New(rand.NewPCG(6, 6))
	hashes := make([]uint64, 1000)
	for i := range hashes {
		hashes[i] = r.Uint64()
	}
	for b.Loop() {
		OfHashes(hashes)
	}
}
