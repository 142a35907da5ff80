package extract

import (
	"bytes"
	"slices"
	"strings"
	"unicode"

	"neardup/extract/container"
	"neardup/extract/internal/header"
	"neardup/uris"
)

// arcHead returns the head of an ARC record.
func arcHead(raw *container.Raw, maxHeader int) (h head, reason Reason) {
	a, ok := container.ParseARC(raw.Header)
	if !ok {
		return h, ReasonMalformed
	}
	scheme, _, _ := strings.Cut(strings.ToLower(a.URI), ":")
	switch scheme {
	case "filedesc":
		return h, ReasonARCHeader
	case "dns":
		return h, ReasonDNS
	}
	h = head{uri: header.Clean(a.URI), date: a.Date, contentType: a.ContentType, block: raw.Block}
	switch strings.ToLower(h.contentType) {
	case "-", "no-type", "unknown", "unk":
		h.contentType = ""
	}
	// Some blocks have lost their HTTP header, and some URLs their first letter.
	h.http = startsHTTP(raw.Block) && scheme != "ftp"
	h.also = h.besides("text/plain")
	return h, ReasonNone
}

// endHeader adds the missing empty line after the last line of an HTTP header.
func endHeader(block []byte) []byte {
	at := bytes.IndexByte(block, '\n') + 1
	for at > 0 {
		line, _, found := bytes.Cut(block[at:], []byte{'\n'})
		name, _, colon := bytes.Cut(line, []byte{':'})
		field := colon && len(name) > 0 && !bytes.ContainsAny(name, " \t<>\"/")
		switch {
		case field && !found: // the block ends inside the header
			return slices.Concat(block, []byte("\n\n"))
		case !field:
			return slices.Concat(block[:at], []byte{'\n'}, block[at:])
		}
		at += len(line) + 1
	}
	return block
}

// lineHead returns the head of a line of a text collection.
func lineHead(raw *container.Raw) (h head, reason Reason) {
	if raw.Clipped {
		return h, ReasonLongLine
	}
	l, ok := container.ParseLine(raw.Block, raw.Format)
	if !ok {
		return h, ReasonLine
	}
	h = head{
		uri: header.Clean(strings.TrimSpace(l.URL)), date: header.Clean(l.Date), contentType: "text/plain; charset=utf-8",
		title: header.Clean(strings.Join(strings.Fields(l.Title), " ")), block: []byte(l.Text), derived: true,
	}
	h.also = h.besides(h.contentType)
	id := strings.Trim(string(l.ID), "<> ")
	if !isURI(id) {
		id = ""
	}
	h.id = header.Clean(id)
	switch {
	case h.uri != "":
	case id != "":
		h.uri = h.id
	default:
		h.uri = "urn:text:" + escapeText(string(l.ID))
	}
	return h, ReasonNone
}

// isURI reports whether an ID is a URI, not just an ID with a colon.
func isURI(id string) bool {
	if strings.ContainsFunc(id, unicode.IsSpace) {
		return false
	}
	scheme, _, found := strings.Cut(id, "://")
	return found && scheme != "" && uris.StartsWithScheme([]byte(scheme+":")) || len(id) > 4 && strings.EqualFold(id[:4], "urn:")
}

// escapeText escapes all but the unreserved characters of a URI.
func escapeText(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}
