package figure

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Table is a table. Rows have as many cells as the header.
type Table struct {
	Header []string
	Rows   [][]string
}

// Sizes of a table in pixels. Glyphs are narrower than the room that they get.
const (
	glyph   = 6.6
	cellGap = 16
	rowPace = 20
)

// WriteSVG draws the table. The same table gives the same bytes.
func (t Table) WriteSVG(w io.Writer) error {
	ends := make([]float64, len(t.Header)) // right ends of the columns
	x := 0.0
	for i := range t.Header {
		longest := 0
		for _, row := range append([][]string{t.Header}, t.Rows...) {
			longest = max(longest, utf8.RuneCountInString(row[i]))
		}
		x += cellGap + glyph*float64(longest)
		ends[i] = x
	}
	width, height := x+cellGap, rowPace*float64(len(t.Rows)+1)+8
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n")
	line := func(y float64) {
		fmt.Fprintf(&b, `<line x1="%d" x2="%.0f" y1="%.0f" y2="%.0f" stroke="#000"/>`+"\n", cellGap/2, width-cellGap/2, y, y)
	}
	for n, row := range append([][]string{t.Header}, t.Rows...) {
		y := rowPace * float64(n+1)
		for i, cell := range row {
			at, anchor := ends[i], "end"
			if t.isWords(i) {
				at, anchor = cellGap, "start"
				if i > 0 {
					at = ends[i-1] + cellGap
				}
			}
			weight := ""
			if n == 0 {
				weight = ` font-weight="bold"`
			}
			fmt.Fprintf(&b, `<text x="%.1f" y="%.0f" text-anchor="%s"%s>`, at, y-5, anchor, weight)
			if err := xml.EscapeText(&b, []byte(cell)); err != nil {
				return err
			}
			b.WriteString("</text>\n")
		}
		if n == 0 {
			line(y + 1)
		}
	}
	line(height - 4)
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// isWords reports whether a column has a cell without a digit at its beginning.
func (t Table) isWords(column int) bool {
	for _, row := range t.Rows {
		if c := strings.TrimLeft(row[column], "-."); c != "" && !unicode.IsDigit(rune(c[0])) {
			return true
		}
	}
	return false
}

// Markdown returns the table in Markdown.
func (t Table) Markdown() string {
	var b strings.Builder
	escape := strings.NewReplacer("|", `\|`, "\n", " ")
	row := func(cells []string) {
		b.WriteByte('|')
		for _, c := range cells {
			b.WriteString(" " + escape.Replace(c) + " |")
		}
		b.WriteByte('\n')
	}
	row(t.Header)
	b.WriteString("|" + strings.Repeat("---|", len(t.Header)) + "\n")
	for _, r := range t.Rows {
		row(r)
	}
	return b.String()
}
