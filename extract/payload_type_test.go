package extract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"neardup/extract/charset"
	"neardup/extract/container"
	"neardup/extract/page"
)

// sentences are n lines that do not compress to nothing.
func sentences(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d and %x\n", i*i, i*7919)
	}
	return b.String()
}

// A page without a type may start with any element that is usual at the start.
func TestFirstElementsOfPages(t *testing.T) {
	for _, name := range strings.Fields(`html head body title meta link base script style noscript frameset div p h1 h2 h3 table center
		font a b i br hr img span form iframe ul ol dl pre main section article header nav`) {
		if got := sniff([]byte("<"+name+">"), nil); got != typeHTML {
			t.Errorf("<%s>: %s", name, got)
		}
	}
	if got := sniff([]byte("<stylesheet>"), nil); got == typeHTML {
		t.Error("<stylesheet> starts a page")
	}
}

func TestTypesAreDecidedByTheContent(t *testing.T) {
	const (
		png   = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
		xhtml = `<?xml version="1.0"?><!DOCTYPE html PUBLIC "x" "y"><html xmlns="http://www.w3.org/1999/xhtml"><body>Visible text</body></html>`
		rss   = `<?xml version="1.0"?><!-- a --><rss version="2.0"><channel/></rss>`
		html  = "<!-- a --> \n" + markup
	)
	noise := strings.Repeat("a\x01\x02b\x00\x9c", 100)
	for _, c := range []struct {
		declared, body, want string
	}{
		{"text/html", markup, "text/html"},
		{"TEXT/HTML; charset=utf-8", markup, "text/html"},
		{"text/html, text/html", markup, "text/html"},
		{"text/html charset=utf-8", markup, "text/html"},
		{`"text/html"`, markup, "text/html"},
		{"text/html:charset=utf-8", markup, "text/html"},
		{"image/png Last-modified: yesterday", png, "image/png"},
		{"text/html", "no markup", "text/html"},
		{"text/html", "BM is no bitmap", "text/html"},
		{"text/html", "{ no JSON }", "text/html"},
		{"text/html", `{"a": [1, 2, "<p>"]}` + "\n", "application/json"},
		{"text/html", `[]`, "application/json"},
		{"text/html", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "text/html"},
		{"text/html", png, "image/png"},
		{"text/html", "GIF89a\x01\x00\x01\x00", "image/gif"},
		{"text/html", "\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"},
		{"text/html", "%PDF-1.4\n1 0 obj", "application/pdf"},
		{"text/html", "\xef\xbb\xbf\r\n%PDF-1.4\n1 0 obj", "application/pdf"},
		{"image/jpeg", "%PDF-1.4\n1 0 obj", "application/pdf"},
		{"text/plain", "%PDF-1.4\n1 0 obj", "application/pdf"},
		{"text/plain", "The mark %PDF-1.4 starts a document", "text/plain"},
		{"", "%PDF-1.4\n1 0 obj", "application/pdf"},
		{"application/x-pdf", "%PDF-1.4\n1 0 obj", "application/pdf"},
		{"application/pdf", markup, "application/pdf"},
		{"text/html", "PK\x03\x04\x14\x00", "application/zip"},
		{"text/html", noise, "application/octet-stream"},
		{"text/html", rss, "text/xml"},
		{"text/html", xhtml, "text/html"},
		{"application/xhtml+xml", xhtml, "application/xhtml+xml"},
		{"application/xhtml+xml", png, "image/png"},
		{"text/html", in(t, "utf-16le", markup), "text/html"},

		{"text/plain", "words", "text/plain"},
		{"text/plain", markup, "text/html"},
		{"text/plain", "\xef\xbb\xbf" + html, "text/html"},
		{"text/plain", xhtml, "text/html"},
		{"text/plain", "\xff\xfe" + in(t, "utf-16le", markup), "text/html"},
		{"text/plain", "<b>that</b> is markup to be seen", "text/plain"},
		{"text/plain", "to write <html>, do this", "text/plain"},
		{"text/plain", png, "image/png"},
		{"text/plain", "OTTO is a name, BM too", "text/plain"},
		{"text/plain", `{"a": 1}`, "text/plain"},
		{"text/plain; charset=utf-16le", in(t, "utf-16le", chinese), "text/plain"},
		{"text/plain", "\x1b[1mbold\x1b[0m", "text/plain"},

		{"", markup, "text/html"},
		{"", "<center>old</center>", "text/html"},
		{"", "<meta charset=x>", "text/html"},
		{"", xhtml, "application/xhtml+xml"},
		{"", rss, "text/xml"},
		{"", "words", "text/plain"},
		{"", `{"a": 1}`, "application/json"},
		{"", png, "image/png"},
		{"", noise, "application/octet-stream"},
		{"application/octet-stream", html, "text/html"},
		{"unknown", markup, "text/html"},
		{"application/x-httpd-php", markup, "text/html"},

		{"application/xml", xhtml, "application/xhtml+xml"},
		{"text/xml", rss, "text/xml"},
		{"image/gif", markup, "image/gif"},
		{"text/css", "p { color: red }", "text/css"},
		{"application/json", `{"a": 1}`, "application/json"},
	} {
		declared := mediaTypeOf(c.declared)
		doc, reason := NewExtractor(options).read(&container.Raw{}, Document{}, []byte(c.body), c.declared)
		if doc.MediaType != c.want || doc.Choices&ChoiceTypeSniffed != 0 != (declared != c.want) {
			t.Errorf("%s %.30q: got %s, %v; want %s", c.declared, c.body, doc.MediaType, doc.Choices.Names(), c.want)
		}
		if (reason == ReasonMediaType) != (textReaders(options)[c.want] == nil) {
			t.Errorf("%s %.30q: %q", c.declared, c.body, reason)
		}
	}
}

