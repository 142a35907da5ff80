package extract

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"
)

// bounded runs work and checks that it comes to an end and that the heap grows
// little meanwhile. The deadline tells a hang, not a speed.
func bounded(t *testing.T, work func()) {
	t.Helper()
	const most, deadline = 256 << 20, 2 * time.Minute
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	peak := uint64(0)
	for ended := time.After(deadline); ; {
		metrics.Read(sample)
		peak = max(peak, sample[0].Value.Uint64())
		select {
		case <-done:
			if peak > before+most {
				t.Errorf("%d MiB of memory", (peak-before)>>20)
			}
			return
		case <-ended:
			t.Fatal("hangs")
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// counted is a file that counts the bytes read of it.
type counted struct {
	io.ReaderAt
	read int64
}

func (c *counted) ReadAt(p []byte, offset int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, offset)
	c.read += int64(n)
	return n, err
}

// repeated is a file of head, then n bytes that repeat unit, then tail.
type repeated struct {
	head, unit, tail string
	n                int64
}

func (f repeated) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		at := offset + int64(n)
		switch in := at - int64(len(f.head)); {
		case in < 0:
			n += copy(p[n:], f.head[at:])
		case in < f.n:
			from := int(in % int64(len(f.unit)))
			n += copy(p[n:], f.unit[from:min(int64(len(f.unit)), int64(from)+f.n-in)])
		case in-f.n < int64(len(f.tail)):
			n += copy(p[n:], f.tail[in-f.n:])
		default:
			return n, io.EOF
		}
	}
	return n, nil
}

const gib = 1 << 30

// raced says that the race detector is on.
var raced bool

// sequential skips a long test of one goroutine under the race detector, which
// has nothing to see there and takes many times as long: libraries that keep
// large buffers in pools make them anew each time.
func sequential(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("one goroutine; without the race detector it runs")
	}
}

const unit = 1 << 20

// aGiB is a GiB of the letter a as deflate blocks, of which none is the last: a
// little of the stream, over and over.
var aGiB = sync.OnceValue(func() string {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 1)
	a := bytes.Repeat([]byte{'a'}, unit)
	_, _ = w.Write(a)
	_ = w.Flush() // ends at a byte
	first := b.Len()
	_, _ = w.Write(a)
	_ = w.Flush()
	return b.String()[:first] + strings.Repeat(b.String()[first:], gib/unit-1)
})

const gzipHeader = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// storedBlock is a deflate block of s as it is.
func storedBlock(s string, last byte) string {
	n := len(s)
	return string([]byte{last, byte(n), byte(n >> 8), ^byte(n), ^byte(n >> 8)}) + s
}

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

