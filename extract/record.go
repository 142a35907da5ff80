package extract

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"neardup/extract/charset"
	"neardup/extract/container"
	"neardup/extract/internal/header"
	"neardup/extract/page"
	"neardup/extract/pdf"
	"neardup/uris"
)

// Options are the settings of extraction.
type Options struct {
	Statuses         []int `yaml:"statuses" json:"statuses"` // HTTP statuses whose pages become documents
	container.Limits `yaml:",inline"`
	page.Options     `yaml:",inline"`

	PDF pdf.Limits `yaml:"pdf" json:"pdf"`
}

// Validate returns an error if an option is wrong.
func (o Options) Validate() error {
	if len(o.Statuses) == 0 {
		return fmt.Errorf("statuses: at least one is needed, such as 200")
	}
	for _, s := range o.Statuses {
		// RFC 9110, section 15: three digits. Servers use some that it does not define, such as 999.
		if s < 100 || s > 999 {
			return fmt.Errorf("statuses: %d is not from 100 to 999", s)
		}
	}
	if err := o.Limits.Validate(); err != nil {
		return err
	}
	if err := o.PDF.Validate(); err != nil {
		return fmt.Errorf("pdf.%w", err)
	}
	return o.Options.Validate()
}

// Extractor turns records into documents. It is not safe for concurrent use.
type Extractor struct {
	Readers map[string]TextReader // by media type; more may be added before the first record

	o Options
}

// NewExtractor returns an Extractor. The options must be valid.
func NewExtractor(o Options) *Extractor { return &Extractor{Readers: textReaders(o), o: o} }

// Document returns the document of a record, or the reason why there is none.
func (x *Extractor) Document(raw *container.Raw) (doc Document, reason Reason) {
	defer func() {
		if recover() != nil { // hostile input hit an error in a library: skip the record, not the run
			doc, reason = Document{}, ReasonPanic
		}
	}()
	if hasNoRoom(raw) {
		return doc, ReasonInflated
	}
	h, reason := x.head(raw)
	if reason != ReasonNone {
		return doc, reason
	}
	if doc.TargetURI = h.uri; doc.TargetURI == "" {
		return doc, ReasonNoURI
	}
	if h.http && header.End(h.block[:min(len(h.block), x.o.MaxHeaderBytes)], 0) == 0 {
		h.block = endHeader(h.block)
	}
	if h.revisit {
		doc, reason = x.revisit(h)
		doc.RecordBytes = raw.Size
		return doc, reason
	}
	doc.RecordBytes = raw.Size
	doc.Site = uris.Site(doc.TargetURI)
	doc.Date = h.date

	block, payload, contentType := h.block, h.block, h.contentType
	var header http.Header
	if h.http {
		status, fields, n, ok := parseHTTP(block, x.o.MaxHeaderBytes)
		if !ok {
			if fields, n, ok = parseBareHTTP(block, x.o.MaxHeaderBytes); !ok {
				return doc, whyNoHTTP(block, x.o.MaxHeaderBytes)
			}
			status, doc.Choices = http.StatusOK, ChoiceStatusAssumed
		} else {
			doc.Status = status
		}
		if !slices.Contains(x.o.Statuses, status) {
			return doc, ReasonStatus
		}
		header, payload, contentType = fields, block[n:], contentTypeOf(fields)
	}
	if len(payload) == 0 {
		return doc, ReasonEmpty
	}
	doc.Derived = h.derived
	doc.Bytes, doc.Clipped = int64(len(payload)), raw.Clipped || h.truncated
	if raw.Clipped {
		doc.Bytes += raw.Length - int64(len(raw.Block))
	}

	if doc.Digest = h.digest; doc.Digest == "" {
		sum := sha1.Sum(payload)
		doc.Digest = "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
	}
	identify(&doc, h)
	if h.segment {
		doc.Clipped = true
		doc.Choices |= ChoiceFirstSegment
	}
	if raw.Inflated == 0 && !raw.Clipped { // compression has checksums of its own
		doc.Choices.set(ChoiceDigestWrong, checkDigest(h.blockDigest, raw.Block) == Wrong)
	}
	if !doc.Clipped {
		short, wrong := checkLength(header, doc.Bytes)
		doc.Choices.set(ChoiceLengthMismatch, wrong)
		doc.Clipped = short
	}
	p, reason := decodeBody(payload, header, contentType, x.o.Limits, raw)
	if reason != ReasonNone {
		return doc, reason
	}
	doc.Clipped, doc.Choices = doc.Clipped || p.clipped, doc.Choices|p.choices
	if raw.Format == container.FormatTSV || raw.Format == container.FormatJSONL { // text, whatever it looks like
		doc, reason = x.readAs(raw, typePlain, doc, p.body, contentType)
	} else {
		doc, reason = x.read(raw, doc, p.body, contentType)
	}
	if h.title != "" {
		doc.Title = h.title
	}
	return doc, reason
}

