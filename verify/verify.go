// Package verify is the fourth stage: it decides whether two documents are
// near-duplicates. Each measure has a package of its own below this one.
package verify

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

// Verdict is the outcome of a comparison. The scores are from 0 to 1, computed
// whether the documents are near or not; a measure that has no containment
// gives its resemblance for it. A document of which nothing can be compared is
// near to none, and scores 0.
type Verdict struct {
	Near        bool
	Resemblance float64
	Containment float64 // of the smaller document in the larger
}
