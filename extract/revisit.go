package extract

import (
	"bytes"
	"encoding/base32"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"neardup/uris"
)

// Reference is what a revisit record states about the capture that it refers to
// (WARC 1.1, section 6.7): the capture's record, its target URI and date, or its
// payload.
type Reference struct {
	RecordID string `json:"record_id,omitempty"` // without brackets
	URI      string `json:"uri,omitempty"`
	Date     string `json:"date,omitempty"`
	Digest   string `json:"digest,omitempty"` // payload digest, see canonicalDigest

	Unresolved Reason `json:"unresolved"` // reason to count if no document is found
}

// Key is a key for finding a capture. A document and the references to it have a
// key in common.
type Key [16]byte

// Keys returns the keys for finding the capture, the most certain first. A capture
// of another page with the same payload is less certain than one of this page.
func (r Reference) Keys(uri string) []Key {
	var keys []Key
	if r.RecordID != "" {
		keys = append(keys, recordKey(r.RecordID))
	}
	if r.URI != "" && r.Date != "" {
		keys = append(keys, captureKeys(r.URI, r.Date)...)
	}
	if r.Digest != "" {
		keys = append(keys, payloadKey(r.Digest, uri), payloadKey(r.Digest, ""))
	}
	return keys
}

// Keys returns the keys under which references find the document. A revisit is
// found as a capture, but not by its payload.
func (d Document) Keys() []Key {
	keys := append(captureKeys(d.TargetURI, d.Date), recordKey(strings.Trim(d.RecordID, "<>")))
	if digest := canonicalDigest(d.Digest); digest != "" && d.Repeats == nil {
		keys = append(keys, payloadKey(digest, d.TargetURI), payloadKey(digest, ""))
	}
	return keys
}

func recordKey(id string) Key           { return Key(documentID("record", id, "", nil)) }
func payloadKey(digest, uri string) Key { return Key(documentID("payload", digest, uri, nil)) }

// toTheSecond is the number of digits of a date without fractions of seconds.
const toTheSecond = 14

// captureKeys returns the keys of a target URI and a date: by all of the date, if it has
// fractions of seconds, then to the second. A reference may leave out the fractions and the
// punctuation of its capture's date.
func captureKeys(uri, date string) (keys []Key) {
	digits := DateOrder(date)
	key := func(digits string) Key { return Key(documentID("capture", uri, digits, nil)) }
	if len(digits) > toTheSecond {
		keys = append(keys, key(digits))
	}
	return append(keys, key(digits[:min(len(digits), toTheSecond)]))
}

// Digits returns the digits of a date.
func Digits(date string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, date)
}

// DateOrder returns the digits of a date, without zeros at the end of fractions of seconds.
// Dates are in the order of these.
func DateOrder(date string) string {
	digits := Digits(date)
	at := min(len(digits), toTheSecond)
	return digits[:at] + strings.TrimRight(digits[at:], "0")
}

// canonicalDigest returns a digest in one spelling, algorithm:BASE32, or "" if it
// is no digest. Some tools write hexadecimal.
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

// revisit makes a document without text from a revisit record. It gets the text of
// the capture that it refers to.
func (x *Extractor) revisit(h head) (doc Document, reason Reason) {
	doc = Document{TargetURI: h.uri, Site: uris.Site(h.uri), Date: h.date, Digest: h.digest}
	r := h.refers
	r.Digest, r.Unresolved = canonicalDigest(h.digest), ReasonUnresolved
	var payload []byte
	if !startsHTTP(h.block) {
		payload = h.block
	}
	if status, fields, n, ok := parseHTTP(h.block, x.o.MaxHeaderBytes); ok {
		if status != http.StatusNotModified && !slices.Contains(x.o.Statuses, status) {
			return doc, ReasonStatus
		}
		doc.Status, payload = status, h.block[n:]
		declared := mediaTypeOf(contentTypeOf(fields))
		if x.Readers[declared] == nil && !vague[declared] && strings.Contains(declared, "/") {
			r.Unresolved = ReasonMediaType // most are pictures
		}
	}
	doc.Repeats, doc.Clipped = &r, len(bytes.TrimSpace(payload)) > 0
	identify(&doc, h)
	return doc, ReasonNone
}
