package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
)

// Source says how a page's charset was decided. Earlier ones go first.
type Source string

// The ways to decide.
const (
	FromBOM      Source = "bom"      // a byte order mark
	FromHTTP     Source = "http"     // the Content-Type of the response or record
	FromMeta     Source = "meta"     // a meta element
	FromXML      Source = "xml"      // the XML declaration; in XHTML it goes before meta
	FromUTF8     Source = "utf-8"    // the text is UTF-8 (or ASCII) and nothing, or something else, is declared
	FromText     Source = "detected" // guessed from the text
	FromFallback Source = "fallback" // windows-1252, as browsers have it
)

// Encodings that are treated apart, by their names in the WHATWG Encoding
// Standard.
const (
	utf8Name    = "utf-8"
	utf16LE     = "utf-16le"
	utf16BE     = "utf-16be"
	windows1252 = "windows-1252"
	iso2022JP   = "iso-2022-jp"
)

// Decision is the charset that a body was decoded from.
type Decision struct {
	Name      string // in the WHATWG Encoding Standard
	From      Source
	Overruled bool // what is declared cannot be the charset of the text
}

// Body is what a charset is decided by.
type Body struct {
	Bytes       []byte
	MediaType   string
	ContentType string // as declared
}

const (
	// prescanned is how far a meta element is looked for. The HTML standard
	// says 1,024 bytes, and that a meta element met later still changes the
	// encoding (13.2.3.5); this is for pages that start with long scripts.
	prescanned = 16 << 10
	// fewSequences and fewWide are how much UTF-8 there must be to overrule a
	// declared encoding that uses two bytes a character itself: "联通" in GBK
	// is UTF-8 too.
	fewSequences, fewWide = 8, 3

	widened = 4 << 10 // bytes in which UTF-16 without a byte order mark shows itself
	sniffed = 1 << 10 // bytes by which a media type is told; browsers take 1,445
)

// Decode decodes the body to valid UTF-8. What a page declares holds, unless
// the body shows that it is wrong: text that is not ASCII and yet valid UTF-8
// is UTF-8, zeros in every other byte are UTF-16, and a charset in which most
// of the text is no text is not the page's.
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
			return s, d // mojibake, and it shall show
		}
		g.Overruled = true
		return guess, g
	}
	d.Overruled = name != ""
	return decodeFrom(body, d.Name), d
}

// undeclared decodes a body of which nothing tells the charset.
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

// decodeFrom decodes a body from an encoding of the WHATWG Encoding Standard.
func decodeFrom(body []byte, name string) string {
	if name == utf8Name {
		return validUTF8(body)
	}
	enc, _ := charset.Lookup(name)
	b, _ := enc.NewDecoder().Bytes(body) // a decoder puts U+FFFD for what it cannot decode
	return validUTF8(b)
}

func validUTF8(b []byte) string {
	if utf8.Valid(b) { // several times as fast as what follows
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// bom returns the encoding of which the body has a byte order mark, and its length.
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

// declared returns the encoding that the page or its header names.
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

// lookup returns the name of the encoding with a label. "replacement", which is
// what browsers show of encodings that they do not support, would make all
// such pages the same, and x-user-defined is for scripts.
func lookup(label string) string {
	if _, name := charset.Lookup(label); name != "replacement" && name != "x-user-defined" {
		return name
	}
	return ""
}

// Labelled returns the name of the encoding that a Content-Type names, or empty.
func Labelled(contentType string) string { return lookup(labelIn(contentType)) }

// inMarkup is lookup for a label that was read as ASCII.
func inMarkup(label string) string {
	name := lookup(label)
	if strings.HasPrefix(name, "utf-16") {
		return utf8Name
	}
	return name
}

// labelIn returns the charset in a Content-Type, also in those that
// mime.ParseMediaType refuses, such as one with the same parameter twice.
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

// metaCharset returns the encoding that a meta element names (HTML standard,
// 13.2.3.2, with the tokenizer, so that comments and scripts have no say).
func metaCharset(head []byte) string {
	if !namesCharset(head) {
		return ""
	}
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
		pragma, label := false, ""
		direct, content := "", ""
		for more := true; more; {
			var key, value []byte
			key, value, more = z.TagAttr()
			switch string(key) {
			case "http-equiv":
				pragma = strings.EqualFold(strings.TrimSpace(string(value)), "content-type")
			case "content":
				content = labelIn(string(value))
			case "charset":
				direct = string(value)
			}
		}
		if label = direct; label == "" && pragma {
			label = content
		}
		if name := inMarkup(label); name != "" {
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

// xmlCharset returns the encoding that an XML declaration names.
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

// isUTF8 reports whether b is UTF-8. The last code point may be clipped where
// there are others that show the encoding.
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

// overruledByUTF8 reports whether a body that is declared to be in another
// encoding is UTF-8. Text in an encoding of one byte a character is hardly ever
// UTF-8 by chance; of one of two bytes, short text is.
func overruledByUTF8(body []byte, name string) bool {
	switch name {
	case utf16LE, utf16BE: // a header; in markup it reads utf-8
		return bytes.IndexByte(body, 0) < 0 && isUTF8(body)
	case "gbk", "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis":
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

// utf16Of returns the UTF-16 that a body without a byte order mark shows by zeros
// in every other byte: those of markup, spaces and Latin text, one in sixteen
// characters at least.
func utf16Of(head []byte) string {
	n := len(head) / 2
	var zeros [2]int // beside printable ASCII
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

// isISO2022JP reports whether a body of ASCII bytes switches to Japanese.
func isISO2022JP(body []byte) bool {
	return (bytes.Contains(body, []byte("\x1b$B")) || bytes.Contains(body, []byte("\x1b$@"))) && isASCII(body)
}

// mostlyReplaced reports whether over half of what is not ASCII, and more than
// two places, could not be decoded.
func mostlyReplaced(s string) bool {
	replaced := strings.Count(s, "\uFFFD")
	if replaced <= 2 {
		return false
	}
	other := 0
	for i := range len(s) {
		if s[i] >= 0xc0 { // the first byte of a code point
			other++
		}
	}
	return replaced > other/2
}

// Sniffable returns the start of a body for the rules that know ASCII: without a
// byte order mark, and UTF-16 narrowed, of which it may be declared to be.
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
			c = 0x80 // some character
		}
		out = append(out, c)
	}
	return out
}
