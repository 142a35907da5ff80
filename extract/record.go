package extract

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nlnwa/gowarc"
)

// Options are the settings of the extraction.
type Options struct {
	Statuses       []int `yaml:"statuses" json:"statuses"`                 // HTTP statuses whose pages are documents
	MaxRecordBytes int64 `yaml:"max_record_bytes" json:"max_record_bytes"` // block bytes kept of a record; what is longer is clipped
	MaxTextBytes   int   `yaml:"max_text_bytes" json:"max_text_bytes"`     // UTF-8 bytes of visible text kept of a page
}

// Validate says what is wrong with the options.
func (o Options) Validate() error {
	switch {
	case len(o.Statuses) == 0:
		return fmt.Errorf("statuses: at least one is needed, such as 200")
	case o.MaxRecordBytes < 1<<10:
		return fmt.Errorf("max_record_bytes: %d is under 1024", o.MaxRecordBytes)
	case o.MaxTextBytes < 1<<10:
		return fmt.Errorf("max_text_bytes: %d is under 1024", o.MaxTextBytes)
	}
	return nil
}

// Extractor turns records into documents. It is not safe for concurrent use.
type Extractor struct {
	Readers map[string]TextReader // by media type; more may be added before the first record

	o Options
	u gowarc.Unmarshaler
}

var making sync.Mutex

// NewExtractor makes an Extractor.
func NewExtractor(o Options) *Extractor {
	making.Lock() // an unmarshaler's options set a variable of the uuid package
	defer making.Unlock()
	// Without validation gowarc 1.6 keeps the target URI as written.
	return &Extractor{Readers: maps.Clone(textReaders), o: o, u: gowarc.NewUnmarshaler(gowarc.WithNoValidation())}
}

// Document makes a document of the record, or says why there is none.
func (x *Extractor) Document(raw *Raw) (doc Document, reason Reason) {
	defer func() {
		if recover() != nil { // hostile input found a library's mistake: one record, not the run
			doc, reason = Document{}, ReasonPanic
		}
	}()
	h, reason := x.head(raw)
	if reason != ReasonNone {
		return doc, reason
	}
	if doc.TargetURI = h.uri; doc.TargetURI == "" {
		return doc, ReasonNoURI
	}
	doc.Site = siteOf(doc.TargetURI)
	doc.Date = h.date

	block, payload, contentType := h.block, h.block, h.contentType
	var header http.Header
	if h.http {
		status, fields, n, ok := parseHTTP(block)
		if !ok {
			if fields, n, ok = parseBareHTTP(block); !ok {
				return doc, ReasonHTTP
			}
			status, doc.Choices = http.StatusOK, ChoiceStatusAssumed
		}
		if !slices.Contains(x.o.Statuses, status) {
			return doc, ReasonStatus
		}
		header, payload, contentType = fields, block[n:], fields.Get("Content-Type")
	}
	if len(payload) == 0 {
		return doc, ReasonEmpty
	}
	doc.Bytes, doc.Clipped = int64(len(payload)), raw.Clipped
	if raw.Clipped {
		doc.Bytes += raw.Length - int64(len(raw.Block))
	}

	if doc.Digest = h.digest; doc.Digest == "" {
		sum := sha1.Sum(payload)
		doc.Digest = "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
	}
	id := h.id
	doc.ID = documentID(id, doc.TargetURI, doc.Date, block)
	if id == "" {
		id = "urn:neardup:" + doc.ID.String()
	}
	doc.RecordID = "<" + id + ">"

	if !doc.Clipped && wrongLength(header, doc.Bytes) {
		doc.Choices |= ChoiceLengthMismatch
	}
	p, ok := decodeBody(payload, header, contentType, x.o.MaxRecordBytes)
	if !ok {
		return doc, ReasonEncoding
	}
	doc.Clipped, doc.Choices = doc.Clipped || p.clipped, doc.Choices|p.choices
	doc, reason = x.read(doc, p.body, contentType)
	if h.title != "" {
		doc.Title = h.title
	}
	return doc, reason
}

// head is what a record says of itself, whatever its format.
type head struct {
	id, uri, date, digest, contentType, title string // the id without brackets
	block                                     []byte
	http                                      bool // block starts with an HTTP header
}

