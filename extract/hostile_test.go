package extract

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"sync"
	"testing"

	"neardup/extract/container"
	"neardup/extract/internal/testkit"
)

// hugeHead is the start of a record, a page of n bytes on one line.
func hugeHead(n int64) string {
	http := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>word "
	length := fmt.Sprintf("Content-Length: %d", int64(len(http))+n)
	return strings.TrimSuffix(warcRecord("", fields("WARC-Record-ID: <urn:x:huge>", "Content-Length", length)...), "\r\n\r\n") + http
}

// hugeGzip is the record of a GiB as a gzip member.
var hugeGzip = sync.OnceValue(func() string {
	head, tail := hugeHead(gib), "\r\n\r\n"
	crc := crc32.ChecksumIEEE([]byte(head))
	a := bytes.Repeat([]byte{'a'}, unit)
	for range gib / unit {
		crc = crc32.Update(crc, crc32.IEEETable, a)
	}
	crc = crc32.Update(crc, crc32.IEEETable, []byte(tail))
	end := binary.LittleEndian.AppendUint32(nil, crc)
	end = binary.LittleEndian.AppendUint32(end, uint32(len(head)+gib+len(tail)))
	return gzipHeader + storedBlock(head, 0) + aGiB() + storedBlock(tail, 1) + string(end)
})

// hugeZstd is the record of a GiB as a zstd frame of blocks of one byte,
// repeated, with a window of 128 KiB.
func hugeZstd() string {
	block := func(kind, size int, last int, b string) string {
		h := size<<3 | kind<<1 | last
		return string([]byte{byte(h), byte(h >> 8), byte(h >> 16)}) + b
	}
	head, tail := hugeHead(gib), "\r\n\r\n"
	return string(zstdMagic) + "\x00\x38" + block(0, len(head), 0, head) +
		strings.Repeat(block(1, 128<<10, 0, "a"), gib/(128<<10)) + block(0, len(tail), 1, tail)
}