// A textReader of another type, as a caller would add it.
type keysReader struct{}

func (keysReader) ReadText(b Body) Text {
	var m map[string]any
	if json.Unmarshal(b.Bytes, &m) != nil {
		return Text{}
	}
	var out bytes.Buffer
	for key := range m {
		out.WriteString(key)
	}
	return Text{Title: "keys", Text: out.String(), Charset: "utf-8", CharsetFrom: charset.FromUTF8}
}

func TestTextOfOtherTypesCanBeAdded(t *testing.T) {
	x := NewExtractor(options)
	x.Readers["application/json"] = keysReader{}
	doc, reason := x.Document(httpRecord(`{"key": 1}`, "Content-Type: application/json"))
	if reason != ReasonNone || doc.Title != "keys" || doc.Text != "key" || doc.MediaType != "application/json" {
		t.Errorf("%q: %+v", reason, doc)
	}
	if _, reason := x.Document(httpRecord(`{"key"`, "Content-Type: application/json")); reason != ReasonNoText {
		t.Errorf("broken: %q", reason)
	}
	if _, reason := NewExtractor(options).Document(httpRecord(`{"key": 1}`, "Content-Type: application/json")); reason != ReasonMediaType {
		t.Errorf("another extractor: %q", reason)
	}
}

func TestAnswersWithoutStatusAreFlagged(t *testing.T) {
	for _, block := range []string{markup, "Content-Type: text/html\r\nServer: x\r\n\r\n" + markup, "content-type: text/html\n\n" + markup} {
		if doc := document(t, rawRecord(block, fields()...)); doc.Choices&ChoiceStatusAssumed == 0 || doc.Text != pageText {
			t.Errorf("%.20q: %v %q", block, doc.Choices.Names(), doc.Text)
		}
	}
	o := options
	o.Statuses = []int{404}
	if _, reason := NewExtractor(o).Document(rawRecord(markup, fields()...)); reason != ReasonStatus {
		t.Errorf("only 404 wanted: %q", reason)
	}
	if doc := document(t, response()); doc.Choices != 0 {
		t.Errorf("a usual page: %v", doc.Choices.Names())
	}
}

