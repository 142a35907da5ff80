package charset

import "testing"

// FuzzPlainMetaCharset compares the charset in plain markup with the tokenizer's.
func FuzzPlainMetaCharset(f *testing.F) {
	for _, s := range []string{
		`<!DOCTYPE html><html lang="en"><head><meta charset="gbk">`,
		`<html><head><meta http-equiv="Content-Type" content="text/html; charset=koi8-r"/>`,
		`<meta content="text/html; charset=koi8-r" http-equiv="content-type">`,
		`<meta content="text/html; charset=koi8-r"><meta charset="unknown"><meta charset="big5">`,
		`<!-- <meta charset="gbk"> --><meta charset="big5">`, `<title><meta charset="gbk"></title><meta charset="big5">`,
		`<meta charset="gbk" charset="big5">`, `<meta charset="&#103;bk">`, `<meta charset=gbk>`, `<p>a < b</p><meta charset="gbk">`,
		`<script src="a"></script><meta charset="gbk">`, `<noscript><meta charset="gbk"></noscript>`, `<meta charset="gbk"`, `<META CHARSET="GBK">`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, ok := plainMetaCharset([]byte(s)); ok && got != tokenMetaCharset([]byte(s)) {
			t.Errorf("%q: got %q, want %q", s, got, tokenMetaCharset([]byte(s)))
		}
	})
}

func TestMetaCharsetOfPlainMarkup(t *testing.T) {
	const page = "<!DOCTYPE html>\n<!-- a page --><html lang=\"en\">\n<head><meta name=\"a\" content=\"b\" />\n<meta charset=\"gbk\">"
	if got, ok := plainMetaCharset([]byte(page)); got != "gbk" || !ok {
		t.Errorf("got %q, %t, want gbk from plain markup", got, ok)
	}
}
