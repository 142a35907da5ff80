package page

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestFromXHTML(t *testing.T) {
	for in, want := range map[string]string{
		`<script src="a.js"/><p>Text</p>`:                                 `<script src="a.js"></script><p>Text</p>`,
		`<title/><Style/><iframe src="/>"/><textarea />x`:                 `<title></title><Style></Style><iframe src="/>"></iframe><textarea ></textarea>x`,
		`<div style='display:none'/>shown`:                                `<div style='display:none'></div>shown`,
		`<br/><img alt=">"/><hr />`:                                       `<br/><img alt=">"/><hr />`,
		`<p><![CDATA[a < b && <i>c</i>]]> d<![CDATA[]]></p>`:              `<p>a &lt; b &amp;&amp; &lt;i&gt;c&lt;/i&gt; d</p>`,
		"<script>//<![CDATA[\nif (a < b/>c) x\n//]]></script><p/>":        "<script>//<![CDATA[\nif (a < b/>c) x\n//]]></script><p></p>",
		`<!-- <p/> <![CDATA[x]]> --><b/>`:                                 `<!-- <p/> <![CDATA[x]]> --><b></b>`,
		`a < b, 1<2 <`:                                                    `a < b, 1<2 <`,
		`<p title="`:                                                      `<p title="`,
		`<![CDATA[open`:                                                   `<![CDATA[open`,
		`<script>open<p/>`:                                                `<script>open<p/>`,
		`<svg><path d="M0"/><text>t</text></svg>`:                         `<svg><path d="M0"></path><text>t</text></svg>`,
		`<!DOCTYPE html [<!ENTITY foo "b]>'r"> <!-- don't ]> --> ] ><p/>`: `<!DOCTYPE html  ><p></p>`,
		`<!doctype html PUBLIC "[" ''><p>[<b>]></b></p>`:                  `<!doctype html PUBLIC "[" ''><p>[<b>]></b></p>`,
		`<!DOCTYPE html [<!ENTITY foo "bar"><p/>`:                         `<!DOCTYPE html [<!ENTITY foo "bar"><p></p>`,
		`<!DOCTYPE html [ ] x><p/>`:                                       `<!DOCTYPE html [ ] x><p></p>`,
		`<h:style>x</h:style><a/>`:                                        `<h:style>x</h:style><a></a>`,
	} {
		if got := FromXHTML(in); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
		if again := FromXHTML(want); again != want {
			t.Errorf("%s becomes %s", want, again)
		}
	}
	if s := strings.Repeat("<a/>", 1<<18); len(FromXHTML(s)) != len("<a></a>")<<18 {
		t.Error("many tags")
	}
	if s := strings.Repeat("<!DOCTYPE a [", 1<<20); FromXHTML(s) != s {
		t.Error("many document types")
	}
}

// What it returns has no tag that closes its element, but of elements without an end tag,
// and it returns that as it is.
func FuzzFromXHTML(f *testing.F) {
	for _, s := range []string{`<p/><script/><![CDATA[<b/>]]>`, `<title>a<p/></title><q x="/>"/>`, `<a/ ><b / >`, `<script></scripty><p/></script>`, `<!DOCTYPE a [<!ENTITY b "c">]><p/>`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := FromXHTML(s)
		if FromXHTML(got) != got {
			t.Fatalf("%q becomes %q, and then %q", s, got, FromXHTML(got))
		}
		z := html.NewTokenizer(strings.NewReader(got))
		for !strings.ContainsAny(s, "\x00\"'=") && !strings.Contains(s, "<!") && z.Next() != html.ErrorToken {
			if token := z.Token(); token.Type == html.SelfClosingTagToken && rules[lookupTag(token.Data)]&(isVoid|isRaw) == 0 && !strings.ContainsAny(token.Data, `<&="`) {
				t.Fatalf("%q has %s", got, token)
			}
		}
	})
}
