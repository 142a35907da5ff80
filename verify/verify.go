// Package verify is the fourth stage: it decides whether two documents are
// near-duplicates. Each measure has a package of its own below this one.
package verify

import "fmt"

// Measure is a similarity of two texts with its thresholds. It does not change
// and is for concurrent use.
type Measure interface {
	// Prepare makes of a text what is compared.
	Prepare(text string) Document
	// Comparer makes a Comparer, which is for one goroutine.
	Comparer() Comparer
}

// Document is a text prepared by a measure. It does not change, so that
// goroutines can share it.
type Document interface {
	Bytes() int // memory that it takes, about
}

// Comparer compares documents of its measure. It may keep memory from pair to
// pair.
type Comparer interface {
	// Compare does not depend on the order of the two, nor on what was compared
	// before.
	Compare(a, b Document) Verdict
}

// Scorer is a Comparer that as a rule rejects pairs before they are scored.
type Scorer interface {
	// Score is Compare without that: both scores, whatever they are.
	Score(a, b Document) Verdict
}

// Verdict is the outcome of a comparison. The scores are from 0 to 1; a measure
// that has no containment gives its resemblance for it. A document of which
// nothing can be compared is near to none, and scores 0.
type Verdict struct {
	Near        bool
	Contained   bool  // near only because one document contains the other
	Rejected    Stage // the check that rejected the pair; None if near
	Resemblance float64
	Containment float64 // of the smaller document in the larger
}

// Scored returns the verdict on a pair that was scored, by two thresholds of which
// either makes it near. What scores 0 is not.
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
	}
	return fmt.Sprintf("Stage(%d)", uint8(s))
}
