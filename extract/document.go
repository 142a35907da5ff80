// Package extract is the first stage: it reads web archive records and turns
// each page into a Document, its identity, metadata and visible text
// (TLCS paper, sections 3.1 and 4). It is pure: it reads from the readers it
// is given and knows no file, database or clock.
package extract

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"neardup/extract/charset"
	"neardup/extract/page"
)

// ID names a document: 128 bits of a digest of its record's identity.
type ID [16]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Document is a page as the later stages see it.
type Document struct {
	ID        ID     `json:"-"`
	RecordID  string `json:"record_id"`        // WARC-Record-ID with its angle brackets; urn:neardup:ID where the record has none
	TargetURI string `json:"uri"`              // WARC-Target-URI without the angle brackets that GNU wget writes
	Date      string `json:"date"`             // WARC-Date as written
	Digest    string `json:"digest"`           // WARC-Payload-Digest, or sha1:BASE32 of the payload as stored
	Site      string `json:"site"`             // registrable domain of the target URI, or its host
	Title     string `json:"title,omitempty"`  // the heading of the content, where that is known, else what the page calls itself
	Byline    string `json:"byline,omitempty"` // who wrote the content and when, as it stands there
	MediaType string `json:"type"`
	Charset   string `json:"charset"`

	CharsetFrom charset.Source `json:"charset_from"`           // how the charset was decided
	Status      int            `json:"status,omitempty"`       // of the HTTP answer; 0: there is none, or it was assumed
	RecordBytes int64          `json:"record_bytes,omitempty"` // of the record in its file, see Raw.Size
	Bytes       int64          `json:"bytes"`                  // payload bytes as stored in the record
	Clipped     bool           `json:"clipped,omitempty"`      // the payload was cut, by a limit or by damage
	Replaced    float64        `json:"replaced,omitempty"`     // share of U+FFFD in the text
	Choices     Choices        `json:"choices,omitempty"`      // soft choices made for the page
	Kind        page.Kind      `json:"kind,omitempty"`         // of an HTML page
	Parsed      bool           `json:"parsed,omitempty"`       // read by way of a tree: the scanner could not be sure
	Repeats     *Reference     `json:"repeats,omitempty"`      // of a revisit record: what it says of the capture whose text it has
	Text        string         `json:"-"`                      // visible blocks, one a line, white space collapsed
	Visible     string         `json:"-"`                      // all visible blocks; Text has some of them, or all
	Marks       page.Marks     `json:"-"`                      // what the lines of Visible are
}

// Address is the target URI without scheme and fragment: captures of one page
// have the same, whatever the case of the host. The query stays, because forums, wikis and shops tell their
// pages apart by nothing else.
func (d Document) Address() string {
	uri, _, _ := strings.Cut(d.TargetURI, "#")
	_, address, ok := strings.Cut(uri, "://")
	if !ok {
		return uri
	}
	host := len(address)
	if i := strings.IndexAny(address, "/?"); i >= 0 {
		host = i
	}
	return strings.ToLower(address[:host]) + address[host:]
}

// IsNavigation reports whether the page leads to others rather than saying
// something itself.
func (d Document) IsNavigation() bool { return d.Kind == page.KindNavigation }

// TextID names a text: documents with the same visible text share it.
func TextID(text string) [16]byte {
	sum := sha256.Sum256([]byte(text))
	return [16]byte(sum[:16])
}

// documentID derives a document's id from its record alone, so that the same
// capture met again, in another file or run, is the same document. The block
// is part of it: two records that claim one identity but carry different pages
// are two documents, and records without an id are told apart by what they
// hold.
func documentID(recordID, uri, date string, block []byte) ID {
	h := sha256.New()
	for _, s := range []string{recordID, uri, date} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	h.Write(block)
	return ID(h.Sum(nil)[:16])
}

// Reason says why a record became no document.
type Reason string

// The reasons for which records are skipped. Record types other than
// response, resource and conversion are skipped under their own name.
const (
	ReasonNone        Reason = ""
	ReasonMalformed   Reason = "malformed-header"     // the WARC header cannot be parsed
	ReasonUnknownType Reason = "unknown-type"         // a WARC-Type that the standard does not name
	ReasonHTTP        Reason = "malformed-http"       // no HTTP header in a response record
	ReasonLongHeader  Reason = "http-header-too-long" // an HTTP header over extract.max_header_bytes
	ReasonCodings     Reason = "too-many-codings"     // over extract.max_codings, named by one HTTP header
	ReasonStatus      Reason = "http-status"          // a status that the options do not accept
	ReasonMediaType   Reason = "media-type"           // neither HTML, XHTML nor plain text
	ReasonEncoding    Reason = "content-encoding"     // a content encoding that is not supported, or broken from its start
	ReasonEmpty       Reason = "empty-payload"        // the record carries no payload
	ReasonNoText      Reason = "no-text"              // a page without visible text
	ReasonNoURI       Reason = "no-target-uri"        // a record without WARC-Target-URI
	ReasonBookkeeping Reason = "bookkeeping"          // a resource in which a crawler keeps its arguments or log
	ReasonARCHeader   Reason = "arc-header"           // the record that describes an ARC file
	ReasonDNS         Reason = "dns"                  // a name lookup in an ARC file
	ReasonUnresolved  Reason = "revisit-unresolved"   // a revisit of a capture that is not there, or is no document
	ReasonLine        Reason = "malformed-line"       // a line of a text collection that is not as the others
	ReasonLongLine    Reason = "line-too-long"        // a line of a text collection over the limit of a record
	ReasonEndedRun    Reason = "ended-run"            // the process ended while it read the record, see docs/reliability.md
	ReasonPanic       Reason = "internal-error"       // a library failed on this record
)
