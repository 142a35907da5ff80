// Package figure draws figures as SVG: panels one below the other, each with its
// legend, in colours that colour-blind people can distinguish. Sweeps, comparisons,
// explanations and the report share its style.
//
// All lengths are in points, and y grows downwards.
package figure

import (
	"image/color"
	"io"
	"math"
	"slices"
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

// Gray is for what is not of any kind.
var Gray = color.RGBA{R: 170, G: 170, B: 170, A: 255}

// White is the background, and Grid the colour of the lines at ticks.
var (
	White = color.RGBA{R: 255, G: 255, B: 255, A: 255}
	Grid  = color.RGBA{R: 225, G: 225, B: 225, A: 255}
)

// Colours returns colours that are easy to distinguish, for things of different
// kinds.
func Colours() []color.RGBA { return []color.RGBA{Blue, Red, Green, Orange, Pink, Sky, Black} }

// Inch is an inch.
const Inch = 72.0

// Sizes of text and the room around it.
const (
	titleSize   = 12.0
	titleHeight = 0.45 * Inch
	labelSize   = 10.0
	tickSize    = 9.0
	tickLength  = 5.0
	lineHeight  = 1.3 // of a size
	gap         = 3.0 // between text and what it is beside
	border      = 4.0
	sample      = 20.0 // width of a sample in a legend
	thin        = 0.5
	wider       = 1.1 // room for text: viewers may have a wider font
)

// Figure is a set of panels, one below the other, each with its legend beside it.
type Figure struct {
	Title       string // empty if the surrounding page has a title
	Width       float64
	PanelHeight float64
	Panels      []*Panel
}

// Point is a point of a panel, in the values of its axes.
type Point struct{ X, Y float64 }

// Axis is an axis of a panel.
type Axis struct {
	Label    string
	Min, Max float64 // adding to a panel extends them
	Ticks    []Tick  // nil: round numbers
	Names    bool    // the ticks name rows: there is no line
}

// Tick is a labelled place of an axis.
type Tick struct {
	Value float64
	Label string
}

// Panel is a pair of axes, what is drawn between them, and its legend.
type Panel struct {
	X, Y   Axis
	marks  []func(d *Drawing, at func(Point) Point)
	legend []entry
}

// entry is a name in a legend, with a sample whose left end is at a point.
type entry struct {
	name   string
	sample func(d *Drawing, left Point)
}

// NewPanel returns an empty panel with the names of its axes.
func NewPanel(x, y string) *Panel {
	empty := Axis{Min: math.Inf(1), Max: math.Inf(-1)}
	p := &Panel{X: empty, Y: empty}
	p.X.Label, p.Y.Label = x, y
	return p
}

func (a *Axis) extend(v float64) { a.Min, a.Max = min(a.Min, v), max(a.Max, v) }

// Series is a line, a set of markers, or both. It must be within the axes.
type Series struct {
	Name   string // in the legend; empty: not there
	Colour color.RGBA
	Points []Point
	Line   float64   // width; 0: no line
	Dashes []float64 // of the line: lengths of dashes and gaps; nil: solid
	Marker Marker
	Radius float64 // of the markers; 0: no markers
}

// Add draws a series over what the panel has.
func (p *Panel) Add(s Series) {
	for _, at := range s.Points {
		p.X.extend(at.X)
		p.Y.extend(at.Y)
	}
	draw := func(d *Drawing, points []Point) {
		if s.Line > 0 && len(points) > 1 {
			d.stroke(polyline(points), s.Colour, s.Line, s.Dashes)
		}
		if s.Radius > 0 && len(points) > 0 {
			path := ""
			for _, at := range points {
				path += s.Marker.path(at, s.Radius)
			}
			if s.Marker.solid() {
				d.fill(path, s.Colour)
			} else {
				d.stroke(path, s.Colour, 1, nil)
			}
		}
	}
	p.marks = append(p.marks, func(d *Drawing, at func(Point) Point) {
		var points []Point
		for _, value := range s.Points {
			points = append(points, at(value))
		}
		draw(d, points)
	})
	if s.Name != "" {
		p.legend = append(p.legend, entry{s.Name, func(d *Drawing, left Point) {
			if s.Line > 0 {
				d.stroke(polyline([]Point{left, {left.X + sample, left.Y}}), s.Colour, s.Line, s.Dashes)
			}
			if s.Radius > 0 {
				line := s.Line
				s.Line = 0
				draw(d, []Point{{left.X + sample/2, left.Y}})
				s.Line = line
			}
		}})
	}
}

// Kind is a kind of parts of bars.
type Kind struct {
	Name   string // in the legend; empty: not there
	Colour color.RGBA
}

// AddBars draws bars at 0, 1, 2 and so on. Each is made of parts of all kinds, one
// after the other: parts[k][i] is the part of kind k of the bar at i. Bars lie if
// they are horizontal, and stand otherwise.
func (p *Panel) AddBars(horizontal bool, width float64, kinds []Kind, parts [][]float64) {
	length, place := &p.Y, &p.X
	if horizontal {
		length, place = &p.X, &p.Y
	}
	length.extend(0)
	if len(kinds) == 0 {
		return
	}
	sums := make([]float64, len(parts[0]))
	for k, kind := range kinds {
		starts := slices.Clone(sums)
		for i, part := range parts[k] {
			sums[i] += part
			length.extend(sums[i])
			place.extend(float64(i))
		}
		ends := slices.Clone(sums)
		p.marks = append(p.marks, func(d *Drawing, at func(Point) Point) {
			path := ""
			for i := range ends {
				if ends[i] == starts[i] {
					continue
				}
				if horizontal {
					from, to := at(Point{starts[i], float64(i)}), at(Point{ends[i], float64(i)})
					path += rectangle(from.X, from.Y-width/2, to.X, to.Y+width/2)
				} else {
					from, to := at(Point{float64(i), starts[i]}), at(Point{float64(i), ends[i]})
					path += rectangle(from.X-width/2, to.Y, to.X+width/2, from.Y)
				}
			}
			if path != "" {
				d.fill(path, kind.Colour)
			}
		})
		p.addBox(kind.Name, kind.Colour)
	}
}

// AddRegion fills the panel between two values of X.
func (p *Panel) AddRegion(name string, colour color.RGBA, from, to float64) {
	p.X.extend(from)
	p.X.extend(to)
	p.marks = append(p.marks, func(d *Drawing, at func(Point) Point) {
		low, high := at(Point{from, p.Y.Min}), at(Point{to, p.Y.Max})
		d.fill(rectangle(low.X, high.Y, high.X, low.Y), colour)
	})
	p.addBox(name, colour)
}

func (p *Panel) addBox(name string, colour color.RGBA) {
	if name != "" {
		p.legend = append(p.legend, entry{name, func(d *Drawing, left Point) {
			d.fill(rectangle(left.X, left.Y-tickSize/2, left.X+sample, left.Y+tickSize/2), colour)
		}})
	}
}

// AddNote writes text above a point, or to its right.
func (p *Panel) AddNote(value Point, text string, above bool) {
	p.marks = append(p.marks, func(d *Drawing, at func(Point) Point) {
		if above {
			d.text(Point{at(value).X, at(value).Y - gap}, tickSize, middle, text)
		} else {
			d.text(Point{at(value).X + gap, at(value).Y + centre*tickSize}, tickSize, start, text)
		}
	})
}

// WriteSVG draws the figure. The same figure gives the same bytes.
func (f Figure) WriteSVG(w io.Writer) error { return f.Draw().writeSVG(w) }

// Draw draws the figure.
func (f Figure) Draw() *Drawing {
	top := 0.0
	if f.Title != "" {
		top = titleHeight
	}
	d := &Drawing{Width: f.Width, Height: top + f.PanelHeight*float64(len(f.Panels))}
	d.fill(rectangle(0, 0, d.Width, d.Height), White)
	if f.Title != "" {
		d.text(Point{8, 6 + titleSize}, titleSize, start, f.Title)
	}
	left, right := 0.0, 0.0 // of the widest panel: all lines are below each other
	for _, p := range f.Panels {
		p.X.settle()
		p.Y.settle()
		left, right = max(left, p.left()), max(right, p.right())
	}
	edge := f.Width - f.legendWidth()
	for i, p := range f.Panels {
		y := top + float64(i)*f.PanelHeight
		p.draw(d, Point{border + left, y + border + tickSize/2}, Point{edge - border - right, y + f.PanelHeight - p.below()})
		for n, e := range p.legend {
			at := Point{edge + border, y + border + tickSize + float64(n)*(tickSize*lineHeight+2)}
			e.sample(d, at)
			d.text(Point{at.X + sample + gap, at.Y + centre*tickSize}, tickSize, start, e.name)
		}
	}
	return d
}

// legendWidth returns the room for the legends of all panels.
func (f Figure) legendWidth() (room float64) {
	for _, p := range f.Panels {
		for _, e := range p.legend {
			room = max(room, border+sample+gap+wider*textWidth(e.name, tickSize)+border)
		}
	}
	return room
}

// settle gives an axis a range and ticks, if it has none.
func (a *Axis) settle() {
	switch {
	case a.Min > a.Max: // nothing is drawn
		a.Min, a.Max = 0, 1
	case a.Min == a.Max:
		a.Min, a.Max = a.Min-1, a.Max+1
	}
	if a.Ticks == nil {
		a.Ticks = roundTicks(a.Min, a.Max)
	}
}

// left returns the room at the left of the panel.
func (p *Panel) left() float64 {
	widest := 0.0
	for _, t := range p.Y.Ticks {
		widest = max(widest, textWidth(t.Label, tickSize))
	}
	room := wider*widest + tickLength + gap
	if p.Y.Label != "" {
		room += labelSize * lineHeight
	}
	return room
}

// right returns the room at the right of the panel: what the last label needs.
func (p *Panel) right() (room float64) {
	for _, t := range p.X.Ticks {
		if t.Value > p.X.Max-(p.X.Max-p.X.Min)/20 {
			room = max(room, textWidth(t.Label, tickSize)/2)
		}
	}
	return room
}

// below returns the room below the panel.
func (p *Panel) below() float64 {
	room := tickLength + gap + tickSize*lineHeight
	if p.X.Label != "" {
		room += labelSize * lineHeight
	}
	return room + gap
}

// draw draws the panel between its upper left and its lower right corner.
func (p *Panel) draw(d *Drawing, from, to Point) {
	at := func(v Point) Point {
		return Point{from.X + (v.X-p.X.Min)/(p.X.Max-p.X.Min)*(to.X-from.X), to.Y - (v.Y-p.Y.Min)/(p.Y.Max-p.Y.Min)*(to.Y-from.Y)}
	}
	grid, ticks := "", ""
	for _, t := range p.X.within() {
		x := at(Point{t.Value, p.Y.Min}).X
		grid += polyline([]Point{{x, from.Y}, {x, to.Y}})
		ticks += polyline([]Point{{x, to.Y}, {x, to.Y + tickLength}})
		d.text(Point{x, to.Y + tickLength + tickSize + 1}, tickSize, middle, t.Label)
	}
	for _, t := range p.Y.within() {
		y := at(Point{p.X.Min, t.Value}).Y
		if p.Y.Names {
			d.text(Point{from.X - tickLength - gap, y + centre*tickSize}, tickSize, end, t.Label)
			continue
		}
		grid += polyline([]Point{{from.X, y}, {to.X, y}})
		ticks += polyline([]Point{{from.X - tickLength, y}, {from.X, y}})
		d.text(Point{from.X - tickLength - gap, y + centre*tickSize}, tickSize, end, t.Label)
	}
	if p.Y.Names {
		ticks += polyline([]Point{{from.X, to.Y}, to})
	} else {
		ticks += polyline([]Point{from, {from.X, to.Y}, to})
	}
	if grid != "" {
		d.stroke(grid, Grid, thin, nil)
	}
	for _, mark := range p.marks {
		mark(d, at)
	}
	d.stroke(ticks, Black, thin, nil)
	if p.X.Label != "" {
		d.text(Point{(from.X + to.X) / 2, to.Y + tickLength + gap + (tickSize+labelSize)*lineHeight - 2}, labelSize, middle, p.X.Label)
	}
	if p.Y.Label != "" {
		d.text(Point{border + labelSize, (from.Y + to.Y) / 2}, labelSize, middle, p.Y.Label)
		d.Elements[len(d.Elements)-1].Upwards = true
	}
}

// within returns the ticks that are on the axis.
func (a *Axis) within() (ticks []Tick) {
	slack := (a.Max - a.Min) * 1e-9
	for _, t := range a.Ticks {
		if t.Value >= a.Min-slack && t.Value <= a.Max+slack {
			ticks = append(ticks, t)
		}
	}
	return ticks
}
