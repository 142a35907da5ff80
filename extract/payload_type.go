package extract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/sync/semaphore"

	"neardup/extract/charset"
	"neardup/extract/container"
	"neardup/extract/internal/header"
	"neardup/extract/internal/lead"
	"neardup/extract/page"
	"neardup/uris"
)

// Media types.
const (
	typeHTML   = "text/html"
	typeXHTML  = "application/xhtml+xml"
	typePlain  = "text/plain"
	typeXML    = "text/xml"
	typeJSON   = "application/json"
	typeBinary = "application/octet-stream"
	typePDF    = "application/pdf"
)

// TextReader reads the text of bodies of a media type.
type TextReader interface {
	// ReadText returns the body's title and visible text. If the body has no text
	// or cannot be read, Text is empty and may have a Reason.
	ReadText(b Body) Text
}

// Body is a decoded payload.
type Body struct {
	Bytes       []byte
	MediaType   string
	ContentType string // as declared
	MaxText     int    // limit, in UTF-8 bytes
	Host        string // host of the target URI: in lower case, without port
	MaxSteps    int64  // limit for readers that count steps; 0: their own
}

// Text is the result of a TextReader: valid UTF-8, one visible block per line.
type Text struct {
	Title, Text string
	Byline      string     // of an HTML page
	Visible     string     // all visible text; empty: the same as Text
	Marks       page.Marks // kinds of the lines of Visible
	Charset     string
	CharsetFrom charset.Source
	Choices     Choices
	Kind        page.Kind
	Parsed      bool   // the HTML was parsed into a tree
	Reason      Reason // why there is no text; ReasonNone counts as ReasonNoText
	Steps       int64  // that reading took, if the reader counts them
}

// textReaders returns the readers by media type. To read another type, add a line
// here or in an Extractor's Readers.
func textReaders(o Options) map[string]TextReader {
	pages := htmlReader{page.NewReader(o.Options)}
	return map[string]TextReader{
		typeHTML:  pages,
		typeXHTML: pages,
		typePlain: plainReader{},
	}
}

// decoded returns the body decoded to UTF-8, and a Text with the charset and how it
// was decided.
func (b Body) decoded() (string, Text) {
	s, d := charset.Decode(charset.Body{Bytes: b.Bytes, MediaType: b.MediaType, ContentType: b.ContentType})
	t := Text{Charset: d.Name, CharsetFrom: d.From}
	t.Choices.set(ChoiceCharsetOverruled, d.Overruled)
	t.Choices.set(ChoiceCharsetDetected, d.From == charset.FromText)
	t.Choices.set(ChoiceCharsetAssumed, d.From == charset.FromFallback)
	return s, t
}

type htmlReader struct{ pages *page.Reader }

func (r htmlReader) ReadText(b Body) Text {
	s, t := b.decoded()
	if b.MediaType == typeXHTML {
		s = page.FromXHTML(s)
	}
	shown := r.pages.Read(s, b.Host, b.MaxText)
	t.Title, t.Text, t.Kind, t.Parsed = shown.Title, shown.Text, shown.Kind, shown.Parsed
	t.Byline, t.Visible, t.Marks = shown.Byline, shown.Visible, shown.Marks
	t.Choices.set(ChoiceOverlayDropped, shown.OverlayDropped)
	t.Choices.set(ChoiceRulesUnmatched, shown.RulesUnmatched)
	t.Choices.set(ChoiceTextCut, shown.Cut)
	t.Choices.set(ChoiceMainUnsure, shown.MainUnsure)
	t.Choices.set(ChoiceReadFlat, shown.Flat)
	return t
}

type plainReader struct{}

func (plainReader) ReadText(b Body) Text {
	s, t := b.decoded()
	var cut bool
	t.Text, cut = page.PlainText(s, b.MaxText)
	t.Choices.set(ChoiceTextCut, cut)
	return t
}

// A body takes many times its size while it is read, so all workers together read
// large ones of largeBodies bytes at a time.
const (
	largeBody   = 1 << 20
	largeBodies = 32 << 20
)

var roomOfLarge = semaphore.NewWeighted(largeBodies)

// readText reads the text of a body, when there is room for it.
func readText(r TextReader, b Body) Text {
	if size := len(b.Bytes); size >= largeBody {
		weight := int64(min(size, largeBodies))
		_ = roomOfLarge.Acquire(context.Background(), weight) // fails only if the context ends
		defer roomOfLarge.Release(weight)
	}
	return r.ReadText(b)
}

// read reads the document's text from a decoded body.
func (x *Extractor) read(raw *container.Raw, doc Document, body []byte, contentType string) (Document, Reason) {
	return x.readAs(raw, decideType(mediaTypeOf(contentType), charset.Labelled(contentType), body), doc, body, contentType)
}

