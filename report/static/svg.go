package static

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"neardup/report/figure"
	"strings"
)

// The plotting library writes SVG with fixed colours in style attributes. A page
// has other colours in dark mode, and its policy forbids style attributes, so that
// crawled text cannot bring one in. Therefore this file parses the plot into nodes,
// which a template writes. Anything unexpected is an error, and text is escaped
// like all text of the page.

// drawing is a plot on a page.
type drawing struct {
	ViewBox string
	Nodes   []node
}

// node is an element.
type node struct {
	Kind      string // g, path or text
	Class     string // its colours
	Transform string // of g and text
	D         string // of a path
	Width     string // of its stroke
	Dashes    string
	X, Y      string // of text
	Size      string
	Text      string
	Nodes     []node // of g
}

// inks maps the plots' colours to names in the style sheet. Black is the colour of
// the surrounding text; white is not drawn.
var inks = func() map[string]string {
	names := map[string]string{"none": "none", "#FFFFFF": "none", "#000000": "ink", "#E1E1E1": "grid", "#AAAAAA": "rest"}
	for i, c := range figure.Colours() {
		r, g, b, _ := c.RGBA()
		colour := fmt.Sprintf("#%02X%02X%02X", r>>8, g>>8, b>>8)
		if names[colour] == "" {
			names[colour] = fmt.Sprintf("colour%d", i)
		}
	}
	return names
}()

// draw returns the drawing of a figure.
func draw(f figure.Figure) (d drawing, err error) {
	var b bytes.Buffer
	if err := f.WriteSVG(&b); err != nil {
		return d, err
	}
	return parseSVG(&b)
}

// parseSVG parses the plot library's output.
func parseSVG(r io.Reader) (d drawing, err error) {
	x := xml.NewDecoder(r)
	for {
		t, err := x.Token()
		if err != nil {
			return d, fmt.Errorf("a plot without an svg element: %w", err)
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if start.Name.Local != "svg" {
			return d, fmt.Errorf("a plot is %s, not svg", start.Name.Local)
		}
		for _, a := range start.Attr {
			if a.Name.Local == "viewBox" {
				d.ViewBox = a.Value
			}
		}
		root := node{Kind: "svg"}
		err = root.read(x)
		d.Nodes = root.Nodes
		return d, err
	}
}

// read reads the content of the node up to its end.
func (n *node) read(x *xml.Decoder) error {
	for {
		t, err := x.Token()
		if err != nil {
			return fmt.Errorf("a plot that is cut off: %w", err)
		}
		switch t := t.(type) {
		case xml.EndElement:
			return nil
		case xml.CharData:
			if n.Kind == "text" {
				n.Text += string(t)
			}
		case xml.StartElement:
			child := node{Kind: t.Name.Local}
			if err := child.attributes(t.Attr); err != nil {
				return err
			}
			if err := child.read(x); err != nil {
				return err
			}
			if child.Class != "fill-none stroke-none" { // the white background
				n.Nodes = append(n.Nodes, child)
			}
		}
	}
}

func (n *node) attributes(all []xml.Attr) error {
	if n.Kind != "g" && n.Kind != "path" && n.Kind != "text" {
		return fmt.Errorf("a plot has an element %s", n.Kind)
	}
	fill, stroke := "#000000", "none"
	for _, a := range all {
		switch n.Kind + " " + a.Name.Local {
		case "g transform", "text transform":
			n.Transform = a.Value
		case "path d":
			n.D = a.Value
		case "text x":
			n.X = a.Value
		case "text y":
			n.Y = a.Value
		case "path style", "text style":
			for property := range strings.SplitSeq(a.Value, ";") {
				name, value, _ := strings.Cut(property, ":")
				switch strings.TrimSpace(name) {
				case "fill":
					fill = value
				case "stroke":
					stroke = value
				case "stroke-width":
					n.Width = value
				case "stroke-dasharray":
					n.Dashes = value
				case "font-size":
					n.Size = value
				case "stroke-dashoffset", "font-family", "font-variant", "font-weight", "font-style", "": // as in the style sheet
				default:
					return fmt.Errorf("a plot has the style %q", property)
				}
			}
		default:
			return fmt.Errorf("a plot has %s %s", n.Kind, a.Name.Local)
		}
	}
	if n.Kind == "g" {
		return nil
	}
	if n.Kind == "path" && stroke != "none" && n.Width == "" {
		n.Width = "1"
	}
	for _, colour := range []string{fill, stroke} {
		if inks[colour] == "" {
			return fmt.Errorf("a plot has the colour %s", colour)
		}
	}
	n.Class = "fill-" + inks[fill] + " stroke-" + inks[stroke]
	return nil
}
