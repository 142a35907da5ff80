package container

import (
	"errors"
	"io"
	"strings"
	"testing"
)

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

// What has no end, or is said to be larger than anything, costs one place.
func TestWhatHasNoEnd(t *testing.T) {
	sequential(t)
	a, b := record("aaa"), record("bbb")
	lines := func(head, line, tail string, n int64) io.ReaderAt {
		return repeated(head, strings.Repeat(line, 1000), tail, n-n%int64(1000*len(line)))
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

func TestLengthsThatLie(t *testing.T) {
	for _, length := range []string{"-1", "-9223372036854775808", "9223372036854775808", "0x10", "1e3", "\x00", ""} {
		events := checkReplay(t, record("aaa")+warcRecord("xxx", "WARC-Type: resource", "Content-Length: "+length)+record("bbb"), 1<<20)
		if got := strings.Join(summaries(events), " "); got != "aaa ! bbb" {
			t.Errorf("%q: %q", length, got)
		}
	}
}