func TestChoicesHaveNames(t *testing.T) {
	all := ChoiceDigestWrong<<1 - 1
	if len(choiceNames) != len(all.Names()) || ChoiceDigestWrong != 1<<(len(choiceNames)-1) {
		t.Fatalf("%d names for %b", len(choiceNames), all)
	}
	for _, c := range []Choices{0, ChoiceStatusAssumed, ChoiceTypeSniffed | ChoiceMojibake, all} {
		b, err := json.Marshal(Document{Choices: c})
		if err != nil {
			t.Fatal(err)
		}
		var doc Document
		if err := json.Unmarshal(b, &doc); err != nil || doc.Choices != c {
			t.Errorf("%s: %b, %v", b, doc.Choices, err)
		}
		if c == 0 && bytes.Contains(b, []byte("choices")) {
			t.Errorf("%s", b)
		}
	}
	var c Choices
	if err := json.Unmarshal([]byte(`["type-sniffed","mojibake"]`), &c); err != nil || c != ChoiceTypeSniffed|ChoiceMojibake {
		t.Errorf("%b, %v", c, err)
	}
	if json.Unmarshal([]byte(`["nonsense"]`), &c) == nil || json.Unmarshal([]byte(`1`), &c) == nil {
		t.Error("nonsense was read")
	}
}

func TestCutTextIsFlagged(t *testing.T) {
	for _, c := range []struct {
		contentType, body string
		cut               bool
	}{
		{"text/html", "<p>" + strings.Repeat("word ", 400), true},
		{"text/html", "<p>" + strings.Repeat("word ", 100), false},
		{"text/html", "\x00<p>" + strings.Repeat("word ", 400), true}, // by way of the tree
		{"text/plain", strings.Repeat("word ", 400), true},
		{"text/plain", strings.Repeat("word ", 100), false},
	} {
		o := options
		o.MaxTextBytes = 1024
		doc, reason := NewExtractor(o).Document(httpRecord(c.body, "Content-Type: "+c.contentType))
		if reason != ReasonNone || (doc.Choices&ChoiceTextCut != 0) != c.cut {
			t.Errorf("%s of %d bytes: %s %v", c.contentType, len(c.body), reason, doc.Choices.Names())
		}
	}
}

// From the record to the document: the host is that of its target URI.
func TestDocumentUnderSiteRules(t *testing.T) {
	o := options
	o.Sites = []page.SiteRules{{Host: "example.co.uk", Drop: []string{"p.x"}}}
	doc, reason := NewExtractor(o).Document(httpRecord("<p>a<p class=x>b", "Content-Type: text/html"))
	if reason != ReasonNone || doc.Text != "a" || !doc.Parsed || doc.Kind != page.KindTopic {
		t.Errorf("%q: %+v", reason, doc)
	}
	o.Sites[0].Host = "example.com"
	if doc, reason = NewExtractor(o).Document(httpRecord("<p>a<p class=x>b", "Content-Type: text/html")); doc.Text != "a\nb" || doc.Parsed {
		t.Errorf("another host: %q: %+v", reason, doc)
	}
}

// Of several Content-Type fields the last one with a type counts.
func TestContentTypeOf(t *testing.T) {
	for _, tt := range []struct {
		fields []string
		want   string
	}{
		{nil, ""},
		{[]string{"image/png", "text/html; charset=utf-8"}, "text/html; charset=utf-8"},
		{[]string{"text/html", "html", "*/*", ""}, "text/html"},
		{[]string{"html", "text/html"}, "text/html"},
		{[]string{"text/html; charset=latin1", "text/html"}, "text/html; charset=latin1"},
		{[]string{"text/html; charset=latin1", "Text/HTML; Charset=utf-8"}, "Text/HTML; Charset=utf-8"},
		{[]string{"text/html; charset=latin1", "text/plain"}, "text/plain"},
	} {
		if got := contentTypeOf(http.Header{"Content-Type": tt.fields}); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.fields, got, tt.want)
		}
	}
}
