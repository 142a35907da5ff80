// Package verify is the fourth stage: it decides whether two documents are
// near-duplicates. Each measure has a package of its own below this one.
package verify

import "fmt"

// Measure is a similarity of two texts with its thresholds. It is immutable and
// safe for concurrent use.
type Measure interface {
	// Prepare returns the text prepared for comparison.
	Prepare(text string) Document
	// Comparer returns a Comparer, to be used by one goroutine.
	Comparer() Comparer
}

// Document is a text prepared by a measure. It is immutable, so goroutines can
// share it.
type Document interface {
	Bytes() int // approximate memory that it takes
}

// Comparer compares documents of its measure. It may reuse memory from pair to
// pair.
type Comparer interface {
	// Compare returns the verdict on a and b. It depends neither on their order
	// nor on earlier comparisons.
	Compare(a, b Document) Verdict
}

// Scorer is a Comparer that rejects most pairs before it scores them.
type Scorer interface {
	// Score returns the verdict of Compare with both scores complete, also for a
	// pair that Compare rejects early.
	Score(a, b Document) Verdict
}

// Verdict is the outcome of a comparison. Scores are from 0 to 1. A measure without
// containment gives its resemblance for it. A document with nothing to compare is
// near to none, and scores 0.
type Verdict struct {
	Near        bool
	Contained   bool  // near only because one document contains the other
	Rejected    Stage // the check that rejected the pair; None if near
	Resemblance float64
	Containment float64 // of the smaller document in the larger
}

// Scored returns the verdict on a scored pair. The pair is near if it reaches one
// of the two thresholds. A score of 0 reaches none.
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
	ByLength                // the shorter cannot reach a threshold even if all of it matched
	BySketch                // the shorter sketch cannot
	ByDistance              // the edit script of the sketches is too long
	ByScore                 // the score was computed and is below both thresholds
	ByRarity                // too little of what the two share is rare on their sites
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
	}
	return fmt.Sprintf("Stage(%d)", uint8(s))
}
