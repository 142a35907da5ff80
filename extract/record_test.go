package extract

import (
	"crypto/sha1"
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"neardup/extract/charset"
	"neardup/extract/container"
	"neardup/extract/internal/header"
	"neardup/extract/page"
	"neardup/extract/pdf"
)

var options = Options{Statuses: []int{200}, Limits: limitsOf(1<<20, 1<<20), Options: page.Options{Clean: page.CleanNone, Overlays: page.OverlaysDrop},
	PDF: pdf.Limits{MaxPages: 10, MaxMemory: 64 << 20, MaxSteps: 1 << 30}}

// rawRecord is a record with the given fields and block, as the reader gives it.
func rawRecord(block string, fields ...string) *container.Raw {
	s := warcRecord(block, fields...)
	n := header.End([]byte(s), 0)
	return &container.Raw{Header: []byte(s[:n]), Block: []byte(block), Length: int64(len(block))}
}

const (
	markup   = "<!doctype html><title>A title</title><p>Visible <b>text</b>"
	pageText = "Visible text"
	httpPage = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + markup
)

// fields are those of a usual response record, with changes: "Name: value"
// takes the place of the field of that name, "Name" removes it.
func fields(changes ...string) []string {
	out := []string{
		"WARC-Type: response",
		"WARC-Record-ID: <urn:uuid:0f3a0e31-0000-4000-8000-000000000001>",
		"WARC-Date: 2020-02-03T04:05:06Z",
		"WARC-Target-URI: http://www.example.co.uk/a?b=c",
		"Content-Type: application/http; msgtype=response",
	}
	for _, c := range changes {
		name, _, replace := strings.Cut(c, ":")
		kept := out[:0]
		for _, f := range out {
			if n, _, _ := strings.Cut(f, ":"); n != name {
				kept = append(kept, f)
			}
		}
		if out = kept; replace {
			out = append(out, c)
		}
	}
	return out
}

func response(changes ...string) *container.Raw { return rawRecord(httpPage, fields(changes...)...) }

func lower(raw *container.Raw) *container.Raw {
	raw.Header = []byte(strings.ToLower(string(raw.Header)))
	return raw
}

func document(t *testing.T, raw *container.Raw) Document {
	t.Helper()
	doc, reason := NewExtractor(options).Document(raw)
	if reason != ReasonNone {
		t.Fatalf("skipped: %s\n%s%.200s", reason, raw.Header, raw.Block)
	}
	return doc
}

