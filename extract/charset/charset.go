package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"

	"neardup/extract/internal/lead"
)

// Source is how a page's charset was decided.
type Source string

// The sources, in order of precedence.
const (
	FromBOM      Source = "bom"      // a byte order mark
	FromHTTP     Source = "http"     // the Content-Type of the response or record
	FromMeta     Source = "meta"     // a meta element
	FromXML      Source = "xml"      // the XML declaration; in XHTML it precedes meta
	FromUTF8     Source = "utf-8"    // the text is UTF-8 (or ASCII), and nothing or another charset is declared
	FromText     Source = "detected" // guessed from the text
	FromFallback Source = "fallback" // windows-1252, as in browsers
)

// Charsets with special treatment, by their names in the WHATWG Encoding Standard.
const (
	utf8Name    = "utf-8"
	utf16LE     = "utf-16le"
	utf16BE     = "utf-16be"
	windows1252 = "windows-1252"
	iso2022JP   = "iso-2022-jp"
	gbk         = "gbk"
	gb18030     = "gb18030"
)

// Decision is the charset that a body was decoded from, and why.
type Decision struct {
	Name      string // name in the WHATWG Encoding Standard
	From      Source
	Overruled bool // the text cannot be in the declared charset
}

// Body is a body with what is declared about it.
type Body struct {
	Bytes       []byte
	MediaType   string
	ContentType string // as declared
}

const (
	// prescanned is how many bytes are searched for a meta element. The HTML
	// standard says 1,024, and lets a later meta element still change the charset
	// (13.2.3.5). The larger value is for pages that start with long scripts.
	prescanned = 16 << 10
	// fewSequences and fewWide are how much UTF-8 a body must have to overrule a
	// declared charset that itself uses two bytes per character: "联通" in GBK is
	// also valid UTF-8.
	fewSequences, fewWide = 8, 3

	widened = 4 << 10 // bytes in which UTF-16 without a byte order mark is recognized
	sniffed = 1 << 10 // bytes that decide a media type; browsers take 1,445
)

// Decode decodes the body to valid UTF-8. The declared charset holds unless the
// body shows that it is wrong. Text outside ASCII that is valid UTF-8 is UTF-8.
// Zeros in every other byte mean UTF-16. A charset in which most of the text cannot
// be decoded is not the page's. The string of a body that is UTF-8 shares its memory,
// so the body must not change any more.
func Decode(b Body) (s string, d Decision) {
	body := b.Bytes
	if name, n := bom(body); name != "" {
		return decodeFrom(body[n:], name), Decision{Name: name, From: FromBOM}
	}
	name, from := declared(b)
	d = Decision{Name: name, From: from}
	switch wide := utf16Of(body[:min(len(body), widened)]); {
	case wide != "" && wide == name:
		return decodeFrom(body, name), d
	case wide != "":
		d = Decision{Name: wide, From: FromText}
	case name == "":
		return undeclared(body)
	case name == utf8Name && utf8.Valid(body):
		return shared(body), d
	case name == utf8Name && isUTF8(body):
		return decodeFrom(body, name), d
	case name != utf8Name && overruledByUTF8(body, name):
		d = Decision{Name: utf8Name, From: FromUTF8}
	default:
		s = decodeFrom(body, name)
		if !mostlyReplaced(s) {
			return s, d
		}
		guess, g := undeclared(body)
		if mostlyReplaced(guess) || g.From == FromFallback && !mostlyLetters(guess) {
			return s, d // the text stays mojibake, so that this is visible
		}
		g.Overruled = true
		return guess, g
	}
	d.Overruled = name != ""
	return decodeFrom(body, d.Name), d
}

// undeclared decodes a body whose charset nothing tells.
func undeclared(body []byte) (string, Decision) {
	d := Decision{Name: windows1252, From: FromFallback}
	if isISO2022JP(body) {
		d = Decision{Name: iso2022JP, From: FromText}
	} else if isUTF8(body) {
		d = Decision{Name: utf8Name, From: FromUTF8}
	} else if name := detect(body); name != "" {
		d = Decision{Name: name, From: FromText}
	}
	return decodeFrom(body, d.Name), d
}

// decodeFrom decodes a body from a charset of the WHATWG Encoding Standard.
func decodeFrom(body []byte, name string) string {
	if name == utf8Name {
		return validUTF8(body)
	}
	if name == gbk { // WHATWG Encoding Standard, 10.1.1: "GBK's decoder is gb18030's decoder"
		name = gb18030
	}
	enc, _ := charset.Lookup(name)
	b, _ := enc.NewDecoder().Bytes(body) // the decoder writes U+FFFD for what it cannot decode
	return validUTF8(b)
}

// validUTF8 returns b with U+FFFD for each byte, or beginning of a code point, that is not
// UTF-8, as browsers do. So texts that differ in how much of them cannot be decoded differ.
func validUTF8(b []byte) string {
	if utf8.Valid(b) { // several times as fast as the rest
		return shared(b)
	}
	b, _ = unicode.UTF8.NewDecoder().Bytes(b) // it replaces what is wrong
	return shared(b)
}

