package minhash

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"neardup/signature/internal/hash"
)

// slowSign is the definition in the package's documentation, word for word.
func slowSign(components int, seed uint64, features []uint64) (out []uint32) {
	for _, x := range slowFirst(components, seed, features) {
		out = append(out, uint32(hash.At(x^seed, 0)>>32))
	}
	return out
}

// slowFirst is each feature's arrivals until it has been at every component,
// and the feature of the least of each component.
func slowFirst(components int, seed uint64, features []uint64) []uint64 {
	if len(features) == 0 {
		return nil
	}
	type first struct{ time, x uint64 }
	least := map[int]first{}
	for _, x := range features {
		x ^= seed
		times := map[int]uint64{}
		time := uint64(0)
		for j := 0; len(times) < components; j++ {
			z := hash.At(x, j)
			time += gap(z >> 24)
			i := int(z % (1 << 24) * uint64(components) / (1 << 24))
			if _, ok := times[i]; !ok {
				times[i] = time
			}
		}
		for i, time := range times {
			if l, ok := least[i]; !ok || time < l.time || time == l.time && x < l.x {
				least[i] = first{time, x}
			}
		}
	}
	var out []uint64
	for i := range components {
		out = append(out, least[i].x^seed)
	}
	return out
}

func randomFeatures(r *rand.Rand, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = r.Uint64()
	}
	return out
}

func TestSignIsTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, components := range []int{1, 2, 7, 85, 128} {
		for _, n := range []int{0, 1, 2, 3, 10, 100, batch - 1, batch, batch + 1, 3 * batch} {
			features := randomFeatures(r, n)
			if n == 100 { // numbers that are no hashes
				for i := range features {
					features[i] = uint64(i)
				}
			}
			seed := r.Uint64() * uint64(n%2)
			got := New(components, seed).Sign([]uint32{9}, features)
			if want := append([]uint32{9}, slowSign(components, seed, features)...); !slices.Equal(got, want) {
				t.Fatalf("%d components, %d features: %x, want %x", components, n, got, want)
			}
			first := New(components, seed).First([]uint64{9}, features)
			if want := append([]uint64{9}, slowFirst(components, seed, features)...); !slices.Equal(first, want) {
				t.Fatalf("%d components, %d features: first %x, want %x", components, n, first, want)
			}
		}
	}
}

// A huge document costs about a step a feature; its order and repetitions do
// not matter, and neither does what the Signer signed before.
func TestSignIsOfTheSet(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	s := New(128, 7)
	for _, n := range []int{1, 5, 1000, 300_000} {
		features := randomFeatures(r, n)
		want := s.Sign(nil, features)
		again := append(slices.Clone(features), features[:n/2]...)
		again = append(again, features[:n/3]...)
		r.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		s.Sign(nil, randomFeatures(r, 50))
		if got := s.Sign(nil, again); !slices.Equal(got, want) {
			t.Errorf("%d features: another order or repetitions change the signature", n)
		}
		same := slices.Repeat(features[:1], n) // one feature, very often
		if got, want := s.Sign(nil, same), s.Sign(nil, features[:1]); !slices.Equal(got, want) {
			t.Errorf("a feature %d times: another signature than once", n)
		}
	}
}

// Which features a signature names: a fixed example, so that a change of the
// definition is not missed.
func TestSignIsFixed(t *testing.T) {
	got := New(4, 42).Sign(nil, []uint64{1, 2, 3, 4, 5})
	if want := []uint32{0x118e846e, 0x7bb3c45c, 0x369eae0b, 0x7bb3c45c}; !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}

func TestNewPanics(t *testing.T) {
	for _, n := range []int{-1, 0, MaxComponents + 1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("New(%d) does not panic", n)
				}
			}()
			New(n, 0)
		}()
	}
}

