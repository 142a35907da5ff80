package extract

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
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
	if slices.Contains(tokens(header, "Transfer-Encoding"), "chunked") {
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

// dechunk decodes a chunked body as far as it goes. It is written out because
// httputil's refuses what crawls hold: bare line ends, and many small chunks.
func dechunk(b []byte) (body []byte, whole bool) {
	for {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		size, _, _ := bytes.Cut(line, []byte{';'})
		n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 63)
		switch {
		case err != nil:
			return body, false
		case n == 0:
			return body, true
		case n > uint64(len(rest)):
			if bytes.HasSuffix(line, []byte{'\r'}) { // a bare number is more likely text
				body = append(body, rest...)
			}
			return body, false
		}
		body = append(body, rest[:n]...)
		b = bytes.TrimPrefix(rest[n:], []byte{'\r'})
		if !bytes.HasPrefix(b, []byte{'\n'}) {
			return body, false
		}
		b = b[1:]
	}
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
		if isUTF8(body) {
			enc, name = encoding.Nop, "utf-8"
		}
	}
	if name == "utf-8" {
		return strings.ToValidUTF8(string(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))), "\uFFFD"), name
	}
	b, _ := enc.NewDecoder().Bytes(body) // a decoder puts U+FFFD for what it cannot decode
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

// isUTF8 tells whether b is UTF-8. The last code point may be clipped where
// there are others that show the encoding.
func isUTF8(b []byte) bool {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if rest := b[:len(b)-n]; !utf8.FullRune(last) && slices.ContainsFunc(rest, func(c byte) bool { return c >= utf8.RuneSelf }) {
				b = rest
			}
			break
		}
	}
	return utf8.Valid(b)
}
