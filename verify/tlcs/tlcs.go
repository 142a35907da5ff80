// Package tlcs decides whether two texts are near-duplicates by their trustable
// longest common subsequence (TLCS paper, sections 3.2 and 3.3). It filters both
// texts to sketches, computes the LCS of the sketches, and scores the part of it
// that lies in the trustable region. (The paper uses Myers' O(ND). Package lcs is as
// exact.)
//
// Lengths are in code points; A is the longer text, B the shorter.
package tlcs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"neardup/extract/text"
	"neardup/verify"
	"neardup/verify/lcs"
)

// Options are the parameters of the comparison.
type Options struct {
	Window      int     `yaml:"window" json:"window"`           // S, width of the sliding window in half-width columns (paper: 16)
	Blocks      int     `yaml:"blocks" json:"blocks"`           // k, number of blocks that A is cut into (the paper does not state it)
	Slope       float64 `yaml:"slope" json:"slope"`             // largest slope of a trustable region (paper: 0.1)
	Resemblance float64 `yaml:"resemblance" json:"resemblance"` // threshold (paper: 0.28); above 1 it is never reached
	Containment float64 `yaml:"containment" json:"containment"` // threshold (paper: 0.7); above 1 it is never reached
	Trustable   bool    `yaml:"trustable" json:"trustable"`     // score the trustable part of the LCS (true: paper) or all of it
	Rounds      int     `yaml:"rounds" json:"rounds"`           // limit of the trustable regions that are looked for, see Compare; needs Trustable
	Whole       float64 `yaml:"whole" json:"whole"`             // smallest resemblance by the whole LCS of pairs that reach Resemblance (paper: 0, none)
}

// Validate returns an error that names the first invalid option.
func (o Options) Validate() error {
	switch {
	case o.Window < 1:
		return fmt.Errorf("window: %d, must be at least 1", o.Window)
	case o.Blocks < 1:
		return fmt.Errorf("blocks: %d, must be at least 1", o.Blocks)
	case !(o.Slope >= 0) || math.IsInf(o.Slope, 1):
		return fmt.Errorf("slope: %v, must be a number of at least 0", o.Slope)
	case !(o.Resemblance > 0):
		return fmt.Errorf("resemblance: %v, must be above 0", o.Resemblance)
	case !(o.Containment > 0):
		return fmt.Errorf("containment: %v, must be above 0", o.Containment)
	case o.Resemblance > 1 && o.Containment > 1:
		return errors.New("resemblance, containment: both above 1, so that no pair could be near")
	case !(o.Whole >= 0 && o.Whole <= 1):
		return fmt.Errorf("whole: %v, must be from 0 to 1", o.Whole)
	case o.Rounds < 1:
		return fmt.Errorf("rounds: %d, must be at least 1", o.Rounds)
	}
	return nil
}

// The checks that reject a pair, in order.
const (
	None       = verify.None
	ByLength   = verify.ByLength
	BySketch   = verify.BySketch
	ByDistance = verify.ByDistance
	ByScore    = verify.ByScore
)

// Stage is the check that rejected a pair.
type Stage = verify.Stage

// Verdict is the result of a comparison. It does not depend on the order of the two
// documents. For near pairs, and for pairs rejected ByScore in the last round,
// Resemblance and Containment are those of the TLCS of all rounds. For other pairs
// they are those of the rounds before the verdict was certain. For pairs rejected
// before anything was scored they are 0.
type Verdict struct {
	Near             bool
	Rejected         Stage   // the check that rejected the pair, None if near
	Resemblance      float64 // |TLCS| / (|A| + |B| - |TLCS|)
	Containment      float64 // |TLCS| / |B|, of the shorter in the longer
	LCS              int     // length of the first round's LCS, 0 if it was not computed
	TLCS             int     // matched code points in the trustable regions of all rounds; the LCS if not Trustable
	SketchA, SketchB int     // lengths of the first round's sketches, 0 if rejected before they were complete
	RegionStart      int     // the first round's trustable region
	RegionEnd        int     // is A[RegionStart:RegionEnd]
	Rounds           int     // rounds that were scored
	Whole            int     // matched code points with the whole LCS of the best round in place of its trustable part
}

