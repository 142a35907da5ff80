package container

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What is cut off or has lost its start costs itself.
func TestReaderGoesOnBehindWhatIsCutOff(t *testing.T) {
	a, b, c := record("aaa"), record("bbb"), record("ccc")
	old := func(block string) string { return versionRecord("WARC/0.18")(1, block) }
	x, y, z := arcRecord("xxx"), arcRecord("yyy"), arcRecord("zzz")
	long := record(noise(rand.New(rand.NewPCG(3, 3)), 9000))
	broken := func(member string) string { return "\xff\xff\xff" + member[3:] }
	gzippedPage := "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + member("<p>text", 6)
	for _, c := range []struct{ name, file, want string }{
		{"a header, in the middle of a line", a + b[:20] + c, "aaa ! ccc"},
		{"a header, behind a line", a + "WARC/1.0\r\nWARC-Type: resource\r\n" + c, "aaa ! ccc"},
		{"a header behind its length, in the middle of a line", a + "WARC/1.0\r\nContent-Length: 3\r\nWARC-Ty" + c, "aaa ! ccc"},
		{"a header in a member", members(a, b[:20], c), "aaa ! ccc"},
		{"a header behind its length, in a member", members(a, "WARC/1.0\r\nContent-Length: 3\r\nWARC-Ty", c), "aaa ! ccc"},
		{"headers, one behind the other", a + b[:20] + b[:30] + b[:20] + c, "aaa ! ccc"},
		{"a header that names a version", a + warcRecord("bbb", "WARC-Type: resource", "Software: writes WARC/1.0 files", "Format: WARC/1.0 draft") + c, "aaa bbb ccc"},
		{"a block", a + b[:len(b)-6] + c, "aaa b+ ccc"},
		{"a record of an old version", old("aaa") + old("bbb")[:60] + old("ccc"), "aaa ! ccc"},
		{"garbage between records of an old version", old("aaa") + "garbage" + old("bbb"), "aaa ! bbb"},
		{"garbage between members of an old version", members(old("aaa")) + "garbage" + members(old("bbb")), "aaa ! bbb"},
		{"an ARC line", x + y[:30] + z, "xxx ! zzz"},
		{"an ARC block", x + y[:len(y)-2] + z, "xxx yy+ zzz"},
		{"an ARC block that has an address", x + arcRecord("see http://www.example.org/ for more")[:80] + z, "xxx see http://www.exa+ zzz"},
		{"an ARC line in its date", x + y[:40] + z, "xxx ! zzz"},
		{"an ARC line behind its address", x + y[:33] + z, "xxx ! zzz"},
		{"no ARC line, but an address with spaces and another in it", x + "http://a b?http://c 1.2.3.4 20080430204825 text/html 3\nyyy\n" + z, "xxx yyy zzz"},
		{"an ARC record behind an empty line", x + "garbage\n\n" + y, "xxx ! yyy"},
		{"an ARC record behind empty lines", x + "garbage\n\r\n\n\n" + y, "xxx ! yyy"},
		{"an ARC record without a description, a gzipped page", arcRecord(gzippedPage) + y, gzippedPage + " yyy"},
		{"the magic of a long first member", broken(members(long)) + members(a, b), "! aaa bbb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			events := checkReplay(t, c.file, 1<<20)
			if got := strings.Join(summaries(events), " "); got != c.want {
				t.Errorf("got  %.300q\nwant %.300q", got, c.want)
			}
		})
	}
}