func TestGap(t *testing.T) {
	check := func(v uint64) {
		want := -math.Log1p(-float64(v) / spans)
		if got := float64(gap(v)) / second; math.Abs(got-want) > 2e-7 {
			t.Fatalf("gap(%d) is %v, want about %v", v, got, want)
		}
		if v > 0 && gap(v) < gap(v-1) {
			t.Fatalf("gap falls at %d", v)
		}
	}
	r := rand.New(rand.NewPCG(3, 3))
	for i := range uint64(100_000) {
		check(r.Uint64N(spans))
		check(i)
		check(spans - 1 - i)
		check(r.Uint64N(1 << (i % 40)))
		check(spans - 1 - r.Uint64N(1<<(i%40)))
	}
	for i := range steps { // where the table's intervals meet
		for s := range 3 {
			if v := spans - (spans+uint64(i)<<30)>>s; v < spans {
				check(v)
			}
		}
	}
}

// No logarithm of the table is so near to a tie that its rounding depends on
// the last places of math.Log1p.
func TestLogarithmsAreFarFromTies(t *testing.T) {
	for i := range logarithms {
		x := second * math.Log1p(float64(i)/steps)
		if f := x - math.Floor(x); math.Abs(f-.5) < 1e-5 { // 8 last places of x < 2^32 are 4e-6
			t.Errorf("ln(1+%d/%d) is %v ticks", i, steps, x)
		}
	}
}

// planted is two sets of n features in all, of which j·n are in both.
func planted(r *rand.Rand, n int, j float64) (a, b []uint64) {
	all := randomFeatures(r, n)
	both := int(math.Round(j * float64(n)))
	rest := (n - both) / 2
	return all[:both+rest], slices.Concat(all[:both], all[both+rest:])
}

// The estimate is unbiased, and its variance that of independent components.
func TestEstimateIsUnbiased(t *testing.T) {
	const rounds, components = 3000, 64
	r := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 10, 100, 2000} {
		for _, j := range []float64{0, .1, .5, .8, 1} {
			if n == 1 && j > 0 && j < 1 {
				continue
			}
			t.Run(fmt.Sprintf("%d/%v", n, j), func(t *testing.T) {
				sum, squares := 0.0, 0.0
				rounds := rounds
				if n == 2000 {
					rounds /= 10
				}
				for range rounds {
					a, b := planted(r, n, j)
					s := New(components, r.Uint64())
					x, y := s.Sign(nil, a), s.Sign(nil, b)
					e := Estimate(x, y)
					if e != Estimate(y, x) {
						t.Fatal("not symmetric")
					}
					sum += e
					squares += (e - j) * (e - j)
				}
				want := j * (1 - j) / components
				mean, variance := sum/float64(rounds), squares/float64(rounds)
				if bound := 4.5*math.Sqrt(want/float64(rounds)) + 1e-12; n > 1 && math.Abs(mean-j) > bound {
					t.Errorf("mean %v, want %v within %v", mean, j, bound)
				}
				// The relative standard error of a variance is sqrt(2/rounds).
				if bound := 4.5 * math.Sqrt(2/float64(rounds)) * want; n > 1 && math.Abs(variance-want) > bound {
					t.Errorf("variance %v, want %v within %v", variance, want, bound)
				}
			})
		}
	}
}

func TestEstimateOfNothing(t *testing.T) {
	s := New(8, 1)
	some := s.Sign(nil, []uint64{1, 2})
	if none := s.Sign(nil, nil); none != nil || Estimate(none, none) != 0 || Estimate(some, none) != 0 || Estimate(none, some) != 0 {
		t.Error("a document without features resembles something")
	}
	if Estimate(some, some) != 1 {
		t.Error("a document is not like itself")
	}
}

func FuzzSign(f *testing.F) {
	f.Add([]byte(""), uint16(1), uint64(0))
	f.Add([]byte("12345678abcdefgh12345678"), uint16(16), uint64(42))
	f.Add(make([]byte, 64), uint16(127), uint64(1<<63))
	f.Fuzz(func(t *testing.T, data []byte, components uint16, seed uint64) {
		n := int(components)%200 + 1
		var features []uint64
		for len(data) >= 8 && len(features) < 100 {
			features = append(features, binary.LittleEndian.Uint64(data))
			data = data[8:]
		}
		got := New(n, seed).Sign(nil, features)
		if want := slowSign(n, seed, features); !slices.Equal(got, want) {
			t.Fatalf("%x, want %x", got, want)
		}
	})
}
