package explain

import (
	"neardup/report"
	"neardup/verify"
	"neardup/verify/tlcs"
)

// TLCS is the comparison by the trustable LCS, step by step. A is the longer text,
// whose regions are trustable or not.
type TLCS struct {
	Longer    string  `json:"longer"`        // a or b: the text that is A
	Need      int     `json:"need"`          // characters that must match in trustable regions for the pair to be near
	Enough    bool    `json:"enough"`        // the shorter text has that many characters
	Whole     int     `json:"whole"`         // characters matched with the whole LCS of the best round in place of its trustable part
	TLCS      int     `json:"tlcs"`          // characters matched in the trustable regions of all rounds
	Scored    int     `json:"rounds_scored"` // rounds until the verdict was certain
	Slope     float64 `json:"slope"`         // largest slope of a trustable region
	Blocks    int     `json:"blocks"`
	Rounds    []Round `json:"rounds"` // the first 64
	AllRounds int     `json:"all_rounds"`
}

// Round is one round. The first one compares the whole texts, each later one what
// the round before left.
type Round struct {
	A        int      `json:"a"` // characters left of the longer text
	B        int      `json:"b"` // characters left of the shorter text
	SketchA  int      `json:"sketch_a"`
	SketchB  int      `json:"sketch_b"`
	LCS      int      `json:"lcs"`          // length of the LCS of the sketches
	SES      int      `json:"ses"`          // length of the edit script of the sketches
	Most     int      `json:"most_ses"`     // longest edit script that can lead to a threshold; negative: the sketches are too short
	Edits    int      `json:"edits"`        // length of the edit script of what is left of the texts
	Start    int      `json:"region_start"` // start of the trustable region, in what is left of A
	End      int      `json:"region_end"`
	Inside   int      `json:"region_edits"`    // edit operations in it
	TLCS     int      `json:"tlcs"`            // characters matched in it
	Curve    [][2]int `json:"curve,omitempty"` // points x, d(x) of a polyline, in the first 16 rounds
	Together int      `json:"tlcs_so_far"`
}

const (
	curvePoints = 512
	maxRounds   = 64
)

// byTLCS traces the comparison. verdict is that of Compare, score that of Score.
func (e *Explanation) byTLCS(o tlcs.Options, a, b string) (verdict, score verify.Verdict, t tlcs.Trace) {
	comparer := tlcs.NewComparer(o)
	t = comparer.Trace(tlcs.Prepare(a, o.Window), tlcs.Prepare(b, o.Window))
	e.TLCS = tlcsOf(o, t)
	e.Score = Score{LeastResemblance: least(o.Resemblance), LeastContainment: least(o.Containment), Note: "trustable part of the LCS"}
	if !o.Trustable {
		e.Score.Note = "LCS"
	}
	if o.Whole > 0 {
		e.Score.LeastWhole = least(o.Whole)
	}
	if t.B > 0 {
		whole := min(t.Score.Whole, t.B)
		e.Score.Whole = report.Score(float64(whole) / float64(t.A+t.B-whole))
	}
	return comparer.Common(t.Verdict), comparer.Common(t.Score), t
}

func tlcsOf(o tlcs.Options, t tlcs.Trace) *TLCS {
	out := &TLCS{Longer: "a", Need: t.Need, Enough: t.Need <= t.B, Whole: t.Score.Whole, TLCS: t.Score.TLCS,
		Scored: t.Verdict.Rounds, Slope: o.Slope, Blocks: o.Blocks, AllRounds: len(t.Rounds), Rounds: []Round{}}
	if t.Swapped {
		out.Longer = "b"
	}
	together := 0
	for i, r := range t.Rounds {
		together += r.TLCS
		if i >= maxRounds {
			break
		}
		one := Round{A: r.A, B: r.B, SketchA: r.SketchA, SketchB: r.SketchB, LCS: r.LCS, SES: r.SES, Most: r.Most,
			Edits: r.A + r.B - 2*r.LCS, Start: r.Start, End: r.End, TLCS: r.TLCS, Together: together}
		if r.Curve != nil {
			one.Curve = sampled(r.Curve, r.Start, r.End)
			one.Inside = int(r.Curve[r.End] - r.Curve[r.Start])
		}
		out.Rounds = append(out.Rounds, one)
	}
	return out
}

// sampled returns points of the curve at even distances, with its ends and those of
// the region, and without points on a line between others.
func sampled(d []int32, start, end int) (points [][2]int) {
	n := len(d) - 1
	add := func(x int) {
		p := [2]int{x, int(d[x])}
		k := len(points)
		if k > 0 && points[k-1][0] >= x {
			return
		}
		if k > 1 && points[k-1][0] != start && points[k-1][0] != end && inLine(points[k-2], points[k-1], p) {
			points[k-1] = p
			return
		}
		points = append(points, p)
	}
	steps := max(1, min(n, curvePoints))
	last := -1
	for i := range steps + 1 {
		x := int(int64(i) * int64(n) / int64(steps))
		for _, between := range []int{start, end} {
			if last < between && between < x {
				add(between)
			}
		}
		add(x)
		last = x
	}
	return points
}

// inLine reports whether b is on the line from a to c.
func inLine(a, b, c [2]int) bool {
	return int64(b[1]-a[1])*int64(c[0]-a[0]) == int64(c[1]-a[1])*int64(b[0]-a[0])
}