func sha1Of(s string) string {
	sum := sha1.Sum([]byte(s))
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

func TestDocumentOfAResponse(t *testing.T) {
	got := document(t, response())
	want := Document{
		ID:        got.ID,
		RecordID:  "<urn:uuid:0f3a0e31-0000-4000-8000-000000000001>",
		TargetURI: "http://www.example.co.uk/a?b=c",
		Date:      "2020-02-03T04:05:06Z",
		Digest:    sha1Of(markup),
		Site:      "example.co.uk",
		Title:     "A title",
		MediaType: "text/html",
		Charset:   "utf-8",

		CharsetFrom: charset.FromUTF8,
		Status:      200,
		Bytes:       int64(len(markup)),
		Kind:        page.KindTopic,
		Text:        pageText,
		Visible:     pageText,
	}
	if got != want || got.ID == (ID{}) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// What one library or another loses of a record that looks like this.
func TestDocumentTakesRecordsAsTheyAreWritten(t *testing.T) {
	is := func(field, want string) func(Document) (string, string) {
		return func(d Document) (string, string) { return reflect.ValueOf(d).FieldByName(field).String(), want }
	}
	http := func(header, body string) *container.Raw { return rawRecord(header+"\r\n\r\n"+body, fields()...) }
	for _, c := range []struct {
		name string
		raw  *container.Raw
		got  func(Document) (string, string)
	}{
		{"GNU wget's brackets around the URI", response("WARC-Target-URI: <http://example.org/wget>"), is("TargetURI", "http://example.org/wget")},
		{"a bracket of the URI itself", response("WARC-Target-URI: http://example.org/?q=<b>"), is("TargetURI", "http://example.org/?q=<b>")},
		{"both", response("WARC-Target-URI: <http://example.org/?q=<b>>"), is("TargetURI", "http://example.org/?q=<b>")},
		{"GNU wget's brackets and the site", response("WARC-Target-URI: <http://example.org/wget>"), is("Site", "example.org")},
		{"invalid UTF-8 in the URI", response("WARC-Target-URI: http://example.org/\xe9\xff/x"), is("TargetURI", "http://example.org/\uFFFD/x")},
		{"control characters in the URI", response("WARC-Target-URI: http://example.org/\x00a\tb\x7f"), is("TargetURI", "http://example.org/ab")},
		{"space in the URI", response("WARC-Target-URI: http://example.org/a b"), is("TargetURI", "http://example.org/a b")},
		{"colon and percent in the URI", response("WARC-Target-URI: http://example.org/100%:x"), is("TargetURI", "http://example.org/100%:x")},
		{"record ID without brackets", response("WARC-Record-ID: urn:uuid:1"), is("RecordID", "<urn:uuid:1>")},
		{"no date", response("WARC-Date"), is("Date", "")},
		{"date with a fraction", response("WARC-Date: 2020-02-03T04:05:06.789Z"), is("Date", "2020-02-03T04:05:06.789Z")},
		{"date that is none", response("WARC-Date: 20200203"), is("Date", "20200203")},
		{"payload digest", response("WARC-Payload-Digest: sha1:ABC"), is("Digest", "sha1:ABC")},
		{"payload digest of an unknown algorithm", response("WARC-Payload-Digest: xxh3:00ff"), is("Digest", "xxh3:00ff")},
		{"payload digest without an algorithm", response("WARC-Payload-Digest: 00ff"), is("Digest", "00ff")},
		{"payload digest in lower case", response("warc-payload-digest: sha1:ABC"), is("Digest", "sha1:ABC")},
		{"empty payload digest", response("WARC-Payload-Digest:"), is("Digest", sha1Of(markup))},
		{"unknown block digest", response("WARC-Block-Digest: blake9:zz"), is("Text", pageText)},
		{"folded digest", response("WARC-Payload-Digest:\r\n sha1:ABC"), is("Digest", "sha1:ABC")},
		{"folded digest leaves the field before it alone", response("WARC-Payload-Digest:\r\n sha1:ABC"), is("TargetURI", "http://www.example.co.uk/a?b=c")},
		{"folded URI", response("WARC-Target-URI:\r\n\thttp://example.org/"), is("TargetURI", "http://example.org/")},
		{"header line without a colon", response("nonsense:x\r\nnonsense"), is("Text", pageText)},
		{"unknown fields", response("X-Field: x", "WARC-New-Field: y"), is("Text", pageText)},
		{"wrong case of the type", response("WARC-Type: Response"), is("Text", pageText)},
		{"no Content-Type of the record", response("Content-Type"), is("Text", pageText)},
		{"wrong Content-Type of the record", response("Content-Type: text/html"), is("Text", pageText)},
		{"Content-Type in upper case", response("Content-Type: Application/HTTP;msgtype=response"), is("Text", pageText)},

		{"all in lower case", lower(response()), is("Text", pageText)},
		{"interim answers before it", rawRecord("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n"+httpPage, fields()...), is("Text", pageText)},
		{"status line without a reason", http("HTTP/1.1 200\r\nContent-Type: text/html", markup), is("Text", pageText)},
		{"XHTML", http("HTTP/1.1 200 OK\r\nContent-Type: application/xhtml+xml", "<html><head><script src=\"a.js\"/><title/></head><body><p><![CDATA[a < b]]></p></body></html>"), is("Text", "a < b")},
		{"HTML that is no XHTML", http("HTTP/1.1 200 OK\r\nContent-Type: text/html", "<body><div/><p>a<![CDATA[b]]></p>"), is("Text", "a")},
		{"HTTP/2", http("HTTP/2 200\r\ncontent-type: text/html", markup), is("Text", pageText)},
		{"HTTP/2.0 and a space", http("HTTP/2.0 200 \r\ncontent-type: text/html", markup), is("Text", pageText)},
		{"HTTP field without a colon", http("HTTP/1.1 200 OK\r\nnonsense\r\nContent-Type: text/html", markup), is("MediaType", "text/html")},
		{"HTTP field with a space before the colon", http("HTTP/1.1 200 OK\r\nContent-Type : text/html", markup), is("MediaType", "text/html")},
		{"folded HTTP field", http("HTTP/1.1 200 OK\r\nContent-Type: text/html;\r\n\tcharset=windows-1251\r\nX: y", "<p>\xcf\xf0"), is("Text", "Пр")},
		{"bare line ends in HTTP", rawRecord("HTTP/1.0 200 OK\nContent-Type: text/html\n\n"+markup, fields()...), is("Text", pageText)},
		{"mixed line ends in HTTP", rawRecord("HTTP/1.0 200 OK\r\nContent-Type: text/html\n\r\n"+markup, fields()...), is("Digest", sha1Of(markup))},
		{"no space behind the status", http("HTTP/1.1 200OK\r\nContent-Type: text/html", markup), is("Text", pageText)},
		{"HTTP in lower case", http("http/1.1 200 ok\r\nContent-Type: text/html", markup), is("Text", pageText)},
		{"no status line", http("Content-Type: text/html; charset=gbk\r\nServer: x", "\xd6\xd0"), is("Text", "中")},
		{"HTTP/0.9", rawRecord(markup, fields()...), is("Text", pageText)},
		{"HTTP header of a status line", http("HTTP/1.0 200 OK", markup), is("Text", pageText)},
		{"no HTTP Content-Type", http("HTTP/1.0 200 OK\r\nServer: x", markup), is("MediaType", "text/html")},
		{"vague HTTP Content-Type", http("HTTP/1.0 200 OK\r\nContent-Type: application/octet-stream", markup), is("MediaType", "text/html")},
		{"two charsets in the Content-Type", http("HTTP/1.0 200 OK\r\nContent-Type: text/html; charset=gbk; charset=gbk", "\xd6\xd0"), is("Text", "中")},
		{"Content-Type twice in one", http("HTTP/1.0 200 OK\r\nContent-Type: text/html;charset='GBK', text/html", "\xd6\xd0"), is("Text", "中")},
		{"XHTML", http("HTTP/1.0 200 OK\r\nContent-Type: application/xhtml+xml", markup), is("Text", pageText)},
		{"plain text", http("HTTP/1.0 200 OK\r\nContent-Type: text/plain", "a\n<b>"), is("Text", "a\n<b>")},

		{"resource", rawRecord(markup, fields("WARC-Type: resource", "Content-Type: text/html")...), is("Text", pageText)},
		{"resource digest", rawRecord(markup, fields("WARC-Type: resource", "Content-Type: text/html")...), is("Digest", sha1Of(markup))},
		{"resource without a Content-Type", rawRecord(markup, fields("WARC-Type: resource", "Content-Type")...), is("MediaType", "text/html")},
		{"plain resource without a Content-Type", rawRecord("words", fields("WARC-Type: resource", "Content-Type")...), is("MediaType", "text/plain")},
		{"resource that speaks of HTTP", rawRecord("HTTP/1.1 200 OK\r\n\r\nx", fields("WARC-Type: resource", "Content-Type: text/plain")...), is("Text", "HTTP/1.1 200 OK\nx")},
		{"conversion (WET)", rawRecord("Überschrift\nText\n", fields("WARC-Type: conversion", "Content-Type: text/plain")...), is("Text", "Überschrift\nText")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, want := c.got(document(t, c.raw)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestRecordsAreSkippedUnderTheirReason(t *testing.T) {
	http := func(block string) *container.Raw { return rawRecord(block, fields()...) }
	for _, c := range []struct {
		name string
		raw  *container.Raw
		want Reason
	}{
		{"request", response("WARC-Type: request"), "request"},
		{"warcinfo", response("WARC-Type: warcinfo", "Content-Type: application/warc-fields"), "warcinfo"},
		{"metadata", response("WARC-Type: metadata"), "metadata"},
		{"continuation", response("WARC-Type: continuation"), "continuation"},
		{"unknown type", response("WARC-Type: dream"), ReasonUnknownType},
		{"no type", response("WARC-Type"), ReasonUnknownType},
		{"no version", &container.Raw{Header: []byte("WARC/\nContent-Length: 0\n\n")}, ReasonMalformed},
		{"no URI", response("WARC-Target-URI"), ReasonNoURI},
		{"empty URI", response("WARC-Target-URI: <>"), ReasonNoURI},
		{"no HTTP header", http("words"), ReasonHTTP},
		{"no status line, and no type", http("Server: x\r\n\r\n" + markup), ReasonHTTP},
		{"status that is no number, with a type", http("HTTP/1.1 OK\r\nContent-Type: text/html\r\n\r\nx"), ReasonHTTP},
		{"Wget's log", rawRecord("log", fields("WARC-Type: resource", "WARC-Target-URI: <metadata://gnu.org/software/wget/warc/wget.log>", "Content-Type: text/plain")...), ReasonBookkeeping},
		{"wpull's log", rawRecord("log", fields("WARC-Type: resource", "WARC-Target-URI: urn:X-wpull:log", "Content-Type: text/plain")...), ReasonBookkeeping},
		{"an HTTP header that ends inside a field", http("HTTP/1.1 200 OK\r\nContent-Type: text/html"), ReasonEmpty},
		{"a redirect whose header does not end", http("HTTP/1.1 302 Found\r\nLocation: /x"), ReasonStatus},
		{"no end of the HTTP header", http("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"), ReasonEmpty},
		{"no status", http("HTTP/1.1\r\n\r\nx"), ReasonHTTP},
		{"status that is no number", http("HTTP/1.1 OK\r\n\r\nx"), ReasonHTTP},
		{"HTTP header over 64 KiB", http("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", limits.MaxHeaderBytes) + "\r\n\r\nx"), ReasonLongHeader},
		{"empty block", http(""), ReasonHTTP},
		{"not found", http("HTTP/1.1 404 Not Found\r\n\r\n" + markup), ReasonStatus},
		{"moved", http("HTTP/1.1 301\r\nLocation: x\r\n\r\n"), ReasonStatus},
		{"no payload", http("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"), ReasonEmpty},
		{"empty resource", rawRecord("", fields("WARC-Type: resource", "Content-Type: text/html")...), ReasonEmpty},
		{"image", http("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\nx"), ReasonMediaType},
		{"sniffed image", http("HTTP/1.1 200 OK\r\n\r\n\x89PNG\x0d\x0a\x1a\x0a"), ReasonMediaType},
		{"name lookup", rawRecord("20200101 example.org 127.0.0.1", fields("Content-Type: text/dns")...), ReasonMediaType},
		{"no text", http("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<script>x</script>"), ReasonNoText},
	} {
		t.Run(c.name, func(t *testing.T) {
			if doc, reason := NewExtractor(options).Document(c.raw); reason != c.want {
				t.Errorf("got %q, want %q: %+v", reason, c.want, doc)
			}
		})
	}
}

func TestStatusesAreAnOption(t *testing.T) {
	o := options
	o.Statuses = []int{404, 410}
	raw := rawRecord("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"+markup, fields()...)
	if doc, reason := NewExtractor(o).Document(raw); reason != ReasonNone || doc.Text != pageText {
		t.Errorf("404: %q %q", reason, doc.Text)
	}
	if _, reason := NewExtractor(o).Document(response()); reason != ReasonStatus {
		t.Errorf("200: %q", reason)
	}
}

func TestDocumentIDFollowsTheRecord(t *testing.T) {
	same := document(t, response())
	if again := document(t, response()); again != same {
		t.Errorf("the same record: %+v, %+v", same, again)
	}
	inBrackets := document(t, response("WARC-Target-URI: <http://www.example.co.uk/a?b=c>"))
	if inBrackets.ID != same.ID {
		t.Error("brackets around the URI change the ID")
	}
	for name, raw := range map[string]*container.Raw{
		"block":     rawRecord(httpPage+"!", fields()...),
		"HTTP":      rawRecord(strings.Replace(httpPage, "OK", "Ok", 1), fields()...),
		"record ID": response("WARC-Record-ID: <urn:uuid:2>"),
		"date":      response("WARC-Date: 2021-02-03T04:05:06Z"),
		"URI":       response("WARC-Target-URI: http://example.org/"),
		"no ID":     response("WARC-Record-ID"),
	} {
		if document(t, raw).ID == same.ID {
			t.Errorf("another %s has the same ID", name)
		}
	}
}

// Where no HTTP header is part of the block, the ID covers the record's media type and
// title, on which the document depends. Plain text without a title has the ID of its block.
func TestDocumentIDWithoutHTTP(t *testing.T) {
	warc := func(mediaType string) *container.Raw {
		return rawRecord(markup, fields("WARC-Type: resource", "Content-Type: "+mediaType)...)
	}
	arc := func(mediaType string) *container.Raw {
		return &container.Raw{Format: container.FormatARC, Header: []byte(fmt.Sprintf("http://x.org/ 192.0.2.1 20080430204825 %s %d\n", mediaType, len(markup))), Block: []byte(markup), Length: int64(len(markup))}
	}
	line := func(fields string) *container.Raw {
		block := `{"id": "1", "text": "Some text"` + fields + "}"
		return &container.Raw{Format: container.FormatJSONL, Block: []byte(block), Length: int64(len(block))}
	}
	seen := map[ID]int{}
	for i, raw := range []*container.Raw{
		warc("text/plain"), warc("text/html"), warc("text/html; charset=iso-8859-1"), warc("text/html; charset=windows-1251"),
		rawRecord(markup, fields("WARC-Type: resource", "Content-Type")...),
		arc("text/plain"), arc("text/html"), arc("-"), line(""), line(`, "title": "One"`), line(`, "title": "Two"`),
		response("Content-Type: text/plain"), rawRecord(httpPage, fields("WARC-Type: resource", "Content-Type: text/plain")...),
	} {
		id := document(t, raw).ID
		if before, ok := seen[id]; ok {
			t.Errorf("records %d and %d have one ID", before, i)
		}
		if seen[id] = i; NewExtractor(options).Describe(raw).Document != id {
			t.Errorf("record %d is described with another ID", i)
		}
	}
	if d := document(t, warc("text/plain")); d.ID != documentID(strings.Trim(d.RecordID, "<>"), d.TargetURI, d.Date, []byte(markup)) {
		t.Error("plain text has another ID than its block")
	}
	if document(t, response("Content-Type: application/http")).ID != document(t, response()).ID {
		t.Error("with an HTTP header, the ID depends on the record's media type")
	}
}

func TestRecordWithoutIDGetsAStableOne(t *testing.T) {
	a, b := document(t, response("WARC-Record-ID")), document(t, response("WARC-Record-ID:  "))
	if want := "<urn:neardup:" + a.ID.String() + ">"; a.RecordID != want || b.RecordID != want {
		t.Errorf("got %s and %s, want %s", a.RecordID, b.RecordID, want)
	}
}

func TestClippedRecordIsADocumentOfWhatIsLeft(t *testing.T) {
	raw := response()
	raw.Length, raw.Clipped = raw.Length+1000, true
	doc := document(t, raw)
	if !doc.Clipped || doc.Text != pageText || doc.Bytes != int64(len(markup))+1000 {
		t.Errorf("got %+v", doc)
	}
}

func TestAddressIsThatOfThePage(t *testing.T) {
	for uri, want := range map[string]string{
		"http://Example.org/A?b=C#d":   "example.org/A?b=C",
		"https://example.org/A?b=C":    "example.org/A?b=C",
		"HTTP://EXAMPLE.ORG":           "example.org",
		"http://example.org?Q":         "example.org?Q",
		"http://example.org/#http://x": "example.org/",
		"urn:text:One":                 "urn:text:One",
		"":                             "",
	} {
		if got := (Document{TargetURI: uri}).Address(); got != want {
			t.Errorf("%s: %q, want %q", uri, got, want)
		}
	}
}

func TestOptionsAreValidated(t *testing.T) {
	if err := options.Validate(); err != nil {
		t.Error(err)
	}
	for want, o := range map[string]Options{
		"pdf.max_pages": {Statuses: []int{200}, Limits: limitsOf(1<<20, 1<<20), Options: page.Options{Clean: page.CleanNone, Overlays: page.OverlaysDrop}, PDF: pdf.Limits{MaxPages: -1}},
		"statuses":      {Limits: limitsOf(1<<20, 1<<20), Options: page.Options{Clean: page.CleanNone, Overlays: page.OverlaysDrop}},
		"statuses: 999999 is not from 100 to 999": {Statuses: []int{200, 999999}, Limits: limitsOf(1<<20, 1<<20), Options: page.Options{Clean: page.CleanNone, Overlays: page.OverlaysDrop}},
		"statuses: 99 is not from 100 to 999":     {Statuses: []int{99}, Limits: limitsOf(1<<20, 1<<20), Options: page.Options{Clean: page.CleanNone, Overlays: page.OverlaysDrop}},
		"max_record_bytes":                        {Statuses: []int{200}, Limits: limitsOf(10, 1<<20), Options: page.Options{Clean: page.CleanNone, Overlays: page.OverlaysDrop}},
		"max_text_bytes":                          {Statuses: []int{200}, Limits: limitsOf(1<<20, 10), Options: page.Options{Clean: page.CleanNone, Overlays: page.OverlaysDrop}},
	} {
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestTextIDIsThatOfTheText(t *testing.T) {
	a, again, b := TextID("a"), TextID(strings.Clone("a")), TextID("b")
	if a != again || a == b {
		t.Errorf("got %x and %x for one text, %x for another", a, again, b)
	}
}

func FuzzDocument(f *testing.F) {
	add := func(raw *container.Raw) { f.Add(raw.Header, raw.Block) }
	add(response())
	add(response("WARC-Record-ID", "WARC-Target-URI: <http://\xff/>"))
	add(rawRecord(markup, fields("WARC-Type: resource", "Content-Type")...))
	add(rawRecord("HTTP/1.1 200\nTransfer-Encoding: chunked\nContent-Encoding: gzip\n\n5\r\nabcde\r\n0\r\n\r\n", fields()...))
	add(rawRecord("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=gbk\r\n\r\n\xd6\xd0", fields()...))
	add(rawRecord("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"+member(markup, 6), fields()...))
	f.Add([]byte("WARC/\n\n"), []byte(""))
	f.Add([]byte("WARC/1.0\r\nA: =?x?q?y?=\r\n b\r\n\r\n"), []byte("\xff\xfe<\x00p\x00"))
	o := Options{Statuses: []int{200}, Limits: limitsOf(2048, 1024), Options: page.Options{Clean: page.CleanNone, Overlays: page.OverlaysDrop}}
	f.Fuzz(func(t *testing.T, header, block []byte) {
		raw := &container.Raw{Header: header, Block: block, Length: int64(len(block))}
		doc, reason := NewExtractor(o).Document(raw)
		again, reasonAgain := NewExtractor(o).Document(raw)
		if doc != again || reason != reasonAgain {
			t.Errorf("%+v %q, then %+v %q", doc, reason, again, reasonAgain)
		}
		if reason == ReasonPanic {
			t.Error("a library failed")
		}
		if (reason == ReasonNone) != (doc.Text != "") {
			t.Errorf("reason %q, text %q", reason, doc.Text)
		}
		checkLines(t, doc.Text, o.MaxTextBytes)
		v := reflect.ValueOf(doc)
		for i := range v.NumField() {
			if s := v.Field(i); s.Kind() == reflect.String && !utf8.ValidString(s.String()) {
				t.Errorf("%s is invalid UTF-8: %q", v.Type().Field(i).Name, s.String())
			}
		}
	})
}

// What was made from captures is told apart from them.
func TestDerived(t *testing.T) {
	for name, x := range map[string]struct {
		raw  *container.Raw
		want bool
	}{
		"response":       {response(), false},
		"conversion":     {rawRecord("Some text.", fields("WARC-Type: conversion", "Content-Type: text/plain")...), true},
		"resource":       {rawRecord("Some text.", fields("WARC-Type: resource", "Content-Type: text/plain")...), false},
		"extracted text": {rawRecord("Some text.", fields("WARC-Type: resource", "Content-Type: text/plain", "WARC-Target-URI: urn:text:https://a.example/")...), true},
		"line":           {&container.Raw{Format: container.FormatTSV, Block: []byte("1\tSome text.")}, true},
	} {
		if d := document(t, x.raw); d.Derived != x.want {
			t.Errorf("%s: %v", name, d.Derived)
		}
	}
}

// The digest of a block shows that an uncompressed record is damaged.
func TestWrongBlockDigest(t *testing.T) {
	sum := sha1.Sum([]byte(httpPage))
	const wrong = "sha1:AAAAWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"
	right := "WARC-Block-Digest: sha1:" + base32.StdEncoding.EncodeToString(sum[:])
	clipped, packed := response("WARC-Block-Digest: "+wrong), response("WARC-Block-Digest: "+wrong)
	clipped.Clipped, packed.Inflated = true, 1
	for name, x := range map[string]struct {
		raw  *container.Raw
		want Choices
	}{
		"right": {response(right), 0}, "wrong": {response("WARC-Block-Digest: " + wrong), ChoiceDigestWrong}, "unknown": {response("WARC-Block-Digest: blake3:AAAA"), 0}, "another spelling": {response("WARC-Block-Digest: sha1:" + base64.StdEncoding.EncodeToString(sum[:])), 0},
		"none": {response(), 0}, "clipped": {clipped, 0}, "compressed": {packed, 0},
	} {
		if d := document(t, x.raw); d.Choices != x.want || d.Text != pageText {
			t.Errorf("%s: %v %q", name, d.Choices.Names(), d.Text)
		}
	}
}
