package extract

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"hash"
	"net/http"
	"slices"
	"strings"

	"github.com/nlnwa/gowarc"

	"neardup/extract/container"
	"neardup/extract/internal/header"
)

// Description is what a record states about itself, whatever its content.
type Description struct {
	Type         string // WARC-Type in lower case; of an ARC record response, or warcinfo for the one that describes the file; empty: unknown
	RecordID     string // without brackets, as are URI and ConcurrentTo
	URI, Date    string
	ConcurrentTo []string

	Document  ID     // ID of the Document that Extractor.Document makes from the record, if any
	Status    int    // status of the HTTP response; 0: none
	MediaType string // as declared
	Digest    string // WARC-Payload-Digest, or else the digest of the payload

	BlockDigest Check // WARC-Block-Digest compared with the block
}

// Check is the result of a check.
type Check uint8

// Results of a check.
const (
	Unchecked Check = iota // there is nothing to check, or the block is incomplete
	Right
	Wrong
)

// Captures reports whether the record is a capture, which other records may
// accompany.
func (d Description) Captures() bool {
	switch d.Type {
	case "response", "resource", "revisit", "conversion", "continuation":
		return true
	}
	return false
}

// Accompanies reports whether the record is of a type that accompanies captures.
func (d Description) Accompanies() bool { return d.Type == "request" || d.Type == "metadata" }

// Describe returns what the record states about itself.
func (x *Extractor) Describe(raw *container.Raw) (d Description) {
	defer func() {
		if recover() != nil { // hostile input hit an error in a library
			d = Description{}
		}
	}()
	blockDigest := ""
	if raw.Format == container.FormatARC {
		d.Type = "response"
	} else {
		for name, value := range header.Fields(raw.Header) {
			switch {
			case strings.EqualFold(name, gowarc.WarcType) && d.Type == "":
				d.Type = strings.ToLower(value)
			case strings.EqualFold(name, gowarc.WarcRecordID) && d.RecordID == "":
				d.RecordID = header.Clean(bracketed(value))
			case strings.EqualFold(name, gowarc.WarcTargetURI) && d.URI == "":
				d.URI = header.Clean(header.TargetURI(value))
			case strings.EqualFold(name, gowarc.WarcDate) && d.Date == "":
				d.Date = header.Clean(value)
			case strings.EqualFold(name, gowarc.WarcConcurrentTo):
				d.ConcurrentTo = append(d.ConcurrentTo, header.Clean(bracketed(value)))
			case strings.EqualFold(name, gowarc.WarcBlockDigest):
				blockDigest = value
			}
		}
	}
	if !raw.Clipped {
		d.BlockDigest = checkDigest(blockDigest, raw.Block)
	}
	h, reason := x.head(raw)
	switch reason {
	case ReasonNone:
	case ReasonARCHeader:
		d.Type = "warcinfo"
		return d
	default:
		return d
	}
	block := h.block
	if h.http && header.End(h.block[:min(len(h.block), x.o.MaxHeaderBytes)], 0) == 0 {
		h.block = endHeader(h.block)
	}
	d.RecordID, d.URI, d.Date, d.Document = h.id, h.uri, h.date, h.documentID()
	d.Digest, d.MediaType = h.digest, mediaTypeOf(h.contentType)
	payload := block
	if h.http {
		var fields http.Header
		var n int
		if d.Status, fields, n, _ = parseHTTP(h.block, x.o.MaxHeaderBytes); fields != nil {
			payload, d.MediaType = h.block[n:], mediaTypeOf(contentTypeOf(fields))
		}
	}
	if d.Digest == "" && !raw.Clipped {
		sum := sha1.Sum(payload)
		d.Digest = "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
	}
	return d
}

// checkDigest checks a labelled digest, in Base32 or hexadecimal, against a block.
func checkDigest(digest string, block []byte) Check {
	algorithm, value, found := strings.Cut(strings.TrimSpace(digest), ":")
	if !found {
		return Unchecked
	}
	var h hash.Hash
	switch strings.ToLower(algorithm) {
	case "sha1", "sha-1":
		h = sha1.New()
	case "sha256", "sha-256":
		h = sha256.New()
	case "md5":
		h = md5.New()
	default:
		return Unchecked
	}
	h.Write(block)
	sum := h.Sum(nil)
	value = strings.TrimRight(value, "=")
	spellings := []string{hex.EncodeToString(sum), base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum)}
	same := func(s string) bool { return strings.EqualFold(value, s) }
	asLong := func(s string) bool { return len(value) == len(s) }
	switch {
	case slices.ContainsFunc(spellings, same):
		return Right
	case slices.ContainsFunc(spellings, asLong):
		return Wrong
	}
	return Unchecked // it is in another spelling
}
