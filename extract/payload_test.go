package extract

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// chunked is s in chunks of at most n bytes.
func chunked(s string, n int) string {
	var b strings.Builder
	for len(s) > 0 {
		c := s[:min(n, len(s))]
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(c), c)
		s = s[len(c):]
	}
	return b.String() + "0\r\n\r\n"
}

// httpRecord is a response record with the header fields and the body.
func httpRecord(body string, header ...string) *Raw {
	return rawRecord("HTTP/1.1 200 OK\r\n"+strings.Join(header, "\r\n")+"\r\n\r\n"+body, fields()...)
}

func TestTransferAndContentEncoding(t *testing.T) {
	long := "<p>start " + strings.Repeat("and so on ", 500)
	longText := strings.TrimSpace(strings.TrimPrefix(long, "<p>"))
	zipped := member(long, 6)
	const (
		html  = "Content-Type: text/html"
		chunk = "Transfer-Encoding: chunked"
		gz    = "Content-Encoding: gzip"
	)
	for _, c := range []struct {
		name    string
		raw     *Raw
		want    string
		clipped bool
	}{
		{"chunked", httpRecord(chunked(page, 7), html, chunk), pageText, false},
		{"chunked, in another case", httpRecord(chunked(page, 7), html, "transfer-encoding: Chunked"), pageText, false},
		{"chunked, with extensions and padding", httpRecord("a;x=y\r\nVisible te\r\n2  \r\nxt\r\n0\r\n\r\n", html, chunk), pageText, false},
		{"chunked, with trailers", httpRecord(strings.TrimSuffix(chunked(page, 7), "\r\n")+"X: y\r\n\r\n", html, chunk), pageText, false},
		{"chunked, bare line ends", httpRecord(strings.ReplaceAll(chunked(page, 7), "\r\n", "\n"), html, chunk), pageText, false},
		{"chunked declared and not used", httpRecord(page, html, chunk), pageText, false},
		{"chunked declared and not used, text", httpRecord("Facade of text", "Content-Type: text/plain", chunk), "Facade of text", false},
		{"chunked declared and not used, number", httpRecord("12\nmore", "Content-Type: text/plain", chunk), "12\nmore", false},
		{"chunked, nothing in it", httpRecord("0\r\n\r\n", html, chunk), "", false},
		{"chunked, without its end", httpRecord(strings.TrimSuffix(chunked(page, 7), "0\r\n\r\n"), html, chunk), pageText, true},
		{"chunked, clipped in a chunk", httpRecord(chunked("<p>Visible", 50)[:8], html, chunk), "Vi", true},
		{"chunked, in many small chunks", httpRecord(chunked(longText, 1), html, chunk), longText, false},
		{"chunked, clipped in a size", httpRecord("7\r\nVisible\r\n1", html, chunk), "Visible", true},
		{"chunked, broken later", httpRecord("7\r\nVisible\r\nzzz\r\n", html, chunk), "Visible", true},

		{"gzip", httpRecord(member(page, 6), html, gz), pageText, false},
		{"x-gzip", httpRecord(member(page, 6), html, "Content-Encoding: X-GZIP"), pageText, false},
		{"gzip in two members", httpRecord(members("<p>Visible ", "text"), html, gz), pageText, false},
		{"gzip twice", httpRecord(member(member(page, 6), 6), html, "Content-Encoding: gzip, gzip"), pageText, false},
		{"gzip declared twice", httpRecord(member(page, 6), html, gz, gz), pageText, false},
		{"gzip declared and not used", httpRecord(page, html, gz), pageText, false},
		{"gzip, chunked", httpRecord(chunked(member(page, 6), 9), html, gz, chunk), pageText, false},
		{"gzip, chunked declared and not used", httpRecord(member(page, 6), html, gz, chunk), pageText, false},
		{"gzip, garbage after", httpRecord(member(page, 6)+"garbage", html, gz), pageText, true},
		{"gzip, checksum clipped", httpRecord(zipped[:len(zipped)-8], html, gz), longText, true},
		{"identity", httpRecord(page, html, "Content-Encoding: identity"), pageText, false},
		{"empty encoding", httpRecord(page, html, "Content-Encoding: "), pageText, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, reason := NewExtractor(options).Document(c.raw)
			if doc.Text != c.want || doc.Clipped != c.clipped || (reason == ReasonNone) != (c.want != "") {
				t.Errorf("got %q, clipped %v, reason %q", doc.Text, doc.Clipped, reason)
			}
		})
	}
}

