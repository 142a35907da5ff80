package extract

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"neardup/extract/container"
)

// First bytes of bodies in these codings.
var (
	gzipMagic = []byte{0x1f, 0x8b, 0x08}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// Codings by their HTTP names.
const (
	codingGzip    = "gzip"
	codingZstd    = "zstd"
	codingDeflate = "deflate"
	codingBrotli  = "br"
	codingChunked = "chunked"
)

// Bounds of the window of a zstd page. RFC 9659 limits it to 8 MiB.
const (
	minPageWindow = 8 << 20
	maxPageWindow = 1 << 30
)

// payload is a body while its codings are undone.
type payload struct {
	body    []byte
	limits  container.Limits
	raw     *container.Raw // the record, which counts what is decoded
	layers  int            // layers undone so far
	clipped bool
	choices Choices
}

// decodeBody undoes transfer and content codings, the outermost (named last) first.
// A body that is not encoded as declared is kept as it is. Undeclared gzip and zstd
// are undone if they are found in text. A broken stream is kept as far as it can be
// decoded. reason is set if a coding is not supported, a stream is broken from its
// start, or there are too many codings, or the record has no room for what is
// decoded.
func decodeBody(stored []byte, header http.Header, contentType string, limits container.Limits, raw *container.Raw) (p payload, reason Reason) {
	p = payload{body: stored, limits: limits, raw: raw}
	defer func() {
		if hasNoRoom(raw) {
			reason = ReasonInflated
		}
	}()
	codings := append(tokens(header, "Content-Encoding"), tokens(header, "Transfer-Encoding")...)
	if len(codings) > limits.MaxCodings {
		return p, ReasonCodings
	}
	for i := len(codings) - 1; i >= 0; i-- {
		if hasNoRoom(raw) {
			break
		}
		if !p.undo(codings[i]) {
			return p, ReasonEncoding
		}
	}
	for !hasNoRoom(raw) && isText(mediaTypeOf(contentType)) && p.layers < limits.MaxCodings {
		coding := codingOf(p.body)
		if coding == "" || p.decode(coding) != nil {
			break
		}
		p.choices |= ChoiceEncodingNotDeclared
	}
	return p, ReasonNone
}

// undo undoes a declared coding, if the body uses it.
func (p *payload) undo(coding string) bool {
	switch coding {
	case codingChunked:
		if b, whole := dechunk(p.body); len(b) > 0 || whole {
			p.body, p.clipped = b, p.clipped || !whole
		} else {
			p.choices |= ChoiceEncodingNotUsed
		}
		return true
	case "x-gzip":
		coding = codingGzip
	case "x-deflate":
		coding = codingDeflate
	}
	actual := codingOf(p.body)
	switch {
	case actual != "" && actual != coding:
		p.choices |= ChoiceEncodingNotUsed | ChoiceEncodingNotDeclared
		coding = actual
	case actual == "" && (coding == codingGzip || coding == codingZstd):
		p.choices |= ChoiceEncodingNotUsed
		return true
	}
	if p.decode(coding) == nil {
		return true
	}
	// deflate and br have no magic bytes, and other names may be anything. If the
	// body is text, no coding was used.
	if actual == "" && looksText(p.body) {
		p.choices |= ChoiceEncodingNotUsed
		return true
	}
	return false
}

// codingOf returns the coding whose magic bytes a body starts with.
func codingOf(body []byte) string {
	switch {
	case bytes.HasPrefix(body, gzipMagic):
		return codingGzip
	case bytes.HasPrefix(body, zstdMagic):
		return codingZstd
	}
	return ""
}

// decode undoes one layer, as far as possible. It fails and changes nothing if
// nothing can be decoded, or if text was taken for a stream.
func (p *payload) decode(coding string) error {
	var b []byte
	var err error
	switch coding {
	case codingGzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(p.body)); err == nil {
			b, err = p.read(r)
		}
	case codingZstd:
		// A frame without a window needs as much memory as its content.
		window := max(minPageWindow, min(uint64(p.limits.MaxRecordBytes), maxPageWindow))
		var r *zstd.Decoder
		if r, err = zstd.NewReader(bytes.NewReader(p.body), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window)); err == nil {
			b, err = p.read(r)
			r.Close()
		}
	case codingBrotli:
		b, err = p.read(brotli.NewReader(bytes.NewReader(p.body)))
	case codingDeflate: // RFC 9110, 8.4.1.2: zlib; some servers send the bare stream
		var r io.Reader
		if r, err = zlib.NewReader(bytes.NewReader(p.body)); err == nil {
			b, err = p.read(r)
		}
		if len(b) == 0 {
			b, err = p.read(flate.NewReader(bytes.NewReader(p.body)))
		}
	default:
		return errNotCoded
	}
	if len(b) == 0 && (err != nil || codingOf(p.body) == "") || err != nil && codingOf(p.body) == "" && looksText(p.body) {
		return errNotCoded
	}
	p.body, p.clipped = b, p.clipped || err != nil
	p.layers++
	return nil
}

// read reads as much as is kept of a record. A longer body is clipped, like a
// broken one.
func (p *payload) read(r io.Reader) ([]byte, error) {
	limit := p.limits.MaxRecordBytes
	b, err := io.ReadAll(io.LimitReader(meter{r, p.raw}, limit+1))
	if int64(len(b)) > limit {
		return b[:limit], errTooLong
	}
	return b, err
}

// dechunk decodes a chunked body as far as possible. httputil's reader is not used,
// because it rejects what crawls contain: bare line ends, and many small chunks. A
// text may start with a line that reads as a size. So it is no chunked body if text
// follows where the first chunk should end.
func dechunk(b []byte) (body []byte, whole bool) {
	for {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		size, _, _ := bytes.Cut(line, []byte{';'})
		n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 63)
		switch {
		case err != nil:
			return body, false
		case n == 0:
			return body, len(body) > 0 || len(bytes.TrimSpace(rest)) == 0
		case n > uint64(len(rest)):
			if bytes.HasSuffix(line, []byte{'\r'}) { // a bare number without CR is more likely text
				body = append(body, rest...)
			}
			return body, false
		}
		b = bytes.TrimPrefix(rest[n:], []byte{'\r'})
		ended := bytes.HasPrefix(b, []byte{'\n'})
		if !ended && len(b) > 0 && len(body) == 0 {
			return nil, false
		}
		if body = append(body, rest[:n]...); !ended {
			return body, false
		}
		b = b[1:]
	}
}

// tokens returns the codings that the field names, in order.
func tokens(h http.Header, field string) []string {
	var out []string
	for _, v := range h.Values(field) {
		for t := range strings.SplitSeq(v, ",") {
			switch t = strings.ToLower(strings.Trim(t, " \t\"'")); t {
			case "", "identity", "none":
			default:
				out = append(out, t)
			}
		}
	}
	return out
}

// checkLength reports whether the HTTP header's Content-Length differs from the n bytes
// of the stored body, and whether the body is short: a part of it is missing. The stored
// body counts, since with a content coding the header may belong to the coded or to the
// decoded page. With chunks the field has no meaning (RFC 9112, 6.3).
func checkLength(h http.Header, n int64) (short, wrong bool) {
	declared, err := strconv.ParseInt(strings.TrimSpace(h.Get("Content-Length")), 10, 64)
	if err != nil || declared == n || len(tokens(h, "Transfer-Encoding")) > 0 {
		return false, false
	}
	return n < declared && len(tokens(h, "Content-Encoding")) == 0, true
}
