package ppjoin_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"neardup/cluster/ppjoin"
)

// slowReaches reports whether two records reach the threshold: by s, their
// similarity as float64, if it is far enough from it, else in exact arithmetic.
func slowReaches(o ppjoin.Options, s float64, x, y map[uint32]bool, aloneX, aloneY int) bool {
	if s == 0 || math.Abs(s-o.Threshold) > 1e-9*max(1, o.Threshold) {
		return s > 0 && s >= o.Threshold
	}
	// What the threshold stands for, a decimal of up to 15 digits or all that
	// rounds to it.
	text := strconv.FormatFloat(o.Threshold, 'g', 15, 64)
	at, _ := new(big.Rat).SetString(text)
	if back, _ := strconv.ParseFloat(text, 64); back != o.Threshold {
		at.SetFloat64(o.Threshold)
		below := new(big.Rat).SetFloat64(math.Nextafter(o.Threshold, 0))
		at.Add(at, below).Quo(at, big.NewRat(2, 1))
	}
	common := map[uint32]bool{}
	for t := range x {
		if y[t] {
			common[t] = true
		}
	}
	var c, mx, my *big.Rat
	switch frequencies, records := logarithms(o); {
	case frequencies == nil:
		sum := func(s map[uint32]bool, alone int) *big.Rat {
			total := big.NewRat(int64(alone), 1)
			for t := range s {
				w := big.NewRat(1, 1)
				if o.Weights != nil {
					w.SetString(strconv.FormatFloat(o.Weights.Of(t), 'g', -1, 64))
				}
				if o.Measure == ppjoin.Cosine {
					w.Mul(w, w)
				}
				total.Add(total, w)
			}
			return total
		}
		c, mx, my = sum(common, 0), sum(x, aloneX), sum(y, aloneY)
	case o.Measure == ppjoin.Jaccard && at.Denom().IsInt64() && at.Denom().Int64() < 1000:
		// The product of n/f, over common tokens to the power of q, over those
		// of both to the power of p: t = p/q.
		power := func(s map[uint32]bool, n *big.Int) *big.Rat {
			product := big.NewRat(1, 1)
			for t := range s {
				product.Mul(product, big.NewRat(int64(records), int64(frequencies[t])))
			}
			num := new(big.Int).Exp(product.Num(), n, nil)
			return new(big.Rat).SetFrac(num, new(big.Int).Exp(product.Denom(), n, nil))
		}
		both := map[uint32]bool{}
		for t := range x {
			both[t] = true
		}
		for t := range y {
			both[t] = true
		}
		return power(common, at.Denom()).Cmp(power(both, at.Num())) >= 0
	default: // 300 digits; 240 equal ones are no chance
		sum := func(s map[uint32]bool) *big.Rat {
			total := new(big.Float).SetPrec(1000)
			for t := range s {
				w := new(big.Float).SetPrec(1000).Sub(slowLog(records), slowLog(frequencies[t]))
				if o.Measure == ppjoin.Cosine {
					w.Mul(w, w)
				}
				total.Add(total, w)
			}
			r, _ := total.Rat(nil)
			return r
		}
		c, mx, my = sum(common), sum(x), sum(y)
		tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 800))
		at.Mul(at, tiny.Sub(big.NewRat(1, 1), tiny))
	}
	switch o.Measure {
	case ppjoin.Jaccard:
		return c.Cmp(at.Mul(at, mx.Add(mx, my).Sub(mx, c))) >= 0
	case ppjoin.Cosine:
		return c.Mul(c, c).Cmp(at.Mul(at, at).Mul(at, mx).Mul(at, my)) >= 0
	default:
		return c.Cmp(at) >= 0
	}
}

// logarithms returns what weights by idf are logarithms of, or nil.
func logarithms(o ppjoin.Options) (frequencies []int, records int) {
	if o.Weights == nil {
		return nil, 0
	}
	return o.Weights.Logarithms()
}

var slowLogs = map[int]*big.Float{}

// slowLog returns the logarithm of n by the series of 2 artanh((n-1)/(n+1)).
func slowLog(n int) *big.Float {
	if l := slowLogs[n]; l != nil {
		return l
	}
	float := func(n int) *big.Float { return new(big.Float).SetPrec(1000).SetInt64(int64(n)) }
	z := new(big.Float).SetPrec(1000).Quo(float(n-1), float(n+1))
	square, sum, power := new(big.Float).SetPrec(1000).Mul(z, z), float(0), z
	for i := 1; power.Sign() != 0 && power.MantExp(nil) > -1000; i += 2 {
		sum.Add(sum, new(big.Float).SetPrec(1000).Quo(power, float(i)))
		power = new(big.Float).SetPrec(1000).Mul(power, square)
	}
	slowLogs[n] = sum.Add(sum, sum)
	return slowLogs[n]
}

