package ppjoin

import (
	"fmt"
	"math"
	"slices"
)

// Weights are the weights of tokens. They are exact: a number is the shortest
// decimal that reads as its float64, and a logarithm is stored by its argument.
type Weights struct {
	values      []float64 // by token id
	records     int       // of IDF: the weight is log(records/frequencies[id]),
	frequencies []int     // and 0 where the frequency is 0
}

// maxWeight keeps the sum of the weights of all tokens there can be below 2⁶².
const maxWeight = 1 << 20

// Given returns weights by token id, each from 0 to 2²⁰ (for Cosine its square).
func Given(values []float64) *Weights { return &Weights{values: values} }

// IDF returns the weights of the tokens of collections by rarity, as in section
// 8.1.1: the log of the number of records over the number that have the token.
// A token that no record has weighs 0.
func IDF(cs ...Collection) *Weights {
	n, w := 0, Weights{}
	for _, c := range cs {
		w.records += c.Len()
		for _, t := range c.Tokens {
			n = max(n, int(t)+1)
		}
	}
	w.frequencies = make([]int, n)
	last := make([]int, n)
	record := 0
	for _, c := range cs {
		for i := range c.Len() {
			record++
			for _, t := range c.Record(i) {
				if last[t] != record {
					last[t] = record
					w.frequencies[t]++
				}
			}
		}
	}
	w.values = make([]float64, n)
	for t, f := range w.frequencies {
		if f > 0 {
			w.values[t] = math.Log(float64(w.records) / float64(f))
		}
	}
	return &w
}

// Len returns the number of tokens with a weight.
func (w *Weights) Len() int { return len(w.values) }

// Of returns the weight of a token, rounded.
func (w *Weights) Of(token uint32) float64 { return w.values[token] }

func (w *Weights) validate(m Measure) error {
	for t, v := range w.values {
		if m == Cosine {
			v *= v
		}
		if !(v >= 0) || v > maxWeight {
			return fmt.Errorf("ppjoin: token %d weighs %v, must be from 0 to %d (squared, for Cosine)", t, w.values[t], maxWeight)
		}
	}
	return nil
}

// masses returns the weights as whole numbers of steps, by token ID, and the number
// of steps for a weight of 1. For Cosine, which sums squares, they are the squared
// weights. A weight is at most two steps away from its mass, and no positive weight
// has a mass of 0. The steps are as fine as the heaviest record allows: its mass is
// at most about 2⁵⁰, so that sums of masses are exact as float64, too.
func (w *Weights) masses(m Measure, cs []Collection) (masses []int64, unit float64) {
	squared := func(t uint32) float64 {
		if m == Cosine {
			return w.values[t] * w.values[t]
		}
		return w.values[t]
	}
	heaviest := 1.
	for _, c := range cs {
		for i := range c.Len() {
			sum := 0.
			for _, t := range c.Record(i) {
				sum += squared(t)
			}
			heaviest = max(heaviest, sum)
		}
	}
	unit = 1 << 40
	for unit > 1 && heaviest*unit > 1<<50 {
		unit /= 2
	}
	masses = make([]int64, len(w.values))
	for t := range w.values {
		if w.values[t] > 0 { // the square may be 0 as float64
			masses[t] = max(1, int64(math.Round(squared(uint32(t))*unit)))
		}
	}
	return masses, unit
}

// similarity returns the similarity of two records that have a token with weight in
// common, from the weights as float64. It depends on the weights alone, not on the
// tokens' IDs or on their order, so that results repeat. It is symmetric in x and y.
func (w *Weights) similarity(m Measure, x, y []uint32) float64 {
	tokens := sumsOf(x, y)
	common, largest := w.sum(m, tokens.common)
	sumX, largestX := w.sum(m, tokens.x)
	sumY, largestY := w.sum(m, tokens.y)
	switch m {
	case Jaccard:
		return common / (sumX + sumY - common)
	case Cosine:
		return min(1, common/math.Sqrt(sumX*sumY)*(largest/largestX)*(largest/largestY))
	default:
		return common
	}
}

// sum returns the sum of the weights of distinct tokens, the smallest added first.
// For Cosine it is the sum of their squares, as a multiple of the square of the
// largest weight. Squares of small weights are 0 as float64.
func (w *Weights) sum(m Measure, tokens []uint32) (sum, largest float64) {
	values := make([]float64, len(tokens))
	for i, t := range tokens {
		values[i] = w.values[t]
	}
	slices.Sort(values)
	largest = values[len(values)-1]
	for _, v := range values {
		if m == Cosine {
			v /= largest
			v *= v
		}
		sum += v
	}
	return sum, largest
}