// Comparer compares documents. Its scratch memory grows with the longest documents,
// so each goroutine uses one of its own.
type Comparer struct {
	o       Options
	solver  lcs.Solver
	matches []lcs.Match
	script  []int32 // d(x)
	// The first round: its views, and what is known about its LCS.
	viewA, viewB view
	first        lcs.Hint
	chain        chain
	watch        func(lenA, lenB, start, end int) // if not nil, called in each round before the matches are clipped to A[start:end]
	// Rounds: what is left of both documents, and which code points are gone.
	leftA, leftB view
	gone         []int32
	// Sketches.
	a, b  sketch
	ids   []int32  // of the windows of B: the first equal window of A, or -1
	marks []uint32 // by first windows of A: the last epoch in which the text was seen
	epoch uint32
}

// NewComparer returns a Comparer. It panics if o is not valid.
func NewComparer(o Options) *Comparer {
	if err := o.Validate(); err != nil {
		panic("tlcs: " + err.Error())
	}
	c := &Comparer{o: o}
	c.first.Common = c.common
	return c
}

// order returns A, whose regions are trusted or not, and B. A is the longer text;
// of two equally long texts, the one with the greater code points. The paper leaves
// this case open.
func order(x, y *Document) (a, b *Document) {
	n := len(x.text) - len(y.text)
	if n == 0 {
		n = slices.Compare(x.text, y.text)
	}
	if n < 0 {
		return y, x
	}
	return x, y
}

// score returns both measures of section 3.3 for t matched code points. With
// |SES| = |A|+|B|-2|LCS|, r = |LCS|/(|LCS|+|SES|) is as below.
func score(t, lenA, lenB int) (resemblance, containment float64) {
	return float64(t) / float64(lenA+lenB-t), float64(t) / float64(lenB)
}

func (o *Options) reached(t, lenA, lenB int) bool { return o.near(t, lenA, lenA, lenB) }

// near reports whether a pair is near with t code points in trustable regions and
// whole in the whole LCS. Containment alone is enough. Resemblance is not: the
// whole LCS must reach Whole, too, because a common template can be half of each of
// two short texts.
func (o *Options) near(t, whole, lenA, lenB int) bool {
	r, c := score(t, lenA, lenB)
	if c >= o.Containment || r < o.Resemblance {
		return c >= o.Containment
	}
	w, _ := score(min(whole, lenB), lenA, lenB)
	return w >= o.Whole
}

// need returns the least t that reaches a threshold, lenB+1 if none does. Both
// measures rise with t, in floating point too, so a pair is near if and only
// if t >= need, and a bound on t can replace t wherever it is below need.
func (o *Options) need(lenA, lenB int) int {
	return sort.Search(lenB+1, func(t int) bool { return o.reached(t, lenA, lenB) })
}

// Compare decides whether x and y are near-duplicates. Both must be prepared with
// the Comparer's window. An empty document is near no other.
//
// Rounds > 1 is for paragraphs that have moved. Each further round compares what is
// left: the trustable region is cut out of A, the characters matched there are cut
// out of B, and the TLCS lengths add up. The last round is the one that matches
// less than a window's width, or is number Rounds. So the score of a near pair
// counts everything that moved, not only what it takes to reach a threshold. No
// window extends over a cut, because that would be text of neither document. So
// sketches, and with them the LCS, can only become shorter from round to round.
//
// No round begins that could not lead to a threshold: each later round adds at most
// the LCS of the round before it, and all together at most what their sketches have
// left. So Compare and Score agree on whether a pair is near.
func (c *Comparer) Compare(x, y *Document) Verdict { return c.compare(x, y, false) }

// Score is Compare without the checks that reject a pair early. For a near pair it
// returns the same verdict. For any other pair the scores are those of all rounds.
// It takes as long as computing the whole LCS.
func (c *Comparer) Score(x, y *Document) Verdict { return c.compare(x, y, true) }