// head reads the record's header, or says why the record is no document.
func (x *Extractor) head(raw *Raw) (h head, reason Reason) {
	switch raw.Format {
	case FormatARC:
		return arcHead(raw)
	case FormatTSV, FormatJSONL:
		return lineHead(raw)
	}
	rec, digest, err := x.parse(raw.Header)
	if err != nil {
		return h, ReasonMalformed
	}
	defer func() { _ = rec.Close() }()
	switch rec.Type() {
	case gowarc.Response, gowarc.Resource, gowarc.Conversion:
	case 0:
		return h, ReasonUnknownType
	default:
		return h, Reason(rec.Type().String())
	}
	f := rec.WarcHeader()
	trimmed := func(name string) string { return clean(strings.Trim(f.Get(name), "<> \t")) }
	h = head{
		id: trimmed(gowarc.WarcRecordID), uri: trimmed(gowarc.WarcTargetURI),
		date: clean(f.Get(gowarc.WarcDate)), digest: clean(digest), contentType: f.Get(gowarc.ContentType),
		block: raw.Block,
	}
	h.http = isHTTP(h.contentType) || rec.Type() == gowarc.Response && startsHTTP(raw.Block)
	return h, ReasonNone
}

// parse gives gowarc the record's header without its block, so that it neither
// hashes nor copies payloads. gowarc refuses a record whose digest fields it
// cannot read, so it does not get them; the payload's is returned.
func (x *Extractor) parse(header []byte) (rec gowarc.WarcRecord, digest string, err error) {
	version, _, _ := bytes.Cut(header, []byte{'\n'})
	if version = bytes.TrimSpace(version); len(version) <= len("WARC/") {
		return nil, "", fmt.Errorf("no WARC version")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\r\n", bytes.ToUpper(version))
	for name, value := range headerFields(header) {
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Content-Length", "Warc-Block-Digest":
		case "Warc-Payload-Digest":
			digest = value
		default:
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
	}
	b.WriteString("Content-Length: 0\r\n\r\n\r\n\r\n")
	rec, _, _, err = x.u.Unmarshal(bufio.NewReader(&b))
	if rec == nil && err == nil {
		err = fmt.Errorf("no record")
	}
	return rec, digest, err
}

// parseHTTP returns the status, the fields and the length of the HTTP header
// that block starts with. It takes what net/http refuses and crawls hold: a
// status line without a reason, a field without a colon, bare line ends.
func parseHTTP(block []byte) (status int, fields http.Header, n int, ok bool) {
	n = headerEnd(block[:min(len(block), maxHeader)], 0)
	first, _, _ := bytes.Cut(block[:n], []byte{'\n'})
	words := strings.Fields(string(first))
	if len(words) < 2 || !startsHTTP(first) {
		return 0, nil, 0, false
	}
	digits := words[1] // also "200OK"
	if i := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = digits[:i]
	}
	status, err := strconv.Atoi(digits)
	if err != nil {
		return 0, nil, 0, false
	}
	fields = http.Header{}
	for name, value := range headerFields(block[:n]) {
		fields.Add(name, value)
	}
	return status, fields, n, true
}

// parseBareHTTP is parseHTTP for an answer without a status line: fields that
// say what follows, or nothing but a page, as HTTP/0.9 has it.
func parseBareHTTP(block []byte) (fields http.Header, n int, ok bool) {
	if startsHTTP(block) {
		return nil, 0, false
	}
	fields = http.Header{}
	n = headerEnd(block[:min(len(block), maxHeader)], 0)
	for name, value := range headerFields(append([]byte("\n"), block[:n]...)) {
		if strings.ContainsAny(name, " \t<>") {
			n = 0
			break
		}
		fields.Add(name, value)
	}
	if n > 0 && fields.Get("Content-Type") != "" {
		return fields, n, true
	}
	name, doctype := firstElement(sniffable(block, ""))
	return http.Header{}, 0, name == "html" || doctype == "html"
}

// startsHTTP tells whether b starts with a protocol's name, as a status line does.
func startsHTTP(b []byte) bool {
	return len(b) > 4 && strings.EqualFold(string(b[:4]), "HTTP") && (b[4] == '/' || b[4] == ' ')
}

func isHTTP(contentType string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(contentType)), gowarc.ApplicationHttp)
}

// clean makes a header value safe to store and show: valid UTF-8 on one line.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}
