// Package example generates the example crawl: a small web archive (WARC 1.1,
// gzipped record by record) of invented pages in ten languages, with a label for
// each page. The labels are true by construction, so the crawl serves as a first
// run, as a demonstration and as a test of the whole pipeline.
//
// Everything is made from the word lists in text/ and the page templates in site/
// by generators with fixed seeds, so each run writes the same records. Hosts are
// below .example (RFC 2606), addresses from 192.0.2.0/24 (RFC 5737).
//
// Errors in the word lists are errors of this package and panic.
package example

import (
	"io"
	"slices"
	"sync"
)

// The kinds of pages. The first eleven can be near-duplicates of another page.
const (
	KindOriginal   = "original"      // a text of its own
	KindRecapture  = "recapture"     // the same address and HTML, captured later
	KindRevisit    = "revisit"       // captured later, as a revisit record
	KindMarkup     = "markup"        // the same visible text in other markup
	KindMirror     = "mirror"        // the same text on another host in its template
	KindLight      = "light"         // another date, typos or a sentence more and less
	KindHeavy      = "heavy"         // two paragraphs rewritten, a fifth of the sentences
	KindMoved      = "moved"         // the same paragraphs in another order
	KindContains   = "contains"      // a longer text with all of another page in it
	KindConversion = "conversion"    // the text of a page as a conversion record
	KindShort      = "short"         // one or two sentences without a template
	KindQuote      = "quote"         // a text with one paragraph of another page: not near
	KindTemplate   = "same-template" // another text in a template seen elsewhere
	KindNavigation = "navigation"    // a list of links
	KindRobots     = "robots"        // robots.txt
	KindSkipped    = "skipped"       // no document: not judged
)

// Page is a record of the crawl that a reader could take for a page, with its
// label. Two pages are near-duplicates if and only if they have the same non-empty
// Group.
type Page struct {
	URI      string // without the angle brackets that some records put around it
	RecordID string // with angle brackets, as in WARC-Record-ID
	Date     string // as in WARC-Date
	Type     string // as in WARC-Type
	Site     string // host name
	Lang     string // BCP 47 language of the main text
	Kind     string
	Group    string
	Note     string // what is special about the record, for readers
}

// Judged reports whether the page belongs to the truth. A page that is no document
// (an image, an error, a redirect ...) does not.
func (p Page) Judged() bool { return p.Kind != KindSkipped }

var crawl = sync.OnceValue(buildCrawl)

// Pages returns the pages in the order of the crawl.
func Pages() []Page {
	var out []Page
	for _, d := range crawl() {
		out = append(out, d.Page)
	}
	return out
}

// Near returns the pairs of indexes into pages, i < j, that are
// near-duplicates.
func Near(pages []Page) [][2]int {
	groups := map[string][]int{}
	var out [][2]int
	for j, p := range pages {
		if p.Group == "" || !p.Judged() {
			continue
		}
		for _, i := range groups[p.Group] {
			out = append(out, [2]int{i, j})
		}
		groups[p.Group] = append(groups[p.Group], j)
	}
	slices.SortFunc(out, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	return out
}

// Write writes the crawl as a gzipped WARC.
func Write(w io.Writer) error { return writeCrawl(w, crawl()) }