func (c *Comparer) compare(x, y *Document, complete bool) Verdict {
	c.mustFit(x, y)
	docA, docB := order(x, y)
	var v Verdict
	lenA, lenB := len(docA.text), len(docB.text)
	need := 0
	if !complete {
		need = c.o.need(lenA, lenB)
	}
	if lenB == 0 || need > lenB {
		v.Rejected = ByLength
		return v
	}
	if !c.probe(docA, docB, need) {
		v.Rejected = BySketch
		return v
	}
	a := view{docA.text, docA.ends, docA.firsts()}
	b := view{docB.text, docB.ends, c.ids}
	c.filter(a, b, true)
	v.SketchA, v.SketchB = len(c.a.text), len(c.b.text)

	c.viewA, c.viewB = a, b
	hint := c.first
	rounds := c.o.Rounds
	if !c.o.Trustable {
		rounds = 1
	}
	for left := rounds; ; left-- {
		if rejected := c.align(max(0, need-v.TLCS), left, hint); rejected != None {
			v.Rejected = rejected
			break
		}
		found, start, end := c.matched(), 0, len(a.text)
		if v.Rounds == 0 {
			v.LCS = found
		}
		if c.o.Trustable {
			start, end = c.o.region(c.edits(len(a.text), len(b.text)))
		}
		if c.watch != nil {
			c.watch(len(a.text), len(b.text), start, end)
		}
		if c.o.Trustable {
			c.clip(start, end)
			if v.Rounds == 0 {
				v.RegionStart, v.RegionEnd = start, end
			}
		}
		v.Whole = max(v.Whole, v.TLCS+found)
		trusted := c.matched()
		v.TLCS += trusted
		v.Rounds++
		v.Near = v.Near || c.o.near(v.TLCS, v.Whole, lenA, lenB)
		// The LCS of a later round is at most as long as this one's, and its TLCS
		// at most as long as its LCS. TLCS lengths themselves may rise, since a
		// region is chosen by weight.
		limit := v.TLCS + min((left-1)*found, min(len(c.a.text), len(c.b.text))-trusted)
		if left == 1 || c.narrow() || !complete && !v.Near && !c.o.near(min(limit, lenB), max(v.Whole, limit), lenA, lenB) {
			if !v.Near {
				v.Rejected = ByScore
			}
			break
		}
		a, b = c.cut(a, b, start, end)
		c.filter(a, b, false)
		// Nearly all matches that were not trusted are still there.
		d := len(c.a.text) + len(c.b.text) - 2*(found-trusted)
		hint = lcs.Hint{D: max(1, d+d/16)}
	}
	v.Resemblance, v.Containment = score(v.TLCS, lenA, lenB)
	return v
}

// mustFit panics if a document was prepared with another window.
func (c *Comparer) mustFit(x, y *Document) {
	if x.window != c.o.Window || y.window != c.o.Window {
		panic(fmt.Sprintf("tlcs: documents prepared with windows of %d and %d columns, not %d", x.window, y.window, c.o.Window))
	}
}

// align computes the LCS of the two sketches. It rejects the pair if the remaining
// rounds cannot match another need code points. All of these must come from both
// sketches. No later LCS is longer than this one, so this one must match its share
// of them, which limits the edit script.
func (c *Comparer) align(need, left int, hint lcs.Hint) Stage {
	lenA, lenB := len(c.a.text), len(c.b.text)
	if min(lenA, lenB) < need {
		return BySketch
	}
	var ok bool
	c.matches, ok = c.solver.Matches(c.matches[:0], c.a.text, c.b.text, lenA+lenB-2*share(need, left), hint)
	if !ok {
		return ByDistance
	}
	return None
}

// share returns how many of need code points the next of the remaining rounds must
// match.
func share(need, left int) int { return (need + left - 1) / left }

// matched returns the number of code points in the matches.
func (c *Comparer) matched() int {
	n := 0
	for _, m := range c.matches {
		n += m.Len
	}
	return n
}

// narrow reports whether all matches together are narrower than a window.
func (c *Comparer) narrow() bool {
	columns := 0
	for _, m := range c.matches {
		for _, r := range c.a.text[m.X : m.X+m.Len] {
			if columns += text.RuneColumns(r); columns >= c.o.Window {
				return false
			}
		}
	}
	return true
}