// readAs reads the document's text from a decoded body of a media type.
func (x *Extractor) readAs(raw *container.Raw, mediaType string, doc Document, body []byte, contentType string) (Document, Reason) {
	if doc.MediaType = mediaType; mediaType != mediaTypeOf(contentType) {
		doc.Choices |= ChoiceTypeSniffed
	}
	reader := x.Readers[doc.MediaType]
	if reader == nil {
		return doc, ReasonMediaType
	}
	t := readText(reader, Body{
		Bytes: body, MediaType: doc.MediaType, ContentType: contentType, MaxText: x.o.MaxTextBytes, Host: uris.Host(doc.TargetURI), MaxSteps: stepsLeft(raw),
	})
	raw.Decoded += t.Steps / stepsPerByte
	if t.Text == "" {
		return doc, cmp.Or(t.Reason, ReasonNoText)
	}
	doc.Title, doc.Text, doc.Charset, doc.CharsetFrom = t.Title, t.Text, t.Charset, t.CharsetFrom
	doc.Kind, doc.Parsed = t.Kind, t.Parsed
	if doc.Byline, doc.Visible, doc.Marks = t.Byline, t.Visible, t.Marks; doc.Visible == "" {
		doc.Visible = doc.Text
	}
	doc.Choices |= t.Choices
	if n := strings.Count(t.Text, "\uFFFD"); n > 0 {
		doc.Choices |= ChoiceCharactersLost
		if doc.Replaced = float64(n) / float64(utf8.RuneCountInString(t.Text)); doc.Replaced > x.o.MaxReplaced {
			doc.Choices |= ChoiceMojibake
		}
	}
	return doc, ReasonNone
}

// contentTypeOf returns the Content-Type of an answer. Of several fields it is the last one
// with a type, as in browsers. If that has no charset, an earlier one of the same type gives
// it.
func contentTypeOf(fields http.Header) (contentType string) {
	all := fields.Values("Content-Type")
	if len(all) == 1 { // as a rule
		return all[0]
	}
	for _, v := range all {
		switch t := mediaTypeOf(v); {
		case contentType == "":
			contentType = v
		case !strings.Contains(t, "/") || t == "*/*":
		case t != mediaTypeOf(contentType) || strings.Contains(strings.ToLower(v), "charset"):
			contentType = v
		}
	}
	return contentType
}

// mediaTypeOf returns the media type of a Content-Type, as far as it can be parsed.
func mediaTypeOf(contentType string) string {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		mediaType = strings.Trim(contentType, "\"' \t")
		if i := strings.IndexAny(mediaType, ";,: \t\"'"); i >= 0 { // for example "text/html charset=utf-8"
			mediaType = mediaType[:i]
		}
		mediaType = header.Clean(strings.ToLower(mediaType))
	}
	return mediaType
}

// isText reports whether bodies of the media type are text.
func isText(mediaType string) bool {
	return strings.HasPrefix(mediaType, "text/") || mediaType == typeXHTML || mediaType == "application/xml"
}

// vague lists media types that say nothing about the content. A value that is no
// media type counts as vague, too.
var vague = map[string]bool{
	typeBinary: true, "binary/octet-stream": true, "application/unknown": true, "unknown/unknown": true,
	"application/x-unknown-content-type": true, "application/force-download": true, "*/*": true, "text/*": true,
	// Sources of pages, from servers that did not run them.
	"application/x-httpd-php": true, "text/x-server-parsed-html": true, "application/x-asp": true,
}

// decideType returns the media type of a body. A declared type holds unless the
// content clearly is of another type. Browsers trust the declaration for security,
// which does not matter here, but a picture read as text would give a false page,
// and a page that is declared as plain text would be compared with its markup. A
// declared type that is not that of a page stays: an error page in place of a
// picture is no page of the site.
//
// A body that starts as a PDF document is one, whatever was declared.
func decideType(declared, label string, body []byte) string {
	head := charset.Sniffable(body, label)
	switch {
	case pdfTypes[declared] || isPDF(body):
		return typePDF
	case vague[declared] || !strings.Contains(declared, "/"):
		return sniff(head, body)
	case declared == typeHTML || declared == typeXHTML:
		if t := binaryType(head); t != "" {
			return t
		}
		switch name, _ := firstElement(head); {
		case feeds[name]:
			return typeXML
		case name == "" && isJSON(body):
			return typeJSON
		}
	case declared == typePlain:
		if t := binaryType(head); t != "" {
			return t
		}
		switch name, doctype := firstElement(head); {
		case name == "html" || doctype == "html":
			return typeHTML
		}
	case declared == typeXML || declared == "application/xml":
		if name, doctype := firstElement(head); name == "html" || doctype == "html" {
			return typeXHTML
		}
	}
	return declared
}

