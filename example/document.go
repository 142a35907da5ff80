package example

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// document is a page with its record.
type document struct {
	Page
	main    []string // sentences of the main text
	body    []byte   // what a browser would show, without codings, in its charset
	media   string   // Content-Type of the record
	block   []byte   // the record's block
	payload []byte   // payload for WARC-Payload-Digest; nil for no digest
	extra   []string // further WARC header lines
	request bool     // a request record follows
	wget    bool     // angle brackets around the target URI
}

// builder builds the crawl. Captures are dated in order.
type builder struct {
	docs []document
	now  time.Time
	home map[string]int // topic -> index of the original page
}

func buildCrawl() []document {
	b := &builder{home: map[string]int{}}
	b.now = time.Date(2024, 3, 4, 6, 0, 0, 0, time.UTC)
	b.add(document{
		Page:  Page{URI: "dns:library.example", Type: "response", Site: "library.example", Kind: KindSkipped, Note: "name service answer"},
		media: "text/dns", block: []byte("20240304060000\nlibrary.example.\t600\tIN\tA\t192.0.2.11\n"),
	})
	b.addRobots()
	for _, s := range firstCrawl {
		b.addText(s)
	}
	b.addNavigation()
	b.addShort()
	b.addSkipped()
	b.now = time.Date(2024, 9, 16, 6, 0, 0, 0, time.UTC)
	for _, s := range secondCrawl {
		b.addText(s)
	}
	b.addLater()
	size := map[string]int{}
	for _, d := range b.docs {
		size[d.Group]++
	}
	for i := range b.docs {
		if size[b.docs[i].Group] == 1 {
			b.docs[i].Group = ""
		}
	}
	return b.docs
}

// add dates and names a document and adds it to the crawl.
func (b *builder) add(d document) {
	b.now = b.now.Add(23 * time.Second)
	d.Date = b.now.Format(time.RFC3339)
	d.RecordID = recordID(d.Type, d.URI, d.Date)
	b.docs = append(b.docs, d)
}

// addText adds a page with an article.
func (b *builder) addText(s spec) {
	how := strings.Fields(s.how)
	a := variant(s)
	d := document{Page: Page{Kind: s.kind, Lang: a.lang, Group: s.topic, Note: note(s)}, main: a.sentences()}
	if s.kind == KindContains {
		d.Group = s.source
	}
	_, file, _ := strings.Cut(s.topic, "/")
	host := s.host + ".example"
	d.URI = "http://" + host + "/pages/" + file + ".html"
	if i, ok := b.home[s.topic]; ok {
		host, d.URI = b.docs[i].Site, b.docs[i].URI
	} else {
		b.home[s.topic] = len(b.docs)
	}
	body := plainBody(a)
	switch s.kind {
	case KindMarkup:
		d.URI = "http://" + host + "/print/" + file + ".html"
		body = otherBody(a)
	case KindMirror:
		d.URI = "http://copies.example/" + host + "/" + file
		host = "copies.example"
	case KindMoved:
		d.URI = "http://" + host + "/draft/" + file + ".html"
	}
	d.Site = host
	charset := "utf-8"
	for _, c := range []string{"windows-1251", "iso-8859-1", "gbk"} {
		if slices.Contains(how, c) {
			charset = c
		}
	}
	d.body = encode(render(host, a.lang, charset, a.title, body), charset)
	if slices.Contains(how, "bom") {
		d.body = append([]byte("\xEF\xBB\xBF"), d.body...)
	}
	header := "text/html; charset=" + charset
	if charset == "iso-8859-1" { // only the page itself declares it
		header = "text/html"
	}
	switch {
	case s.kind == KindConversion:
		d.Type, d.media = "conversion", "text/plain; charset=utf-8"
		d.body = []byte(textOf(a))
		d.block, d.payload = d.body, d.body
		d.extra = []string{"WARC-Refers-To: " + b.docs[b.home[s.topic]].RecordID}
	case slices.Contains(how, "resource"):
		d.Type, d.media = "resource", header
		d.block, d.payload = d.body, d.body
	default:
		d.wget = slices.Contains(how, "wget")
		d.request = d.wget || len(b.docs)%3 == 0
		d.respond(200, header, how)
	}
	b.add(d)
}

func note(s spec) string {
	notes := []string{}
	if s.source != "" {
		notes = append(notes, "takes from "+s.source)
	}
	if s.how != "" {
		notes = append(notes, s.how)
	}
	return strings.Join(notes, "; ")
}

// respond makes the document a response record with its body.
func (d *document) respond(status int, media string, how []string) {
	m := message{status: status, media: media, body: d.body,
		gzip: slices.Contains(how, "gzip"), chunked: slices.Contains(how, "chunked")}
	d.Type, d.media = "response", "application/http; msgtype=response"
	d.block, d.payload = m.bytes()
}