// deflatedFile is a zip file of one deflated member.
func deflatedFile(name, content string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	if err == nil {
		_, err = io.WriteString(f, content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return b.String()
}

// A page of a GiB, without a line end and compressed to almost nothing, costs
// little memory and no other record. Where its file gives it up because it
// becomes too large, that is said, and what is kept of it is the same.
func TestPagesOfAGiB(t *testing.T) {
	sequential(t)
	a, b := record("aaa"), record("bbb")
	plain := testkit.Repeated(a+hugeHead(gib), strings.Repeat("a", 64<<10), "\r\n\r\n"+b, gib)
	usual := limitsOf(16<<20, 4<<20)
	lenient := usual
	lenient.MaxInflation = 1 << 20
	deflated := deflatedFile("archive/a.warc.gz", members(a)+hugeGzip()+members(b))
	zipped, err := container.Members(strings.NewReader(deflated), int64(len(deflated)), usual)
	if err != nil {
		t.Fatal(err)
	}
	inZip, err := zipped[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name    string
		file    io.ReaderAt
		limits  container.Limits
		damages int
	}{
		{"plain", plain, usual, 0},
		{"gzip", strings.NewReader(members(a) + hugeGzip() + members(b)), usual, 1},
		{"gzip, whatever it becomes", strings.NewReader(members(a) + hugeGzip() + members(b)), lenient, 0},
		{"zstd", strings.NewReader(frames(a) + hugeZstd() + frames(b)), usual, 1},
		{"gzip in a WACZ file", inZip, usual, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			bounded(t, func() {
				r, err := container.NewReader(x.file, container.Position{}, x.limits)
				if err != nil {
					t.Error(err)
					return
				}
				o := options
				o.Limits = x.limits
				extractor := NewExtractor(o)
				records, damages := "", 0
				for {
					raw, err := r.Next()
					var damage *container.Damage
					switch {
					case err == io.EOF:
						if want := "aaa huge bbb "; records != want || damages != x.damages {
							t.Errorf("%d damages; got %s, want %s", damages, records, want)
						}
						return
					case errors.As(err, &damage):
						damages++
						if !strings.Contains(err.Error(), "extract.max_inflation") {
							t.Error(err)
						}
						continue
					case err != nil:
						t.Error(err)
						return
					}
					if len(raw.Block) == 3 {
						records += string(raw.Block) + " "
						continue
					}
					records += "huge "
					doc, reason := extractor.Document(raw)
					if reason != ReasonNone || !doc.Clipped || doc.Bytes < gib || len(doc.Text) > x.limits.MaxTextBytes || !strings.HasPrefix(doc.Text, "word aaa") {
						t.Errorf("%s: clipped %v, %d bytes, %d of text", reason, doc.Clipped, doc.Bytes, len(doc.Text))
					}
				}
			})
		})
	}
}

// A million of anything in a page ends in a document, or in a reason.
func TestPagesOfAMillion(t *testing.T) {
	sequential(t)
	const n = 1_000_000
	many := strings.Repeat
	o := options
	o.Limits = limitsOf(64<<20, 4<<20)
	for _, x := range []struct {
		name, header, body string
		text               string // that its text has, or
		reason             Reason
	}{
		{"nested elements", "", many("<div>", n) + "word", "word", ""},
		{"nested tables", "", many("<table><tr><td>", n) + "word", "word", ""},
		{"nested inline elements", "", many("<b>", n) + "word", "word", ""},
		{"nested lists", "", many("<ul><li>", n) + "word", "word", ""},
		{"end tags", "", many("</p>", n) + "word", "word", ""},
		{"attributes", "", "<p" + many(" a=b", n) + ">word", "word", ""},
		{"different attributes", "", "<p" + numbered(n, " a%d") + ">word", "word", ""},
		{"comments", "", many("<!-->", n) + "<p>word", "word", ""},
		{"comment without an end", "", "<p>word<!--" + many("-", n), "word", ""},
		{"tag without an end", "", "<p>word<p " + many("x", n), "word", ""},
		{"entities", "", "<p>word" + many("&amp", n), "word&&", ""},
		{"less-thans", "", "<p>word " + many("<", n), "word <<", ""},
		{"zeros", "", "<p>word" + many("\x00", n), "word", ""},
		{"scripts", "", many("<script>x</script>", n) + "<p>word", "word", ""},
		{"script without an end", "", "<p>word<script>" + many("<!--<script>", n), "word", ""},
		{"select options", "", "<p>word<select>" + many("<option>x", n), "word", ""},
		{"header fields", many("X: y\r\n", n), "word", "", ReasonLongHeader},
		{"codings", "Content-Encoding: " + many("gzip,", 10_000) + "\r\n", "word", "", ReasonCodings},
		{"chunks", "Transfer-Encoding: chunked\r\n", many("1\r\nw\r\n", n) + "0\r\n\r\n", "www", ""},
		{"chunk of all bytes", "Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\nword", "word", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			bounded(t, func() {
				doc, reason := NewExtractor(o).Document(rawRecord("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"+x.header+"\r\n"+x.body, fields()...))
				if reason != x.reason || !strings.Contains(doc.Text, x.text) || strings.Contains(doc.Text, "\x00") {
					t.Errorf("%q: %.100q", reason, doc.Text)
				}
			})
		})
	}
}

func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Dates and URIs that are none do not cost the page, and nothing that later
// stages write is broken by them.
func TestHeadersThatLie(t *testing.T) {
	for _, date := range []string{"0000-00-00T00:00:00Z", "99999-12-31T23:59:59Z", "-0001-01-01T00:00:00Z", "yesterday", "", "\x00", "2020-02-30T25:61:61Z", strings.Repeat("9", 50_000)} {
		doc := document(t, response("WARC-Date: "+date))
		if want := strings.Trim(date, "\x00"); doc.Date != want || doc.Text != pageText {
			t.Errorf("%.50q: %.50q", date, doc.Date)
		}
	}
	for uri, want := range map[string]string{
		"http://x.org/\x00\x00a": "http://x.org/a", "http://\xff\xfe.org/": "http://\uFFFD.org/", "http://x.org/\xed\xa0\x80": "http://x.org/\uFFFD",
		"http://[::1": "http://[::1", "http://x.org:99999999/": "http://x.org:99999999/", "://": "://", "\u202ehttp://x.org/": "\u202ehttp://x.org/",
		"http://" + strings.Repeat("a.", 20_000) + "org/": "http://" + strings.Repeat("a.", 20_000) + "org/",
	} {
		if doc := document(t, response("WARC-Target-URI: "+uri)); doc.TargetURI != want {
			t.Errorf("%.50q: %.50q", uri, doc.TargetURI)
		}
	}
}
