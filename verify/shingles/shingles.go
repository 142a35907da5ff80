// Package shingles compares texts by their w-shingles: Broder, Glassman,
// Manasse, Zweig, Syntactic clustering of the web, WWW 1997, as the lecture on
// finding near-duplicate documents has it (slides 11 to 32). Resemblance and
// containment are those of the sets of shingles, or estimated by the lecture's
// sketches, whose variances package neardup/signature/shingle states.
package shingles

import (
	"errors"
	"fmt"
	"slices"

	"neardup/signature/shingle"
	"neardup/signature/words"
	"neardup/verify"
)

// Options are the options of the measure. The lecture has Words 10 and Resemblance
// 0.5. Its sketches are ByMinWise with Size 20, or ByModulo with a Modulus of about
// 25. It has no threshold of containment.
type Options struct {
	Words       int     `json:"words" yaml:"words"`             // w: words of a shingle
	Sketch      string  `json:"sketch" yaml:"sketch"`           // Exact, shingle.ByMinWise, ByModulo or BySmallest
	Size        int     `json:"size" yaml:"size"`               // values of a sketch ByMinWise (m permutations) or BySmallest, 1 to 65536
	Modulus     int     `json:"modulus" yaml:"modulus"`         // m of ByModulo: a share of 1/modulus of the shingles
	Resemblance float64 `json:"resemblance" yaml:"resemblance"` // threshold; above 1 it is never reached
	Containment float64 `json:"containment" yaml:"containment"` // threshold; above 1 it is never reached
}

// Exact is the value of Options.Sketch that estimates nothing.
const Exact = "exact"

// Validate returns an error that names the option out of its range. Size and
// Modulus may have any value if the sketch does not use them.
func (o Options) Validate() error {
	switch o.Sketch {
	case Exact, shingle.ByMinWise, shingle.ByModulo, shingle.BySmallest:
	default:
		return fmt.Errorf("sketch is %q, must be %q, %q, %q or %q", o.Sketch, Exact, shingle.ByMinWise, shingle.ByModulo, shingle.BySmallest)
	}
	s := shingle.Options{Words: o.Words, Sketch: o.Sketch, Size: o.Size, Modulus: o.Modulus}
	if s.Sketch == Exact {
		s.Sketch = shingle.All
	}
	if err := s.Validate(); err != nil {
		return err
	}
	switch {
	case !(o.Resemblance > 0):
		return fmt.Errorf("resemblance is %v, must be above 0", o.Resemblance)
	case !(o.Containment > 0):
		return fmt.Errorf("containment is %v, must be above 0", o.Containment)
	case o.Resemblance > 1 && o.Containment > 1:
		return errors.New("resemblance and containment are both above 1, so that no pair could be near")
	}
	return nil
}

// measure is the verify.Measure. It needs no scratch memory, so it is its own
// Comparer.
type measure struct{ o Options }

// document is a sketch; with Exact it has all shingles.
type document struct{ shingle.Sketch }

// Bytes returns the memory of the values and of the slice that holds them.
func (d *document) Bytes() int { return 8*cap(d.Values) + 32 }

// New returns the Measure of the options. It panics if they are not valid. A text
// of fewer than Words words has one shingle, which is all of it. A sample ByModulo
// that would be empty has the smallest shingle instead (shingle.ModOrLeast), so
// that equal texts always score 1.
func New(o Options) verify.Measure {
	if err := o.Validate(); err != nil {
		panic("shingles: " + err.Error())
	}
	return &measure{o}
}

// LeastContainment implements verify.Containing.
func (m *measure) LeastContainment() float64 { return m.o.Containment }

func (m *measure) Prepare(text string) verify.Document {
	shingler := words.Shingler{W: m.o.Words}
	set := shingle.NewSet(shingler.Append(nil, text))
	switch m.o.Sketch {
	case shingle.ByMinWise:
		return &document{shingle.MinWise(set, m.o.Size)}
	case shingle.ByModulo:
		return &document{shingle.ModOrLeast(set, uint64(m.o.Modulus))}
	case shingle.BySmallest:
		return &document{shingle.Smallest(set, m.o.Size)}
	default: // cloned: the set holds memory for all shingles with repetitions
		return &document{shingle.Sketch{Values: slices.Clone(set), Size: len(set)}}
	}
}

func (m *measure) Comparer() verify.Comparer { return m }

// Compare takes one step for each value of both sketches.
func (m *measure) Compare(x, y verify.Document) verify.Verdict {
	a, b := x.(*document).Sketch, y.(*document).Sketch
	if a.Size == 0 || b.Size == 0 {
		return m.scored(0, 0)
	}
	if a.Size > b.Size || a.Size == b.Size && len(a.Values) > len(b.Values) {
		a, b = b, a // containment is that of the smaller set
	}
	switch m.o.Sketch {
	case shingle.ByMinWise:
		return m.scored(shingle.ResemblanceMinWise(a, b), shingle.ContainmentMinWise(a, b))
	case shingle.BySmallest:
		return m.scored(shingle.ResemblanceSmallest(a, b, m.o.Size), shingle.ContainmentSmallest(a, b, m.o.Size))
	default:
		// The same as shingle.Resemblance and Containment, in one pass.
		common := shingle.Common(a.Values, b.Values)
		return m.scored(float64(common)/float64(len(a.Values)+len(b.Values)-common), float64(common)/float64(len(a.Values)))
	}
}

func (m *measure) scored(resemblance, containment float64) verify.Verdict {
	return verify.Scored(resemblance, min(1, containment), m.o.Resemblance, m.o.Containment) // estimates may exceed 1
}
