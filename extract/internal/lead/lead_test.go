package lead

import (
	"bytes"
	"testing"

	"golang.org/x/net/html"
)

// FuzzRead compares tags with those of the tokenizer.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`<html lang="en" xml:lang="en">`, `<meta charset="utf-8"/>`, `<br/>`, `<br />`, `</head>`, `</p >`, `<!-- a -->`, `<!-->`, `<!--->-->`,
		`<!-- a --!>`, `<!----->`, `<!doctype html>`, `<!DOCTYPE html PUBLIC "-//W3C//DTD">`, `<?xml version="1.0"?>`, `<a b=c>`, `<a b = "c">`,
		`<a b='c'>`, `<a b>`, `<a b="c"d="e">`, `<a b="`, `<a`, `<a/b>`, `<1>`, `<a =">" >`, `<title>`, `<a b="c" b="d">`, "<a\u00e9>", "<!doctype\r\nhtml>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got, want []string
		tag, ok := Read([]byte(s), func(name, value []byte) bool {
			got = append(got, string(bytes.ToLower(name)))
			return bytes.IndexByte(value, '&') < 0 && bytes.IndexByte(value, '\r') < 0
		})
		if !ok {
			return
		}
		z := html.NewTokenizer(bytes.NewReader([]byte(s)))
		kind := z.Next()
		if raw := string(z.Raw()); raw != s[:tag.Size] {
			t.Fatalf("%q: read %q, want %q", s, s[:tag.Size], raw)
		}
		switch kind {
		case html.DoctypeToken:
			if name := string(bytes.TrimLeft(tag.Name, " \n\r\t\f")); tag.Kind != Doctype || name != string(z.Text()) {
				t.Errorf("%q: read the document type %q", s, name)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			if !bytes.Equal(bytes.ToLower(tag.Name), name) || tag.Kind != Start {
				t.Errorf("%q: read the name %q, want %q", s, tag.Name, name)
			}
			for more {
				var key []byte
				key, _, more = z.TagAttr()
				want = append(want, string(key))
			}
			seen := map[string]bool{}
			once := got[:0]
			for _, k := range got { // the tokenizer leaves out repeated ones
				if !seen[k] {
					once = append(once, k)
				}
				seen[k] = true
			}
			if len(once) != len(want) {
				t.Errorf("%q: attributes %q, want %q", s, once, want)
			}
		default:
			if tag.Kind != Other {
				t.Errorf("%q: a tag of kind %d, which the tokenizer has as %v", s, tag.Kind, kind)
			}
		}
		if raw := z.Next(); tag.Kind == Start && !tag.Raw() && raw == html.TextToken && len(s) > tag.Size+1 && s[tag.Size] == '<' && isLetter(s[tag.Size+1]) && bytes.IndexByte([]byte(s[tag.Size:]), '>') > 0 {
			t.Errorf("%q: text follows that holds no tags", s)
		}
	})
}
