// Package figure draws plots as SVG: panels one below the other, each with its
// legend, in colours that colour-blind people can distinguish. Sweeps, comparisons,
// explanations and the report share its style.
package figure

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The colours of Okabe and Ito, which colour-blind people can distinguish.
var (
	Black  = color.RGBA{A: 255}
	Orange = color.RGBA{R: 230, G: 159, A: 255}
	Sky    = color.RGBA{R: 86, G: 180, B: 233, A: 255}
	Green  = color.RGBA{G: 158, B: 115, A: 255}
	Blue   = color.RGBA{G: 114, B: 178, A: 255}
	Red    = color.RGBA{R: 213, G: 94, A: 255}
	Pink   = color.RGBA{R: 204, G: 121, B: 167, A: 255}
)

// Colours returns colours that are easy to distinguish, for things of different
// kinds.
func Colours() []color.Color { return []color.Color{Blue, Red, Green, Orange, Pink, Sky, Black} }

const titleHeight = 0.45 * vg.Inch

// Figure is a set of panels, one below the other, each with its legend beside it.
type Figure struct {
	Title       string    // empty if the surrounding page has a title
	Width       vg.Length // of all
	LegendWidth vg.Length
	PanelHeight vg.Length
	Panels      []Panel
}

// Panel is a plot with its legend.
type Panel struct {
	*plot.Plot
	Legend plot.Legend
}

// NewPanel returns an empty panel with the names of its axes.
func NewPanel(x, y string) Panel {
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.TextStyle, legend.Padding = true, true, style(9), 3
	pl := plot.New()
	pl.X.Label.Text, pl.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&pl.X, &pl.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = style(10).Font, style(9).Font
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{Y: 225}, color.Gray{Y: 225}
	pl.Add(grid)
	return Panel{pl, legend}
}

// WriteSVG draws the figure. The same figure gives the same bytes.
func (f Figure) WriteSVG(w io.Writer) error {
	titleHeight := titleHeight
	if f.Title == "" {
		titleHeight = 0
	}
	canvas := vgsvg.New(f.Width, titleHeight+f.PanelHeight*vg.Length(len(f.Panels)))
	all := draw.New(canvas)
	all.SetColor(color.White)
	all.Fill(all.Rectangle.Path())
	if f.Title != "" {
		title := style(12)
		title.YAlign = text.YTop
		all.FillText(title, vg.Point{X: all.Min.X + 8, Y: all.Max.Y - 6}, f.Title)
	}

	body := draw.Crop(all, 4, -f.LegendWidth, 4, -titleHeight)
	var rows [][]*plot.Plot
	for _, p := range f.Panels {
		rows = append(rows, []*plot.Plot{p.Plot})
	}
	tiles := draw.Tiles{Rows: len(rows), Cols: 1, PadY: 8}
	for i, row := range plot.Align(rows, tiles, body) {
		rows[i][0].Draw(row[0])
		beside := row[0]
		beside.Min.X, beside.Max.X = body.Max.X+4, all.Max.X
		f.Panels[i].Legend.Draw(beside)
	}
	_, err := canvas.WriteTo(w)
	return err
}

// style returns the style of all text. Without it the plots would depend on a
// global variable.
func style(size font.Length) text.Style {
	s := plot.New().Title.TextStyle
	s.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	s.XAlign, s.YAlign = text.XLeft, text.YBottom
	return s
}
