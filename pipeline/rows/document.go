package rows

import (
	"encoding/hex"
	"fmt"

	"neardup/extract"
	"neardup/verify/pair"
)

// Document is a page: a capture, or a revisit with the text of the capture that it
// refers to.
type Document struct {
	extract.Document
	TextID    string `json:"text_id"` // hexadecimal
	TextBytes int64  `json:"text_bytes"`
	RevisitOf string `json:"revisit_of,omitempty"` // record ID of the capture that a revisit takes its text from
}

// ParseTextID parses the TextID of a document. It returns an error if s is no
// hexadecimal ID.
func ParseTextID(s string) (t TextID, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(t) {
		return t, fmt.Errorf("text id %q", s)
	}
	return TextID(b), nil
}

// OccurrenceOf returns the Occurrence of a page.
func OccurrenceOf(d extract.Document) Occurrence {
	return Occurrence{Site: Hash(d.Site), Address: Hash(d.Page()), Title: pair.TitleOf(d.Title), Navigation: d.IsNavigation()}
}
