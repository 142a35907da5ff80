package minhash

import (
	"fmt"
	"math"
)

// The settings of the TODS paper, section 8.1.1: "We set the value of recall as
// 95%, i.e., LSH reports about 95% of the real results"; table III has the
// numbers of rows that ran fastest there.
const (
	Recall     = 0.95
	RowsWords  = 5 // table III, Jaccard: 4 on DBLP, 5 on ENRON, both words
	RowsQGrams = 5 // 5 on DBLP-5GRAM, 3 on TREC-8GRAM
)

// LSH holds how a signature is cut into bands: "We concatenate k min-hash
// signatures from each record into a single signature, and repeat this for a total
// l times". Two documents are candidates if one of their l bands is equal.
type LSH struct {
	Rows  int `json:"rows" yaml:"rows"`   // k: components of a band
	Bands int `json:"bands" yaml:"bands"` // l
}

// Components returns the length of a signature, k·l.
func (c LSH) Components() int { return c.Rows * c.Bands }

// Validate returns an error that names the option out of its range.
func (c LSH) Validate() error {
	switch {
	case c.Rows < 1:
		return fmt.Errorf("rows is %d, must be at least 1", c.Rows)
	case c.Bands < 1:
		return fmt.Errorf("bands is %d, must be at least 1", c.Bands)
	case c.Rows > MaxComponents || c.Bands > MaxComponents || c.Components() > MaxComponents:
		return fmt.Errorf("bands is %d, which with rows %d makes more than %d components", c.Bands, c.Rows, MaxComponents)
	}
	return nil
}

// Bands returns the paper's l for a threshold t and k rows, the least number of
// bands that finds a pair of similarity t with probability at least recall: l =
// ⌈log(1-recall) / log(1-t^k)⌉. t and recall must be above 0 and below 1,
// except t = 1, for which one band is enough. The result is at most
// math.MaxInt32.
func Bands(t, recall float64, k int) int {
	miss := math.Log1p(-math.Pow(t, float64(k)))
	if math.IsInf(miss, -1) {
		return 1
	}
	l := math.Ceil(math.Log1p(-recall) / miss)
	if !(l < math.MaxInt32) {
		return math.MaxInt32
	}
	return max(1, int(l))
}

// Candidate returns the probability that a pair of similarity s becomes a
// candidate, 1 - (1-s^k)^l.
func (c LSH) Candidate(s float64) float64 { return -math.Expm1(c.logMiss(s)) }

// Miss returns the probability that a pair of similarity s becomes none,
// (1-s^k)^l: the false-negative curve for wanted pairs. Candidate is the
// false-positive curve for others.
func (c LSH) Miss(s float64) float64 { return math.Exp(c.logMiss(s)) }

func (c LSH) logMiss(s float64) float64 {
	return float64(c.Bands) * math.Log1p(-math.Pow(s, float64(c.Rows)))
}

// FalsePositives returns the area under Candidate below the threshold t, the share
// of unwanted candidates among pairs of evenly spread similarities.
func (c LSH) FalsePositives(t float64) float64 { return integral(c.Candidate, 0, t) }

// FalseNegatives returns the area under Miss from the threshold t on.
func (c LSH) FalseNegatives(t float64) float64 { return integral(c.Miss, t, 1) }

// integral is Simpson's rule on 4,096 steps; the curves are smooth, and the error
// is below 1e-6 up to a thousand rows or bands (tested).
func integral(f func(float64) float64, from, to float64) float64 {
	const n = 4096
	h := (to - from) / n
	sum := f(from) + f(to)
	for i := 1; i < n; i++ {
		w := 2.0
		if i%2 == 1 {
			w = 4
		}
		sum += w * f(from+float64(i)*h)
	}
	return sum * h / 3
}
