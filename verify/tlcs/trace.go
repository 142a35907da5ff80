package tlcs

import "neardup/verify"

// Trace is a comparison with its intermediate results. Lengths and positions are in
// code points.
type Trace struct {
	Verdict Verdict // verdict of Compare
	Score   Verdict // verdict of Score, which all rounds belong to
	Swapped bool    // A, the longer text, is the second argument
	A, B    int     // lengths of the texts
	Need    int     // smallest number of code points in trustable regions that makes the pair near; B+1 if none does
	Rounds  []Round // empty if a text is empty
}

// Round is one round of a comparison. The first one compares the whole texts, each
// later one what the earlier ones left.
type Round struct {
	A, B             int     // lengths of what is left
	SketchA, SketchB int     // lengths of the sketches
	LCS              int     // length of the LCS of the sketches
	SES              int     // length of the edit script of the sketches
	Most             int     // longest edit script with which Compare continues; negative if a sketch is shorter than needed
	Curve            []int32 // d(x), x from 0 to A (figure 4); nil after the first tracedCurves rounds
	Start, End       int     // the trustable region is A[Start:End] of what is left; without Options.Trustable it is all of that
	TLCS             int     // matched code points in the region
	Runs             []Run   // the LCS, in ascending order
}

// Run is a part of an LCS without a gap in either text.
type Run struct {
	A, B, Len int  // positions in the whole texts
	Trusted   bool // it is in the trustable region
}

// tracedCurves limits the rounds whose curves a Trace has, since each takes as much
// memory as the text.
const tracedCurves = 16

// Trace returns Score's comparison with all intermediate results, and Compare's
// verdict. Compare has the same rounds, but may end earlier, see Verdict.Rounds.
func (c *Comparer) Trace(x, y *Document) Trace {
	t := Trace{Verdict: c.Compare(x, y)}
	a, b := order(x, y)
	t.Swapped, t.A, t.B = a != x, len(a.text), len(b.text)
	t.Need = c.o.need(t.A, t.B)
	restA, restB := positions(t.A), positions(t.B) // what is left, as positions in the whole texts
	trusted := 0                                   // matched in earlier rounds
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

// without removes the trusted runs from rest.
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

// Common returns a verdict in the form of package verify.
func (c *Comparer) Common(v Verdict) verify.Verdict { return comparer{c}.verdict(v) }
