package results

import (
	"encoding/hex"
	"fmt"

	"neardup/extract"
	"neardup/pipeline/store"
	"neardup/report"
)

// Document is a document's row.
type Document struct {
	extract.Document
	TextID    string `json:"text_id"`
	TextBytes int64  `json:"text_bytes"`
	RevisitOf string `json:"revisit_of,omitempty"` // record id of the capture whose text a revisit has
}

func (d Document) ParsedTextID() (store.TextID, error) { return ParseTextID(d.TextID) }

func ParseTextID(s string) (t store.TextID, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(t) {
		return t, fmt.Errorf("%w: text id %q", store.ErrCorrupt, s)
	}
	return store.TextID(b), nil
}

// PageFields has the fields of a Document that exports show. Reading only these
// takes half the time.
type PageFields struct {
	RecordID    string          `json:"record_id"`
	TargetURI   string          `json:"uri"`
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
}

// Member returns the document as a member of a cluster.
func (d PageFields) Member(id extract.ID, file string, offset int64) report.Member {
	return report.Member{RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, WARC: file, Offset: offset,
		Digest: d.Digest, Bytes: d.Bytes, RevisitOf: d.RevisitOf,
		Capture: report.Capture{Document: id.String(), Status: d.Status, RecordBytes: d.RecordBytes, MediaType: d.MediaType,
			TypeSniffed: d.Choices&extract.ChoiceTypeSniffed != 0, Charset: d.Charset, TextBytes: d.TextBytes, Site: d.Site, Text: d.TextID}}
}

// ReadDocument reads a document into d, with its file and offset. Of several
// files that hold it the first by name counts.
func ReadDocument(documents *store.Seeker, id extract.ID, d any) (file string, offset int64, err error) {
	file, offset, ok, err := LookUpDocument(documents, id, d)
	if err == nil && !ok {
		err = fmt.Errorf("no document: %w", store.Corrupt(id[:]))
	}
	return file, offset, err
}

// LookUpDocument does what ReadDocument does, for a document that may be missing.
func LookUpDocument(documents *store.Seeker, id extract.ID, d any) (file string, offset int64, ok bool, err error) {
	for r, err := range documents.Rows(store.Key(store.TableDocument, id[:])) {
		if err != nil {
			return "", 0, false, err
		}
		if err := r.JSON(d); err != nil {
			return "", 0, false, err
		}
		_, file, offset, err := store.ParseDocumentKey(r.Key())
		return file, offset, true, err
	}
	return "", 0, false, nil
}