// pdfTypes are the names that servers use for PDF.
var pdfTypes = map[string]bool{
	typePDF: true, "application/x-pdf": true, "application/acrobat": true, "application/vnd.pdf": true, "text/pdf": true, "text/x-pdf": true,
}

// isPDF reports whether a body starts as a PDF document. PDF readers accept the
// mark anywhere in the first kilobyte. Here only white space may precede it,
// because text may quote the mark.
func isPDF(body []byte) bool {
	body = bytes.TrimPrefix(body[:min(len(body), 1024)], []byte("\xef\xbb\xbf"))
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n\f\x00"), []byte("%PDF-"))
}

// sniff returns the media type by the content alone.
func sniff(head, body []byte) string {
	if t := binaryType(head); t != "" {
		return t
	}
	switch name, doctype := firstElement(head); {
	case (name == "html" || doctype == "html") && bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("<?xml")):
		return typeXHTML
	case doctype == "html" || pageElements[name]:
		return typeHTML
	case name != "" && bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("<?xml")):
		return typeXML
	case name == "" && isJSON(body):
		return typeJSON
	}
	mediaType := detectType(head)
	return mediaType
}

// binaryType returns the type of a body that cannot be text, or "". Magic bytes
// that are letters (such as "BM" of a bitmap) count only if the body also has bytes
// that text does not have.
func binaryType(head []byte) string {
	mediaType := detectType(head)
	controls := 0
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\f' && c != '\r' && c != 0x1b {
			controls++
		}
	}
	switch {
	case mediaType == "application/pdf" || mediaType == "application/postscript":
		return mediaType
	case isText(mediaType):
		return ""
	case mediaType != typeBinary && controls > 0:
		return mediaType
	case controls*32 > len(head): // in random bytes one in ten is a control character
		return typeBinary
	}
	return ""
}

// detectType returns the media type by the first bytes, as browsers see it.
func detectType(head []byte) string {
	mediaType, _, _ := strings.Cut(http.DetectContentType(head), ";")
	return mediaType
}

// looksText reports whether a body may be text in some charset.
func looksText(body []byte) bool { return isText(http.DetectContentType(charset.Sniffable(body, ""))) }

// firstElement returns the names of the first element and of the document type of a
// body that starts with markup.
func firstElement(head []byte) (name, doctype string) {
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n\f"), []byte("<")) {
		return "", ""
	}
	if name, doctype, ok := plainFirstElement(head); ok {
		return name, doctype
	}
	return tokenFirstElement(head)
}

// plainFirstElement is tokenFirstElement for bodies that start with plain markup. ok
// is false if something else comes before the first element.
func plainFirstElement(head []byte) (name, doctype string, ok bool) {
	for {
		head = bytes.TrimLeft(head, " \t\r\n\f")
		t, ok := lead.Read(head, func(_, _ []byte) bool { return true })
		switch {
		case !ok:
			return "", "", false
		case t.Kind == lead.Start:
			return strings.ToLower(string(t.Name)), doctype, true
		case t.Kind == lead.Doctype && doctype == "":
			doctype = firstWord(t.Name)
		}
		head = head[t.Size:]
	}
}

// firstWord returns the first word of a document type, in lower case.
func firstWord(doctype []byte) string {
	word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(string(doctype))), " ")
	return word
}

// tokenFirstElement is firstElement by the tokenizer.
func tokenFirstElement(head []byte) (name, doctype string) {
	z := html.NewTokenizer(bytes.NewReader(head))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return "", doctype
		case html.TextToken:
			if len(bytes.TrimSpace(z.Raw())) > 0 {
				return "", doctype
			}
		case html.DoctypeToken:
			if doctype == "" {
				doctype = firstWord(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			b, _ := z.TagName()
			return string(b), doctype
		}
	}
}

// feeds are root elements of documents that servers send as HTML and that are no
// pages.
var feeds = map[string]bool{
	"rss": true, "feed": true, "rdf:rdf": true, "urlset": true, "sitemapindex": true, "opml": true, "soap:envelope": true,
}

// pageElements are the elements that pages start with.
var pageElements = map[string]bool{
	"html": true, "head": true, "body": true, "title": true, "meta": true, "link": true, "base": true, "script": true,
	"style": true, "noscript": true, "frameset": true, "div": true, "p": true, "h1": true, "h2": true, "h3": true, "table": true, "center": true,
	"font": true, "a": true, "b": true, "i": true, "br": true, "hr": true, "img": true, "span": true, "form": true, "iframe": true,
	"ul": true, "ol": true, "dl": true, "pre": true, "main": true, "section": true, "article": true, "header": true, "nav": true,
}

func isJSON(body []byte) bool {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	return len(body) > 1 && (body[0] == '{' && body[len(body)-1] == '}' || body[0] == '[' && body[len(body)-1] == ']') && json.Valid(body)
}
