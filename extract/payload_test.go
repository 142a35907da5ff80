package extract

import (
	"fmt"
	"strings"
	"testing"

	"neardup/extract/container"
)

// chunked is s in chunks of at most n bytes.
func chunked(s string, n int) string {
	var b strings.Builder
	for len(s) > 0 {
		c := s[:min(n, len(s))]
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(c), c)
		s = s[len(c):]
	}
	return b.String() + "0\r\n\r\n"
}

// httpRecord is a response record with the header fields and the body.
func httpRecord(body string, header ...string) *container.Raw {
	return rawRecord("HTTP/1.1 200 OK\r\n"+strings.Join(header, "\r\n")+"\r\n\r\n"+body, fields()...)
}

func TestTransferAndContentEncoding(t *testing.T) {
	long := "<p>start " + strings.Repeat("and so on ", 500)
	longText := strings.TrimSpace(strings.TrimPrefix(long, "<p>"))
	zipped := member(long, 6)
	const (
		html  = "Content-Type: text/html"
		chunk = "Transfer-Encoding: chunked"
		gz    = "Content-Encoding: gzip"
	)
	for _, c := range []struct {
		name    string
		raw     *container.Raw
		want    string
		clipped bool
	}{
		{"chunked", httpRecord(chunked(markup, 7), html, chunk), pageText, false},
		{"chunked, in another case", httpRecord(chunked(markup, 7), html, "transfer-encoding: Chunked"), pageText, false},
		{"chunked, with extensions and padding", httpRecord("a;x=y\r\nVisible te\r\n2  \r\nxt\r\n0\r\n\r\n", html, chunk), pageText, false},
		{"chunked, with trailers", httpRecord(strings.TrimSuffix(chunked(markup, 7), "\r\n")+"X: y\r\n\r\n", html, chunk), pageText, false},
		{"chunked, bare line ends", httpRecord(strings.ReplaceAll(chunked(markup, 7), "\r\n", "\n"), html, chunk), pageText, false},
		{"chunked declared and not used", httpRecord(markup, html, chunk), pageText, false},
		{"chunked declared and not used, text", httpRecord("Facade of text", "Content-Type: text/plain", chunk), "Facade of text", false},
		{"chunked declared and not used, number", httpRecord("12\nmore", "Content-Type: text/plain", chunk), "12\nmore", false},
		{"chunked declared and not used, zero", httpRecord("0\r\nmore", "Content-Type: text/plain", chunk), "0\nmore", false},
		{"chunked declared and not used, a word", httpRecord("add\r\n"+longText, "Content-Type: text/plain", chunk), "add\n" + longText, false},
		{"chunked declared and not used, a size", httpRecord("a\nwords of a text\n", "Content-Type: text/plain", chunk), "a\nwords of a text", false},
		{"chunked, without the end of the line", httpRecord("7\r\nVisible", html, chunk), "Visible", true},
		{"chunked, nothing in it", httpRecord("0\r\n\r\n", html, chunk), "", false},
		{"chunked, without its end", httpRecord(strings.TrimSuffix(chunked(markup, 7), "0\r\n\r\n"), html, chunk), pageText, true},
		{"chunked, clipped in a chunk", httpRecord(chunked("<p>Visible", 50)[:8], html, chunk), "Vi", true},
		{"chunked, in many small chunks", httpRecord(chunked(longText, 1), html, chunk), longText, false},
		{"chunked, clipped in a size", httpRecord("7\r\nVisible\r\n1", html, chunk), "Visible", true},
		{"chunked, broken later", httpRecord("7\r\nVisible\r\nzzz\r\n", html, chunk), "Visible", true},

		{"gzip", httpRecord(member(markup, 6), html, gz), pageText, false},
		{"x-gzip", httpRecord(member(markup, 6), html, "Content-Encoding: X-GZIP"), pageText, false},
		{"gzip in two members", httpRecord(members("<p>Visible ", "text"), html, gz), pageText, false},
		{"gzip twice", httpRecord(member(member(markup, 6), 6), html, "Content-Encoding: gzip, gzip"), pageText, false},
		{"gzip declared twice", httpRecord(member(markup, 6), html, gz, gz), pageText, false},
		{"gzip declared and not used", httpRecord(markup, html, gz), pageText, false},
		{"gzip, chunked", httpRecord(chunked(member(markup, 6), 9), html, gz, chunk), pageText, false},
		{"gzip, chunked declared and not used", httpRecord(member(markup, 6), html, gz, chunk), pageText, false},
		{"gzip, garbage after", httpRecord(member(markup, 6)+"garbage", html, gz), pageText, true},
		{"gzip, checksum clipped", httpRecord(zipped[:len(zipped)-8], html, gz), longText, true},
		{"gzip, then brotli that is not used", httpRecord(member(markup, 6), html, "Content-Encoding: gzip, br"), pageText, false},
		{"identity", httpRecord(markup, html, "Content-Encoding: identity"), pageText, false},
		{"empty encoding", httpRecord(markup, html, "Content-Encoding: "), pageText, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, reason := NewExtractor(options).Document(c.raw)
			if doc.Text != c.want || doc.Clipped != c.clipped || (reason == ReasonNone) != (c.want != "") {
				t.Errorf("got %q, clipped %v, reason %q", doc.Text, doc.Clipped, reason)
			}
		})
	}
}

func TestGzipThatBreaksOffIsKept(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "word%d ", i*i)
	}
	zipped := member(b.String(), 6)
	doc := document(t, httpRecord(zipped[:len(zipped)/2], "Content-Type: text/html", "Content-Encoding: gzip"))
	if !doc.Clipped || len(doc.Text) < 1000 || !strings.HasPrefix(b.String(), doc.Text) {
		t.Errorf("%d bytes of %d, clipped %v", len(doc.Text), b.Len(), doc.Clipped)
	}
}

func TestGzipBombIsLimited(t *testing.T) {
	o := options
	o.MaxRecordBytes = 5000
	bomb := member(strings.Repeat("x", 8<<20), 1)
	doc, reason := NewExtractor(o).Document(httpRecord(bomb, "Content-Type: text/plain", "Content-Encoding: gzip"))
	if reason != ReasonNone || !doc.Clipped || len(doc.Text) != 5000 || doc.Bytes != int64(len(bomb)) {
		t.Errorf("%q, %d bytes of text, clipped %v, %d bytes", reason, len(doc.Text), doc.Clipped, doc.Bytes)
	}
}

func TestUnsupportedContentEncodingIsCounted(t *testing.T) {
	for name, raw := range map[string]*container.Raw{
		"brotli":               httpRecord("\x0b\x02\x80", "Content-Type: text/html", "Content-Encoding: br"),
		"zstd":                 httpRecord("\x28\xb5\x2f\xfd", "Content-Type: text/html", "Content-Encoding: zstd"),
		"nonsense":             httpRecord("\x00\x01\x02", "Content-Type: text/html", "Content-Encoding: utf-8"),
		"compress":             httpRecord("\x1f\x9d\x90\x01\x02", "Content-Type: text/html", "Content-Encoding: compress"),
		"gzip, broken at once": httpRecord("\x1f\x8b\x08\x00", "Content-Type: text/html", "Content-Encoding: gzip"),
	} {
		if _, reason := NewExtractor(options).Document(raw); reason != ReasonEncoding {
			t.Errorf("%s: %q", name, reason)
		}
	}
	many := httpRecord(markup, "Content-Type: text/html", "Content-Encoding: gzip, gzip, gzip, gzip, gzip, gzip")
	if _, reason := NewExtractor(options).Document(many); reason != ReasonCodings {
		t.Errorf("too many: %q", reason)
	}
}
