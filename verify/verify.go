// Package verify is the fourth stage: it decides whether two documents are
// near-duplicates. Each measure has a package of its own below this one.
package verify

import "fmt"

// Measure is a similarity of two texts with its thresholds. It is immutable and
// safe for concurrent use.
type Measure interface {
	// Prepare returns a text ready for comparison.
	Prepare(text string) Document
	// Comparer returns a Comparer for one goroutine.
	Comparer() Comparer
}

// Containing is a Measure with a threshold of containment.
type Containing interface {
	Measure
	LeastContainment() float64 // above 1: none
}

// ByLengths is a Measure whose resemblance is bounded by the lengths of the texts.
type ByLengths interface {
	Measure
	// MayResemble reports whether texts of these lengths, in code points, can be near
	// by resemblance.
	MayResemble(first, second int) bool
}

// Document is a text that a measure has prepared. It is immutable, so goroutines
// can share it.
type Document interface {
	Bytes() int // approximate memory
}

// Comparer compares documents of its measure. It may reuse memory from pair to
// pair.
type Comparer interface {
	// Compare returns the verdict on a and b. It depends neither on their order
	// nor on earlier comparisons.
	Compare(a, b Document) Verdict
}

// Scorer is a Comparer that rejects most pairs before it computes their scores.
type Scorer interface {
	// Score returns Compare's verdict with both scores complete, also for a pair
	// that Compare rejects early.
	Score(a, b Document) Verdict
}

// Verdict is the result of a comparison. Scores are from 0 to 1. A measure without
// containment sets it to its resemblance. A document with nothing to compare is
// near no other, and its scores are 0.
type Verdict struct {
	Near        bool
	Contained   bool  // near only because one document contains the other
	Alike       bool  // near only by their sentences without numbers; then the scores are those of the sentences (package rarity)
	Rejected    Stage // the check that rejected the pair; None if near
	Resemblance float64
	Containment float64 // of the smaller document in the larger
}

// OnlyContained reports whether texts of these lengths, in code points, are near only
// because the longer contains the shorter. Of texts of one length neither is shorter.
func (v Verdict) OnlyContained(first, second int) bool {
	return v.Contained && !v.Alike && first != second
}

// Aligned reports whether the texts were compared in full, which costs most: no bound
// and no rarity rejected the pair before.
func (v Verdict) Aligned() bool {
	return v.Near || v.Rejected == ByDistance || v.Rejected == ByScore || v.Rejected == ByTitle
}

// Scored returns the verdict on a pair with these scores. The pair is near if it
// reaches one of the two thresholds. A score of 0 reaches none.
func Scored(resemblance, containment, leastResemblance, leastContainment float64) Verdict {
	v := Verdict{Resemblance: resemblance, Containment: containment}
	alike := resemblance > 0 && resemblance >= leastResemblance
	v.Contained = !alike && containment > 0 && containment >= leastContainment
	if v.Near = alike || v.Contained; !v.Near {
		v.Rejected = ByScore
	}
	return v
}

// Stage is the check that rejected a pair. A measure without filters has only
// ByScore.
type Stage uint8

const (
	None       Stage = iota // not rejected
	ByLength                // the shorter text is too short to reach a threshold
	BySketch                // the shorter sketch is too short
	ByDistance              // the edit script of the sketches is too long
	ByScore                 // the computed scores are below both thresholds
	ByRarity                // too little of what the two share is rare on their sites
	ByTitle                 // the two are of different pages: of one site, and not equal enough or of different subjects; or of different sites, and say other numbers
)

func (s Stage) String() string {
	switch s {
	case None:
		return "none"
	case ByLength:
		return "length"
	case BySketch:
		return "sketch"
	case ByDistance:
		return "distance"
	case ByScore:
		return "score"
	case ByRarity:
		return "rarity"
	case ByTitle:
		return "title"
	}
	return fmt.Sprintf("Stage(%d)", uint8(s))
}
