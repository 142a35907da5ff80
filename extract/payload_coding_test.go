package extract

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"neardup/extract/charset"
	"neardup/extract/container"
)

// coded is s in a content coding; "raw" is deflate without zlib's frame.
func coded(t testing.TB, s string, codings ...string) string {
	t.Helper()
	for _, coding := range codings {
		var b bytes.Buffer
		var w io.WriteCloser
		var err error
		switch coding {
		case "gzip":
			s = member(s, 6)
			continue
		case "br":
			w = brotli.NewWriter(&b)
		case "zstd":
			w, err = zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		case "deflate":
			w = zlib.NewWriter(&b)
		case "raw":
			w, err = flate.NewWriter(&b, 6)
		default:
			t.Fatalf("no coding %s", coding)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, s); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		s = b.String()
	}
	return s
}

func TestContentCodings(t *testing.T) {
	const html, plain = "Content-Type: text/html", "Content-Type: text/plain"
	encoding := func(s string) string { return "Content-Encoding: " + s }
	const notUsed, notDeclared = ChoiceEncodingNotUsed, ChoiceEncodingNotDeclared
	words := strings.Repeat("some words ", 40)
	for _, c := range []struct {
		name    string
		raw     *container.Raw
		choices Choices
		want    string
	}{
		{"brotli", httpRecord(coded(t, markup, "br"), html, encoding("br")), 0, pageText},
		{"zstd", httpRecord(coded(t, markup, "zstd"), html, encoding("zstd")), 0, pageText},
		{"zstd in two frames", httpRecord(coded(t, "<p>Visible ", "zstd")+coded(t, "text", "zstd"), html, encoding("zstd")), 0, pageText},
		{"deflate", httpRecord(coded(t, markup, "deflate"), html, encoding("deflate")), 0, pageText},
		{"deflate without zlib", httpRecord(coded(t, markup, "raw"), html, encoding("deflate")), 0, pageText},
		{"x-deflate", httpRecord(coded(t, markup, "raw"), html, encoding("X-Deflate")), 0, pageText},
		{"gzip, then brotli", httpRecord(coded(t, markup, "gzip", "br"), html, encoding("gzip, br")), 0, pageText},
		{"three in two fields", httpRecord(coded(t, markup, "br", "deflate", "zstd"), html, encoding("br, deflate"), encoding("zstd")), 0, pageText},
		{"brotli twice", httpRecord(coded(t, markup, "br", "br"), html, encoding("br, br")), 0, pageText},
		{"transfer encoding gzip", httpRecord(coded(t, markup, "gzip"), html, "Transfer-Encoding: gzip"), 0, pageText},
		{"transfer encoding gzip, chunked", httpRecord(chunked(coded(t, markup, "br", "gzip"), 9), html, encoding("br"), "Transfer-Encoding: gzip, chunked"), 0, pageText},
		{"in quotes", httpRecord(coded(t, markup, "br"), html, encoding(`"br"`)), 0, pageText},
		{"none", httpRecord(markup, html, encoding("none")), 0, pageText},
		{"a resource", rawRecord(coded(t, markup, "gzip"), fields("WARC-Type: resource", html)...), notDeclared, pageText},

		{"brotli not used", httpRecord(markup, html, encoding("br")), notUsed, pageText},
		{"brotli not used, short text", httpRecord(";", plain, encoding("br")), notUsed, ";"},
		{"deflate not used", httpRecord(markup, html, encoding("deflate")), notUsed, pageText},
		{"deflate not used, text like zlib", httpRecord("hC "+words, plain, encoding("deflate")), notUsed, "hC " + strings.TrimSpace(words)},
		{"zstd not used", httpRecord(markup, html, encoding("zstd")), notUsed, pageText},
		{"gzip not used", httpRecord(markup, html, encoding("gzip")), notUsed, pageText},
		{"gzip not used, windows-1251", httpRecord("<p>\xcf\xf0", html+"; charset=windows-1251", encoding("br")), notUsed, "Пр"},
		{"chunked not used", httpRecord(markup, html, "Transfer-Encoding: chunked"), notUsed, pageText},
		{"declared twice", httpRecord(coded(t, markup, "br"), html, encoding("br"), encoding("br")), notUsed, pageText},
		{"a charset in its place", httpRecord(markup, html, encoding("utf-8")), notUsed, pageText},
		{"aws-chunked, which storage adds", httpRecord(coded(t, markup, "gzip"), html, encoding("gzip, aws-chunked")), notUsed | notDeclared, pageText},
		{"brotli that is gzip", httpRecord(coded(t, markup, "gzip"), html, encoding("br")), notUsed | notDeclared, pageText},
		{"gzip that is zstd", httpRecord(coded(t, markup, "zstd"), html, encoding("gzip")), notUsed | notDeclared, pageText},

		{"gzip not declared", httpRecord(coded(t, markup, "gzip"), html), notDeclared, pageText},
		{"zstd not declared", httpRecord(coded(t, markup, "zstd"), html), notDeclared, pageText},
		{"gzip used twice, declared once", httpRecord(coded(t, markup, "gzip", "gzip"), html, encoding("gzip")), notDeclared, pageText},
		{"five layers", httpRecord(coded(t, markup, "gzip", "gzip", "gzip", "gzip", "gzip"), html), notDeclared, pageText},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, reason := NewExtractor(options).Document(c.raw)
			if doc.Text != c.want || doc.Clipped || reason != ReasonNone || doc.Choices&(notUsed|notDeclared) != c.choices {
				t.Errorf("got %q, clipped %v, %v, reason %q", doc.Text, doc.Clipped, doc.Choices.Names(), reason)
			}
		})
	}
	for name, raw := range map[string]*container.Raw{
		"an archive to download": httpRecord(coded(t, markup, "gzip"), "Content-Type: application/gzip"),
		"gzip without a type":    httpRecord(coded(t, markup, "gzip"), "X: y"),
		"six layers":             httpRecord(coded(t, markup, "gzip", "gzip", "gzip", "gzip", "gzip", "gzip"), html),
	} {
		if _, reason := NewExtractor(options).Document(raw); reason != ReasonMediaType {
			t.Errorf("%s: %q", name, reason)
		}
	}
}

