package ppjoin

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// decimal returns the shortest decimal that reads as v.
func decimal(v float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	if !ok {
		panic("ppjoin: not a finite number") // Validate rejects it
	}
	return r
}

// limit returns the exact value of the threshold v. For up to 15 digits it is the
// decimal that the digits write, so that .8 means four fifths. For a fraction that
// no float64 equals it is the least value that rounds to v.
func limit(v float64) *big.Rat {
	if s := strconv.FormatFloat(v, 'e', -1, 64); strings.Index(s, "e") <= len("0.")+14 {
		return decimal(v)
	}
	at, below := new(big.Rat).SetFloat64(v), new(big.Rat).SetFloat64(math.Nextafter(v, 0))
	return at.Add(at, below).Quo(at, big.NewRat(2, 1))
}

// reachesExactly reports whether a measure of sums reaches t: of the weights of
// what two records have in common, of x and of y; for Cosine of their squares.
// With weights of 1 these are sizes.
func reachesExactly(m Measure, t, common, x, y *big.Rat) bool {
	left, right := new(big.Rat), new(big.Rat)
	switch m {
	case Jaccard: // common/(x+y-common) >= t
		left.Set(common)
		right.Add(x, y).Sub(right, common).Mul(right, t)
	case Cosine: // common/√xy >= t
		left.Mul(common, common)
		right.Mul(x, y).Mul(right, t).Mul(right, t)
	default:
		left.Set(common)
		right.Set(t)
	}
	return common.Sign() > 0 && left.Cmp(right) >= 0
}

// sums lists, by their IDs, the tokens on whose weights the similarity of two
// records x and y depends.
type sums struct{ common, x, y []uint32 }

// sumsOf returns the distinct tokens of two records, and those in common.
func sumsOf(x, y []uint32) sums {
	distinct := func(record []uint32) []uint32 {
		s := slices.Clone(record)
		slices.Sort(s)
		return slices.Compact(s)
	}
	s := sums{x: distinct(x), y: distinct(y)}
	for _, t := range s.x {
		if _, ok := slices.BinarySearch(s.y, t); ok {
			s.common = append(s.common, t)
		}
	}
	return s
}

// reaches reports whether the similarity of two records reaches t exactly.
func (w *Weights) reaches(m Measure, t *big.Rat, x, y []uint32) bool {
	s := sumsOf(x, y)
	if w.frequencies != nil {
		return w.logsReach(m, t, s)
	}
	sum := func(tokens []uint32) *big.Rat {
		total := new(big.Rat)
		for _, id := range tokens {
			v := decimal(w.values[id])
			if m == Cosine {
				v.Mul(v, v)
			}
			total.Add(total, v)
		}
		return total
	}
	return reachesExactly(m, t, sum(s.common), sum(s.x), sum(s.y))
}

// logsReach is reaches for weights that are logarithms of fractions. It first
// compares the two sides symbolically, with the logarithms of primes as variables:
// the records are exactly on the threshold if the two sides are one polynomial. For
// degree 1 (Jaccard) this follows from unique factorization. For products of such
// logarithms (Cosine) no other relations are known (Schanuel's conjecture says that
// there are none). If the sides differ, they are computed to as many digits as it
// takes to order them.
func (w *Weights) logsReach(m Measure, t *big.Rat, s sums) bool {
	if len(s.common) == 0 {
		return false
	}
	if m != Overlap && w.onThreshold(m, t, s) {
		return true
	}
	for prec := uint(192); ; prec *= 2 {
		logs := map[int]*big.Float{}
		log := func(n int) *big.Float {
			if logs[n] == nil {
				logs[n] = bigLog(n, prec)
			}
			return logs[n]
		}
		sum := func(tokens []uint32) *big.Rat {
			total := new(big.Float).SetPrec(prec)
			for _, id := range tokens {
				v := new(big.Float).SetPrec(prec).Sub(log(w.records), log(w.frequencies[id]))
				if m == Cosine {
					v.Mul(v, v)
				}
				total.Add(total, v)
			}
			r, _ := total.Rat(nil)
			return r
		}
		common, x, y := sum(s.common), sum(s.x), sum(s.y)
		if common.Sign() <= 0 {
			return false // the common tokens weigh 0: all records have them
		}
		// Rounding touches far fewer than half of the digits.
		near := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), prec/2))
		below := new(big.Rat).Mul(t, new(big.Rat).Sub(big.NewRat(1, 1), near))
		above := new(big.Rat).Mul(t, new(big.Rat).Add(big.NewRat(1, 1), near))
		low, high := reachesExactly(m, below, common, x, y), reachesExactly(m, above, common, x, y)
		if low == high {
			return low
		}
	}
}

// onThreshold reports whether both sides of the comparison with t = p/q are one
// polynomial in the logarithms of primes. It compares their values at random
// points. Two different polynomials of degree 4 agree at a random point below 2⁶¹
// with a probability of at most 2⁻⁵⁹ (Schwartz, Zippel), and at all of four points
// with 2⁻²³⁶. The points are fixed, so that results repeat.
func (w *Weights) onThreshold(m Measure, t *big.Rat, s sums) bool {
	p := new(big.Int).Mod(t.Num(), big.NewInt(mersenne)).Uint64()
	q := new(big.Int).Mod(t.Denom(), big.NewInt(mersenne)).Uint64()
	for seed := range uint64(4) {
		point := func(n int) uint64 { return logAt(n, seed) }
		of := point(w.records)
		sum := func(tokens []uint32) (total uint64) {
			for _, id := range tokens {
				v := addMod(of, mersenne-point(w.frequencies[id]))
				if m == Cosine {
					v = mulMod(v, v)
				}
				total = addMod(total, v)
			}
			return total
		}
		common, x, y := sum(s.common), sum(s.x), sum(s.y)
		left, right := mulMod(q, common), uint64(0)
		if m == Jaccard {
			right = mulMod(p, addMod(addMod(x, y), mersenne-common))
		} else {
			left = mulMod(left, left)
			right = mulMod(mulMod(p, p), mulMod(x, y))
		}
		if left != right {
			return false
		}
	}
	return true
}

