package extract

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/http/httputil"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// decodeBody undoes transfer and content encoding. What is declared and not
// used is taken as it stands; what breaks off is kept as far as it goes and
// reported as clipped. ok is false for an encoding that is not supported.
func decodeBody(payload []byte, header http.Header, limit int64) (body []byte, clipped, ok bool) {
	body = payload
	if hasToken(header, "Transfer-Encoding", "chunked") {
		if b, whole := dechunk(body); len(b) > 0 || whole {
			body, clipped = b, !whole
		}
	}
	for _, token := range tokens(header, "Content-Encoding") {
		switch token {
		case "", "identity", "none":
		case "gzip", "x-gzip":
			if !bytes.HasPrefix(body, []byte{0x1f, 0x8b}) {
				continue
			}
			zr, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				return nil, false, false
			}
			b, err := io.ReadAll(io.LimitReader(zr, limit+1))
			if err != nil && len(b) == 0 {
				return nil, false, false
			}
			if int64(len(b)) > limit {
				b, clipped = b[:limit], true
			}
			body, clipped = b, clipped || err != nil
		default:
			return nil, false, false
		}
	}
	return body, clipped, true
}

// dechunk decodes a chunked body as far as it goes.
func dechunk(b []byte) (body []byte, whole bool) {
	body, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(b)))
	return body, err == nil
}

func tokens(h http.Header, field string) []string {
	var out []string
	for _, v := range h.Values(field) {
		for t := range strings.SplitSeq(v, ",") {
			out = append(out, strings.ToLower(strings.TrimSpace(t)))
		}
	}
	return out
}

func hasToken(h http.Header, field, token string) bool {
	for _, t := range tokens(h, field) {
		if t == token {
			return true
		}
	}
	return false
}

// read turns a decoded body into the document's text.
func (x *Extractor) read(doc Document, body []byte, contentType string) (Document, Reason) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		mediaType = strings.ToLower(strings.TrimSpace(strings.SplitN(contentType, ";", 2)[0]))
	}
	if mediaType == "" || mediaType == "application/octet-stream" {
		mediaType, _, _ = mime.ParseMediaType(http.DetectContentType(body))
	}
	doc.MediaType = mediaType
	text, name := decodeCharset(body, contentType)
	doc.Charset = name
	switch mediaType {
	case "text/html", "application/xhtml+xml":
		doc.Title, doc.Text = visibleText(text, x.o.MaxTextBytes)
	case "text/plain":
		doc.Text = plainText(text, x.o.MaxTextBytes)
	default:
		return doc, ReasonMediaType
	}
	if doc.Text == "" {
		return doc, ReasonNoText
	}
	return doc, ReasonNone
}

// decodeCharset decodes body to valid UTF-8: by BOM, HTTP header and meta
// element; without any of these, and where the meta element says Latin-1, as
// UTF-8 where it is valid, else as windows-1252, which is what browsers do.
func decodeCharset(body []byte, contentType string) (text, name string) {
	enc, name, certain := charset.DetermineEncoding(body, charsetParam(contentType))
	// "replacement" is what browsers show of encodings that they do not
	// support: one U+FFFD, which would make all such pages the same.
	if name == "replacement" || name == "windows-1252" && !certain {
		enc, name = charmap.Windows1252, "windows-1252"
		if utf8.Valid(body[:len(body)-partialRune(body)]) {
			enc, name = encoding.Nop, "utf-8"
		}
	}
	if name == "utf-8" {
		return strings.ToValidUTF8(string(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))), "\uFFFD"), name
	}
	b, err := enc.NewDecoder().Bytes(body)
	if err != nil && len(b) == 0 {
		b = body
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), name
}

// charsetParam reduces a Content-Type to its charset, for the many that
// mime.ParseMediaType refuses, such as one with the same parameter twice.
func charsetParam(contentType string) string {
	_, value, found := strings.Cut(strings.ToLower(contentType), "charset=")
	if !found {
		return ""
	}
	value = strings.TrimLeft(value, " \t\"'")
	if i := strings.IndexAny(value, " \t\"',;"); i >= 0 {
		value = value[:i]
	}
	return "text/html; charset=" + value
}

// partialRune is the length of a code point that b ends inside of, as a
// clipped page does.
func partialRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n:]; utf8.RuneStart(c[0]) {
			if utf8.FullRune(c) {
				return 0
			}
			return n
		}
	}
	return 0
}
