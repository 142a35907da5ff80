package example

import (
	"bufio"
	"fmt"
	"io"
	"slices"
)

// WritePages writes the judged pages as tab-separated lines: record id, URI,
// date, site, kind, and a 0 that scorers of other collections use as a label.
func WritePages(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, p := range Pages() {
		if p.Judged() {
			fmt.Fprintf(b, "%s\t%s\t%s\t%s\t%s\t0\n", p.RecordID, p.URI, p.Date, p.Site, p.Kind)
		}
	}
	return b.Flush()
}

// WriteTruth writes the pairs of near-duplicates as tab-separated lines: the
// smaller record id, the larger one, and the similarity 1.0. Pairs of judged
// pages that are not listed are not near-duplicates.
func WriteTruth(w io.Writer) error {
	pages := Pages()
	var lines []string
	for _, pair := range Near(pages) {
		a, b := pages[pair[0]].RecordID, pages[pair[1]].RecordID
		lines = append(lines, fmt.Sprintf("%s\t%s\t1.0\n", min(a, b), max(a, b)))
	}
	slices.Sort(lines)
	b := bufio.NewWriter(w)
	for _, l := range lines {
		b.WriteString(l)
	}
	return b.Flush()
}