// tied returns a collection of records with weights by idf of which many pairs
// stand exactly on a threshold. Tokens have frequencies that make their weights
// multiples of one another: n/f is a power of one number. So records that have
// tokens of equal weights in all can differ in their number.
func tied(r *rand.Rand, base int) ppjoin.Collection {
	const records = 1296 // 6⁴, 36²
	type token struct {
		id   uint32
		logs int
	}
	var pool []token
	frequency := map[uint32]int{}
	id := uint32(0)
	for logs, f := 1, records/base; f >= 2 && records%f == 0; logs, f = logs+1, f/base {
		for range 6 {
			pool = append(pool, token{id, logs})
			frequency[id] = f
			id++
		}
		if f%base != 0 {
			break
		}
	}
	var c [records][]uint32
	used := map[uint32]int{}
	put := func(i int, t uint32) {
		if !slices.Contains(c[i], t) && used[t] < frequency[t] {
			c[i] = append(c[i], t)
			used[t]++
		}
	}
	for i := range 60 {
		for _, k := range r.Perm(len(pool))[:2+r.IntN(6)] {
			put(i, pool[k].id)
		}
		if i > 0 && r.IntN(2) == 0 { // most of another record
			for _, t := range c[r.IntN(i)] {
				put(i, t)
			}
		}
	}
	at := 60
	for _, k := range pool { // up to its frequency, in records that have little else
		for ; used[k.id] < frequency[k.id]; at++ {
			put(60+at%(records-60), k.id)
		}
	}
	var out ppjoin.Collection
	for _, s := range c {
		out.Add(s...)
	}
	return out
}

// TestTies: pairs exactly on the threshold are found, and no pair below it.
func TestTies(t *testing.T) {
	sequential(t)
	r := rand.New(rand.NewPCG(11, 12))
	ties := map[string]int{}
	for round := range 6 {
		c := tied(r, []int{2, 3, 6}[round%3])
		idf := ppjoin.IDF(c)
		frequencies, _ := idf.Logarithms()
		decimals := make([]float64, len(frequencies))
		for i := range decimals {
			decimals[i] = []float64{.1, .3, .4, .5, .8}[r.IntN(5)] // whose sums float64 does not have
		}
		first := ppjoin.Collection{Tokens: c.Tokens, Ends: c.Ends[:60]}
		for _, w := range []struct {
			name    string
			weights *ppjoin.Weights
		}{{"idf", idf}, {"given", ppjoin.Given(decimals)}} {
			for _, m := range []struct {
				measure    ppjoin.Measure
				thresholds []float64
			}{{ppjoin.Jaccard, []float64{.5, .6, .75, .8, 2. / 3}}, {ppjoin.Cosine, []float64{.5, .6, .75, .8}}, {ppjoin.Overlap, []float64{.3, .9, 1.2, 2.3}}} {
				for _, threshold := range m.thresholds {
					o := ppjoin.Options{Measure: m.measure, Threshold: threshold, Weights: w.weights}
					searches := []ppjoin.Options{{Algorithm: ppjoin.AllPairs}, {}, {Algorithm: ppjoin.PPJoinPlus, MaxDepth: 3}}
					same(t, first, nil, o, searches...)
					same(t, first, &first, o, searches...)
					for _, p := range slow(first, nil, o) {
						if math.Abs(p.Similarity-threshold) < 1e-12 {
							ties[fmt.Sprint(w.name, m.measure)]++
						}
					}
				}
			}
		}
	}
	for _, kind := range []string{"idf0", "idf1", "given0", "given1", "given2"} {
		if ties[kind] < 10 {
			t.Errorf("%s: %d pairs on a threshold, they tell little", kind, ties[kind])
		}
	}
	t.Log(ties)
}

// TestConstructedTies: 1,600 pairs whose Jaccard coefficient by idf is exactly
// four fifths, of tokens whose weights are 7 to 11 times log 2, and 100 that lack
// a token.
func TestConstructedTies(t *testing.T) {
	const ties, below, records = 1600, 100, 4096 // 2¹²: a token of 2^(12-i) records weighs i times log 2
	r := rand.New(rand.NewPCG(13, 14))
	all := make([][]uint32, records)
	next := uint32(0)
	filler := 0
	token := func(logs int, in ...int) {
		for _, i := range in {
			all[i] = append(all[i], next)
		}
		for range 1<<(12-logs) - len(in) {
			i := 2*(ties+below) + filler%(records-2*(ties+below))
			all[i] = append(all[i], next)
			filler++
		}
		next++
	}
	// parts writes a number as a sum of numbers from 7 to 11.
	parts := func(n int) (out []int) {
		for n > 0 {
			k := 7 + r.IntN(5)
			for k > n || n-k > 0 && n-k < 7 {
				if k = 7 + r.IntN(5); n < 14 && n > 11 {
					return nil
				}
			}
			out = append(out, k)
			n -= k
		}
		return out
	}
	for i := range ties + below {
		var common, x, y []int
		for common == nil || x == nil || y == nil { // in common 4k, apart k
			k := 14 + r.IntN(20)
			left := 7 + r.IntN(k-13)
			common, x, y = parts(4*k), parts(left), parts(k-left)
		}
		if i >= ties {
			common = common[1:]
		}
		for _, logs := range common {
			token(logs, 2*i, 2*i+1)
		}
		for _, logs := range x {
			token(logs, 2*i)
		}
		for _, logs := range y {
			token(logs, 2*i+1)
		}
	}
	var c ppjoin.Collection
	for _, s := range all {
		c.Add(s...)
	}
	for _, o := range []ppjoin.Options{{Algorithm: ppjoin.AllPairs}, {}, {Algorithm: ppjoin.PPJoinPlus, MaxDepth: 2}} {
		o.Threshold, o.Weights = .8, ppjoin.IDF(c)
		found := map[int]bool{}
		pairs, _ := fast(t, c, nil, o)
		for _, p := range pairs {
			if p.B == p.A+1 && p.A%2 == 0 && p.A < 2*(ties+below) {
				found[p.A/2] = true
			}
		}
		for i := range ties + below {
			if found[i] != (i < ties) {
				t.Fatalf("algorithm %d: pair %d of %d on the threshold and %d below is found: %v", o.Algorithm, i, ties, below, found[i])
			}
		}
	}
}
