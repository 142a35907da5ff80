// Package pdftest makes PDF documents for tests.
package pdftest

import (
	"bytes"
	"fmt"
	"strings"
)

// Document is a PDF document. The zero value has no pages.
type Document struct {
	Title     string
	Pages     []Page
	Encrypted bool   // needs a password
	Raw       string // further objects as written, numbered from 1000
}

// Page is a page of 612 by 792 points.
type Page struct {
	Lines   []Line
	Content string // operators after the lines
	Extra   string // entries of the page's dictionary
}

// Line is a line of text in Courier: a character is 0.6 times the size wide.
type Line struct {
	X, Y float64
	Size float64
	Text string // Latin-1
}

// Bytes returns the file.
func (d Document) Bytes() []byte {
	var b bytes.Buffer
	var at []int
	object := func(s string) int {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), s)
		return len(at)
	}
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	var kids []string
	for i := range d.Pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 5+2*i))
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object(fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(kids), strings.Join(kids, " ")))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>")
	object(fmt.Sprintf("<< /Title %s >>", literal(d.Title)))
	for i, p := range d.Pages {
		object(fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F 3 0 R >> >> /Contents %d 0 R %s >>", 6+2*i, p.Extra))
		var c strings.Builder
		for _, l := range p.Lines {
			fmt.Fprintf(&c, "BT /F %g Tf 1 0 0 1 %g %g Tm %s Tj ET\n", l.Size, l.X, l.Y, literal(l.Text))
		}
		c.WriteString(p.Content)
		object(fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", c.Len(), c.String()))
	}
	secret := ""
	if d.Encrypted {
		zeros := strings.Repeat("00", 32)
		secret = fmt.Sprintf("/Encrypt %d 0 R /ID [<00> <00>]", object("<< /Filter /Standard /V 1 /R 2 /P -4 /O <"+zeros+"> /U <"+zeros+"> >>"))
	}
	b.WriteString(d.Raw)
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, secret, start)
	return b.Bytes()
}

func literal(s string) string {
	return "(" + strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(s) + ")"
}

// Book describes how Typeset sets text.
type Book struct {
	Title     string
	Head      string // on each page; % stands for the page number
	Foot      string // on each page; % stands for the page number
	Columns   int    // characters per line
	Lines     int    // lines per page
	Indented  bool   // paragraphs begin with an indented line, otherwise with a gap
	Hyphens   bool   // words are broken at line ends
	TwoColumn bool
}

// Typeset sets paragraphs in lines and pages.
func (k Book) Typeset(paragraphs ...string) Document {
	const size, pitch = 10, 12
	d := Document{Title: k.Title}
	var p Page
	row, column := 0, 0
	page := func() {
		n := fmt.Sprint(len(d.Pages) + 1)
		if k.Head != "" {
			p.Lines = append(p.Lines, Line{50, 760, 9, strings.ReplaceAll(k.Head, "%", n)})
		}
		if k.Foot != "" {
			p.Lines = append(p.Lines, Line{300, 30, 9, strings.ReplaceAll(k.Foot, "%", n)})
		}
		d.Pages = append(d.Pages, p)
		p, row, column = Page{}, 0, 0
	}
	put := func(s string, indent float64) {
		if row >= k.Lines {
			if row = 0; k.TwoColumn && column == 0 {
				column = 1
			} else {
				page()
			}
		}
		x := 50 + float64(column)*(float64(k.Columns)*size*0.6+30)
		p.Lines = append(p.Lines, Line{x + indent, 720 - float64(row)*pitch, size, s})
		row++
	}
	for i, text := range paragraphs {
		if i > 0 && !k.Indented {
			row++
		}
		indent := 0.0
		if k.Indented && i > 0 {
			indent = 2 * size * 0.6
		}
		for text != "" {
			room := k.Columns - int(indent/(size*0.6))
			line := text
			if len(text) > room {
				end := strings.LastIndexByte(text[:room+1], ' ')
				next := len(text)
				if n := strings.IndexByte(text[end+1:], ' '); n >= 0 {
					next = end + 1 + n
				}
				if cut := room - 1; k.Hyphens && cut-end > 3 && next-cut > 2 && letters(text[end+1:next]) {
					line, text = text[:cut]+"-", text[cut:]
				} else {
					line, text = text[:end], text[end+1:]
				}
			} else {
				text = ""
			}
			put(line, indent)
			indent = 0
		}
	}
	page()
	return d
}

func letters(s string) bool {
	return strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz") == ""
}
