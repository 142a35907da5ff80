package explain

import (
	"errors"
	"fmt"
	"image/color"
	"io"

	"neardup/report/figure"
)

const maxPanels = 6

// ErrNoCurve reports that there is no edit curve: the measure has none, or a text
// is empty.
var ErrNoCurve = errors.New("there is no edit curve: only the measure tlcs has one, of texts that are not empty")

// WriteSVG draws the edit curves of the first six rounds with their trustable
// regions (TLCS paper, figure 4). The line between the ends of a region has the
// region's slope.
func (e *Explanation) WriteSVG(w io.Writer) error {
	if !e.Curved() {
		return ErrNoCurve
	}
	f := figure.Figure{Title: fmt.Sprintf("edit operations d(x) from text %s to text %s", e.TLCS.Longer, e.shorter()),
		Width: 8 * figure.Inch, PanelHeight: 2.9 * figure.Inch}
	for i, r := range e.TLCS.Rounds[:min(maxPanels, len(e.TLCS.Rounds))] {
		f.Panels = append(f.Panels, e.panel(i, r))
	}
	return f.WriteSVG(w)
}

func (e *Explanation) shorter() string {
	if e.TLCS.Longer == "a" {
		return "b"
	}
	return "a"
}

func (e *Explanation) panel(i int, r Round) *figure.Panel {
	x := "x, position in text " + e.TLCS.Longer
	if i > 0 {
		x = fmt.Sprintf("x, position in what round %d has left of text %s", i, e.TLCS.Longer)
	}
	p := figure.NewPanel(x, "d")
	colours := figure.Colours()
	var points []figure.Point
	var base, top figure.Point // marks of the region
	for _, at := range r.Curve {
		xy := figure.Point{X: float64(at[0]), Y: float64(at[1])}
		points = append(points, xy)
		if at[0] == r.Start {
			base = xy
		}
		if at[0] == r.End {
			top = xy
		}
	}
	region := e.Diff.Trustable && r.Start < r.End
	if region {
		p.AddRegion("trustable region", color.RGBA{R: 214, G: 238, B: 230, A: 255}, base.X, top.X)
	}
	p.Add(figure.Series{Name: fmt.Sprintf("d(x), round %d", i+1), Colour: colours[0], Points: points, Line: 1.5})
	if region {
		p.Add(figure.Series{Name: fmt.Sprintf("its slope %.4f", r.slope()), Colour: colours[1], Points: []figure.Point{base, top}, Line: 1.2, Dashes: []float64{4, 2}})
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(max(1, r.A)), 0, float64(max(1, r.Edits))
	p.X.Ticks, p.Y.Ticks = wholeTicks(p.X.Max), wholeTicks(p.Y.Max)
	return p
}

// slope returns the slope of the region.
func (r *Round) slope() float64 {
	if r.Start == r.End {
		return 0
	}
	return float64(r.Inside) / float64(r.End-r.Start)
}

// wholeTicks returns four to ten round whole numbers from 0 on.
func wholeTicks(most float64) (ticks []figure.Tick) {
	step := 1.0
	for by := 0; most/step > 8; by++ {
		step *= [3]float64{2, 2.5, 2}[by%3]
	}
	for x := 0.0; x <= most; x += step {
		ticks = append(ticks, figure.Tick{Value: x, Label: fmt.Sprintf("%.0f", x)})
	}
	return ticks
}