// A page of a GiB, without a line end and compressed to almost nothing, costs
// little memory and no other record. Where its file gives it up because it
// becomes too large, that is said, and what is kept of it is the same.
func TestPagesOfAGiB(t *testing.T) {
	sequential(t)
	a, b := record("aaa"), record("bbb")
	plain := repeated{a + hugeHead(gib), strings.Repeat("a", 64<<10), "\r\n\r\n" + b, gib}
	usual := limitsOf(16<<20, 4<<20)
	lenient := usual
	lenient.MaxInflation = 1 << 20
	deflated := zipFile(zipMember{"archive/a.warc.gz", members(a) + hugeGzip() + members(b), zip.Deflate})
	zipped, err := Members(strings.NewReader(deflated), int64(len(deflated)), usual)
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
		limits  Limits
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
				r, err := NewReader(x.file, Position{}, x.limits)
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
					var damage *Damage
					switch {
					case err == io.EOF:
						if want := "aaa huge bbb "; records != want || damages != x.damages {
							t.Errorf("%d damages; got %s, want %s", damages, records, want)
						}
						return
					case errors.As(err, &damage):
						damages++
						if !errors.Is(err, errInflation) || !strings.Contains(err.Error(), "extract.max_inflation") {
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

// What has no end, or is said to be larger than anything, costs one place.
func TestWhatHasNoEnd(t *testing.T) {
	sequential(t)
	a, b := record("aaa"), record("bbb")
	lines := func(head, line, tail string, n int64) io.ReaderAt {
		return repeated{head, strings.Repeat(line, 1000), tail, n - n%int64(1000*len(line))}
	}
	text := func(s string) io.ReaderAt { return strings.NewReader(s) }
	named := "\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\xff" + strings.Repeat("n", 1<<20)
	for _, x := range []struct {
		name string
		file io.ReaderAt
		want string
	}{
		{"header", lines(a+"WARC/1.0\r\n", "X-Field: x\r\n", "\r\n\r\n"+b, 100<<20), "aaa ! bbb"},
		{"header field", lines(a+"WARC/1.0\r\nX: ", "x", "\r\n\r\n"+b, 100<<20), "aaa ! bbb"},
		{"header and file", lines(a+"WARC/1.0\r\n", "X-Field: x\r\n", "", 100<<20), "aaa !"},
		{"header, gzip", text(members(a, "WARC/1.0\r\n"+strings.Repeat("X-Field: x\r\n", 1<<20), b)), "aaa ! bbb"},
		{"ARC line", lines(arcRecord("aaa")+"http://", "x", "\n"+arcRecord("bbb"), 100<<20), "aaa ! bbb"},
		{"line ends", lines(a, "\r\n", b, 100<<20), "aaa bbb"},
		{"zeros between members", lines(members(a), "\x00", members(b), 100<<20), "aaa bbb"},
		{"zeros between records", lines(a, "\x00", b, 100<<20), "aaa ! bbb"},
		{"garbage", lines(members(a), "garbage", members(b), 100<<20), "aaa ! bbb"},
		{"gzip name", text(members(a) + named + members(b)), "aaa ! bbb"},
		{"empty gzip members", text(members(a) + strings.Repeat(member("", 6), 1<<18) + members(b)), "aaa bbb"},
		{"skippable frame", text(frames(a) + "\x50\x2a\x4d\x18\xff\xff\xff\xff" + frames(b)), "aaa ! bbb"},
		{"length", text(a + warcRecord("xxx", "WARC-Type: resource", "Content-Length: 9223372036854775807") + b), "aaa xxx\r\n\r\n+ bbb"},
		{"length, ARC", text(arcRecord("aaa") + "http://x/ 1.2.3.4 20080430204825 text/html 9223372036854775807\nxxx\n" + arcRecord("bbb")), "aaa xxx\n+ bbb"},
	} {
		t.Run(x.name, func(t *testing.T) {
			bounded(t, func() {
				r, err := NewReader(x.file, Position{}, limits)
				if err != nil {
					t.Error(err)
					return
				}
				var got []string
				for {
					raw, err := r.Next()
					if err == io.EOF {
						break
					}
					e := event{raw: raw}
					if err != nil && !errors.As(err, &e.damage) {
						t.Error(err)
						return
					}
					got = append(got, e.summary())
				}
				if strings.Join(got, " ") != x.want {
					t.Errorf("got %.500q, want %q", got, x.want)
				}
			})
		})
	}
}

// overlapping is a file full of what looks like gzip members. Each holds a
// record that never ends, goes on through all the others, which it takes for
// stored bytes, into some MB of letters, and breaks off.
func overlapping(segments int) string {
	const fakes = 300
	letters := aGiB()[:24<<10]
	start := func(rest int) string {
		return gzipHeader + storedBlock("", 0)[:1] + string([]byte{byte(rest), byte(rest >> 8), ^byte(rest), ^byte(rest >> 8)})
	}
	head := "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 999999999999\r\n\r\n"
	size := len(start(0)) + len(head)
	var b strings.Builder
	for i := range fakes {
		b.WriteString(start((fakes-i)*size - len(start(0))))
		b.WriteString(head)
	}
	b.WriteString(letters)
	b.WriteString("\xff\xff\xff\xff\xff\xff\xff\xff") // no block starts so
	return strings.Repeat(b.String(), segments)
}

// However a file is damaged, reading it costs a few times its size: it is not
// read again from every place that looks like a start.
func TestDamageCostsNoMoreThanSomeTimesTheFile(t *testing.T) {
	sequential(t)
	marks := func(s string, n int) string { return strings.Repeat(s, n/len(s)) }
	const size = 4 << 20
	long := "WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 99999999\r\n\r\n"
	tail := record("bbb")
	for _, x := range []struct{ name, file string }{
		{"marks", marks("WARC/1.", size) + "\n\n" + tail},
		{"marks that start lines", marks("WARC/1.\n", size) + "\n" + tail},
		{"headers without a length", marks("WARC/1.0\r\n\r\n", size) + tail},
		{"marks before the end of one header", marks(marks("WARC/1.0\r\n", 1000<<10)+"\r\n", size) + tail},
		{"records that never end", marks(long, size) + tail},
		{"records that never end, and no record in them", strings.ReplaceAll(marks(long, size), "resource", "nothing") + tail},
		{"ARC records that never end", marks("http://x/ 1.2.3.4 20080430204825 text/html 99999999\n", size) + arcRecord("bbb")},
		{"ARC lines that never end", marks("http://x/ 1.2.3.4 20080430204825 text/html 9999", size) + "\n" + tail},
		{"gzip marks", members(record("aaa")) + marks("\x1f\x8b\x08", size) + strings.Repeat(" ", 100<<10) + members(tail)},
		{"gzip headers", members(record("aaa")) + marks(gzipHeader, size) + members(tail)},
		{"gzip members without an end", members(record("aaa")) + marks(members(tail)[:40], size) + members(tail)},
		{"gzip members in each other", overlapping(40) + members(tail)},
		{"zstd marks", frames(record("aaa")) + marks(string(zstdMagic), size) + frames(tail)},
		{"zstd frames without an end", frames(record("aaa")) + marks(frames(tail)[:40], size) + frames(tail)},
		{"lz4 frames without an end", lz4Frames(record("aaa")) + marks(lz4Frames(tail)[:40], size) + lz4Frames(tail)},
	} {
		t.Run(x.name, func(t *testing.T) {
			bounded(t, func() {
				file := &counted{ReaderAt: strings.NewReader(x.file)}
				large := limits
				large.MaxHeaderBytes = 1 << 20 // what is done for each mark shows
				r, err := NewReader(file, Position{}, large)
				if err != nil {
					t.Error(err)
					return
				}
				last := ""
				for {
					raw, err := r.Next()
					if err == io.EOF {
						break
					}
					if raw != nil {
						last = string(raw.Block)
					}
				}
				if last != "bbb" {
					t.Errorf("the last record is lost: %.50q", last)
				}
				reread := int64(rereadFree + (rereadTimes+8)*len(x.file))
				const inflation = 1032 // of deflate, at most
				if file.read > reread || r.off > reread+int64(inflation*len(x.file)) {
					t.Errorf("of %d bytes, %d are read and %d decompressed", len(x.file), file.read, r.off)
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
	for _, length := range []string{"-1", "-9223372036854775808", "9223372036854775808", "0x10", "1e3", "\x00", ""} {
		events := checkReplay(t, record("aaa")+warcRecord("xxx", "WARC-Type: resource", "Content-Length: "+length)+record("bbb"), 1<<20)
		if got := strings.Join(summaries(events), " "); got != "aaa ! bbb" {
			t.Errorf("%q: %q", length, got)
		}
	}
}
