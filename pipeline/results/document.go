package results

import (
	"fmt"
	"iter"
	"strings"

	"neardup/extract"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// ParseTextID parses the TextID of a document.
func ParseTextID(s string) (rows.TextID, error) {
	t, err := rows.ParseTextID(s)
	if err != nil {
		return t, fmt.Errorf("%w: %w", layout.ErrCorrupt, err)
	}
	return t, nil
}

// DocumentView has the fields of a rows.Document that are shown or counted.
// Decoding only these takes half the time.
type DocumentView struct {
	RecordID    string          `json:"record_id"`
	TargetURI   string          `json:"uri"`
	Title       string          `json:"title"`
	Byline      string          `json:"byline"`
	Date        string          `json:"date"`
	Digest      string          `json:"digest"`
	Site        string          `json:"site"`
	Bytes       int64           `json:"bytes"`
	RevisitOf   string          `json:"revisit_of"`
	Status      int             `json:"status"`
	RecordBytes int64           `json:"record_bytes"`
	MediaType   string          `json:"type"`
	Charset     string          `json:"charset"`
	Choices     extract.Choices `json:"choices"`
	TextBytes   int64           `json:"text_bytes"`
	TextID      string          `json:"text_id"`
	Clipped     bool            `json:"clipped"`
}

// Member returns the document as a member of a cluster. source is the ID of an
// inputs.Source.
func (d DocumentView) Member(id extract.ID, source string, offset int64) report.Member {
	return report.Member{RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, WARC: FileOf(source), Source: source, Offset: offset,
		Digest: d.Digest, Bytes: d.Bytes, RevisitOf: d.RevisitOf,
		Title: d.Title, Byline: d.Byline, Unsure: d.Choices&extract.ChoiceMainUnsure != 0,
		Capture: report.Capture{Document: id.String(), Status: d.Status, RecordBytes: d.RecordBytes, MediaType: d.MediaType,
			TypeSniffed: d.Choices&extract.ChoiceTypeSniffed != 0, Charset: d.Charset, TextBytes: d.TextBytes, Site: d.Site, Text: d.TextID,
			Clipped: d.Clipped || d.Choices&(extract.ChoiceTextCut|extract.ChoicePagesLost) != 0}}
}

// ParsedTextID returns the parsed TextID.
func (d DocumentView) ParsedTextID() (rows.TextID, error) { return ParseTextID(d.TextID) }

// FileOf returns the file name in an inputs.Source's ID.
func FileOf(source string) string {
	if i := strings.LastIndexByte(source, '/'); i >= 0 {
		return source[:i]
	}
	return source
}

// Stored is a document's row, decoded as a D, with the parts of its key.
type Stored[D rows.Document | DocumentView] struct {
	ID     extract.ID
	Source string // ID of the inputs.Source
	Offset int64
	Row    D
}

func parseDocument[D rows.Document | DocumentView](r layout.Row) (s Stored[D], err error) {
	if s.ID, s.Source, s.Offset, err = layout.ParseDocumentKey(r.Key()); err != nil {
		return s, err
	}
	return s, r.JSON(&s.Row)
}

// DocumentRows iterates over all rows of documents by ID, then by file. A document
// that several files hold has a row for each file.
func DocumentRows[D rows.Document | DocumentView](w *workspace.Workspace) iter.Seq2[Stored[D], error] {
	return func(yield func(Stored[D], error) bool) {
		for r, err := range w.DB.Table(layout.TableDocument) {
			var s Stored[D]
			if err == nil {
				s, err = parseDocument[D](r)
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Documents iterates over the documents by ID. If several files hold a document,
// the first by name counts.
func Documents[D rows.Document | DocumentView](w *workspace.Workspace) iter.Seq2[Stored[D], error] {
	return func(yield func(Stored[D], error) bool) {
		var last extract.ID
		first := true
		for r, err := range w.DB.Table(layout.TableDocument) {
			var s Stored[D]
			if err == nil {
				s.ID, _, _, err = layout.ParseDocumentKey(r.Key())
			}
			if err == nil && !first && s.ID == last {
				continue
			}
			if err == nil {
				s, err = parseDocument[D](r)
			}
			if !yield(s, err) || err != nil {
				return
			}
			last, first = s.ID, false
		}
	}
}

// ReadDocument reads a document. If several files hold it, the first by name
// counts.
func ReadDocument[D rows.Document | DocumentView](documents *store.Seeker, id extract.ID) (Stored[D], error) {
	s, ok, err := LookUpDocument[D](documents, id)
	if err == nil && !ok {
		err = fmt.Errorf("no document: %w", layout.Corrupt(id[:]))
	}
	return s, err
}

// LookUpDocument is ReadDocument for a document that may be missing.
func LookUpDocument[D rows.Document | DocumentView](documents *store.Seeker, id extract.ID) (s Stored[D], ok bool, err error) {
	for r, err := range documents.Rows(layout.DocumentsOf(id)) {
		if err != nil {
			return s, false, err
		}
		s, err := parseDocument[D](r)
		return s, true, err
	}
	return s, false, nil
}
