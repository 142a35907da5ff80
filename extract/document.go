// Package extract is the first stage: it reads web archive records and turns each
// page into a Document, with its identity, metadata and visible text (TLCS paper,
// sections 3.1 and 4). It is pure: it reads only from the readers it is given, and
// knows no file, database or clock.
package extract

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unsafe"

	"neardup/extract/charset"
	"neardup/extract/page"
	"neardup/uris"
)

// ID identifies a document: 128 bits of a digest of its record's identity.
type ID [16]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Document is a page as the later stages see it.
type Document struct {
	ID        ID     `json:"-"`
	RecordID  string `json:"record_id"`        // WARC-Record-ID with its angle brackets; urn:neardup:ID if the record has none
	TargetURI string `json:"uri"`              // WARC-Target-URI without the angle brackets that GNU Wget writes
	Date      string `json:"date"`             // WARC-Date as written
	Digest    string `json:"digest"`           // WARC-Payload-Digest, or sha1:BASE32 of the payload as stored
	Site      string `json:"site"`             // registrable domain of the target URI, or its host
	Title     string `json:"title,omitempty"`  // the heading of the main content if it is known, otherwise the page's title
	Byline    string `json:"byline,omitempty"` // author and date of the main content, as the page writes them
	MediaType string `json:"type"`
	Charset   string `json:"charset"`

	CharsetFrom charset.Source `json:"charset_from"`           // how the charset was decided
	Status      int            `json:"status,omitempty"`       // status of the HTTP response; 0: there is none, or it was assumed
	RecordBytes int64          `json:"record_bytes,omitempty"` // size of the record in its file, see Raw.Size
	Bytes       int64          `json:"bytes"`                  // payload bytes as stored in the record
	Clipped     bool           `json:"clipped,omitempty"`      // the payload was cut, by a limit or by damage; of a revisit: it has a payload, which is not read
	Derived     bool           `json:"derived,omitempty"`      // made from a capture, and none itself: a conversion record, extracted text
	Replaced    float64        `json:"replaced,omitempty"`     // share of U+FFFD in the text
	Choices     Choices        `json:"choices,omitempty"`      // soft choices made for the page
	Kind        page.Kind      `json:"kind,omitempty"`         // of an HTML page
	Parsed      bool           `json:"parsed,omitempty"`       // the HTML was parsed into a tree, because the scanner could not be sure
	Repeats     *Reference     `json:"repeats,omitempty"`      // of a revisit record: its reference to the capture whose text it has
	Text        string         `json:"-"`                      // visible blocks, one per line, with white space collapsed
	Visible     string         `json:"-"`                      // all visible blocks; Text has some or all of them
	Marks       page.Marks     `json:"-"`                      // kinds of the lines of Visible
}

// Address returns the target URI without scheme and fragment, and with the host in
// lower case.
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

// Page returns the name of the page that was captured, which its captures have in
// common: the target URI as uris.PageOf has it. The query counts, because in
// forums, wikis and shops nothing else distinguishes the pages.
func (d Document) Page() string { return uris.PageOf(d.TargetURI) }

// IsNavigation reports whether the page mainly links to other pages and has no
// content of its own.
func (d Document) IsNavigation() bool { return d.Kind == page.KindNavigation }

// TextID returns the ID of a text. Documents with the same visible text share it.
func TextID(text string) [16]byte {
	sum := sha256.Sum256(unsafe.Slice(unsafe.StringData(text), len(text))) // without a copy; it is only read
	return [16]byte(sum[:16])
}

// documentID returns a document's ID, computed from its record alone, so that the
// same capture in another file or run is the same document. All that its text and title
// depend on is part of it: two records with the same identity but different pages are
// two documents, and so are different records without an ID.
func (h head) documentID() ID {
	id := documentID(h.id, h.uri, h.date, h.block)
	if h.also != "" {
		id = documentID(id.String(), h.also, "", nil)
	}
	return id
}

// documentID returns a digest of the parts of an ID, and of a block.
func documentID(recordID, uri, date string, block []byte) ID {
	h := sha256.New()
	for _, s := range []string{recordID, uri, date} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	h.Write(block)
	return ID(h.Sum(nil)[:16])
}

// besides returns what text and title of a record without an HTTP header depend on besides
// the block. It is empty for a block of the plain media type, without a title, that does not
// look like an HTTP header.
func (h head) besides(plain string) string {
	if h.http || h.revisit || h.contentType == plain && h.title == "" && !startsHTTP(h.block) {
		return ""
	}
	return h.contentType + "\n" + h.title
}

// Reason is why a record gave no document.
type Reason string

// The reasons why records are skipped. Records of types other than response,
// resource and conversion are skipped under the name of their type.
const (
	ReasonNone        Reason = ""
	ReasonMalformed   Reason = "malformed-header"     // the WARC header cannot be parsed
	ReasonUnknownType Reason = "unknown-type"         // a WARC-Type that the standard does not name
	ReasonHTTP        Reason = "malformed-http"       // a response record without an HTTP header
	ReasonLongHeader  Reason = "http-header-too-long" // an HTTP header over extract.max_header_bytes
	ReasonCodings     Reason = "too-many-codings"     // an HTTP header that names more codings than extract.max_codings
	ReasonStatus      Reason = "http-status"          // a status that the options do not accept
	ReasonMediaType   Reason = "media-type"           // neither HTML, XHTML, plain text nor PDF
	ReasonEncoding    Reason = "content-encoding"     // a content encoding that is not supported, or broken from its start
	ReasonEmpty       Reason = "empty-payload"        // a record without payload
	ReasonNoText      Reason = "no-text"              // a page without visible text
	ReasonPDFBroken   Reason = "pdf-broken"           // a PDF document that cannot be read
	ReasonPDFSecret   Reason = "pdf-encrypted"        // a PDF document that needs a password
	ReasonPDFImages   Reason = "pdf-no-text"          // a PDF document whose pages have no text, such as scans
	ReasonPDFMemory   Reason = "pdf-memory"           // a PDF document over extract.pdf.max_memory
	ReasonPDFSteps    Reason = "pdf-steps"            // a PDF document over extract.pdf.max_steps
	ReasonPDFCrash    Reason = "pdf-crash"            // a PDF document on which the PDF reader fails
	ReasonNoURI       Reason = "no-target-uri"        // a record without WARC-Target-URI
	ReasonBookkeeping Reason = "bookkeeping"          // a resource that holds a crawler's arguments or log
	ReasonARCHeader   Reason = "arc-header"           // the record that describes an ARC file
	ReasonDNS         Reason = "dns"                  // a name lookup in an ARC file
	ReasonUnresolved  Reason = "revisit-unresolved"   // a revisit of a capture that is missing or is no document
	ReasonProfile     Reason = "revisit-profile"      // a revisit that does not say that its capture is unchanged
	ReasonLine        Reason = "malformed-line"       // a line of a text collection that does not have its format
	ReasonLongLine    Reason = "line-too-long"        // a line of a text collection over the limit of a record
	ReasonWithdrawn   Reason = "withdrawn"            // a withdrawal covers its URI
	ReasonEndedRun    Reason = "ended-run"            // the process ended while it read the record, see docs/reliability.md
	ReasonInflated    Reason = "inflated"             // a record with which its file is decoded to more than extract.max_decoded_bytes allows
	ReasonPanic       Reason = "internal-error"       // a library failed on this record
)
