// Package minhash computes MinHash signatures and finds the documents whose
// signatures agree in a band: the LSH of Xiao, Wang, Lin, Yu, Wang: Efficient
// similarity joins for near-duplicate detection, ACM TODS 2011, section 8.1.1,
// on the min-wise permutations of Broder and others (the lecture on finding
// near-duplicate documents, slides 15 to 17).
//
// A document is a set of features, which are 64-bit numbers: hashes of shingles
// (neardup/signature/words) or of anything else. A signature has k·l
// components, of which each agrees between two documents with probability J,
// the Jaccard coefficient of their features, independently of the others.
//
// # Definition
//
// Let x be a feature. SplitMix64, started at x ^ seed, gives numbers z(1), z(2)
// and so on. The upper 40 bits of z(j), v, are a span of time -ln(1 - v/2^40)
// (see gap for how it is computed), the lower 24 bits, u, an index: u·n/2^24
// for n components, rounded down. So every feature is a Poisson process of
// arrivals at times t(j), the sum of the first j spans, which are thrown on the
// components at random. The time of the first arrival of x at component i is
// the value of the i-th random permutation at x: such times are independent
// for all x and i, and of one distribution, which is all that a min-wise
// permutation has to be. Component i of a signature names the feature that
// arrives there first of all features of the document (of features at the same
// tick, that with the smaller x ^ seed), by the upper half of its z(1).
//
// The usual way is k·l functions ax+b of every feature. Here a feature whose
// first arrival is late cannot be first anywhere, so a document of N features
// costs N + k·l·ln(k·l) steps, not N·k·l. This is Ertl's ProbMinHash (TKDE
// 2020, algorithm 1) with all weights 1.
package minhash

import (
	"math"
	"math/bits"
	"slices"

	"neardup/signature/internal/hash"
)

// MaxComponents is the largest number of components of a signature. Indexes are
// drawn with 24 bits; up to this number no index is more than 2^-8 likelier
// than another.
const MaxComponents = 1 << 16

// Signer signs documents one after another; it is not safe for concurrent use.
type Signer struct {
	seed   uint64
	minima []arrival

	// Scratch memory, reused from document to document.
	live     [batch + 1]event // features with arrivals still to come
	distinct []uint64
}

// batch is the number of features processed at once. Their events fit into the
// first-level cache.
const batch = 1024

// event is the next arrival of a feature.
type event struct{ feature, z, time uint64 } // z of the arrival, time of the previous one

// arrival is the first at a component so far.
type arrival struct{ time, feature uint64 }

// none is later than any arrival.
var none = arrival{math.MaxUint64, math.MaxUint64}

// New returns a Signer for the given number of components, 1 to MaxComponents. It
// panics on other numbers. Signatures are comparable only if their seeds and
// numbers of components are equal.
func New(components int, seed uint64) *Signer {
	if components < 1 || components > MaxComponents {
		panic("minhash: the number of components must be from 1 to 65536")
	}
	return &Signer{seed: seed, minima: make([]arrival, components)}
}

// spare is the c of the first guess of how long to watch arrivals: after it,
// all components have had one with probability exp(-exp(-c)). A smaller c makes
// second rounds more frequent, a larger one the first round longer; from 1.5 to
// 3.5 it hardly matters (BenchmarkSign).
const spare = 2.5

// Sign appends the signature of a document to dst. Neither the order of its
// features nor repetitions change it. A document without features has no signature:
// Sign returns dst unchanged.
func (s *Signer) Sign(dst []uint32, features []uint64) []uint32 {
	for _, m := range s.first(features) {
		dst = append(dst, uint32(hash.At(m.feature, 0)>>32))
	}
	return dst
}

// First appends to dst, for each component, the feature that its signature
// names.
func (s *Signer) First(dst, features []uint64) []uint64 {
	for _, m := range s.first(features) {
		dst = append(dst, m.feature^s.seed)
	}
	return dst
}

