package sweep

import (
	"cmp"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Plot shows one numeric setting: quality and cost over its values. In a grid
// the other settings stay at those of the best variant.
type Plot struct {
	Key     string
	sweep   Sweep
	fixed   []Setting // the others, in a grid
	points  []point
	caption string
}

// point is a value of the setting with its result.
type point struct {
	label string
	x     float64
	r     Result
}

// Plots gives a plot for each numeric setting that takes at least two values.
func (s Sweep) Plots() []Plot {
	var out []Plot
	for _, v := range s.Varies {
		p := Plot{Key: v.Key, sweep: s}
		if s.Grid {
			p.fixed = slices.DeleteFunc(slices.Clone(s.best().Settings), func(o Setting) bool { return o.Key == v.Key })
			p.caption = name(p.fixed)
		}
		if len(p.fixed) == 0 {
			p.caption = "all else as in the base"
		}
		for _, r := range s.Results {
			if !s.passes(r, v.Key, p.fixed) {
				continue
			}
			value, err := s.setting(r, v.Key)
			x, ok := value.numeric()
			if err != nil || !ok {
				p.points = nil
				break
			}
			p.points = append(p.points, point{value.Text(), x, r})
		}
		slices.SortStableFunc(p.points, func(a, b point) int { return cmp.Compare(rank(v.Key, a.x), rank(v.Key, b.x)) })
		p.points = slices.CompactFunc(p.points, func(a, b point) bool { return a.x == b.x })
		if len(p.points) > 1 {
			out = append(out, p)
		}
	}
	return out
}

// rank orders the values of a setting: as numbers, but for 0 where it stands
// for no limit.
func rank(key string, x float64) float64 {
	if x == 0 && strings.HasPrefix(key[strings.Index(key, ".")+1:], "max_") {
		return math.Inf(1)
	}
	return x
}

// best is the result with the highest page F1, the first of several; without
// a truth the first of all.
func (s Sweep) best() Result {
	best := s.Results[min(1, len(s.Results)-1)] // the base has no settings to keep to
	for _, r := range s.Results[1:] {
		if r.Scores != nil && r.Scores.Page.F1 > best.Scores.Page.F1 {
			best = r
		}
	}
	return best
}

// passes tells whether a result differs from the fixed settings, or from the
// base, in key only.
func (s Sweep) passes(r Result, key string, fixed []Setting) bool {
	for _, v := range s.Varies {
		if v.Key == key {
			continue
		}
		want := Setting{Key: v.Key}
		want.Value, _ = valueOf(s.Base, v.Key)
		for _, f := range fixed {
			if f.Key == v.Key {
				want = f
			}
		}
		if got, err := s.setting(r, v.Key); err != nil || string(got.Value) != string(want.Value) {
			return false
		}
	}
	return true
}

// The series of the three panels, and how they look. The colours are those of
// Okabe and Ito, which stay apart for colour-blind eyes.
type series struct {
	column string
	name   string
	colour color.RGBA
	shape  draw.GlyphDrawer
}

var (
	black  = color.RGBA{A: 255}
	orange = color.RGBA{R: 230, G: 159, A: 255}
	sky    = color.RGBA{R: 86, G: 180, B: 233, A: 255}
	green  = color.RGBA{G: 158, B: 115, A: 255}
	blue   = color.RGBA{G: 114, B: 178, A: 255}
	red    = color.RGBA{R: 213, G: 94, A: 255}
	pink   = color.RGBA{R: 204, G: 121, B: 167, A: 255}
)

var panels = []struct {
	axis     string
	unit     bool // the axis is from 0 to 1
	fromZero bool
	series   []series
}{
	{"rate", true, false, []series{
		{"page_f1", "page F1", blue, draw.CircleGlyph{}},
		{"pair_f1", "pair F1", red, draw.BoxGlyph{}},
		{"coverage", "coverage rate", green, draw.PyramidGlyph{}},
		{"trustable", "trustable rate", orange, draw.PlusGlyph{}},
		{"trustable_by_labels", "trustable, by labels", pink, draw.CrossGlyph{}},
		{"strain_away", "strain-away rate", sky, draw.RingGlyph{}},
		{"reserve", "reserve rate", black, draw.SquareGlyph{}},
	}},
	{"F1, closer", false, false, []series{
		{"page_f1", "page F1", blue, draw.CircleGlyph{}},
		{"pair_f1", "pair F1", red, draw.BoxGlyph{}},
	}},
	{"processor seconds", false, true, []series{
		{"cpu_seconds", "all stages", black, draw.CircleGlyph{}},
		{"sign_cpu_seconds", "sign", green, draw.PyramidGlyph{}},
		{"cluster_cpu_seconds", "cluster", orange, draw.PlusGlyph{}},
		{"verify_cpu_seconds", "verify", blue, draw.BoxGlyph{}},
	}},
}

const (
	plotWidth   = 7 * vg.Inch
	legendWidth = 1.6 * vg.Inch
	panelHeight = 2.5 * vg.Inch
	titleHeight = 0.45 * vg.Inch
)

// WriteSVG draws the plot. The same results give the same bytes.
func (p Plot) WriteSVG(w io.Writer) error {
	var plots []*plot.Plot
	var legends []plot.Legend
	for _, panel := range panels {
		pl, legend, err := p.panel(panel.axis, panel.series)
		if err != nil {
			return err
		}
		if pl == nil {
			continue
		}
		if panel.unit {
			pl.Y.Min, pl.Y.Max = 0, 1
		}
		if panel.fromZero {
			pl.Y.Min = 0
		}
		plots, legends = append(plots, pl), append(legends, legend)
	}
	plots[len(plots)-1].X.Label.Text = p.Key

	height := titleHeight + panelHeight*vg.Length(len(plots))
	canvas := vgsvg.New(plotWidth, height)
	all := draw.New(canvas)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	title := style(font.Length(12))
	title.YAlign = text.YTop
	all.FillText(title, vg.Point{X: all.Min.X + 8, Y: all.Max.Y - 6}, fmt.Sprintf("%s (%s)", p.Key, p.caption))

	body := draw.Crop(all, 4, -legendWidth, 4, -titleHeight)
	var rows [][]*plot.Plot
	for _, pl := range plots {
		rows = append(rows, []*plot.Plot{pl})
	}
	tiles := draw.Tiles{Rows: len(plots), Cols: 1, PadY: 8}
	for i, row := range plot.Align(rows, tiles, body) {
		rows[i][0].Draw(row[0])
		beside := row[0]
		beside.Min.X, beside.Max.X = body.Max.X+4, all.Max.X
		legends[i].Draw(beside)
	}
	_, err := canvas.WriteTo(w)
	return err
}

// panel draws the series that are known; nil if none is.
func (p Plot) panel(axis string, all []series) (*plot.Plot, plot.Legend, error) {
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.TextStyle, legend.Padding = true, true, style(9), 3
	pl := plot.New()
	pl.Y.Label.Text = axis
	for _, a := range []*plot.Axis{&pl.X, &pl.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = style(10).Font, style(9).Font
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 225}, color.Gray{Y: 225}
	pl.Add(grid)
	known := map[string]column{}
	for _, columns := range [][]column{quality, p.sweep.costs()} {
		for _, c := range columns {
			known[c.name] = c
		}
	}
	drawn := 0
	for _, s := range all {
		c, ok := known[s.column]
		if !ok {
			continue
		}
		var xys plotter.XYs
		for i, pt := range p.points {
			if y := c.value(pt.r); y != nil {
				xys = append(xys, plotter.XY{X: float64(i), Y: *y})
			}
		}
		if len(xys) == 0 {
			continue
		}
		line, points, err := plotter.NewLinePoints(xys)
		if err != nil {
			return nil, legend, err
		}
		line.Color, line.Width = s.colour, vg.Points(1.2)
		points.Color, points.Shape, points.Radius = s.colour, s.shape, vg.Points(3)
		pl.Add(line, points)
		legend.Add(s.name, line, points)
		drawn++
	}
	if drawn == 0 {
		return nil, legend, nil
	}
	// Values are at equal distances: 16, 32, 64, 100 would crowd the small ones.
	var ticks plot.ConstantTicks
	for i, pt := range p.points {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: pt.label})
	}
	pl.X.Tick.Marker = ticks
	pl.X.Min, pl.X.Max = -0.25, float64(len(p.points))-0.75
	return pl, legend, nil
}

// style is that of all text: without it the plots would depend on a global.
func style(size font.Length) text.Style {
	s := plot.New().Title.TextStyle
	s.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	s.XAlign, s.YAlign = text.XLeft, text.YBottom
	return s
}
