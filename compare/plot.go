package compare

import (
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"neardup/report/figure"
	"neardup/truth"
)

const plotWidth = 8 * vg.Inch

// The styles of lines. Colours and shapes repeat at different lengths, so that no
// two of the first 56 lines look alike; from the eighth line on they are dashed.
var (
	shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{},
		draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}, draw.CrossGlyph{}}
	dashes = [][]vg.Length{nil, {vg.Points(5), vg.Points(2)}, {vg.Points(1.5), vg.Points(2)}}
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
	f := figure.Figure{Title: "precision and recall over each method's threshold", Width: plotWidth,
		LegendWidth: 1.7 * vg.Inch, PanelHeight: 3.8 * vg.Inch}
	colours := figure.Colours()
	for _, side := range sides {
		p := figure.NewPanel("recall, "+side.name, "precision, "+side.name)
		low := lowest(c.Curves, side.of)
		lowX, lowY := 1.0, 1.0
		for i, curve := range c.Curves {
			var line, own plotter.XYs
			for _, pt := range curve.Points {
				xy := plotter.XY{X: side.of(pt).Recall, Y: side.of(pt).Precision}
				if xy.X < low.X || xy.Y < low.Y {
					continue
				}
				lowX, lowY = min(lowX, xy.X), min(lowY, xy.Y)
				line = append(line, xy)
				if pt.Own {
					own = append(own, xy)
				}
			}
			look := draw.GlyphStyle{Color: colours[i%len(colours)], Shape: shapes[i%len(shapes)], Radius: vg.Points(2)}
			l, marks, err := plotter.NewLinePoints(line)
			if err != nil {
				return err
			}
			l.Color, l.Width, l.Dashes, marks.GlyphStyle = look.Color, vg.Points(1.2), dashes[i/len(colours)%len(dashes)], look
			p.Add(l, marks)
			p.Legend.Add(curve.Method, l, marks)
			large, err := plotter.NewScatter(own)
			if err != nil {
				return err
			}
			large.GlyphStyle = look
			large.Radius = vg.Points(4.5)
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
func lowest(curves []Curve, of func(Point) truth.F) plotter.XY {
	low := plotter.XY{X: 1, Y: 1}
	for _, c := range curves {
		for _, p := range c.Points {
			if p.Own {
				low.X, low.Y = min(low.X, of(p).Recall), min(low.Y, of(p).Precision)
			}
		}
	}
	return plotter.XY{X: low.X - below, Y: low.Y - below}
}

// showRates makes an axis show rates from low to 1, with room for a point at its
// ends.
func showRates(a *plot.Axis, low float64) {
	from := math.Max(0, math.Floor(low*10-0.5)/10)
	a.Min, a.Max = from-(1-from)/50, 1+(1-from)/50
	a.Tick.Marker = rateTicks(from)
}

// rateTicks are tenths, or twentieths if there are few tenths.
func rateTicks(from float64) (ticks plot.ConstantTicks) {
	step := 10
	if from >= 0.7 {
		step = 5
	}
	for i := int(math.Round(100 * from)); i <= 100; i += step {
		ticks = append(ticks, plot.Tick{Value: float64(i) / 100, Label: decimals(2)(float64(i) / 100)})
	}
	return ticks
}

// rows returns a panel with one row for each method, the first on top.
func (c Comparison) rows(x string) (p figure.Panel, y func(i int) float64) {
	p = figure.NewPanel(x, "")
	var ticks plot.ConstantTicks
	last := len(c.Methods) - 1
	for i, m := range c.Methods {
		ticks = append(ticks, plot.Tick{Value: float64(last - i), Label: m.Name})
	}
	// No line, but some room, because viewers may draw the names in a wider font.
	p.Y.Tick.Marker, p.Y.Tick.Length = ticks, vg.Points(10)
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0
	p.Y.Min, p.Y.Max = -0.6, float64(last)+0.6
	return p, func(i int) float64 { return float64(last - i) }
}

// rowsFigure returns a figure of one panel with one row for each method.
func (c Comparison) rowsFigure(title string, p figure.Panel) figure.Figure {
	return figure.Figure{Title: title, Width: plotWidth, LegendWidth: 1.2 * vg.Inch,
		PanelHeight: 0.8*vg.Inch + 0.27*vg.Inch*vg.Length(max(2, len(c.Methods))), Panels: []figure.Panel{p}}
}

// WriteQualitySVG draws F1 by method. The comparison must have a truth.
func (c Comparison) WriteQualitySVG(w io.Writer) error {
	p, y := c.rows("F1")
	low := 1.0
	for i, side := range sides {
		var xys plotter.XYs
		for at, m := range c.Methods {
			f1 := side.score(*m.Scores).F1
			low = min(low, f1)
			xys = append(xys, plotter.XY{X: f1, Y: y(at)})
		}
		points, err := plotter.NewScatter(xys)
		if err != nil {
			return err
		}
		points.GlyphStyle = draw.GlyphStyle{Color: figure.Colours()[i], Shape: []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}}[i],
			Radius: vg.Points(4)}
		p.Add(points)
		p.Legend.Add(side.name, points)
	}
	showRates(&p.X, low)
	return c.rowsFigure("F1 by method", p).WriteSVG(w)
}

// amountTicks are four to ten round numbers from 0 on.
func amountTicks(most float64) (ticks plot.ConstantTicks) {
	step := math.Pow(10, math.Floor(math.Log10(most)))
	switch {
	case most/step < 2:
		step /= 5
	case most/step < 5:
		step /= 2
	}
	for i := 0; float64(i)*step <= most; i++ {
		x := float64(i) * step
		ticks = append(ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(x, 'g', 6, 64)})
	}
	return ticks
}

// WriteCostSVG draws processor seconds by method, its stages one after another.
func (c Comparison) WriteCostSVG(w io.Writer) error {
	p, _ := c.rows("processor seconds")
	var below *plotter.BarChart
	colours := slices.Concat([]color.Color{color.Gray{Y: 170}}, figure.Colours()) // all methods share the extraction
	for i, stage := range c.stages() {
		values := make(plotter.Values, len(c.Methods))
		for at, m := range c.Methods {
			values[len(values)-1-at] = m.Stages[i].CPU
		}
		bars, err := plotter.NewBarChart(values, 0.17*vg.Inch)
		if err != nil {
			return err
		}
		bars.Horizontal, bars.Color, bars.Width = true, colours[i%len(colours)], 0.17*vg.Inch
		bars.LineStyle.Width = 0
		if below != nil {
			bars.StackOn(below)
		}
		below = bars
		p.Add(bars)
		p.Legend.Add(stage, bars)
	}
	most := 0.001 // lower bound, if processor times are unknown
	for i := range c.Methods {
		most = max(most, below.BarHeight(i))
	}
	p.X.Min, p.X.Max, p.X.Tick.Marker = 0, most*1.02, amountTicks(most)
	p.Y.Min, p.Y.Max = -0.6, float64(len(c.Methods))-0.4
	return c.rowsFigure("cost by method", p).WriteSVG(w)
}
