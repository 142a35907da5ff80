package groups

import (
	"strings"

	"neardup/extract"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/report"
)

// DocumentView has the fields of a rows.Document that are shown or counted.
// ParseView decodes only these.
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
	Derived     bool            `json:"derived"`
	Repeats     present         `json:"repeats"` // the record is a revisit
}

// unsound are the soft choices by which part of a page may be unknown.
const unsound = extract.ChoiceTextCut | extract.ChoicePagesLost | extract.ChoiceCharactersLost | extract.ChoiceDigestWrong

// present tells whether a field is there.
type present bool

// UnmarshalJSON implements json.Unmarshaler.
func (p *present) UnmarshalJSON(b []byte) error {
	*p = string(b) != "null"
	return nil
}

// Member returns the document as a member of a cluster. source is the ID of an
// inputs.Source.
func (d DocumentView) Member(id extract.ID, source string, offset int64) report.Member {
	return report.Member{RecordID: d.RecordID, URI: d.TargetURI, Date: d.Date, WARC: FileOf(source), Source: source, Offset: offset,
		Digest: d.Digest, Bytes: d.Bytes, RevisitOf: d.RevisitOf,
		Title: d.Title, Byline: d.Byline, Unsure: d.Choices&extract.ChoiceMainUnsure != 0,
		Capture: report.Capture{Document: id.String(), Status: d.Status, RecordBytes: d.RecordBytes, MediaType: d.MediaType,
			TypeSniffed: d.Choices&extract.ChoiceTypeSniffed != 0, Charset: d.Charset, TextBytes: d.TextBytes, Site: d.Site, Text: d.TextID,
			Clipped: d.Clipped || d.Choices&unsound != 0, Derived: d.Derived}}
}

// ParsedTextID returns the parsed TextID.
func (d DocumentView) ParsedTextID() (rows.TextID, error) { return layout.ParseTextID(d.TextID) }

// FileOf returns the file name in an inputs.Source's ID.
func FileOf(source string) string {
	if i := strings.LastIndexByte(source, '/'); i >= 0 {
		return source[:i]
	}
	return source
}
