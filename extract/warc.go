package extract

import (
	"bufio"
	"bytes"
	"strings"
	"sync"

	"github.com/nlnwa/gowarc"

	"neardup/extract/container"
	"neardup/extract/internal/header"
)

// recordTypes are the types that the WARC standard names.
var recordTypes = map[string]gowarc.RecordType{}

func init() {
	for t := gowarc.Warcinfo; t <= gowarc.Continuation; t <<= 1 {
		recordTypes[t.String()] = t
	}
}

// warcFields are the fields of a WARC header that are used, as written. The first
// field of each name counts, but the last digest.
type warcFields struct {
	kind, id, uri, date, contentType, digest, blockDigest string
	refersTo, refersToURI, refersToDate, profile          string
	segment                                               bool // it has a segment number
	truncated                                             bool // the crawler did not store all of the block
	encoded                                               bool // a value seems to have encoded words
}

// readFields reads the header in one pass. It accepts what libraries reject and
// crawls contain: bare line ends, lines without a colon, digests of unknown kinds,
// unknown versions.
func readFields(raw []byte) (f warcFields) {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	for name, value := range header.Fields(raw) {
		switch {
		case strings.EqualFold(name, gowarc.WarcType):
			set(&f.kind, value)
		case strings.EqualFold(name, gowarc.WarcRecordID):
			set(&f.id, value)
		case strings.EqualFold(name, gowarc.WarcTargetURI):
			set(&f.uri, value)
		case strings.EqualFold(name, gowarc.WarcDate):
			set(&f.date, value)
		case strings.EqualFold(name, gowarc.ContentType):
			set(&f.contentType, value)
		case strings.EqualFold(name, gowarc.WarcPayloadDigest):
			f.digest = value
		case strings.EqualFold(name, gowarc.WarcBlockDigest):
			set(&f.blockDigest, value)
		case strings.EqualFold(name, gowarc.WarcRefersTo):
			set(&f.refersTo, value)
		case strings.EqualFold(name, gowarc.WarcRefersToTargetURI):
			set(&f.refersToURI, value)
		case strings.EqualFold(name, gowarc.WarcRefersToDate):
			set(&f.refersToDate, value)
		case strings.EqualFold(name, gowarc.WarcProfile):
			set(&f.profile, value)
		case strings.EqualFold(name, gowarc.WarcSegmentNumber):
			f.segment = true
		case strings.EqualFold(name, gowarc.WarcTruncated):
			f.truncated = f.truncated || value != ""
		default:
			continue
		}
		f.encoded = f.encoded || strings.Contains(value, "=?")
	}
	return f
}

// unmarshaler is shared. Without compressed input it keeps no state.
var unmarshaler = sync.OnceValue(func() gowarc.Unmarshaler { return gowarc.NewUnmarshaler(gowarc.WithNoValidation()) })

// decode lets gowarc parse the header, because it decodes encoded words (RFC 2047),
// which WARC 1.1, section 4, allows. A header that gowarc rejects stays as written.
func (f *warcFields) decode(raw []byte) {
	if !bytes.HasPrefix(raw, []byte("WARC/")) { // gowarc would search for a record further on
		return
	}
	rec, _, _, err := unmarshaler().Unmarshal(bufio.NewReader(bytes.NewReader(raw)))
	if rec == nil {
		return
	}
	if err == nil {
		defer func() { _ = rec.Close() }()
	}
	for name, field := range map[string]*string{
		gowarc.WarcRecordID: &f.id, gowarc.WarcTargetURI: &f.uri, gowarc.WarcDate: &f.date, gowarc.ContentType: &f.contentType,
		gowarc.WarcRefersTo: &f.refersTo, gowarc.WarcRefersToTargetURI: &f.refersToURI, gowarc.WarcRefersToDate: &f.refersToDate,
	} {
		if value := rec.WarcHeader().Get(name); value != "" {
			*field = value
		}
	}
}

// warcHead returns the head of a WARC record.
func warcHead(raw *container.Raw) (h head, reason Reason) {
	version, _, _ := bytes.Cut(raw.Header, []byte{'\n'})
	if len(bytes.TrimSpace(version)) <= len("WARC/") {
		return h, ReasonMalformed
	}
	f := readFields(raw.Header)
	kind := recordTypes[strings.ToLower(f.kind)]
	switch kind {
	case gowarc.Response, gowarc.Resource, gowarc.Conversion, gowarc.Revisit:
	case 0:
		return h, ReasonUnknownType
	default:
		return h, Reason(kind.String())
	}
	if f.encoded {
		f.decode(raw.Header)
	}
	if kind == gowarc.Resource && bookkeeping(strings.ToLower(header.TargetURI(f.uri))) {
		return h, ReasonBookkeeping
	}
	if kind == gowarc.Revisit && !saysUnchanged(f.profile) {
		return h, ReasonProfile
	}
	h = head{
		id: header.Clean(bracketed(f.id)), uri: header.Clean(header.TargetURI(f.uri)),
		date: header.Clean(f.date), digest: header.Clean(f.digest), contentType: f.contentType,
		block: raw.Block, blockDigest: f.blockDigest, segment: f.segment, truncated: f.truncated,
	}
	if h.revisit = kind == gowarc.Revisit; h.revisit {
		h.refers = Reference{RecordID: header.Clean(bracketed(f.refersTo)), URI: header.Clean(header.TargetURI(f.refersToURI)), Date: header.Clean(f.refersToDate)}
	}
	h.http = isHTTP(h.contentType) || kind == gowarc.Response && startsHTTP(raw.Block)
	h.derived = kind == gowarc.Conversion || kind == gowarc.Resource && strings.HasPrefix(strings.ToLower(h.uri), textURN)
	h.also = h.besides("text/plain") // that of WET files
	return h, ReasonNone
}

// textURN starts the target URI of a resource with the text that Browsertrix took from a page.
const textURN = "urn:text:"

// saysUnchanged reports whether a revisit of a profile says that the payload was met before
// (WARC 1.1, section 6.7.2, and the profile of Heritrix for payloads of other URIs). The
// standard allows for others, such as one for what changed. A revisit without a profile, which
// it demands, counts as unchanged.
func saysUnchanged(profile string) bool {
	_, name, found := strings.Cut(strings.ToLower(strings.Trim(profile, "<> \t")), "/revisit/")
	switch name {
	case "identical-payload-digest", "uri-agnostic-identical-payload-digest", "server-not-modified":
		return found
	}
	return profile == ""
}

// bracketed removes the angle brackets of a record ID.
func bracketed(s string) string { return strings.Trim(s, "<> \t") }

// bookkeeping reports whether a resource is a crawler's record about itself, by its
// target URI in lower case. GNU Wget writes its arguments and logs under
// metadata://gnu.org/software/wget/, wpull under urn:X-wpull:.
func bookkeeping(uri string) bool {
	return strings.HasPrefix(uri, "metadata:") || strings.HasPrefix(uri, "urn:x-wpull:")
}

func isHTTP(contentType string) bool {
	return len(contentType) >= len(gowarc.ApplicationHttp) && strings.EqualFold(contentType[:len(gowarc.ApplicationHttp)], gowarc.ApplicationHttp)
}
