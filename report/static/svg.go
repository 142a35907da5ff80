package static

import (
	"image/color"
	"strconv"

	"neardup/report/figure"
)

// A figure has fixed colours. A page has other colours in dark mode, and its policy
// forbids style attributes, so that crawled text cannot bring one in. Therefore
// each colour is a class of the style sheet.

// drawing is a figure on a page.
type drawing struct {
	ViewBox string
	Nodes   []node
}

// node is a path, or a text if it has no path. All but Class are attributes of SVG.
type node struct {
	Class     string // its colours
	Path      string
	Width     string // of its stroke
	Dashes    string
	X, Y      string // of text
	Size      string
	Anchor    string
	Transform string
	Text      string
}

// inks maps the figures' colours to names in the style sheet. Black is the colour of
// the surrounding text; white is not drawn.
var inks = func() map[color.RGBA]string {
	names := map[color.RGBA]string{{}: "none", figure.White: "none", figure.Black: "ink", figure.Grid: "grid", figure.Gray: "rest"}
	for i, c := range figure.Colours() {
		if names[c] == "" {
			names[c] = "colour" + strconv.Itoa(i)
		}
	}
	return names
}()

// draw returns the drawing of a figure.
func draw(f figure.Figure) drawing {
	of := f.Draw()
	d := drawing{ViewBox: of.ViewBox()}
	for i := range of.Elements {
		e := &of.Elements[i]
		n := node{Class: "fill-" + inks[e.Fill] + " stroke-" + inks[e.Stroke], Path: e.Path, Dashes: e.Dashes, Text: e.Text}
		switch {
		case e.Path == "":
			n.X, n.Y, n.Size = figure.Number(e.At.X), figure.Number(e.At.Y), figure.Number(e.Size)
			n.Anchor, n.Transform = e.Anchor, e.Transform()
		case e.StrokeWidth > 0:
			n.Width = figure.Number(e.StrokeWidth)
		case inks[e.Fill] == "none":
			continue // the white background
		}
		d.Nodes = append(d.Nodes, n)
	}
	return d
}
