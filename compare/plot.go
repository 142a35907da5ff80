package compare

import (
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"neardup/report/figure"
	"neardup/truth"
)

const plotWidth = 8 * figure.Inch

// The styles of lines. Colours and shapes repeat at different lengths, so that no
// two of the first 56 lines look alike; from the eighth line on they are dashed.
var (
	markers = []figure.Marker{figure.Disc, figure.Box, figure.Pyramid, figure.Ring,
		figure.Square, figure.Triangle, figure.Plus, figure.Cross}
	dashes = [][]float64{nil, {5, 2}, {1.5, 2}}
)

// sides are the two ways of scoring.
var sides = []struct {
	name  string
	of    func(Point) truth.F
	score func(truth.Scores) truth.F
}{
	{"announced pages", func(p Point) truth.F { return p.Announced }, func(s truth.Scores) truth.F { return s.Announced }},
	{"pairs", func(p Point) truth.F { return p.Pair }, func(s truth.Scores) truth.F { return s.Pair }},
}

// WriteCurvesSVG draws precision over recall, one line for each method. The large
// point is the method's own setting.
func (c Comparison) WriteCurvesSVG(w io.Writer) error {
	f := figure.Figure{Title: "precision and recall over each method's threshold", Width: plotWidth, PanelHeight: 3.8 * figure.Inch}
	colours := figure.Colours()
	for _, side := range sides {
		p := figure.NewPanel("recall, "+side.name, "precision, "+side.name)
		low := lowest(c.Curves, side.of)
		lowX, lowY := 1.0, 1.0
		for i, curve := range c.Curves {
			var line, own []figure.Point
			for _, pt := range curve.Points {
				xy := figure.Point{X: side.of(pt).Recall, Y: side.of(pt).Precision}
				if xy.X < low.X || xy.Y < low.Y {
					continue
				}
				lowX, lowY = min(lowX, xy.X), min(lowY, xy.Y)
				line = append(line, xy)
				if pt.Own {
					own = append(own, xy)
				}
			}
			look := figure.Series{Colour: colours[i%len(colours)], Marker: markers[i%len(markers)]}
			curved, large := look, look
			curved.Name, curved.Points, curved.Radius = curve.Method, line, 2
			curved.Line, curved.Dashes = 1.2, dashes[i/len(colours)%len(dashes)]
			p.Add(curved)
			large.Points, large.Radius = own, 4.5
			p.Add(large)
		}
		showRates(&p.X, lowX)
		showRates(&p.Y, lowY)
		f.Panels = append(f.Panels, p)
	}
	return f.WriteSVG(w)
}

// below is how far below the methods' own settings the curves are drawn. Thresholds
// that nobody would use lead far away, and would leave little room for the rest.
const below = 0.2

// lowest returns where the curves end at the left and at the bottom.
func lowest(curves []Curve, of func(Point) truth.F) figure.Point {
	low := figure.Point{X: 1, Y: 1}
	for _, c := range curves {
		for _, p := range c.Points {
			if p.Own {
				low.X, low.Y = min(low.X, of(p).Recall), min(low.Y, of(p).Precision)
			}
		}
	}
	return figure.Point{X: low.X - below, Y: low.Y - below}
}

// showRates makes an axis show rates from low to 1, with room for a point at its
// ends.
func showRates(a *figure.Axis, low float64) {
	from := math.Max(0, math.Floor(low*10-0.5)/10)
	a.Min, a.Max = from-(1-from)/50, 1+(1-from)/50
	a.Ticks = rateTicks(from)
}

// rateTicks are tenths, or twentieths if there are few tenths.
func rateTicks(from float64) (ticks []figure.Tick) {
	step := 10
	if from >= 0.7 {
		step = 5
	}
	for i := int(math.Round(100 * from)); i <= 100; i += step {
		ticks = append(ticks, figure.Tick{Value: float64(i) / 100, Label: decimals(2)(float64(i) / 100)})
	}
	return ticks
}

// rows returns a panel with one row for each method, the first on top.
func (c Comparison) rows(x string) (p *figure.Panel, y func(i int) float64) {
	p = figure.NewPanel(x, "")
	last := len(c.Methods) - 1
	for i, m := range c.Methods {
		p.Y.Ticks = append(p.Y.Ticks, figure.Tick{Value: float64(last - i), Label: m.Name})
	}
	p.Y.Names = true
	p.Y.Min, p.Y.Max = -0.6, float64(last)+0.6
	return p, func(i int) float64 { return float64(last - i) }
}

// rowsFigure returns a figure of one panel with one row for each method.
func (c Comparison) rowsFigure(title string, p *figure.Panel) figure.Figure {
	return figure.Figure{Title: title, Width: plotWidth,
		PanelHeight: 0.8*figure.Inch + 0.27*figure.Inch*float64(max(2, len(c.Methods))), Panels: []*figure.Panel{p}}
}

// WriteQualitySVG draws F1 by method. The comparison must have a truth.
func (c Comparison) WriteQualitySVG(w io.Writer) error {
	p, y := c.rows("F1")
	low := 1.0
	for i, side := range sides {
		var points []figure.Point
		for at, m := range c.Methods {
			f1 := side.score(*m.Scores).F1
			low = min(low, f1)
			points = append(points, figure.Point{X: f1, Y: y(at)})
		}
		p.Add(figure.Series{Name: side.name, Colour: figure.Colours()[i], Points: points, Marker: []figure.Marker{figure.Disc, figure.Square}[i], Radius: 4})
	}
	showRates(&p.X, low)
	return c.rowsFigure("F1 by method", p).WriteSVG(w)
}

// amountTicks are four to ten round numbers from 0 on.
func amountTicks(most float64) (ticks []figure.Tick) {
	step := math.Pow(10, math.Floor(math.Log10(most)))
	switch {
	case most/step < 2:
		step /= 5
	case most/step < 5:
		step /= 2
	}
	for i := 0; float64(i)*step <= most; i++ {
		x := float64(i) * step
		ticks = append(ticks, figure.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', 6, 64)})
	}
	return ticks
}

// WriteCostSVG draws processor seconds by method, its stages one after another.
func (c Comparison) WriteCostSVG(w io.Writer) error {
	p, _ := c.rows("processor seconds")
	colours := slices.Concat([]color.RGBA{figure.Gray}, figure.Colours()) // all methods share the extraction
	var kinds []figure.Kind
	var parts [][]float64
	sums := make([]float64, len(c.Methods))
	for i, stage := range c.stages() {
		values := make([]float64, len(c.Methods))
		for at, m := range c.Methods {
			values[len(values)-1-at] = m.Stages[i].CPU
			sums[at] += m.Stages[i].CPU
		}
		kinds, parts = append(kinds, figure.Kind{Name: stage, Colour: colours[i%len(colours)]}), append(parts, values)
	}
	p.AddBars(true, 0.17*figure.Inch, kinds, parts)
	most := max(0.001, slices.Max(sums)) // if processor times are unknown, they are 0
	p.X.Min, p.X.Max, p.X.Ticks = 0, most*1.02, amountTicks(most)
	p.Y.Min, p.Y.Max = -0.6, float64(len(c.Methods))-0.4
	return c.rowsFigure("cost by method", p).WriteSVG(w)
}
