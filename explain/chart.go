package explain

import (
	"fmt"
	"strings"
)

// chart draws the edit curve of a round (TLCS paper, figure 4) in characters. Width
// and height do not include the axes. The trustable region is between two dotted
// lines and is marked on the x axis.
func chart(r Round, s Style, width, height int) []string {
	label := fmt.Sprint(r.Edits)
	c := newCanvas(width, height, s.ASCII)
	for x := range c.dotsX {
		from, to := curveAt(r.Curve, x, c.dotsX), curveAt(r.Curve, max(0, x-1), c.dotsX)
		c.rise(x, c.level(to, r.Edits), c.level(from, r.Edits))
	}
	from, to := -1, -1 // columns of the region
	if r.Start < r.End {
		from, to = r.Start*(width-1)/max(1, r.A), r.End*(width-1)/max(1, r.A)
		c.dotted(from)
		c.dotted(to)
	}
	var out []string
	for y := range height {
		axis := s.pick("│", "|")
		left := strings.Repeat(" ", len(label)+1)
		switch y {
		case 0:
			left = label + " "
		case height - 1:
			left = fmt.Sprintf("%*d ", len(label), 0)
		}
		out = append(out, left+axis+c.row(y, s, from, to))
	}
	var axis strings.Builder
	axis.WriteString(strings.Repeat(" ", len(label)+1) + s.pick("└", "+"))
	for x := range width {
		switch {
		case x == from || x == to:
			axis.WriteString(s.paint(inRegion, s.pick("╋", "#")))
		case from < x && x < to:
			axis.WriteString(s.paint(inRegion, s.pick("━", "=")))
		default:
			axis.WriteString(s.pick("─", "-"))
		}
	}
	out = append(out, axis.String())
	end := fmt.Sprint(r.A)
	return append(out, strings.Repeat(" ", len(label)+2)+"0"+strings.Repeat(" ", max(1, width-1-len(end)))+end)
}

// curveAt returns d at column x, interpolated between the points of the curve.
func curveAt(points [][2]int, x, columns int) float64 {
	if len(points) == 0 {
		return 0
	}
	last := points[len(points)-1]
	at := float64(x) * float64(last[0]) / float64(max(1, columns-1))
	for i, p := range points {
		if float64(p[0]) < at {
			continue
		}
		if i == 0 || float64(p[0]) == at {
			return float64(p[1])
		}
		b := points[i-1]
		return float64(b[1]) + (at-float64(b[0]))*float64(p[1]-b[1])/float64(p[0]-b[0])
	}
	return float64(last[1])
}

// canvas is a grid of dots. A character holds eight dots in Unicode and one in
// ASCII.
type canvas struct {
	ascii                    bool
	width, height            int
	dotsX, dotsY, perX, perY int
	curve, lines             []bool
}

func newCanvas(width, height int, ascii bool) *canvas {
	c := &canvas{ascii: ascii, width: width, height: height, perX: 2, perY: 4}
	if ascii {
		c.perX, c.perY = 1, 1
	}
	c.dotsX, c.dotsY = width*c.perX, height*c.perY
	c.curve, c.lines = make([]bool, c.dotsX*c.dotsY), make([]bool, c.dotsX*c.dotsY)
	return c
}

// level returns the row of dots for a value; 0 is the lowest.
func (c *canvas) level(d float64, most int) int {
	if most == 0 {
		return 0
	}
	return min(c.dotsY-1, int(d*float64(c.dotsY-1)/float64(most)+0.5))
}

// rise draws column x of the curve, from the previous level to that at x.
func (c *canvas) rise(x, from, to int) {
	if to > from {
		from++
	}
	for y := from; y <= to; y++ {
		c.curve[(c.dotsY-1-y)*c.dotsX+x] = true
	}
}

// dotted draws a vertical line in a column of characters.
func (c *canvas) dotted(column int) {
	for y := 0; y < c.dotsY; y += max(1, c.perY/2) {
		c.lines[y*c.dotsX+column*c.perX] = true
	}
}

// braille maps the dots of a character to bits, row by row.
var braille = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// row returns a line of characters. Those between the columns from and to belong to
// the region.
func (c *canvas) row(y int, s Style, from, to int) string {
	var b strings.Builder
	for x := range c.width {
		var bits rune
		curve, line := false, false
		for dy := range c.perY {
			for dx := range c.perX {
				at := (y*c.perY+dy)*c.dotsX + x*c.perX + dx
				if c.curve[at] || c.lines[at] {
					bits |= braille[dy][dx]
				}
				curve, line = curve || c.curve[at], line || c.lines[at]
			}
		}
		char := string(rune(0x2800) + bits)
		switch {
		case !curve && !line:
			char = " "
		case c.ascii && curve:
			char = "*"
		case c.ascii:
			char = ":"
		}
		if from <= x && x <= to && char != " " {
			char = s.paint(inRegion, char)
		}
		b.WriteString(char)
	}
	return strings.TrimRight(b.String(), " ")
}