// shared returns b as a string without a copy, which would be a fifth of the memory
// that extraction allocates.
func shared(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bom returns the charset of the body's byte order mark, and the length of the
// mark.
func bom(body []byte) (name string, n int) {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return utf8Name, 3
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return utf16BE, 2
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return utf16LE, 2
	}
	return "", 0
}

// declared returns the charset that the page or its header names.
func declared(b Body) (string, Source) {
	if name := Labelled(b.ContentType); name != "" {
		return name, FromHTTP
	}
	if b.MediaType == "text/plain" {
		return "", ""
	}
	head := b.Bytes[:min(len(b.Bytes), prescanned)]
	meta, xml := metaCharset(head), xmlCharset(head)
	if xml != "" && (meta == "" || b.MediaType == "application/xhtml+xml") {
		return xml, FromXML
	}
	if meta != "" {
		return meta, FromMeta
	}
	return "", ""
}

// lookup returns the name of the charset with a label. It returns "" for
// "replacement", which would make the pages of all unsupported charsets equal, and
// for x-user-defined, which is for scripts.
func lookup(label string) string {
	if _, name := charset.Lookup(label); name != "replacement" && name != "x-user-defined" {
		return name
	}
	return ""
}

// Labelled returns the name of the charset in a Content-Type, or "".
func Labelled(contentType string) string { return lookup(labelIn(contentType)) }

// inMarkup is lookup for a label that was read as ASCII.
func inMarkup(label string) string {
	name := lookup(label)
	if strings.HasPrefix(name, "utf-16") {
		return utf8Name
	}
	return name
}

// labelIn returns the charset in a Content-Type. It also reads those that
// mime.ParseMediaType rejects, such as one that repeats a parameter.
func labelIn(contentType string) string {
	rest := strings.ToLower(contentType)
	for {
		var found bool
		if _, rest, found = strings.Cut(rest, "charset"); !found {
			return ""
		}
		value, ok := strings.CutPrefix(strings.TrimLeft(rest, " \t\r\n\f"), "=")
		if !ok {
			continue
		}
		value = strings.TrimLeft(value, " \t\r\n\f\"'")
		if i := strings.IndexAny(value, " \t\r\n\f\"',;"); i >= 0 {
			value = value[:i]
		}
		return value
	}
}

// metaCharset returns the charset that a meta element names (HTML standard,
// 13.2.3.2). Comments and scripts are ignored.
func metaCharset(head []byte) string {
	if !namesCharset(head) {
		return ""
	}
	if name, ok := plainMetaCharset(head); ok {
		return name
	}
	return tokenMetaCharset(head)
}

// plainMetaCharset is tokenMetaCharset for pages that start with plain markup. ok is
// false if something else comes before a charset.
func plainMetaCharset(head []byte) (name string, ok bool) {
	for at := 0; ; {
		i := bytes.IndexByte(head[at:], '<')
		if i < 0 {
			return "", false
		}
		var m meta
		t, ok := lead.Read(head[at+i:], m.attribute)
		if !ok {
			return "", false
		}
		at += i + t.Size
		switch {
		case t.Kind != lead.Start:
		case bytes.EqualFold(t.Name, []byte("meta")):
			if name := m.charset(); name != "" {
				return name, true
			}
		case t.Raw():
			return "", false
		}
	}
}

// meta is what a meta element says of the charset.
type meta struct {
	pragma          bool
	direct, content string
	seen            [3]bool
}

// attribute notes an attribute. ok is false if it comes again, or if its value is
// written with character references or line ends.
func (m *meta) attribute(key, value []byte) (ok bool) {
	at := 0
	switch {
	case bytes.EqualFold(key, []byte("http-equiv")):
		m.pragma = strings.EqualFold(strings.TrimSpace(string(value)), "content-type")
	case bytes.EqualFold(key, []byte("content")):
		at, m.content = 1, labelIn(string(value))
	case bytes.EqualFold(key, []byte("charset")):
		at, m.direct = 2, string(value)
	default:
		return true
	}
	again := m.seen[at]
	m.seen[at] = true
	return !again && bytes.IndexByte(value, '&') < 0 && bytes.IndexByte(value, '\r') < 0
}

func (m *meta) charset() string {
	label := m.direct
	if label == "" && m.pragma {
		label = m.content
	}
	return inMarkup(label)
}

// tokenMetaCharset is metaCharset by the tokenizer.
func tokenMetaCharset(head []byte) string {
	z := html.NewTokenizer(bytes.NewReader(head))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return ""
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		if name, _ := z.TagName(); string(name) != "meta" {
			continue
		}
		var m meta
		for more := true; more; {
			var key, value []byte
			key, value, more = z.TagAttr()
			_ = m.attribute(key, value) // none comes again, and values are as meant
		}
		if name := m.charset(); name != "" {
			return name
		}
	}
}