func TestCodingsThatBreakOffAreKept(t *testing.T) {
	long := sentences(20_000) // zstd has blocks of 128 KiB
	for _, coding := range []string{"gzip", "br", "zstd", "deflate", "raw"} {
		field := "Content-Encoding: " + strings.Replace(coding, "raw", "deflate", 1)
		whole := coded(t, long, coding)
		doc := document(t, httpRecord(whole[:len(whole)-len(whole)/4], "Content-Type: text/plain", field))
		if !doc.Clipped || len(doc.Text) < 1000 || !strings.HasPrefix(long, doc.Text) {
			t.Errorf("%s: %d bytes of %d, clipped %v", coding, len(doc.Text), len(long), doc.Clipped)
		}
	}
}

func TestCodingBombsAreLimited(t *testing.T) {
	o := options
	o.MaxRecordBytes = 5000
	for _, codings := range [][]string{{"gzip"}, {"br"}, {"zstd"}, {"deflate"}, {"raw"}} {
		bomb := coded(t, strings.Repeat("x", 8<<20), codings...)
		field := "Content-Encoding: " + strings.ReplaceAll(strings.Join(codings, ", "), "raw", "deflate")
		doc, reason := NewExtractor(o).Document(httpRecord(bomb, "Content-Type: text/plain", field))
		if reason != ReasonNone || !doc.Clipped || len(doc.Text) != 5000 {
			t.Errorf("%s: %q, %d bytes of text, clipped %v", codings, reason, len(doc.Text), doc.Clipped)
		}
	}
	// A frame that claims a window of 2 GiB is refused, not allocated.
	if _, reason := NewExtractor(o).Document(httpRecord("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00x", "Content-Type: text/plain", "Content-Encoding: zstd")); reason != ReasonEncoding {
		t.Errorf("zstd with a huge window: %q", reason)
	}
}