// identify sets the document's identity from its head.
func identify(doc *Document, h head) {
	id := h.id
	doc.ID = h.documentID()
	if id == "" {
		id = "urn:neardup:" + doc.ID.String()
	}
	doc.RecordID = "<" + id + ">"
}

// head is the parsed header of a record, in any format.
type head struct {
	id, uri, date, digest, contentType, title string // id is without brackets
	also                                      string // of besides
	block                                     []byte
	http                                      bool // the block starts with an HTTP header
	blockDigest                               string
	derived                                   bool // see Document.Derived
	segment                                   bool // the block is the first of several segments
	truncated                                 bool // the crawler did not store all of the block
	revisit                                   bool
	refers                                    Reference // of a revisit
}

// head parses the record's header, or returns the reason why the record gives no
// document.
func (x *Extractor) head(raw *container.Raw) (h head, reason Reason) {
	switch raw.Format {
	case container.FormatARC:
		return arcHead(raw, x.o.MaxHeaderBytes)
	case container.FormatTSV, container.FormatJSONL:
		return lineHead(raw)
	}
	return warcHead(raw)
}

// parseHTTP parses the HTTP header that block starts with. It returns the status,
// the fields and the length of the header. It accepts what net/http rejects and
// crawls contain: a status line without a reason, a line without a colon, bare line
// ends.
func parseHTTP(block []byte, maxHeader int) (status int, fields http.Header, n int, ok bool) {
	skipped := 0
	n = header.End(block[:min(len(block), maxHeader)], 0)
	for interim.Match(block[:n]) && startsHTTP(block[n:]) {
		block, maxHeader, skipped = block[n:], maxHeader-n, skipped+n
		n = header.End(block[:min(len(block), maxHeader)], 0)
	}
	first, _, _ := bytes.Cut(block[:n], []byte{'\n'})
	words := strings.Fields(string(first))
	if len(words) < 2 || !startsHTTP(first) {
		return 0, nil, 0, false
	}
	digits := words[1] // also accepts "200OK"
	if i := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = digits[:i]
	}
	status, err := strconv.Atoi(digits)
	if err != nil {
		return 0, nil, 0, false
	}
	fields = http.Header{}
	for name, value := range header.Fields(block[:n]) {
		fields.Add(name, value)
	}
	return status, fields, skipped + n, true
}

// interim matches the status line of an answer that another one follows (RFC 9110, section
// 15.2). After 101 another protocol follows.
var interim = regexp.MustCompile(`^(?i:http/)\S*[ \t]+1(?:0[02-9]|[1-9][0-9])\b`)

// parseBareHTTP is parseHTTP for a response without a status line: fields that
// describe what follows, or just a page, as in HTTP/0.9.
func parseBareHTTP(block []byte, maxHeader int) (fields http.Header, n int, ok bool) {
	if startsHTTP(block) {
		return nil, 0, false
	}
	fields = http.Header{}
	n = header.End(block[:min(len(block), maxHeader)], 0)
	for name, value := range header.Fields(append([]byte("\n"), block[:n]...)) {
		if strings.ContainsAny(name, " \t<>") {
			n = 0
			break
		}
		fields.Add(name, value)
	}
	if n > 0 && fields.Get("Content-Type") != "" {
		return fields, n, true
	}
	name, doctype := firstElement(charset.Sniffable(block, ""))
	return http.Header{}, 0, name == "html" || doctype == "html"
}

// whyNoHTTP returns the reason why a block does not start with the HTTP header that
// it should have.
func whyNoHTTP(block []byte, maxHeader int) Reason {
	if len(block) > maxHeader && startsHTTP(block) && header.End(block[:maxHeader], 0) == 0 {
		return ReasonLongHeader
	}
	return ReasonHTTP
}

// startsHTTP reports whether b starts with a protocol's name, as a status line
// does.
func startsHTTP(b []byte) bool {
	return len(b) > 4 && strings.EqualFold(string(b[:4]), "HTTP") && (b[4] == '/' || b[4] == ' ')
}