// first returns the first arrivals at all components; without features there are
// none.
func (s *Signer) first(features []uint64) []arrival {
	if len(features) == 0 {
		return nil
	}
	for i := range s.minima {
		s.minima[i] = none
	}
	if !s.watch(features, s.wait(features)) && !s.watch(features, 2*s.wait(features)) {
		// Most features are probably repetitions. Each would be watched as long as
		// the few distinct ones need.
		s.distinct = append(s.distinct[:0], features...)
		slices.Sort(s.distinct)
		s.distinct = slices.Compact(s.distinct)
		for end := s.wait(s.distinct); !s.watch(s.distinct, end); {
			end *= 2
		}
	}
	return s.minima
}

// wait returns how long distinct features have to be watched until each
// component is likely to have an arrival. Together the features bring
// len(features)/n arrivals for each component and unit of time. Signatures do
// not depend on the result, so floating point does no harm.
func (s *Signer) wait(features []uint64) float64 {
	n := float64(len(s.minima))
	return n * (math.Log(n) + spare) / float64(len(features))
}

// watch processes all arrivals before the given time. It reports whether that
// was enough: whether each component has one, so that later arrivals change
// nothing. It may have processed a few later arrivals, but only if it was not
// enough; earlier ones then replace them.
//
// The loops have no branch that depends on the random numbers, except for the
// tie, which is rare. Mispredicted branches would take longer than all the
// rest.
func (s *Signer) watch(features []uint64, until float64) bool {
	end := uint64(1 << 62)
	if until < 1<<30 {
		end = uint64(until * second)
	}
	// Most features of a long document do not arrive before the end at all:
	// those whose first v is not below late.
	late := uint64(spans)
	if until < 20 { // else nearly all arrive
		late = uint64(-math.Expm1(-until) * spans)
		end = min(end, gap(late))
	}
	for some := range slices.Chunk(features, batch) {
		n := 0
		for _, x := range some {
			x ^= s.seed
			z := hash.At(x, 0)
			s.live[n] = event{feature: x, z: z}
			n += less(z>>24, late)
		}
		s.run(n, end)
	}
	for _, m := range s.minima {
		if m.time >= end {
			return false
		}
	}
	return true
}

// run processes the arrivals of the first n live features until the end.
func (s *Signer) run(n int, end uint64) {
	minima, components := s.minima, uint64(len(s.minima))
	for i := 1; n > 0; i++ {
		k := 0
		for _, e := range s.live[:n] {
			time := e.time + gap(e.z>>24)
			m := &minima[e.z&(1<<24-1)*components>>24]
			first, feature := m.time, m.feature
			if time == first {
				feature = min(feature, e.feature)
			}
			if time < first {
				feature = e.feature
			}
			m.time, m.feature = min(first, time), feature
			s.live[k] = event{e.feature, hash.At(e.feature, i), time}
			k += less(time, end)
		}
		n = k
	}
}

// less is 1 if a < b, else 0; both are below 2^63.
func less(a, b uint64) int { return int((a - b) >> 63) }

const (
	second = 1 << 32 // ticks of a unit of time
	spans  = 1 << 40 // values of v
	steps  = 1 << 10 // of the table of logarithms
)

// logarithms has ln(1 + i/steps) in ticks, rounded. The tests check that none
// comes so near a tie that the last places of math.Log, in which platforms
// differ, would matter.
var logarithms = func() (of [steps + 1]uint64) {
	for i := range of {
		of[i] = uint64(math.Round(second * math.Log1p(float64(i)/steps)))
	}
	return of
}()

// gap is -ln(1 - v/2^40) in ticks for v < 2^40: s·ln 2 - ln(1+f), where
// 2^s·(2^40 - v) = 2^40·(1+f), the logarithm interpolated between 1/1024ths and
// rounded down. It never falls as v grows.
func gap(v uint64) uint64 {
	w := spans - v
	s := uint64(bits.LeadingZeros64(w)) - 23
	f := w << (s & 63) & (spans - 1)
	i := f >> 30 & (steps - 1)
	low := logarithms[i]
	return s*logarithms[steps] - (low + (logarithms[i+1]-low)*(f&(1<<30-1))>>30)
}
