package extract

import (
	"encoding/base32"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"neardup/uris"
)

// Reference is what a revisit record says of the capture that it repeats
// (WARC 1.1, section 6.7): its record, its target URI and date, or its payload.
type Reference struct {
	RecordID string `json:"record_id,omitempty"` // without brackets
	URI      string `json:"uri,omitempty"`
	Date     string `json:"date,omitempty"`
	Digest   string `json:"digest,omitempty"` // of the payload, see canonicalDigest

	Unresolved Reason `json:"unresolved"` // counts where no document is found
}

// Key names a way to find a capture: documents have the same as the
// references to them.
type Key [16]byte

// Keys are the ways to find the capture, the surest first. That another page
// had the same payload says less than that this one had.
func (r Reference) Keys(uri string) []Key {
	var keys []Key
	if r.RecordID != "" {
		keys = append(keys, recordKey(r.RecordID))
	}
	if r.URI != "" && r.Date != "" {
		keys = append(keys, captureKey(r.URI, r.Date))
	}
	if r.Digest != "" {
		keys = append(keys, payloadKey(r.Digest, uri), payloadKey(r.Digest, ""))
	}
	return keys
}

// Keys are those under which references find the document. A revisit is found
// as a capture, and says nothing new about a payload.
func (d Document) Keys() []Key {
	keys := []Key{recordKey(strings.Trim(d.RecordID, "<>")), captureKey(d.TargetURI, d.Date)}
	if digest := canonicalDigest(d.Digest); digest != "" && d.Repeats == nil {
		keys = append(keys, payloadKey(digest, d.TargetURI), payloadKey(digest, ""))
	}
	return keys
}

func recordKey(id string) Key           { return Key(documentID("record", id, "", nil)) }
func captureKey(uri, date string) Key   { return Key(documentID("capture", uri, seconds(date), nil)) }
func payloadKey(digest, uri string) Key { return Key(documentID("payload", digest, uri, nil)) }

// seconds are the digits of a date up to its seconds: what refers to a capture
// may leave out the fractions that its record has, and its punctuation.
func seconds(date string) string {
	digits := make([]byte, 0, 14)
	for i := 0; i < len(date) && len(digits) < cap(digits); i++ {
		if c := date[i]; '0' <= c && c <= '9' {
			digits = append(digits, c)
		}
	}
	return string(digits)
}

// canonicalDigest spells a digest in one way, algorithm:BASE32, or is empty for
// what is none. Some tools write hexadecimal.
func canonicalDigest(digest string) string {
	algorithm, value, ok := strings.Cut(strings.TrimSpace(digest), ":")
	if !ok || algorithm == "" || value == "" {
		return ""
	}
	if b, err := hex.DecodeString(value); err == nil && len(b) >= 16 {
		value = base32.StdEncoding.EncodeToString(b)
	}
	return strings.ToLower(algorithm) + ":" + strings.ToUpper(strings.TrimRight(value, "="))
}

// revisit makes a document without text of a revisit record: it has that of
// the capture that it refers to.
func (x *Extractor) revisit(h head) (doc Document, reason Reason) {
	doc = Document{TargetURI: h.uri, Site: uris.Site(h.uri), Date: h.date, Digest: h.digest}
	r := h.refers
	r.Digest, r.Unresolved = canonicalDigest(h.digest), ReasonUnresolved
	if status, fields, _, ok := parseHTTP(h.block, x.o.MaxHeaderBytes); ok {
		if status != http.StatusNotModified && !slices.Contains(x.o.Statuses, status) {
			return doc, ReasonStatus
		}
		doc.Status = status
		declared := mediaTypeOf(fields.Get("Content-Type"))
		if x.Readers[declared] == nil && !vague[declared] && strings.Contains(declared, "/") {
			r.Unresolved = ReasonMediaType // most are pictures
		}
	}
	doc.Repeats = &r
	identify(&doc, h)
	return doc, ReasonNone
}