func (b *builder) addHTML(p Page, body string, main []string) {
	d := document{Page: p, main: main, body: []byte(body), request: len(b.docs)%3 == 0}
	d.respond(200, "text/html; charset=utf-8", nil)
	b.add(d)
}

func (b *builder) addRobots() {
	d := document{Page: Page{URI: "http://library.example/robots.txt", Site: "library.example", Kind: KindRobots}}
	d.body = []byte("User-agent: *\nDisallow: /staff/\nDisallow: /search\nCrawl-delay: 5\n")
	d.respond(200, "text/plain", nil)
	b.add(d)
}

func (b *builder) addNavigation() {
	for _, n := range navigation {
		var topics []string
		for _, s := range firstCrawl {
			if s.host == n.host {
				topics = append(topics, s.topic)
			}
		}
		labels := links(topics)
		labels = labels[:min(len(labels), 45)]
		host := n.host + ".example"
		p := Page{URI: "http://" + host + "/", Site: host, Lang: n.lang, Kind: KindNavigation}
		b.addHTML(p, render(host, n.lang, "utf-8", n.title, linkBody(n.title, labels)), labels)
	}
}

func (b *builder) addShort() {
	for _, s := range short {
		host := s.host + ".example"
		b.addHTML(Page{URI: "http://" + host + s.path, Site: host, Lang: s.lang, Kind: KindShort, Group: s.group}, s.html, nil)
	}
}

// addSkipped adds responses that are no documents.
func (b *builder) addSkipped() {
	answer := func(uri string, status int, media, text, why string, headers ...string) {
		u, err := url.Parse(uri)
		if err != nil {
			panic(err)
		}
		d := document{Page: Page{URI: uri, Type: "response", Site: u.Host, Kind: KindSkipped, Note: why},
			body: []byte(text), media: "application/http; msgtype=response"}
		m := message{status: status, media: media, body: d.body, extra: headers}
		d.block, d.payload = m.bytes()
		b.add(d)
	}
	answer("http://library.example/pages/lost.html", 404, "text/html; charset=utf-8",
		"<html><body><h1>Not here</h1><p>The page that you asked for has been lent to somebody else.</p></body></html>", "status 404")
	answer("http://railway.example/timetable", 301, "text/html",
		"<html><body><p>The timetable has moved to another track.</p></body></html>", "status 301", "Location: http://railway.example/pages/signalbox.html")
	answer("http://bakery.example/logo.png", 200, "image/png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06", "image")
	answer("http://manual.example/search.json", 200, "application/json",
		`{"query": "label", "pages": ["/pages/printing.html", "/pages/keyboard.html"]}`, "JSON")
	answer("http://garden.example/empty.html", 200, "text/html; charset=utf-8", "", "empty body")
}

// addLater adds the records of the second crawl that refer to earlier ones.
func (b *builder) addLater() {
	old := b.docs[b.home["de/backhaus"]]
	d := document{Page: Page{URI: old.URI, Type: "revisit", Site: old.Site, Lang: old.Lang, Kind: KindRevisit, Group: old.Group, Note: "identical payload"},
		media: "application/http; msgtype=response", payload: old.payload}
	d.block, _, _ = bytes.Cut(old.block, []byte("\r\n\r\n"))
	d.block = append(bytes.Clone(d.block), "\r\n\r\n"...)
	d.extra = []string{
		"WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
		"WARC-Refers-To: " + old.RecordID,
		"WARC-Refers-To-Target-URI: " + old.URI,
		"WARC-Refers-To-Date: " + old.Date,
	}
	b.add(d)
	old = b.docs[b.home["en/engine"]]
	b.add(document{Page: Page{URI: old.URI, Type: "metadata", Site: old.Site, Kind: KindSkipped, Note: "metadata of a page"},
		media: "application/warc-fields", block: []byte("via: http://railway.example/\r\nhopsFromSeed: L\r\nfetchTimeMs: 41\r\n"),
		extra: []string{"WARC-Concurrent-To: " + old.RecordID}})
}

// recordID returns a UUID derived from what identifies a record.
func recordID(parts ...string) string {
	h := sha1.Sum([]byte("neardup example\n" + strings.Join(parts, "\n")))
	u := h[:16]
	u[6] = u[6]&0x0F | 0x50 // version 5: named, SHA-1
	u[8] = u[8]&0x3F | 0x80
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", u[:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

func digest(b []byte) string {
	h := sha1.Sum(b)
	return "sha1:" + base32.StdEncoding.EncodeToString(h[:])
}
