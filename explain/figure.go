package explain

import (
	"errors"
	"fmt"
	"image/color"
	"io"

	"neardup/report/figure"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
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
		Width: 8 * vg.Inch, LegendWidth: 1.9 * vg.Inch, PanelHeight: 2.9 * vg.Inch}
	for i, r := range e.TLCS.Rounds[:min(maxPanels, len(e.TLCS.Rounds))] {
		p, err := e.panel(i, r)
		if err != nil {
			return err
		}
		f.Panels = append(f.Panels, p)
	}
	return f.WriteSVG(w)
}

func (e *Explanation) shorter() string {
	if e.TLCS.Longer == "a" {
		return "b"
	}
	return "a"
}

func (e *Explanation) panel(i int, r Round) (figure.Panel, error) {
	x := "x, position in text " + e.TLCS.Longer
	if i > 0 {
		x = fmt.Sprintf("x, position in what round %d has left of text %s", i, e.TLCS.Longer)
	}
	p := figure.NewPanel(x, "d")
	colours := figure.Colours()
	var points plotter.XYs
	var base, top plotter.XY // marks of the region
	for _, at := range r.Curve {
		xy := plotter.XY{X: float64(at[0]), Y: float64(at[1])}
		points = append(points, xy)
		if at[0] == r.Start {
			base = xy
		}
		if at[0] == r.End {
			top = xy
		}
	}
	high := float64(max(1, r.Edits))
	region := e.Diff.Trustable && r.Start < r.End
	if region {
		area, err := plotter.NewPolygon(plotter.XYs{{X: base.X, Y: 0}, {X: base.X, Y: high}, {X: top.X, Y: high}, {X: top.X, Y: 0}})
		if err != nil {
			return p, err
		}
		area.Color, area.LineStyle.Width = color.RGBA{R: 214, G: 238, B: 230, A: 255}, 0
		p.Add(area)
		p.Legend.Add("trustable region", area)
	}
	curve, err := plotter.NewLine(points)
	if err != nil {
		return p, err
	}
	curve.Color, curve.Width = colours[0], vg.Points(1.5)
	p.Add(curve)
	p.Legend.Add(fmt.Sprintf("d(x), round %d", i+1), curve)
	if region {
		slope, err := plotter.NewLine(plotter.XYs{base, top})
		if err != nil {
			return p, err
		}
		slope.Color, slope.Width, slope.Dashes = colours[1], vg.Points(1.2), []vg.Length{vg.Points(4), vg.Points(2)}
		p.Add(slope)
		p.Legend.Add(fmt.Sprintf("its slope %.4f", r.slope()), slope)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(max(1, r.A)), 0, high
	p.X.Tick.Marker, p.Y.Tick.Marker = wholeTicks{}, wholeTicks{}
	return p, nil
}

// slope returns the slope of the region.
func (r *Round) slope() float64 {
	if r.Start == r.End {
		return 0
	}
	return float64(r.Inside) / float64(r.End-r.Start)
}

// wholeTicks gives four to ten round whole numbers from 0 on.
type wholeTicks struct{}

func (wholeTicks) Ticks(_, most float64) (ticks []plot.Tick) {
	step := 1.0
	for by := 0; most/step > 8; by++ {
		step *= [3]float64{2, 2.5, 2}[by%3]
	}
	for x := 0.0; x <= most; x += step {
		ticks = append(ticks, plot.Tick{Value: x, Label: fmt.Sprintf("%.0f", x)})
	}
	return ticks
}