func TestContentLengthLies(t *testing.T) {
	const html = "Content-Type: text/html"
	for _, c := range []struct {
		name    string
		raw     *container.Raw
		flagged bool
		clipped bool
	}{
		{"right", httpRecord(markup, html, "Content-Length: 59"), false, false},
		{"too short", httpRecord(markup, html, "Content-Length: 10"), true, false},
		{"too long", httpRecord(markup, html, "Content-Length: 1000"), true, true},
		{"too long by one", httpRecord(markup, html, "Content-Length: 60"), true, true},
		{"that of the coded page", httpRecord(markup, html, "Content-Length: 1000", "Content-Encoding: br"), true, false},
		{"of another coding", httpRecord(coded(t, markup, "gzip"), html, "Content-Length: 1000", "Content-Encoding: gzip"), true, false},
		{"huge", httpRecord(markup, html, "Content-Length: 99999999999999999999"), false, false},
		{"negative", httpRecord(markup, html, "Content-Length: -1"), true, false},
		{"no number", httpRecord(markup, html, "Content-Length: x"), false, false},
		{"with chunks", httpRecord(chunked(markup, 9), html, "Content-Length: 59", "Transfer-Encoding: chunked"), false, false},
	} {
		if doc := document(t, c.raw); doc.Text != pageText || doc.Clipped != c.clipped || doc.Choices&ChoiceLengthMismatch != 0 != c.flagged {
			t.Errorf("%s: %q, clipped %v, %v", c.name, doc.Text, doc.Clipped, doc.Choices.Names())
		}
	}
}

func FuzzPayload(f *testing.F) {
	for _, coding := range []string{"gzip", "br", "zstd", "deflate", "raw"} {
		f.Add("text/html", strings.Replace(coding, "raw", "deflate", 1), "", []byte(coded(f, markup, coding)))
		f.Add("text/html", "", "", []byte(coded(f, markup, coding)))
	}
	f.Add("text/plain; charset=gbk", "gzip, br", "gzip, chunked", []byte(chunked(coded(f, chinese, "br", "gzip"), 20)))
	f.Add("", "br", "chunked", []byte(markup))
	f.Add("application/octet-stream", "", "", []byte(`{"a":[1,2]}`))
	f.Add("text/xml", "", "", []byte(`<?xml version="1.0" encoding="koi8-r"?><html/>`))
	f.Add("text/html", "", "", []byte("%PDF-1.4"))
	for _, s := range samples {
		f.Add("text/html", "", "", []byte(in(f, s.Charset, "<p>"+s.Text)))
		f.Add("text/plain; charset="+s.Charset, "", "", []byte(in(f, s.Charset, s.Text)))
	}
	o := Options{Statuses: []int{200}, Limits: limitsOf(4096, 2048)}
	f.Fuzz(func(t *testing.T, contentType, content, transfer string, body []byte) {
		header := map[string][]string{"Content-Type": {contentType}, "Content-Encoding": {content}, "Transfer-Encoding": {transfer}}
		stored := bytes.Clone(body)
		p, reason := decodeBody(body, header, contentType, o.Limits, &container.Raw{})
		if reason != ReasonNone {
			return
		}
		if p.layers > o.MaxCodings || int64(len(p.body)) > max(o.MaxRecordBytes, int64(len(body))) {
			t.Errorf("%d layers, %d bytes of %d", p.layers, len(p.body), len(body))
		}
		doc, reason := NewExtractor(o).read(&container.Raw{}, Document{}, p.body, contentType)
		again, reasonAgain := NewExtractor(o).read(&container.Raw{}, Document{}, p.body, contentType)
		if doc != again || reason != reasonAgain {
			t.Errorf("%+v %q, then %+v %q", doc, reason, again, reasonAgain)
		}
		if !bytes.Equal(stored, body) {
			t.Error("the record was written to")
		}
		if (reason == ReasonNone) != (doc.Text != "") || (doc.CharsetFrom != "") != (reason == ReasonNone) || doc.Replaced < 0 || doc.Replaced > 1 {
			t.Errorf("reason %q: %+v", reason, doc)
		}
		if doc.Charset != "" && charset.Labelled("charset="+doc.Charset) != doc.Charset {
			t.Errorf("charset %q", doc.Charset)
		}
		checkLines(t, doc.Text, o.MaxTextBytes)
	})
}