func TestGzipThatBreaksOffIsKept(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "word%d ", i*i)
	}
	zipped := member(b.String(), 6)
	doc := document(t, httpRecord(zipped[:len(zipped)/2], "Content-Type: text/html", "Content-Encoding: gzip"))
	if !doc.Clipped || len(doc.Text) < 1000 || !strings.HasPrefix(b.String(), doc.Text) {
		t.Errorf("%d bytes of %d, clipped %v", len(doc.Text), b.Len(), doc.Clipped)
	}
}

func TestGzipBombIsLimited(t *testing.T) {
	o := options
	o.MaxRecordBytes = 5000
	bomb := member(strings.Repeat("x", 8<<20), 1)
	doc, reason := NewExtractor(o).Document(httpRecord(bomb, "Content-Type: text/plain", "Content-Encoding: gzip"))
	if reason != ReasonNone || !doc.Clipped || len(doc.Text) != 5000 || doc.Bytes != int64(len(bomb)) {
		t.Errorf("%q, %d bytes of text, clipped %v, %d bytes", reason, len(doc.Text), doc.Clipped, doc.Bytes)
	}
}

func TestUnsupportedContentEncodingIsCounted(t *testing.T) {
	for name, raw := range map[string]*Raw{
		"brotli":               httpRecord("\x0b\x02\x80", "Content-Type: text/html", "Content-Encoding: br"),
		"zstd":                 httpRecord("\x28\xb5\x2f\xfd", "Content-Type: text/html", "Content-Encoding: zstd"),
		"nonsense":             httpRecord(page, "Content-Type: text/html", "Content-Encoding: utf-8"),
		"gzip, then brotli":    httpRecord(member(page, 6), "Content-Type: text/html", "Content-Encoding: gzip, br"),
		"gzip, broken at once": httpRecord("\x1f\x8b\x08\x00", "Content-Type: text/html", "Content-Encoding: gzip"),
	} {
		if _, reason := NewExtractor(options).Document(raw); reason != ReasonEncoding {
			t.Errorf("%s: %q", name, reason)
		}
	}
}

