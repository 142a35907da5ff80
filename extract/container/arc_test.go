package container

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseARC(t *testing.T) {
	for _, x := range []struct{ line, uri, date, contentType, length string }{
		{"http://x/ 1.2.3.4 20080430204825 text/html 29000\n", "http://x/", "2008-04-30T20:48:25Z", "text/html", "29000"},
		{"http://x/ 1.2.3.4 20080430204825 text/html 200 fac069 - 209 x.arc 202\n", "http://x/", "2008-04-30T20:48:25Z", "text/html", "202"},
		{"http://x/a b&c=d e 1.2.3.4 20080430204825 text/html 7\n", "http://x/a b&c=d e", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/a  b 1.2.3.4 20080430204825 text/html 200 - - 0 x.arc 7\n", "http://x/a  b", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/ 1.2.3.4 20080430204825 5 1.2.3.4 20080430204826 text/html 7\n", "http://x/ 1.2.3.4 20080430204825 5", "2008-04-30T20:48:26Z", "text/html", "7"},
		{"http://x/ 1.2.3.4 20080430204825 text/html; charset=UTF-8 7\n", "http://x/", "2008-04-30T20:48:25Z", "text/html; charset=UTF-8", "7"},
		{"http://x/\t1.2.3.4\t20080430204825  text/html\t7 \r\n", "http://x/", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"filedesc://x.arc 0 19960923142103 text/plain 76\r\n", "filedesc://x.arc", "1996-09-23T14:21:03Z", "text/plain", "76"},
		{"dns:www.x 68.87.76.178 20080430204825 text/dns 56\n", "dns:www.x", "2008-04-30T20:48:25Z", "text/dns", "56"},
		{"http://x/ 2001:db8::1 20080430204825 text/html 7\n", "http://x/", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/ - 20080430204825 text/html 7\n", "http://x/", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/ 1.2.3.4 200804302048 text/html 7\n", "http://x/", "2008-04-30T20:48:00Z", "text/html", "7"},
		{"http://x/ 1.2.3.4 20080430204825123 text/html 7\n", "http://x/", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/ 1.2.3.4 99999999999999 text/html 7\n", "http://x/", "9999-99-99T99:99:99Z", "text/html", "7"},
		{"http://x/a b 1.2.3.4 2008043020 text/html 7\n", "http://x/a b", "2008-04-30T20:00:00Z", "text/html", "7"},
		{"http://x/a b 1.2.3.4 200804302048251 text/html 7\n", "http://x/a b", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/a b 1.2.3.4 20080430204825Z text/html 7\n", "http://x/a b", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/a b 1.2.3.4 20080430204825.5 text/html 200 - - 0 x.arc 7\n", "http://x/a b", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/ 1.2.3.4 20080430204825 7\n", "http://x/", "2008-04-30T20:48:25Z", "", "7"},
		{"http://x/ 1.2.3.4 20080430204825  7\n", "http://x/", "2008-04-30T20:48:25Z", "", "7"},
		{"http://x/ 20080430204825 1.2.3.4 text/html 7\n", "http://x/", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/ - 20080430204825 text/html 200 - - 12345678901 x.arc 7\n", "http://x/", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/ 1.2.3.4 null text/html 7\n", "http://x/", "", "text/html", "7"},
		{"http://x/WARC/1.0 1.2.3.4 20080430204825 text/html 7\n", "http://x/WARC/1.0", "2008-04-30T20:48:25Z", "text/html", "7"},
		{"http://x/" + strings.Repeat(" a", 500) + " 1.2.3.4 20080430204825 text/html 7\n", "http://x/" + strings.Repeat(" a", 500), "2008-04-30T20:48:25Z", "text/html", "7"},
	} {
		a, ok := ParseARC([]byte(x.line))
		if got := fmt.Sprint(a.Length); !ok || a.URI != x.uri || a.Date != x.date || a.ContentType != x.contentType || got != x.length {
			t.Errorf("%q: %v %+v", x.line, ok, a)
		}
	}
	for _, line := range []string{
		"", "\n", "http://x/", "http://x/ 1.2.3.4 20080430204825 text/html\n", "http://x/ 1.2.3.4 20080430204825 text/html -7\n",
		"http://x/ 1.2.3.4 20080430204825 text/html 99999999999999999999\n", "http://x/ 1.2.3.4 20080430204825 text/html 7x\n",
		"http://x/ host 20080430204825 text/html 7\n", " http://x/ 1.2.3.4 20080430204825 text/html 7\n", "x 1.2.3.4 20080430204825 text/html 7\n",
		"http://x/ null null null 7\n", "com,example)/ 20080430204825 http://example.com/ text/html 200 ABC - - 7 8 x.warc.gz\n",
		`192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 2326` + "\n",
	} {
		if a, ok := ParseARC([]byte(line)); ok {
			t.Errorf("%q: %+v", line, a)
		}
	}
}

func TestReaderReadsARC(t *testing.T) {
	a, b, c := arcRecord("aaa"), arcRecord("bbb"), arcRecord("ccc")
	desc := arcFile()
	v := strings.TrimRight(arcVersion, "") // the block of the first record
	lengthOf := func(n string) string {
		return "http://x/ 1.2.3.4 20080430204825 text/html " + n + "\nbbb\n"
	}
	long := "http://" + strings.Repeat("x", limits.MaxHeaderBytes) + "/ 1.2.3.4 20080430204825 text/html 3\nbbb\n"
	for _, x := range []struct{ name, file, want string }{
		{"plain", desc + a + b, v + " aaa bbb"},
		{"gzip a record", members(desc, a, b), v + " aaa bbb"},
		{"gzip whole", members(desc + a + b), v + " aaa bbb"},
		{"zstd", frames(desc, a, b), v + " aaa bbb"},
		{"no file description", a + b, "aaa bbb"},
		{"no line end between", strings.TrimSuffix(a, "\n") + b, "aaa bbb"},
		{"blank lines between", a + "\n\r\n\n" + b, "aaa bbb"},
		{"empty block", arcRecord("") + b, " bbb"},
		{"length too small", a + lengthOf("1") + c, "aaa b+ ! ccc"},
		{"length too large, gzip", members(a, lengthOf("999"), c), "aaa bbb\n+ ccc"},
		{"length too large at the end", a + lengthOf("999"), "aaa bbb\n+ !"},
		{"length negative", a + lengthOf("-3") + c, "aaa ! ccc"},
		{"length over 63 bits", a + lengthOf("99999999999999999999") + c, "aaa ! ccc"},
		{"length missing", a + "http://x/ 1.2.3.4 20080430204825 text/html\nbbb\n" + c, "aaa ! ccc"},
		{"line too long", a + long + c, "aaa ! ccc"},
		{"line clipped", a + "http://x/ 1.2.3.4 20080430204825 te", "aaa !"},
		{"scheme clipped", a + "htt", "aaa !"},
		{"block clipped", a + b[:len(b)-3], "aaa b+ !"},
		{"garbage before", "garbage\n" + a + b, "! aaa bbb"},
		{"garbage between", a + "garbage: x\n" + b, "aaa ! bbb"},
		{"garbage between, gzip", members(a) + "garbage" + members(b), "aaa ! bbb"},
		{"garbage inside, gzip", members(a, "garbage\n"+b, "garbage ", c), "aaa ! bbb ! ccc"},
		{"a line of the block is no record", arcRecord(a) + b, a + " bbb"},
		{"WARC and ARC", record("w") + a + record("v") + b, "w aaa v bbb"},
		{"WARC and ARC, gzip", members(record("w"), a, record("v"), b), "w aaa v bbb"},
		{"damage before either", a + "garbage\n" + record("w") + "garbage\n" + b, "aaa ! w ! bbb"},
	} {
		t.Run(x.name, func(t *testing.T) {
			events := checkReplay(t, x.file, 1<<20)
			if got := strings.Join(summaries(events), " "); got != x.want {
				t.Errorf("got  %q\nwant %q\n%.300v", got, x.want, events)
			}
		})
	}
}
