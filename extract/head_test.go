package extract

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"neardup/extract/container"
	"neardup/extract/page"
)

func TestDocumentOfAnARCRecord(t *testing.T) {
	of := func(line, block string) *container.Raw {
		return &container.Raw{Format: container.FormatARC, Header: []byte(fmt.Sprintf("%s %d\n", line, len(block))), Block: []byte(block), Length: int64(len(block))}
	}
	got := document(t, of("http://www.example.co.uk/a b 192.0.2.1 20080430204825 text/html", httpPage))
	want := Document{
		ID: got.ID, RecordID: "<urn:neardup:" + got.ID.String() + ">", TargetURI: "http://www.example.co.uk/a b", Date: "2008-04-30T20:48:25Z",
		Digest: sha1Of(markup), Site: "example.co.uk", Title: "A title", MediaType: "text/html", Charset: "utf-8", CharsetFrom: got.CharsetFrom, Status: 200, Bytes: int64(len(markup)), Kind: page.KindTopic, Text: pageText, Visible: pageText,
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for name, x := range map[string]struct{ line, block, text string }{
		"no HTTP header":                    {"http://x.org/ 192.0.2.1 20080430204825 text/html", markup, pageText},
		"no HTTP header and no type":        {"http://x.org/ 192.0.2.1 20080430204825 no-type", markup, pageText},
		"another scheme":                    {"ftp://x.org/ 192.0.2.1 20080430204825 text/plain", "HTTP/1.0 as text", "HTTP/1.0 as text"},
		"version 2":                         {"http://x.org/ 192.0.2.1 20080430204825 text/html 200 - - 0 x.arc", httpPage, pageText},
		"a date that is none":               {"http://x.org/ 192.0.2.1 null text/html", httpPage, pageText},
		"HTTP header without an empty line": {"http://x.org/ 192.0.2.1 20080430204825 text/html", "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n" + markup + "\n", pageText},
	} {
		if doc := document(t, of(x.line, x.block)); doc.Text != x.text {
			t.Errorf("%s: %q", name, doc.Text)
		}
	}
	for name, x := range map[string]struct {
		line, block string
		want        Reason
	}{
		"file description": {"filedesc://x.arc 0.0.0.0 20080430204825 text/plain", arcVersion, ReasonARCHeader},
		"name lookup":      {"dns:x.org 192.0.2.1 20080430204825 text/dns", "x", ReasonDNS},
		"image":            {"http://x.org/ 192.0.2.1 20080430204825 image/png", "x", ReasonMediaType},
		"not found":        {"http://x.org/ 192.0.2.1 20080430204825 text/html", "HTTP/1.0 404 Not Found\r\n\r\n" + markup, ReasonStatus},
		"nothing":          {"http://x.org/ 192.0.2.1 20080430204825 text/html", "", ReasonEmpty},
		"no line":          {"x", "", ReasonMalformed},
	} {
		if _, reason := NewExtractor(options).Document(of(x.line, x.block)); reason != x.want {
			t.Errorf("%s: %s", name, reason)
		}
	}
}

func TestDocumentOfALine(t *testing.T) {
	of := func(format container.Format, line string) *container.Raw {
		return &container.Raw{Format: format, Block: []byte(line), Length: int64(len(line))}
	}
	for _, x := range []struct {
		raw                         *container.Raw
		id, uri, date, title, words string
	}{
		{of(container.FormatTSV, "a b/1\tSome text"), "", "urn:text:a%20b%2F1", "", "", "Some text"},
		{of(container.FormatTSV, "2022-12-27\tSome\ttext"), "", "urn:text:2022-12-27", "", "", "Some text"},
		{of(container.FormatTSV, "é\tSome text"), "", "urn:text:%C3%A9", "", "", "Some text"},
		{of(container.FormatTSV, "libc6:amd64\tSome text"), "", "urn:text:libc6%3Aamd64", "", "", "Some text"},
		{of(container.FormatTSV, "<urn:uuid:1>\tSome text"), "<urn:uuid:1>", "urn:uuid:1", "", "", "Some text"},
		{of(container.FormatTSV, "http://x.org/a\tSome text"), "<http://x.org/a>", "http://x.org/a", "", "", "Some text"},
		{of(container.FormatTSV, "1\t%PDF-1.7 is how a PDF document begins"), "", "urn:text:1", "", "", "%PDF-1.7 is how a PDF document begins"},
		{of(container.FormatTSV, "1\t<!doctype html> is the first line, and <p> comes later"), "", "urn:text:1", "", "", "<!doctype html> is the first line, and <p> comes later"},
		{of(container.FormatJSONL, `{"id":"1","text":"%!PS-Adobe is another"}`), "", "urn:text:1", "", "", "%!PS-Adobe is another"},
		{of(container.FormatJSONL, `{"id":"1","text":"Some\ntext"}`), "", "urn:text:1", "", "", "Some\ntext"},
		{of(container.FormatJSONL, `{"id":17,"text":"Some text","url":"http://x.org/","title":" A\ntitle ","date":"2020","more":[1]}`), "", "http://x.org/", "2020", "A title", "Some text"},
		{of(container.FormatJSONL, `{"id":"urn:x:1","text":"Some text","url":"http://x.org/"}`), "<urn:x:1>", "http://x.org/", "", "", "Some text"},
	} {
		d := document(t, x.raw)
		if x.id == "" {
			x.id = "<urn:neardup:" + d.ID.String() + ">"
		}
		if d.RecordID != x.id || d.TargetURI != x.uri || d.Date != x.date || d.Title != x.title || d.Text != x.words || d.MediaType != "text/plain" {
			t.Errorf("%s: %+v", x.raw.Block, d)
		}
	}
	long := of(container.FormatTSV, "1\ttext")
	long.Clipped, long.Length = true, 1000
	for _, x := range []struct {
		raw  *container.Raw
		want Reason
	}{
		{of(container.FormatTSV, "no tab"), ReasonLine}, {of(container.FormatTSV, "\ttext"), ReasonLine}, {of(container.FormatTSV, "1\t"), ReasonEmpty}, {of(container.FormatTSV, "1\t  "), ReasonNoText},
		{of(container.FormatTSV, "\xff\ttext"), ReasonLine}, {of(container.FormatTSV, strings.Repeat("x", 1025)+"\ttext"), ReasonLine}, {long, ReasonLongLine},
		{of(container.FormatJSONL, "1\ttext"), ReasonLine}, {of(container.FormatJSONL, `{"id":1`), ReasonLine}, {of(container.FormatJSONL, `{"text":"x"}`), ReasonLine},
		{of(container.FormatJSONL, `{"id":[],"text":"x"}`), ReasonLine}, {of(container.FormatJSONL, `{"id":1,"text":7}`), ReasonLine}, {of(container.FormatJSONL, `{"id":1}`), ReasonEmpty},
	} {
		if d, reason := NewExtractor(options).Document(x.raw); reason != x.want {
			t.Errorf("%q: %q %+v", x.raw.Block, reason, d)
		}
	}
	if a, b := document(t, of(container.FormatTSV, "1\tSome text")), document(t, of(container.FormatJSONL, `{"text":"Some text","id":"1"}`)); a.ID != b.ID {
		t.Error("the same text in another format is another document")
	}
}

// checkDocuments reads the lines or records of a file and checks that each
// becomes a document with a name, or none for a reason that is expected.
func checkDocuments(t *testing.T, x *Extractor, file string, of func(container.Format) bool, unexpected ...Reason) {
	t.Helper()
	f := strings.NewReader(file)
	format, err := container.Detect(f, container.All, limits)
	if err != nil || format == container.FormatWACZ {
		return
	}
	r, err := container.NewReader(f, container.Position{}, limits)
	if format != container.FormatRecords {
		r, err = container.NewCollectionReader(f, format, container.Position{}, limits)
	}
	if err != nil {
		return
	}
	for {
		raw, err := r.Next()
		if err == io.EOF {
			return
		}
		if raw == nil || !of(raw.Format) {
			continue
		}
		doc, reason := x.Document(raw)
		if slices.Contains(unexpected, reason) || reason == ReasonNone && (doc.TargetURI == "" || doc.RecordID == "<>") {
			t.Fatalf("%s: %+v of %q %q", reason, doc, raw.Header, raw.Block)
		}
	}
}

func FuzzARC(f *testing.F) {
	for _, s := range []string{
		arcFile(arcRecord("aaa"), arcRecord("bbb")), members(arcFile(arcRecord("aaa")), arcRecord("bbb")), arcRecord(httpPage),
		"http://x/a b 1.2.3.4 20080430204825 text/html 200 - - 0 x.arc 3\naaa\n" + arcRecord("b"), "http://x/ 1.2.3.4 null text/html 3\naaa\n",
		"http://x/ 1.2.3.4 20080430204825 text/html 999\naaa\n" + arcRecord("b"), arcRecord("aaa") + "garbage\n" + arcRecord("bbb"),
	} {
		f.Add([]byte(s))
	}
	x := NewExtractor(options)
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) < 1<<14 {
			arc := func(format container.Format) bool { return format == container.FormatARC }
			checkDocuments(t, x, string(file), arc, ReasonPanic, ReasonMalformed)
		}
	})
}

func FuzzCollection(f *testing.F) {
	for _, s := range []string{
		"1\ta\n2\tb\n", `{"id":1,"text":"a"}` + "\n" + `{"id":"urn:x:1","text":"b","url":"http://x/"}`, members("1\ta\n", "2\tb\n"), frames("1\ta\n2", "\tb\n"),
		"\xef\xbb\xbf1\ta\r\n\r\n", "{", `{"id":`, "\x00\t\x00\n",
	} {
		f.Add([]byte(s))
	}
	x := NewExtractor(options)
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) < 1<<13 {
			line := func(format container.Format) bool {
				return format == container.FormatTSV || format == container.FormatJSONL
			}
			checkDocuments(t, x, string(file), line, ReasonPanic)
		}
	})
}
