package review

import (
	"fmt"
	"strconv"
	"strings"

	"neardup/audit"
	"neardup/explain"
	"neardup/report"
)

// Drawings are SVG that fills its box, whatever the shape of the box. Labels are
// HTML and keep their size.

// curve is the edit curve of a round (TLCS paper, figure 4), in a box of 1000 by
// 1000 with y downwards.
type curve struct {
	Number      int // of the round, from 1
	Points      string
	Region      bool
	Left, Width float64 // of the region
	Slope       string  // the line between the ends of the region
	SlopeValue  string
	Most        string // largest slope of a trustable region
	Round       explain.Round
	Longer      string // A or B
}

const box = 1000

// curvesShown limits the rounds that are drawn.
const curvesShown = 3

func curvesOf(e explain.Explanation) (out []curve) {
	if !e.Curved() {
		return nil
	}
	for i, r := range e.TLCS.Rounds[:min(curvesShown, len(e.TLCS.Rounds))] {
		if len(r.Curve) == 0 {
			continue
		}
		c := curve{Number: i + 1, Round: r, Longer: strings.ToUpper(e.TLCS.Longer), Region: e.Diff.Trustable && r.Start < r.End,
			Most: strconv.FormatFloat(e.TLCS.Slope, 'g', 4, 64)}
		x := func(n int) float64 { return box * float64(n) / float64(max(1, r.A)) }
		y := func(n int) float64 { return box - box*float64(n)/float64(max(1, r.Edits)) }
		var points, ends []string
		for _, p := range r.Curve {
			at := fmt.Sprintf("%.1f,%.1f", x(p[0]), y(p[1]))
			points = append(points, at)
			if p[0] == r.Start || p[0] == r.End {
				ends = append(ends, at)
			}
		}
		c.Points = strings.Join(points, " ")
		if c.Region {
			c.Left, c.Width, c.Slope = x(r.Start), x(r.End)-x(r.Start), strings.Join(ends, " ")
			c.SlopeValue = fmt.Sprintf("%.4f", float64(r.Inside)/float64(r.End-r.Start))
		}
		out = append(out, c)
	}
	return out
}

// timeline is a chart of the pages by month or year, in a box as wide as there are
// bars and 1000 high.
type timeline struct {
	Bars    []bar
	Width   int // of the box
	Pixels  int // on the page, at most
	Most    int
	Pages   int
	Buckets []Bucket
}

type bar struct {
	X, Y, Height int
	Label        string
	Pages        int
}

const barWidth, barGap = 8, 2

func timelineOf(buckets []Bucket) timeline {
	t := timeline{Buckets: buckets, Width: len(buckets) * (barWidth + barGap), Pixels: min(1100, max(1, len(buckets))*40)}
	for _, b := range buckets {
		t.Most = max(t.Most, b.Pages)
		t.Pages += b.Pages
	}
	for i, b := range buckets {
		if b.Pages <= 0 {
			continue
		}
		height := max(12, box*b.Pages/t.Most) // so that any bar is visible
		t.Bars = append(t.Bars, bar{i*(barWidth+barGap) + barGap/2, box - height, height, b.Label, b.Pages})
	}
	return t
}

// meter is a score with its threshold.
type meter struct {
	Name    string
	Value   report.Score
	Least   *float64
	Reached bool
	Width   int // of 1000
	At      int // of the threshold
	Note    string
}

// threshold returns the threshold of a meter that has one.
func (m meter) threshold() float64 { return *m.Least }

// metersOf returns the scores of a pair. Those that made it near come first.
func metersOf(e explain.Explanation) (out []meter) {
	s := e.Score
	add := func(name string, value report.Score, least *float64, note string) {
		m := meter{Name: name, Value: value, Least: least, Width: thousandth(float64(value)), Note: note}
		if least != nil {
			m.At, m.Reached = thousandth(*least), float64(value) >= *least
		}
		out = append(out, m)
	}
	if !s.Known {
		return nil
	}
	if e.Decision.Alike() {
		r := e.Rarity
		add("resemblance of the sentences", r.PlainResemblance, &r.LeastPlainAlike, "without their numbers")
		add("the same by rarity", r.Resemblance, &r.LeastAlike, "the rarer a sentence, the more it weighs")
	}
	add("resemblance", s.Resemblance, s.LeastResemblance, s.Note)
	add("containment", s.Containment, s.LeastContainment, "of the shorter text in the longer")
	if s.LeastWhole != nil {
		add("resemblance by the whole LCS", s.Whole, s.LeastWhole, "asked for where resemblance is reached")
	}
	return out
}

func thousandth(f float64) int {
	if !(f > 0) { // also if it is not a number
		return 0
	}
	return int(box*min(f, 1) + 0.5)
}

// interval is an estimate as a drawing.
type interval struct {
	audit.Interval
	Name         string
	X, Dot, Wide int // of 1000
}

func intervalOf(name string, i audit.Interval) interval {
	return interval{Interval: i, Name: name,
		X: thousandth(i.Low), Wide: max(0, thousandth(i.High)-thousandth(i.Low)), Dot: thousandth(i.Value)}
}
