package figure

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Drawing is a figure that is drawn: paths and texts, one over the other.
type Drawing struct {
	Width, Height float64
	Elements      []Element
}

// Element is a path, or a text if it has no path.
type Element struct {
	Path         string     // the attribute d
	Fill, Stroke color.RGBA // without alpha: none
	StrokeWidth  float64
	Dashes       string // the attribute stroke-dasharray; empty: none

	Text    string
	At      Point // of the text's anchor, on its base line
	Anchor  string
	Size    float64
	Upwards bool // the text is turned to the left, around At
}

var transparent color.RGBA // nothing is drawn

// Values of Element.Anchor, as in SVG.
const (
	start  = "start"
	middle = "middle"
	end    = "end"
)

// centre is how far below a text's centre its base line is, in sizes.
const centre = 0.35

func (d *Drawing) fill(path string, c color.RGBA) {
	d.Elements = append(d.Elements, Element{Path: path, Fill: c, Stroke: transparent})
}

func (d *Drawing) stroke(path string, c color.RGBA, width float64, dashes []float64) {
	var all []string
	for _, n := range dashes {
		all = append(all, Number(n))
	}
	d.Elements = append(d.Elements, Element{Path: path, Fill: transparent, Stroke: c, StrokeWidth: width, Dashes: strings.Join(all, ",")})
}

func (d *Drawing) text(at Point, size float64, anchor, text string) {
	d.Elements = append(d.Elements, Element{Text: text, At: at, Anchor: anchor, Size: size, Fill: Black})
}

// Transform returns the attribute transform of a text. It is empty if there is
// none.
func (e *Element) Transform() string {
	if !e.Upwards {
		return ""
	}
	return fmt.Sprintf("rotate(-90 %s %s)", Number(e.At.X), Number(e.At.Y))
}

// ViewBox returns the attribute viewBox.
func (d *Drawing) ViewBox() string { return "0 0 " + Number(d.Width) + " " + Number(d.Height) }

// writeSVG writes the drawing as a file.
func (d *Drawing) writeSVG(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%spt" height="%spt" viewBox="%s" font-family="Liberation Sans, Arial, Helvetica, sans-serif">`+"\n",
		Number(d.Width), Number(d.Height), d.ViewBox())
	for i := range d.Elements {
		e := &d.Elements[i]
		if e.Path == "" {
			fmt.Fprintf(&b, `<text x="%s" y="%s" font-size="%s" text-anchor="%s"`, Number(e.At.X), Number(e.At.Y), Number(e.Size), e.Anchor)
			if t := e.Transform(); t != "" {
				fmt.Fprintf(&b, ` transform="%s"`, t)
			}
			b.WriteByte('>')
			if err := xml.EscapeText(&b, []byte(e.Text)); err != nil {
				return err
			}
			b.WriteString("</text>\n")
			continue
		}
		fmt.Fprintf(&b, `<path d="%s" fill="%s"`, e.Path, hex(e.Fill))
		if e.Stroke != transparent {
			fmt.Fprintf(&b, ` stroke="%s" stroke-width="%s"`, hex(e.Stroke), Number(e.StrokeWidth))
		}
		if e.Dashes != "" {
			fmt.Fprintf(&b, ` stroke-dasharray="%s"`, e.Dashes)
		}
		b.WriteString("/>\n")
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

func hex(c color.RGBA) string {
	if c == transparent {
		return "none"
	}
	return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
}

// Number returns a length to a hundredth of a point. Adding 0 makes 0 of -0.
func Number(x float64) string {
	return strconv.FormatFloat(math.Round(100*x)/100+0, 'f', -1, 64)
}

func polyline(points []Point) string {
	var b strings.Builder
	for i, at := range points {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(Number(at.X) + "," + Number(at.Y))
	}
	return b.String()
}

func rectangle(x1, y1, x2, y2 float64) string {
	return polyline([]Point{{x1, y1}, {x2, y1}, {x2, y2}, {x1, y2}}) + "Z"
}

// Marker is the shape of a point.
type Marker int

// The markers. Those up to Pyramid are filled.
const (
	Disc Marker = iota
	Box
	Pyramid
	Ring
	Square
	Triangle
	Plus
	Cross
)

func (m Marker) solid() bool { return m <= Pyramid }

// path returns the marker around a point.
func (m Marker) path(at Point, r float64) string {
	switch m {
	case Disc, Ring:
		n, across := Number(r), Number(2*r)
		return polyline([]Point{{at.X - r, at.Y}}) + "a" + n + "," + n + " 0 1 0 " + across + ",0a" + n + "," + n + " 0 1 0 -" + across + ",0Z"
	case Box, Square:
		return rectangle(at.X-r, at.Y-r, at.X+r, at.Y+r)
	case Pyramid, Triangle:
		return polyline([]Point{{at.X, at.Y - r}, {at.X + 0.87*r, at.Y + r/2}, {at.X - 0.87*r, at.Y + r/2}}) + "Z"
	case Plus:
		return polyline([]Point{{at.X - r, at.Y}, {at.X + r, at.Y}}) + polyline([]Point{{at.X, at.Y - r}, {at.X, at.Y + r}})
	}
	r *= 0.71
	return polyline([]Point{{at.X - r, at.Y - r}, {at.X + r, at.Y + r}}) + polyline([]Point{{at.X - r, at.Y + r}, {at.X + r, at.Y - r}})
}

// roundTicks are four to eleven round numbers of an axis.
func roundTicks(low, high float64) (ticks []Tick) {
	decimals := -int(math.Floor(math.Log10(high - low)))
	parts := 1.0 // of 10 to the power of -decimals
	switch span := (high - low) * math.Pow10(decimals); {
	case span < 2:
		parts = 5
	case span < 5:
		parts = 2
	}
	if parts > 1 {
		decimals++
		parts = 10 / parts
	}
	value := func(i float64) float64 { // divided where it can be, which is exact
		if decimals > 0 {
			return i * parts / math.Pow10(decimals)
		}
		return i * parts * math.Pow10(-decimals)
	}
	for i := math.Ceil(low/value(1) - 1e-9); value(i) <= high+1e-9*(high-low); i++ {
		ticks = append(ticks, Tick{value(i), strconv.FormatFloat(value(i)+0, 'f', max(0, decimals), 64)})
	}
	return ticks
}

// widths are those of the characters from ' ' to '~' in Arial, Helvetica and
// Liberation Sans, in thousandths of the size.
var widths = [...]uint16{278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
	556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
	556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584}

// textWidth returns about how wide a text is.
func textWidth(text string, size float64) float64 {
	sum := 0
	for _, r := range text {
		switch {
		case r >= ' ' && int(r-' ') < len(widths):
			sum += int(widths[r-' '])
		case r < 0x1100 && r != utf8.RuneError:
			sum += 600
		default: // scripts with wide characters begin here
			sum += 1000
		}
	}
	return float64(sum) / 1000 * size
}
