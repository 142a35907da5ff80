package minhash

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBandsIsTheLeast(t *testing.T) {
	// found is 1 - (1-t^k)^l, exactly, t in hundredths.
	found := func(t int64, k, l int) *big.Rat {
		one := big.NewRat(1, 1)
		power := func(x *big.Rat, n int) *big.Rat {
			y := big.NewRat(1, 1)
			for range n {
				y.Mul(y, x)
			}
			return y
		}
		miss := new(big.Rat).Sub(one, power(big.NewRat(t, 100), k))
		return new(big.Rat).Sub(one, power(miss, l))
	}
	for _, hundredths := range []int64{30, 50, 70, 80, 85, 90, 95, 99, 100} {
		for k := 1; k <= 8; k++ {
			l := Bands(float64(hundredths)/100, Recall, k)
			if l > 300 {
				continue
			}
			want := big.NewRat(95, 100)
			if found(hundredths, k, l).Cmp(want) < 0 || l > 1 && found(hundredths, k, l-1).Cmp(want) >= 0 {
				t.Errorf("Bands(.%d, .95, %d) is %d, not the least that is enough", hundredths, k, l)
			}
		}
	}
	for _, c := range []struct {
		t       float64
		k, want int
	}{{.8, 5, 8}, {.9, 5, 4}, {.5, 5, 95}, {1e-9, 9, math.MaxInt32}, {0, 3, math.MaxInt32}} {
		if got := Bands(c.t, Recall, c.k); got != c.want {
			t.Errorf("Bands(%v, %v, %d) is %d, want %d", c.t, Recall, c.k, got, c.want)
		}
	}
}

func TestCurves(t *testing.T) {
	for _, c := range []LSH{{1, 1}, {5, 8}, {8, 16}, {4, 256}, {1, 1000}, {1000, 1}} {
		if c.Candidate(0) != 0 || c.Candidate(1) != 1 || c.Miss(0) != 1 || c.Miss(1) != 0 {
			t.Errorf("%v: wrong at the ends", c)
		}
		last := 0.0
		for i := range 1001 {
			s := float64(i) / 1000
			want := 1 - math.Pow(1-math.Pow(s, float64(c.Rows)), float64(c.Bands))
			if math.Abs(c.Candidate(s)-want) > 1e-12 || math.Abs(c.Candidate(s)+c.Miss(s)-1) > 1e-12 || c.Candidate(s) < last {
				t.Fatalf("%v at %v: %v, %v; want %v", c, s, c.Candidate(s), c.Miss(s), want)
			}
			last = c.Candidate(s)
		}
		for _, at := range []float64{.3, .5, .7, .8, .9} {
			var positives, negatives float64 // midpoints
			const n = 100_000
			for i := range n {
				x := (float64(i) + .5) / n
				positives += c.Candidate(x*at) * at / n
				negatives += c.Miss(at+x*(1-at)) * (1 - at) / n
			}
			if math.Abs(c.FalsePositives(at)-positives) > 1e-6 || math.Abs(c.FalseNegatives(at)-negatives) > 1e-6 {
				t.Errorf("%v at %v: areas %v, %v; want %v, %v", c, at, c.FalsePositives(at), c.FalseNegatives(at), positives, negatives)
			}
		}
	}
}

// The promise: at the threshold, and with documents of any length, a pair is
// found with the probability that the paper's l is derived from.
func TestRecall(t *testing.T) {
	const pairs = 2000
	r := rand.New(rand.NewPCG(5, 5))
	for _, at := range []float64{.5, .8, .9} {
		for _, n := range []int{10, 100, 1000} {
			t.Run(fmt.Sprintf("%v/%d", at, n), func(t *testing.T) {
				c := LSH{Rows: 5, Bands: Bands(at, Recall, 5)}
				pairs := pairs
				if n == 1000 {
					pairs /= 4
				}
				found := 0
				for range pairs {
					a, b := planted(r, n, at)
					s := New(c.Components(), r.Uint64())
					x := c.AppendKeys(nil, s.Sign(nil, a))
					y := c.AppendKeys(nil, s.Sign(nil, b))
					if slices.ContainsFunc(x, func(k uint64) bool { return slices.Contains(y, k) }) {
						found++
					}
				}
				p := c.Candidate(at)
				rate, error := float64(found)/float64(pairs), math.Sqrt(p*(1-p)/float64(pairs))
				if math.Abs(rate-p) > 4*error {
					t.Errorf("%v finds %v of the pairs, want %v within %v", c, rate, p, 4*error)
				}
			})
		}
	}
}

// A collection with planted pairs at and over the threshold: no less than 95%
// are found, and all that is found shares a band.
func TestRecallOfACollection(t *testing.T) {
	const threshold = .8
	r := rand.New(rand.NewPCG(6, 6))
	c := LSH{Rows: 5, Bands: Bands(threshold, Recall, 5)}
	s := New(c.Components(), 1)
	var keys [][]uint64
	for range 1000 {
		a, b := planted(r, 20+r.IntN(300), threshold+.2*r.Float64())
		keys = append(keys, c.AppendKeys(nil, s.Sign(nil, a)), c.AppendKeys(nil, s.Sign(nil, b)))
	}
	found := 0
	for i := 0; i < len(keys); i += 2 {
		for band, key := range keys[i] {
			if keys[i+1][band] == key {
				found++
				break
			}
		}
	}
	if found < 950 {
		t.Errorf("%d of 1000 planted pairs are found, promised are 950", found)
	}
}

func TestKeys(t *testing.T) {
	c := LSH{Rows: 2, Bands: 3}
	keys := c.AppendKeys([]uint64{7}, []uint32{1, 2, 1, 2, 2, 1})
	if len(keys) != 4 || keys[0] != 7 || keys[1] == keys[2] {
		t.Errorf("%x: want 7 and three keys that differ by their bands", keys)
	}
	if got := c.AppendKeys(nil, nil); len(got) != 0 {
		t.Errorf("%x: keys of a document without a signature", got)
	}
}
