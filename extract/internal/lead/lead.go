// Package lead reads the plain markup that most pages start with, without the
// buffers of a tokenizer.
package lead

import "bytes"

// Kind is the kind of a Tag.
type Kind uint8

// The kinds of tags.
const (
	Start   Kind = iota // a start tag, which may end itself
	Doctype             // a document type
	Other               // an end tag, a comment or a processing instruction
)

// Tag is what Read reads.
type Tag struct {
	Kind Kind
	Name []byte // of a start tag, as written; what a document type says
	Size int    // bytes of the tag
}

// Raw reports whether the text that follows a start tag may hold no tags.
func (t Tag) Raw() bool {
	for _, name := range [...]string{"title", "script", "style", "noscript", "textarea", "iframe", "noembed", "noframes", "plaintext", "xmp"} {
		if len(t.Name) == len(name) && bytes.EqualFold(t.Name, []byte(name)) {
			return true
		}
	}
	return false
}

// Read reads the tag that b starts with. It calls attribute with the name and the
// value of each attribute of a start tag, as written. ok is false if the markup is
// cut off or not plain, so that only a tokenizer reads it exactly, or if attribute
// returned false. Otherwise the tag is that of golang.org/x/net/html.
func Read(b []byte, attribute func(name, value []byte) bool) (t Tag, ok bool) {
	if len(b) < 3 || b[0] != '<' {
		return t, false
	}
	switch {
	case isLetter(b[1]):
		return start(b, attribute)
	case b[1] == '/' && isLetter(b[2]):
		n := 2 + letters(b[2:])
		return Tag{Kind: Other, Size: n + 1}, n < len(b) && b[n] == '>'
	case b[1] == '?':
		n := bytes.IndexByte(b, '>')
		return Tag{Kind: Other, Size: n + 1}, n > 0
	case bytes.HasPrefix(b, []byte("<!--")):
		n := 4 + bytes.Index(b[4:], []byte("--"))
		return Tag{Kind: Other, Size: n + 3}, n > 4 && b[4] != '>' && b[4] != '-' && n+2 < len(b) && b[n+2] == '>'
	}
	const doctype = "<!doctype"
	if len(b) > len(doctype) && bytes.EqualFold(b[:len(doctype)], []byte(doctype)) {
		n := bytes.IndexByte(b, '>')
		if n > 0 {
			t = Tag{Doctype, b[len(doctype):n], n + 1}
		}
		return t, n > 0 && bytes.IndexByte(t.Name, '&') < 0 && bytes.IndexByte(t.Name, '\r') < 0
	}
	return t, false
}

// start reads a start tag.
func start(b []byte, attribute func(name, value []byte) bool) (t Tag, ok bool) {
	n := 1 + letters(b[1:])
	t.Name = b[1:n]
	for {
		from := n
		for n < len(b) && isSpace(b[n]) {
			n++
		}
		switch {
		case n == len(b):
			return t, false
		case b[n] == '/' && n+1 < len(b) && b[n+1] == '>':
			t.Size = n + 2
			return t, true
		case b[n] == '>':
			t.Size = n + 1
			return t, true
		case n == from: // no space before the attribute
			return t, false
		}
		name := b[n:]
		name = name[:letters(name)]
		n += len(name)
		if len(name) == 0 || n+1 >= len(b) || b[n] != '=' || b[n+1] != '"' {
			return t, false
		}
		n += 2
		size := bytes.IndexByte(b[n:], '"')
		if size < 0 || !attribute(name, b[n:n+size]) {
			return t, false
		}
		n += size + 1
	}
}

// letters returns the number of bytes that b starts with and that names consist of.
func letters(b []byte) (n int) {
	for n < len(b) && (isLetter(b[n]) || b[n]-'0' <= 9 || b[n] == '-' || b[n] == ':') {
		n++
	}
	return n
}

func isLetter(c byte) bool { return c|0x20-'a' <= 'z'-'a' }

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }
