// Package pdf reads the text of PDF documents. PDFium finds the characters and
// lines of each page, and this package joins them into paragraphs.
//
// PDFium runs in WebAssembly. It sees only the document, no file, clock or network,
// and cannot harm the process. A fresh PDFium reads each document, in bounded
// memory and a bounded number of steps, so the result depends on the document
// alone.
package pdf

import (
	"path"
	"strings"
)

// Document is the text of a PDF document.
type Document struct {
	Title  string // the document's own title, or the largest text on its first page
	Text   string // one paragraph per line
	Pages  int    // pages of the document
	Unread int    // pages beyond Limits.MaxPages
	Lost   int    // pages that could not be read
	Cut    bool   // there is more text than was read
	Steps  int64  // that reading took, also if it failed
}

// Read reads a document. The limits must be valid. It stops when the text is longer
// than maxText bytes, or has more lines than memory allows. An error means that
// PDFium could not be started.
func (e *Engine) Read(body []byte, l Limits, maxText int) (Document, Outcome, error) {
	m := &memory{e: e, limit: uint64(l.MaxMemory)}
	defer m.end() // when the lines are paragraphs, which takes memory, too
	r, outcome, err := e.read(m, body, l, maxText)
	if err != nil || outcome != Read {
		return Document{Steps: r.steps}, outcome, err
	}
	d := Document{Steps: r.steps, Pages: r.count, Unread: max(0, r.count-l.MaxPages), Lost: r.lost, Cut: r.cut}
	d.Text = strings.Join(paragraphs(r.pages), "\n")
	if d.Title = title(r.title); d.Title == "" {
		d.Title = heading(r.pages)
	}
	return d, Read, nil
}

// title returns a document's title, or "" if a program filled it in.
func title(s string) string {
	s = strings.TrimSpace(clean(s, new(bool)))
	s = strings.TrimPrefix(s, "Microsoft Word - ")
	switch ext := path.Ext(s); {
	case strings.EqualFold(s, "untitled"), len(ext) > 1 && len(ext) <= 5 && !strings.Contains(s, " "):
		return ""
	}
	return s
}

// heading returns the largest text of the first page with text, if it is larger
// than the rest.
func heading(pages [][]line) string {
	for _, page := range pages {
		if len(page) == 0 {
			continue
		}
		largest, usual := 0.0, usualSize(page)
		for _, l := range page {
			largest = max(largest, l.size)
		}
		if largest < 1.15*usual {
			return ""
		}
		var parts []string
		for _, l := range page {
			if l.size > 0.98*largest {
				parts = append(parts, l.text)
			} else if len(parts) > 0 {
				break
			}
		}
		if s := strings.Join(parts, " "); len(s) <= 300 {
			return s
		}
		return ""
	}
	return ""
}

// usualSize returns the size that most characters of a page have.
func usualSize(page []line) float64 {
	count := map[int]int{}
	best := 0
	for _, l := range page {
		h := half(l.size)
		count[h] += len(l.text)
		if count[h] > count[best] || count[h] == count[best] && h < best {
			best = h
		}
	}
	return float64(best) / 2
}
