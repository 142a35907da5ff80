package pipetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Answer returns an HTTP response. length is its Content-Length if it is not 0.
func Answer(uri, date, header, body string, length int64) string {
	block := "HTTP/1.1 200 OK\r\n" + header + "\r\n\r\n" + body
	if length == 0 {
		length = int64(len(block))
	}
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		uri, date, length, block)
}

func PageRecord(uri, date, body string, length int64) string {
	return Answer(uri, date, "Content-Type: text/html; charset=utf-8", body, length)
}

// Archived returns a WARC record of a page of the given day.
func Archived(kind, id, uri string, day int, block string, fields ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:test:%s>\r\nWARC-Target-URI: %s\r\nWARC-Date: 2020-01-%02dT00:00:00Z\r\n",
		kind, id, uri, day)
	fmt.Fprintf(&b, "Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n%s\r\n%s\r\n\r\n",
		len(block), strings.Join(append(fields, ""), "\r\n"), block)
	return b.Bytes()
}

const (
	OkHTML = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
	okPNG  = "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"
)

// Revisits returns a crawl in which revisits refer to captures in every way, and
// the capture that each must resolve to.
func Revisits() (records [][]byte, want map[string]string) {
	page := func(id, uri string, day int, text string, fields ...string) {
		records = append(records, Archived("response", id, uri, day, OkHTML+"<p>"+text, fields...))
	}
	want = map[string]string{}
	revisit := func(id, uri string, day int, of string, block string, fields ...string) {
		records = append(records, Archived("revisit", id, uri, day, block, fields...))
		want[id] = of
	}
	const payload = "WARC-Payload-Digest: sha1:"
	page("a", "http://a.example/", 1, "page a", payload+"AAAA2222AAAA2222AAAA2222AAAA2222")
	page("b", "http://b.example/", 2, "page b", payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	page("b-later", "http://b.example/", 3, "page b, later")
	page("mirror", "http://mirror.example/", 1, "page b", payload+"BBBB2222AAAA2222AAAA2222AAAA2222")

	revisit("by-id", "http://a.example/", 5, "a", OkHTML, "WARC-Refers-To: <urn:test:a>")
	revisit("by-capture", "http://b.example/", 6, "b-later", "HTTP/1.1 304 Not Modified\r\n\r\n",
		"WARC-Refers-To-Target-URI: http://b.example/", "WARC-Refers-To-Date: 2020-01-03T00:00:00Z")
	revisit("by-payload", "http://b.example/", 7, "b", OkHTML, payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	revisit("by-payload-elsewhere", "http://c.example/", 7, "mirror", OkHTML, payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	revisit("id-before-payload", "http://a.example/", 8, "a", OkHTML, "WARC-Refers-To: <urn:test:a>", payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	revisit("gone-so-payload", "http://b.example/", 8, "b", OkHTML, "WARC-Refers-To: <urn:test:gone>", payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	revisit("of-a-revisit", "http://a.example/", 9, "a", OkHTML, "WARC-Refers-To: <urn:test:by-id>")
	revisit("of-that", "http://a.example/", 10, "a", OkHTML, "WARC-Refers-To: <urn:test:of-a-revisit>")
	revisit("lost", "http://d.example/", 5, "", OkHTML, "WARC-Refers-To: <urn:test:gone>")
	revisit("picture", "http://d.example/x.png", 5, "", okPNG, "WARC-Refers-To: <urn:test:gone>")
	revisit("nothing-said", "http://a.example/", 5, "", OkHTML)
	revisit("itself", "http://a.example/", 5, "", OkHTML, "WARC-Refers-To: <urn:test:itself>")
	revisit("circle-1", "http://a.example/", 5, "", OkHTML, "WARC-Refers-To: <urn:test:circle-2>")
	revisit("circle-2", "http://a.example/", 5, "", OkHTML, "WARC-Refers-To: <urn:test:circle-1>")
	// These captures refer to each other, and each has a payload. The page that
	// they share a digest with takes precedence.
	revisit("cross-1", "http://a.example/", 11, "a", OkHTML, "WARC-Refers-To: <urn:test:cross-2>", payload+"AAAA2222AAAA2222AAAA2222AAAA2222")
	revisit("cross-2", "http://b.example/", 11, "b", OkHTML, "WARC-Refers-To: <urn:test:cross-1>", payload+"BBBB2222AAAA2222AAAA2222AAAA2222")
	before := "by-id"
	for i := range 20 {
		id, of := fmt.Sprintf("chain-%02d", i), "a"
		if i >= 15 { // the stage follows 16 revisits of revisits
			of = ""
		}
		revisit(id, "http://a.example/", 12, of, OkHTML, "WARC-Refers-To: <urn:test:"+before+">")
		before = id
	}
	return records, want
}

func WriteRecords(t testing.TB, records ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crawl.warc")
	if err := os.WriteFile(path, bytes.Join(records, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
