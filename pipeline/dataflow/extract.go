package dataflow

import (
	"encoding/hex"

	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/rows"
)

// Extracted is the result of a record: a capture with a text, or a revisit, for
// which package revisits finds the capture. For any other record, Reason says why it is
// neither.
type Extracted struct {
	Reason   extract.Reason
	Document rows.Document
	Text     rows.TextID // ID of a capture's text
	Around   string      // visible text around the main content of an HTML page; Marks gives its lines

	Occurrence  rows.Occurrence
	Units       rows.Units  // of the text, unless its rows are there already
	AroundUnits AroundUnits // of Around; none if the page has no site
}

// Extract extracts a record and returns the fields of its rows. there reports whether
// the rows of a text are there already.
func Extract(x *extract.Extractor, raw *container.Raw, there func(rows.TextID) bool) Extracted {
	d, reason := x.Document(raw)
	e := Extracted{Reason: reason, Document: rows.Document{Document: d}}
	if reason != extract.ReasonNone || e.IsRevisit() {
		return e
	}
	e.Text = extract.TextID(d.Text)
	e.Document.TextID, e.Document.TextBytes = hex.EncodeToString(e.Text[:]), int64(len(d.Text))
	if d.Marks != "" {
		e.Around = d.Marks.Around(d.Text, d.Visible)
	}
	if !there(e.Text) {
		e.Units = UnitsOf(d.Text)
	}
	e.Occurrence = rows.OccurrenceOf(d)
	if o := e.Occurrence; e.Around != "" && o.Site != rows.NoSite {
		e.AroundUnits.Page = rows.SitePage{Site: o.Site, Address: o.Address}
		e.AroundUnits.Exact = ExactUnits(e.Around)
	}
	return e
}

// IsRevisit reports whether the record is a revisit, which refers to a capture for
// its payload.
func (e Extracted) IsRevisit() bool { return e.Document.Repeats != nil }
