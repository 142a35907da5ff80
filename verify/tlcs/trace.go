package tlcs

import "neardup/verify"

// Trace is a comparison with what was computed on the way. Lengths and
// positions are in code points.
type Trace struct {
	Verdict Verdict // that of Compare
	Score   Verdict // that of Score, which all rounds belong to
	Swapped bool    // A, the longer text, is the second of the two
	A, B    int     // lengths
	Need    int     // least that trustable regions must match for the pair to be near; B+1 if that is never enough
	Rounds  []Round // of none if a text is empty
}

// Round is one round of a comparison. The first is about the texts as they are,
// a later one about what the rounds before it have left of them.
type Round struct {
	A, B             int     // lengths of what is left
	SketchA, SketchB int     // lengths of the sketches
	LCS              int     // length of the LCS of the sketches
	SES              int     // length of the edit script of the sketches
	Most             int     // the longest with which Compare goes on; below 0 if a sketch is shorter than what is needed
	Curve            []int32 // d(x), x from 0 to A (figure 4); nil after the first tracedCurves rounds
	Start, End       int     // the trustable region is A[Start:End] of what is left; all of it if not Options.Trustable
	TLCS             int     // matched code points in the region
	Runs             []Run   // the LCS, in ascending order
}

// Run is a part of an LCS that is without a gap in both texts.
type Run struct {
	A, B, Len int  // positions in the whole texts
	Trusted   bool // in the trustable region
}

// tracedCurves is the number of rounds whose curves a Trace has: each takes as
// much memory as the text.
const tracedCurves = 16

// Trace is Score with everything that it computed, and the verdict of Compare.
// The rounds are those of Compare as far as that goes: it may have ended before
// them, see Verdict.Rounds.
func (c *Comparer) Trace(x, y *Document) Trace {
	t := Trace{Verdict: c.Compare(x, y)}
	a, b := order(x, y)
	t.Swapped, t.A, t.B = a != x, len(a.text), len(b.text)
	t.Need = c.o.need(t.A, t.B)
	restA, restB := positions(t.A), positions(t.B) // what is left, by positions in the whole texts
	trusted := 0                                   // of the rounds before
	left := c.o.Rounds
	if !c.o.Trustable {
		left = 1
	}
	c.watch = func(lenA, lenB, start, end int) {
		r := Round{A: lenA, B: lenB, SketchA: len(c.a.text), SketchB: len(c.b.text), LCS: c.matched(), Start: start, End: end}
		sketches := r.SketchA + r.SketchB
		r.SES = sketches - 2*r.LCS
		need := max(0, t.Need-trusted)
		if r.Most = sketches - 2*share(need, left); min(r.SketchA, r.SketchB) < need {
			r.Most = -1
		}
		if len(t.Rounds) < tracedCurves {
			d := c.script // that of the region
			if !c.o.Trustable {
				d = c.edits(lenA, lenB)
			}
			r.Curve = append(r.Curve, d[:lenA+1]...)
		}
		for _, m := range c.matches {
			for i := range m.Len {
				at := c.a.at[m.X+i]
				run := Run{int(restA[at]), int(restB[c.b.at[m.Y+i]]), 1, start <= int(at) && int(at) < end}
				if run.Trusted {
					r.TLCS++
				}
				if n := len(r.Runs) - 1; n >= 0 && r.Runs[n].continues(run) {
					r.Runs[n].Len++
				} else {
					r.Runs = append(r.Runs, run)
				}
			}
		}
		trusted += r.TLCS
		left--
		t.Rounds = append(t.Rounds, r)
		restA = append(restA[:start], restA[end:]...)
		restB = without(restB, r.Runs)
	}
	t.Score = c.Score(x, y)
	c.watch = nil
	return t
}

func (r Run) continues(next Run) bool {
	return r.A+r.Len == next.A && r.B+r.Len == next.B && r.Trusted == next.Trusted
}

func positions(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// without takes what is trusted out of rest.
func without(rest []int32, runs []Run) []int32 {
	out := rest[:0]
	for _, at := range rest {
		for len(runs) > 0 && (!runs[0].Trusted || runs[0].B+runs[0].Len <= int(at)) {
			runs = runs[1:]
		}
		if len(runs) == 0 || int(at) < runs[0].B {
			out = append(out, at)
		}
	}
	return out
}

// Common returns a verdict as that of the measures of package verify.
func (c *Comparer) Common(v Verdict) verify.Verdict { return comparer{c}.verdict(v) }