func TestCharset(t *testing.T) {
	encode := func(e encoding.Encoding, s string) string {
		out, err := e.NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const (
		chinese, japan, korea, russian = "简体中文网页", "日本語のページ", "한국어 페이지", "Русская страница"
		html                           = "Content-Type: text/html"
	)
	utf16le := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	utf16be := unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	ascii := strings.Repeat("<!-- ASCII -->", 100)
	meta := func(charset string) string { return "<meta charset=" + charset + "><p>" }
	for _, c := range []struct {
		name, header, body, charset, want string
	}{
		{"UTF-8 BOM", html, "\xef\xbb\xbf" + chinese, "utf-8", chinese},
		{"UTF-8 BOM over the header", html + "; charset=gbk", "\xef\xbb\xbf" + chinese, "utf-8", chinese},
		{"UTF-16 BOM, little endian", html, encode(utf16le, "<p>"+chinese), "utf-16le", chinese},
		{"UTF-16 BOM, big endian", html, encode(utf16be, "<p>"+chinese), "utf-16be", chinese},
		{"UTF-16 BOM, no type", "X: y", encode(utf16le, chinese), "utf-16le", chinese},

		{"header UTF-8", html + "; charset=UTF-8", chinese, "utf-8", chinese},
		{"header GBK", html + "; charset=GBK", encode(simplifiedchinese.GBK, chinese), "gbk", chinese},
		{"header GB2312 is GBK", html + `; Charset="gb2312"`, encode(simplifiedchinese.GBK, "朱镕基"), "gbk", "朱镕基"},
		{"header Big5", html + "; charset=big5", encode(traditionalchinese.Big5, "繁體中文"), "big5", "繁體中文"},
		{"header Shift_JIS", html + "; charset=Shift_JIS", encode(japanese.ShiftJIS, japan), "shift_jis", japan},
		{"header EUC-JP", html + "; charset=euc-jp", encode(japanese.EUCJP, japan), "euc-jp", japan},
		{"header ISO-2022-JP", html + "; charset=iso-2022-jp", encode(japanese.ISO2022JP, japan), "iso-2022-jp", japan},
		{"header EUC-KR", html + ";charset=euc-kr", encode(korean.EUCKR, korea), "euc-kr", korea},
		{"header windows-1251", html + "; charset=windows-1251", encode(charmap.Windows1251, russian), "windows-1251", russian},
		{"header KOI8-R", html + "; charset=koi8-r", encode(charmap.KOI8R, russian), "koi8-r", russian},
		{"header ISO-8859-1 is windows-1252", html + "; charset=iso-8859-1", "\x93caf\xe9\x94", "windows-1252", "“café”"},
		{"header over the meta element", html + "; charset=windows-1251", meta("utf-8") + encode(charmap.Windows1251, russian), "windows-1251", russian},
		{"header unknown, meta GBK", html + "; charset=none-such", meta("gbk") + encode(simplifiedchinese.GBK, chinese), "gbk", chinese},

		{"meta GBK", html, meta("gbk") + encode(simplifiedchinese.GBK, chinese), "gbk", chinese},
		{"meta http-equiv", html, `<meta http-equiv=content-type content="text/html; charset=euc-kr">` + encode(korean.EUCKR, korea), "euc-kr", korea},
		{"meta Shift_JIS", html, meta("shift_jis") + encode(japanese.ShiftJIS, japan), "shift_jis", japan},
		{"meta ISO-2022-JP, whose bytes are ASCII", html, meta("iso-2022-jp") + encode(japanese.ISO2022JP, japan), "iso-2022-jp", japan},
		{"meta UTF-8", html, meta("utf-8") + chinese, "utf-8", chinese},
		{"meta UTF-16 can only be UTF-8", html, meta("utf-16") + chinese, "utf-8", chinese},
		{"meta GBK that is valid UTF-8 too", html, meta("gbk") + "\xc1\xaa\xcd\xa8", "gbk", "联通"},
		{"meta Latin-1 that is UTF-8", html, meta("iso-8859-1") + "café “x”", "utf-8", "café “x”"},

		{"nothing, ASCII", html, "<p>ascii", "utf-8", "ascii"},
		{"nothing, UTF-8", html, "<p>" + chinese, "utf-8", chinese},
		{"nothing, UTF-8 after 1 KB of ASCII", html, ascii + chinese, "utf-8", chinese},
		{"nothing, UTF-8 after 1 KB of ASCII, clipped", html, ascii + chinese[:len(chinese)-1], "utf-8", chinese[:len(chinese)-3] + "\uFFFD"},
		{"nothing, windows-1252", html, "<p>caf\xe9 \x80", "windows-1252", "café €"},
		{"nothing, windows-1252 after 1 KB of ASCII", html, ascii + "caf\xe9s", "windows-1252", "cafés"},
		{"nothing, clipped UTF-8", html, "<p>" + chinese[:len(chinese)-2], "utf-8", chinese[:len(chinese)-3] + "\uFFFD"},
		{"nothing, windows-1252 at the end", html, "<p>caf\xe9", "windows-1252", "café"},

		{"invalid UTF-8", html + "; charset=utf-8", "<p>a\xffb\xc3", "utf-8", "a\uFFFDb\uFFFD"},
		{"invalid GBK", html + "; charset=gbk", "<p>a\xff\xd6\xd0", "gbk", "a\uFFFD中"},
		{"encoding that browsers do not support", html + "; charset=iso-2022-kr", "<p>ascii only", "utf-8", "ascii only"},
		{"plain text", "Content-Type: text/plain; charset=windows-1251", encode(charmap.Windows1251, russian), "windows-1251", russian},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := document(t, httpRecord(c.body, c.header))
			if doc.Charset != c.charset || doc.Text != c.want {
				t.Errorf("got %s %q, want %s %q", doc.Charset, doc.Text, c.charset, c.want)
			}
		})
	}
}