func namesCharset(head []byte) bool {
	for i := 0; i+len("charset") <= len(head); i++ {
		if head[i]|0x20 == 'c' && head[i+1]|0x20 == 'h' && hasFold(head[i:], "charset") {
			return true
		}
	}
	return false
}

// xmlCharset returns the charset that an XML declaration names.
func xmlCharset(head []byte) string {
	declaration, found := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("<?xml"))
	end := bytes.Index(declaration, []byte("?>"))
	if !found || end < 0 {
		return ""
	}
	_, rest, found := bytes.Cut(declaration[:end], []byte("encoding"))
	rest, equals := bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("="))
	if rest = bytes.TrimLeft(rest, " \t\r\n"); !found || !equals || len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	label, _, _ := bytes.Cut(rest[1:], rest[:1])
	return inMarkup(string(label))
}

// isUTF8 reports whether b is UTF-8. The last code point may be clipped if others
// show the encoding.
func isUTF8(b []byte) bool {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if last := b[len(b)-n:]; utf8.RuneStart(last[0]) {
			if rest := b[:len(b)-n]; !utf8.FullRune(last) && !isASCII(rest) {
				b = rest
			}
			break
		}
	}
	return utf8.Valid(b)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// overruledByUTF8 reports whether a body that is declared to be in another charset
// is UTF-8. Text in a single-byte charset is hardly ever valid UTF-8 by chance;
// short text in a double-byte charset can be.
func overruledByUTF8(body []byte, name string) bool {
	switch name {
	case utf16LE, utf16BE: // from the header; inside markup it means utf-8
		return bytes.IndexByte(body, 0) < 0 && isUTF8(body)
	case gbk, gb18030, "big5", "euc-jp", "euc-kr", "shift_jis":
	case iso2022JP:
		return !isASCII(body) && isUTF8(body)
	default:
		return !isASCII(body) && isUTF8(body)
	}
	if isASCII(body) || !isUTF8(body) {
		return false
	}
	sequences, wide := 0, 0
	for _, c := range body {
		if c >= 0xc0 {
			sequences++
		}
		if c >= 0xe0 {
			wide++
		}
	}
	return sequences >= fewSequences || wide >= fewWide || strings.Contains(decodeFrom(body, name), "\uFFFD")
}

// utf16Of returns the byte order of a UTF-16 body without a byte order mark, or "".
// Such a body has zeros in every other byte, from markup, spaces and Latin text: at
// least one character in sixteen.
func utf16Of(head []byte) string {
	if bytes.IndexByte(head, 0) < 0 { // nearly all pages
		return ""
	}
	n := len(head) / 2
	var zeros [2]int // zeros beside printable ASCII, by parity
	for i := 0; i+1 < len(head); i += 2 {
		switch a, b := head[i], head[i+1]; {
		case a == 0 && isPrintable(b):
			zeros[0]++
		case b == 0 && isPrintable(a):
			zeros[1]++
		case a == 0 && b == 0:
			return ""
		}
	}
	few, least := n/50, max(n/16, 3)
	switch {
	case zeros[1] > least && zeros[0] <= few:
		return utf16LE
	case zeros[0] > least && zeros[1] <= few:
		return utf16BE
	}
	return ""
}

func isPrintable(c byte) bool {
	return c >= ' ' && c < 0x7f || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}

// isISO2022JP reports whether a body of ASCII bytes has escape sequences that
// switch to Japanese.
func isISO2022JP(body []byte) bool {
	return (bytes.Contains(body, []byte("\x1b$B")) || bytes.Contains(body, []byte("\x1b$@"))) && isASCII(body)
}

// mostlyReplaced reports whether over half of the characters outside ASCII, and
// more than two, could not be decoded.
func mostlyReplaced(s string) bool {
	replaced := strings.Count(s, "\uFFFD")
	if replaced <= 2 {
		return false
	}
	other := 0
	for i := range len(s) {
		if s[i] >= 0xc0 { // first byte of a code point
			other++
		}
	}
	return replaced > other/2
}

// Sniffable returns the start of a body for rules that expect ASCII: without a byte
// order mark, and with UTF-16 narrowed to bytes. declared is the declared charset.
func Sniffable(body []byte, declared string) []byte {
	head := body[:min(len(body), sniffed)]
	name, n := bom(head)
	if head = head[n:]; name == "" {
		name = utf16Of(head)
	}
	if name == "" && bytes.IndexByte(head, 0) >= 0 {
		name = declared
	}
	odd := 0
	switch name {
	case utf16BE:
		odd = 1
	case utf16LE:
	default:
		return head
	}
	out := make([]byte, 0, len(head)/2)
	for i := 0; i+1 < len(head); i += 2 {
		c := head[i+odd]
		if head[i+1-odd] != 0 {
			c = 0x80 // any character outside ASCII
		}
		out = append(out, c)
	}
	return out
}
