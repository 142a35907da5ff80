package results

import (
	"encoding/hex"
	"fmt"
	"iter"
	"strings"

	"neardup/extract"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/report"
)

// Document is a document's row, whole. DocumentView is what most readers take
// of it.
type Document struct {
	extract.Document
	TextID    string `json:"text_id"`
	TextBytes int64  `json:"text_bytes"`
	RevisitOf string `json:"revisit_of,omitempty"` // record id of the capture whose text a revisit has
}

func (d Document) ParsedTextID() (rows.TextID, error) { return ParseTextID(d.TextID) }

func ParseTextID(s string) (t rows.TextID, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(t) {
		return t, fmt.Errorf("%w: text id %q", store.ErrCorrupt, s)
	}
	return rows.TextID(b), nil
}

// DocumentView has the fields of a Document that are shown or counted. Reading
// only these takes half the time.
type DocumentView struct {
	RecordID    string          `json:"record_id"`
	TargetURI   string          `json:"uri"`
	Title       string          `json:"title"`
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

// Member returns the document as a member of a cluster. The source is a
// workspace.Source's ID.
func (d DocumentView) Member(id extract.ID, source string, offset int64) report.Member {
	return report.Member{RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, WARC: FileOf(source), Source: source, Offset: offset,
		Digest: d.Digest, Bytes: d.Bytes, RevisitOf: d.RevisitOf,
		Capture: report.Capture{Document: id.String(), Title: d.Title, Status: d.Status, RecordBytes: d.RecordBytes, MediaType: d.MediaType,
			TypeSniffed: d.Choices&extract.ChoiceTypeSniffed != 0, Charset: d.Charset, TextBytes: d.TextBytes, Site: d.Site, Text: d.TextID, Clipped: d.Clipped}}
}

func (d DocumentView) ParsedTextID() (rows.TextID, error) { return ParseTextID(d.TextID) }

// FileOf returns the file name of a workspace.Source's ID.
func FileOf(source string) string {
	if i := strings.LastIndexByte(source, '/'); i >= 0 {
		return source[:i]
	}
	return source
}

// Stored is a document's row, read as a D, with the key's parts.
type Stored[D Document | DocumentView] struct {
	ID     extract.ID
	Source string // the ID of the workspace.Source
	Offset int64
	Row    D
}

func parseDocument[D Document | DocumentView](r store.Row) (s Stored[D], err error) {
	if s.ID, s.Source, s.Offset, err = store.ParseDocumentKey(r.Key()); err != nil {
		return s, err
	}
	return s, r.JSON(&s.Row)
}

// DocumentRows iterates over all rows of documents by id, then by file. A
// document that several files hold has a row for each.
func DocumentRows[D Document | DocumentView](w *workspace.Workspace) iter.Seq2[Stored[D], error] {
	return func(yield func(Stored[D], error) bool) {
		for r, err := range w.DB.Table(store.TableDocument) {
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

// Documents iterates over the documents by id. Of several files that hold one the
// first by name counts.
func Documents[D Document | DocumentView](w *workspace.Workspace) iter.Seq2[Stored[D], error] {
	return func(yield func(Stored[D], error) bool) {
		var last extract.ID
		first := true
		for r, err := range w.DB.Table(store.TableDocument) {
			var s Stored[D]
			if err == nil {
				s.ID, _, _, err = store.ParseDocumentKey(r.Key())
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

// ReadDocument reads a document. Of several files that hold it the first by name
// counts.
func ReadDocument[D Document | DocumentView](documents *store.Seeker, id extract.ID) (Stored[D], error) {
	s, ok, err := LookUpDocument[D](documents, id)
	if err == nil && !ok {
		err = fmt.Errorf("no document: %w", store.Corrupt(id[:]))
	}
	return s, err
}

// LookUpDocument does what ReadDocument does, for a document that may be missing.
func LookUpDocument[D Document | DocumentView](documents *store.Seeker, id extract.ID) (s Stored[D], ok bool, err error) {
	for r, err := range documents.Rows(store.Key(store.TableDocument, id[:])) {
		if err != nil {
			return s, false, err
		}
		s, err := parseDocument[D](r)
		return s, true, err
	}
	return s, false, nil
}
