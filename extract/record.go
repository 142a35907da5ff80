package extract

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

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
	o Options
	u gowarc.Unmarshaler
}

// NewExtractor makes an Extractor.
func NewExtractor(o Options) *Extractor {
	// Without validation gowarc 1.6 keeps the target URI as written and
	// does not read the block.
	return &Extractor{o: o, u: gowarc.NewUnmarshaler(gowarc.WithNoValidation())}
}

// Document makes a document of the record, or says why there is none.
func (x *Extractor) Document(raw *Raw) (doc Document, reason Reason) {
	defer func() {
		if recover() != nil { // hostile input found a library's mistake: one record, not the run
			doc, reason = Document{}, ReasonPanic
		}
	}()
	rec, digest, httpHeader, err := x.parse(raw)
	if err != nil {
		return doc, ReasonMalformed
	}
	defer func() { _ = rec.Close() }()
	switch rec.Type() {
	case gowarc.Response, gowarc.Resource, gowarc.Conversion:
	case 0:
		return doc, ReasonUnknownType
	default:
		return doc, Reason(rec.Type().String())
	}

	h := rec.WarcHeader()
	doc.TargetURI = clean(strings.Trim(h.Get(gowarc.WarcTargetURI), "<> \t"))
	if doc.TargetURI == "" {
		return doc, ReasonNoURI
	}
	doc.Site = siteOf(doc.TargetURI)
	doc.Date = clean(h.Get(gowarc.WarcDate))

	payload, contentType := raw.Block, h.Get(gowarc.ContentType)
	var header http.Header
	if isHTTP(contentType) {
		status, fields, n, ok := parseHTTP(rec, httpHeader)
		if !ok {
			return doc, ReasonHTTP
		}
		if !slices.Contains(x.o.Statuses, status) {
			return doc, ReasonStatus
		}
		header, payload, contentType = fields, raw.Block[n:], fields.Get("Content-Type")
	}
	if len(payload) == 0 {
		return doc, ReasonEmpty
	}
	doc.Bytes, doc.Clipped = int64(len(payload))+raw.Length-int64(len(raw.Block)), raw.Clipped

	if doc.Digest = clean(digest); doc.Digest == "" {
		sum := sha1.Sum(payload)
		doc.Digest = "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
	}
	id := clean(strings.Trim(h.Get(gowarc.WarcRecordID), "<> \t"))
	doc.ID = documentID(id, doc.TargetURI, doc.Date, raw.Block)
	if id == "" {
		id = "urn:neardup:" + doc.ID.String()
	}
	doc.RecordID = "<" + id + ">"

	body, clipped, ok := decodeBody(payload, header, x.o.MaxRecordBytes)
	if !ok {
		return doc, ReasonEncoding
	}
	doc.Clipped = doc.Clipped || clipped
	return x.read(doc, body, contentType)
}

// parse gives gowarc the record's header, and of the block no more than the
// HTTP header needs, so that it neither hashes nor copies payloads.
// gowarc refuses a record whose digest fields it cannot read, so it does not
// get them; the payload's is returned.
func (x *Extractor) parse(raw *Raw) (rec gowarc.WarcRecord, digest string, httpHeader []byte, err error) {
	n := headerEnd(raw.Block[:min(len(raw.Block), maxHeader)], 0)
	httpHeader = raw.Block[:n]
	var b bytes.Buffer
	for line := range bytes.Lines(raw.Header) {
		name, value, _ := bytes.Cut(line, []byte{':'})
		switch textproto.CanonicalMIMEHeaderKey(string(bytes.TrimSpace(name))) {
		case "Content-Length":
			fmt.Fprintf(&b, "Content-Length: %d\r\n", n)
		case "Warc-Block-Digest":
		case "Warc-Payload-Digest":
			digest = string(bytes.TrimSpace(value))
		default:
			b.Write(line)
		}
	}
	b.Write(httpHeader)
	b.WriteString("\r\n\r\n")
	rec, _, _, err = x.u.Unmarshal(bufio.NewReader(&b))
	if rec == nil && err == nil {
		err = fmt.Errorf("no record")
	}
	return rec, digest, httpHeader, err
}

// parseHTTP returns the status, the fields and the length of the HTTP header.
// What net/http refuses, such as a status line without a reason or a field
// without a colon, is read leniently.
func parseHTTP(rec gowarc.WarcRecord, header []byte) (status int, fields http.Header, n int, ok bool) {
	if b, is := rec.Block().(gowarc.HttpResponseBlock); is && b.HttpHeader() != nil {
		return b.HttpStatusCode(), *b.HttpHeader(), len(header), true
	}
	first, rest, _ := bytes.Cut(header, []byte{'\n'})
	words := strings.Fields(string(first))
	if len(words) < 2 || !strings.HasPrefix(words[0], "HTTP") {
		return 0, nil, 0, false
	}
	status, err := strconv.Atoi(words[1])
	if err != nil {
		return 0, nil, 0, false
	}
	fields = http.Header{}
	for line := range bytes.Lines(rest) {
		if name, value, found := bytes.Cut(line, []byte{':'}); found {
			fields.Add(string(bytes.TrimSpace(name)), string(bytes.TrimSpace(value)))
		}
	}
	return status, fields, len(header), true
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
