package extract

import "testing"

// FuzzPlainFirstElement compares the first element of plain markup with the
// tokenizer's.
func FuzzPlainFirstElement(f *testing.F) {
	for _, s := range []string{
		"<!DOCTYPE html>\n<html lang=\"en\">", `<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN"><html>`, "<!-- a --><rss version=\"2.0\">",
		"<!doctype a><!doctype b><P>", "text<p>", "<p", "</p><p>", "<!doctype>", "<title>a", "<!doctype\thtml\u00a0>", "<svg/>", "\v<p>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, doctype, ok := plainFirstElement([]byte(s))
		if !ok {
			return
		}
		if wantName, wantType := tokenFirstElement([]byte(s)); name != wantName || doctype != wantType {
			t.Errorf("%q: got %q, %q, want %q, %q", s, name, doctype, wantName, wantType)
		}
	})
}

func TestFirstElementOfPlainMarkup(t *testing.T) {
	name, doctype, ok := plainFirstElement([]byte("<?xml version=\"1.0\"?>\n<!DOCTYPE HTML PUBLIC \"-//W3C//DTD\">\n<!-- a page -->\n<HTML lang=\"en\">"))
	if name != "html" || doctype != "html" || !ok {
		t.Errorf("got %q, %q, %t, want html, html from plain markup", name, doctype, ok)
	}
}