// mersenne is the prime 2⁶¹ - 1.
const mersenne = 1<<61 - 1

func addMod(a, b uint64) uint64 { return (a + b) % mersenne }

func mulMod(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return bits.Rem64(high, low, mersenne)
}

// logAt returns the logarithm of n modulo 2⁶¹ - 1, where the logarithm of each
// prime is a number that depends only on the prime and the seed.
func logAt(n int, seed uint64) (sum uint64) {
	add := func(prime int) {
		sum = addMod(sum, mix(mix(uint64(prime)+seed<<32)+spread)%mersenne)
	}
	for prime := 2; prime*prime <= n; prime++ {
		for ; n%prime == 0; n /= prime {
			add(prime)
		}
	}
	if n > 1 {
		add(n)
	}
	return sum
}

// bigLog returns the natural logarithm of n with about prec bits: log n = k log 2 +
// log(n/2ᵏ), and log m = 2 artanh((m-1)/(m+1)) by its series, for m from 1 to 2 at
// most a third.
func bigLog(n int, prec uint) *big.Float {
	k := bits.Len(uint(n)) - 1
	artanh := func(num, den int64) *big.Float {
		work := prec + 64
		z := new(big.Float).SetPrec(work).Quo(new(big.Float).SetPrec(work).SetInt64(num), new(big.Float).SetPrec(work).SetInt64(den))
		square := new(big.Float).SetPrec(work).Mul(z, z)
		sum, power := new(big.Float).SetPrec(work).Set(z), new(big.Float).SetPrec(work).Set(z)
		for i := int64(3); power.Sign() != 0 && power.MantExp(nil) > -int(work); i += 2 {
			power.Mul(power, square)
			sum.Add(sum, new(big.Float).SetPrec(work).Quo(power, new(big.Float).SetPrec(work).SetInt64(i)))
		}
		return sum.Add(sum, sum)
	}
	log := artanh(1, 3) // log 2
	log.Mul(log, new(big.Float).SetInt64(int64(k)))
	log.Add(log, artanh(int64(n)-1<<k, int64(n)+1<<k))
	return log.SetPrec(prec)
}

// near is the distance from the threshold within which float64 is not trusted.
const near = 1e-9

// precision is the relative error of an overlap above which the similarity is
// computed again, from the weights. It leaves the six decimals that are shown.
const precision = 1e-9

// decide returns the similarity of records of masses x and y with the given
// overlap, and whether it reaches the threshold. With weights, what is too near the
// threshold for rounded ones is decided exactly, and what rounding changed too much
// is computed from the weights of the records' tokens.
func (b *bounds) decide(x, y, overlap int64, tokens func() (x, y []uint32)) (s float64, ok bool) {
	s = b.similarity(x, y, overlap)
	if overlap <= 0 {
		return s, false
	}
	if b.measure == Hamming {
		return s, s <= b.threshold
	}
	margin := near * max(1, b.threshold)
	if b.slack > 0 {
		margin += b.slack / max(1, min(float64(x), float64(y)))
		if b.measure == Overlap {
			margin += b.slack / b.unit
		}
	}
	switch {
	case math.Abs(s-b.threshold) > margin:
		ok = s > b.threshold
	case b.slack > 0:
		tokensX, tokensY := tokens()
		ok = b.weights.reaches(b.measure, b.limit, tokensX, tokensY)
	default:
		ok = b.sizesReach(x, y, overlap)
	}
	if !ok {
		return s, false
	}
	if b.slack > precision*float64(overlap) { // the masses are at least the overlap
		tokensX, tokensY := tokens()
		s = b.weights.similarity(b.measure, tokensX, tokensY)
	}
	return max(s, b.threshold), true
}

// sizesReach is reachesExactly for sizes.
func (b *bounds) sizesReach(x, y, common int64) bool {
	if b.limit.Num().IsInt64() && b.limit.Denom().IsInt64() {
		p, q := b.limit.Num().Uint64(), b.limit.Denom().Uint64()
		switch {
		case b.measure == Jaccard:
			return productsReach(uint64(common), q, uint64(x+y-common), p)
		case b.measure == Cosine && max(p, q) < 1<<24: // sizes are below 2³¹
			return productsReach(uint64(common)*q, uint64(common)*q, p*p, uint64(x)*uint64(y))
		}
	}
	rat := func(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }
	return reachesExactly(b.measure, b.limit, rat(common), rat(x), rat(y))
}

// productsReach reports whether a·b >= c·d.
func productsReach(a, b, c, d uint64) bool {
	high, low := bits.Mul64(a, b)
	least, rest := bits.Mul64(c, d)
	return high > least || high == least && low >= rest
}

// given returns the tokens of a weighted record, as given.
func (t *table) given(n int32) []uint32 {
	return t.cs[t.records[n].side].Record(int(t.memberList(n)[0]))
}
