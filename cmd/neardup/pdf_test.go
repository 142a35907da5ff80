package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"neardup/extract/pdf/pdftest"
)

// scriptTypeset writes a text, of paragraphs between empty lines, as it may be
// on the web: text.html with a menu and a footer, book.pdf with running heads,
// hyphens and page numbers, columns.pdf in two columns, and beside them
// locked.pdf, scan.pdf and broken.pdf. It packs them as captures in DIR/pdf.warc.gz,
// DIR/pdf.arc.gz and DIR/pdf.wacz.
func scriptTypeset(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "typeset FILE DIR")
	text := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n\n")
	for i := range text {
		text[i] = strings.Join(strings.Fields(text[i]), " ")
	}
	var page strings.Builder
	page.WriteString("<!DOCTYPE html><title>On Seals</title><ul><li><a href=/>Home</a><li><a href=/a>About us</a></ul><article><h1>On Seals</h1>")
	for _, p := range text {
		page.WriteString("<p>" + html.EscapeString(p) + "</p>\n")
	}
	page.WriteString("</article><footer><a href=/i>Imprint</a></footer>")
	book := pdftest.Book{Title: "On Seals", Head: "Of Seals and Men", Foot: "- % -", Columns: 64, Lines: 24, Hyphens: true, Indented: true}
	columns := pdftest.Book{Columns: 40, Lines: 20, TwoColumn: true, Hyphens: true, Foot: "%"}
	files := []struct{ name, declared, body string }{
		{"text.html", "text/html", page.String()},
		{"book.pdf", "application/pdf", string(book.Typeset(text...).Bytes())},
		{"columns.pdf", "text/html; charset=utf-8", string(columns.Typeset(text...).Bytes())}, // as servers that know no PDF declare it
		{"locked.pdf", "application/pdf", string(pdftest.Document{Encrypted: true, Pages: book.Typeset(text...).Pages}.Bytes())},
		{"scan.pdf", "application/pdf", string(pdftest.Document{Pages: []pdftest.Page{{Content: "0 0 100 100 re f"}}}.Bytes())},
		{"broken.pdf", "application/pdf", "%PDF-1.5\nno document"},
	}
	var warc, arc bytes.Buffer
	record := func(to *bytes.Buffer, s string) {
		w := gzip.NewWriter(to)
		_, err := w.Write([]byte(s))
		ts.Check(err)
		ts.Check(w.Close())
	}
	version := "1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n"
	record(&arc, fmt.Sprintf("filedesc://pdf.arc 0.0.0.0 20240101000000 text/plain %d\n%s\n", len(version), version))
	for i, f := range files {
		ts.Check(os.WriteFile(ts.MkAbs(f.name), []byte(f.body), 0o644))
		block := "HTTP/1.1 200 OK\r\nContent-Type: " + f.declared + "\r\n\r\n" + f.body
		record(&warc, fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n"+
			"WARC-Date: 2024-01-01T00:00:0%dZ\r\nWARC-Target-URI: http://seals.example/%s\r\nContent-Type: application/http; msgtype=response\r\n"+
			"Content-Length: %d\r\n\r\n%s\r\n\r\n", i, i, f.name, len(block), block))
		record(&arc, fmt.Sprintf("http://seals.example/%s 192.0.2.1 2024010100000%d text/html %d\n%s\n", f.name, i, len(block), block))
	}
	dir := ts.MkAbs(args[1]) + "/"
	ts.Check(os.MkdirAll(dir, 0o777))
	ts.Check(os.WriteFile(dir+"pdf.warc.gz", warc.Bytes(), 0o644))
	ts.Check(os.WriteFile(dir+"pdf.arc.gz", arc.Bytes(), 0o644))
	var wacz bytes.Buffer
	z := zip.NewWriter(&wacz)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "archive/data.warc.gz", Method: zip.Store})
	ts.Check(err)
	_, err = w.Write(warc.Bytes())
	ts.Check(err)
	ts.Check(z.Close())
	ts.Check(os.WriteFile(dir+"pdf.wacz", wacz.Bytes(), 0o644))
}
