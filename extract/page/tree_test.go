package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"neardup/extract/internal/testkit"
)

// checkBlocks holds blocks against the text: one for each line, ending where
// that ends, with no more in links than the line has.
func checkBlocks(t *testing.T, s shown) {
	t.Helper()
	var lines []string
	if s.text != "" {
		lines = strings.Split(s.text, "\n")
	}
	if len(s.blocks) != len(lines) {
		t.Fatalf("%q: %d blocks", s.text, len(s.blocks))
	}
	end := -1
	for i, line := range lines {
		end += 1 + len(line)
		b := s.blocks[i]
		if inked := len(line) - strings.Count(line, " "); int(b.end) != end || b.links < 0 || int(b.links) > inked {
			t.Errorf("%q: line %d is %+v", s.text, i, b)
		}
	}
}

// options are those of most tests.
var options = Options{Clean: CleanNone, Overlays: OverlaysDrop}

func TestVisibleText(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"empty", "", ""},
		{"no markup", "one  two\nthree", "one two three"},
		{"inline elements join", "<p>a<b>b</b><i>c</i> <span>d</span><a href=x>e</a>", "abc de"},
		{"word break opportunity joins", "long<wbr>word soft\u00adhyphen", "longword softhyphen"},
		{"blocks break", "<div>a<div>b</div>c</div><p>d<h1>e</h1>f", "a|b|c|d|e|f"},
		{"sections break", "<main><nav>a</nav><article>b<header>c</header></article><footer>d</footer></main>", "a|b|c|d"},
		{"search breaks", "<p>a<search>b</search>c<search>d</search><search>e</search>", "a|b|c|d|e"},
		{"br and hr break", "a<br>b<br/>c<hr>d", "a|b|c|d"},
		{"an image does not break", "a<img src=x alt=nothing>b", "ab"},
		{"table cells break", "<table><caption>t</caption><tr><td>a<td>b<tr><th>c</table>", "t|a|b|c"},
		{"lists break", "<ul><li>a<li>b<ol><li>c</ol></ul><dl><dt>d<dd>e</dl>", "a|b|c|d|e"},
		{"forms", "<form><fieldset><legend>a</legend><label>b</label> <button>c</button></fieldset></form>", "a|b c"},
		{"a text area keeps its lines", "<textarea>a\n b\r\nc</textarea>", "a|b|c"},
		{"pre keeps its lines and not its columns", "<pre>\na   b\n\n\n  <b>c</b>d\n</pre>e", "a b|cd|e"},
		{"line ends outside pre are spaces", "<p>a\nb\r\n\r\nc\td\fe", "a b c d e"},
		{"spaces at tags collapse", "<p> a <b> b </b> c </p> d", "a b c|d"},
		{"details are text", "<details><summary>a</summary>b</details>", "a|b"},
		{"ruby", "<ruby>漢<rt>kan</rt></ruby>字", "漢kan字"},
		{"ruby with parentheses", "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>字<ruby>漢<rp>(<rt>kan<rp>)</ruby>", "漢kan字漢kan"},
		{"formula with annotations", `<math><semantics><mi>x</mi><annotation encoding="application/x-tex">\\x</annotation><annotation-xml encoding=text/html><p>z</p></annotation-xml></semantics></math> y`, "x y"},
		{"bars", "<meter>a</meter><progress>b</progress>c", "c"},
		{"popover", `<div popover>a</div>b<div popover=manual>c<p>d</div>e<div popover style="display:block">f</div>`, "be|f"},

		{"hidden", "<p hidden>a</p>b", "b"},
		{"part of a streamed page", `<div hidden>x</div>a<div hidden id="S:1f"><p>b</div><div hidden id="B:1">c</div>`, "a|b"},
		{"hidden with a value", "<p hidden=until-found>a</p>b", "b"},
		{"hidden page that a script shows", "<html hidden><body style='display:none'>a<p hidden>b", "a"},
		{"inside hidden", "<div hidden><p>a<span>b</span></div>c", "c"},
		{"hidden inside inline", "a<span hidden>b</span>c", "ac"},
		{"display none", `<p style="display:none">a</p>b`, "b"},
		{"display none, important", `<p style="color:red;DISPLAY : None !important ; x">a</p>b`, "b"},
		{"display none, odd spacing", "<p style=' ; display\n:\tNONE!important'>a</p>b", "b"},
		{"display other", `<p style="display:block;display-none:none">a</p>b`, "a|b"},
		{"style that is no style", `<p style="none">a</p><p style=":">b</p><p style>c</p>`, "a|b|c"},
		{"visibility hidden", `<p style="visibility: hidden">a</p><p style="visibility:collapse">b</p><p style="visibility:visible">c</p>`, "c"},
		{"the last display counts", `<p style="display:none;display:flex">a</p><p style="display:flex;display:none">b</p><p style="visibility:hidden;visibility:visible">c</p>`, "a|c"},
		{"the important display counts", `<p style="display:none!important;display:flex">a</p><p style="display:none ! IMPORTANT;display:flex!important">b</p>`, "b"},
		{"display that browsers do not know", `<p style="display:none;display:">a</p><p style="display:none;display:block\9">b</p>c`, "c"},
		{"display over hidden", `<p hidden style="display:block">a</p><p style="display:none" hidden>b</p><p hidden style="color:red">c</p><dialog style="display:block">d</dialog>`, "a|d"},
		{"visibility over hidden", `<p hidden style="visibility:visible">a</p><p hidden style="display:block;visibility:hidden">b</p>c`, "c"},
		{"display with comments", `<p style="/*x*/display:none">a</p><p style="display/* : */:none/*x*/">b</p><p style="/*display:none">c</p><p style="/*/display:none">d</p>`, "c|d"},
		{"dialog", "<dialog>a</dialog><dialog open>b</dialog>c", "b|c"},
		{"dialog open and hidden", "<dialog open hidden>a</dialog>b", "b"},

		{"script and style", "a<script>b</script><style>c</style>d", "ad"},
		{"script that writes markup", "a<script>document.write('<p>b</p><\\/script>')</script>c", "ac"},
		{"template", "a<template><p>b</p></template>c", "ac"},
		{"shadow root", "<x-a><template shadowrootmode=open><p>b</p></template>c</x-a>", "b\nc"},
		{"closed shadow root in a template", "a<template><x-a><template shadowrootmode=CLOSED>b</template></x-a></template>c", "ac"},
		{"table in a shadow root", "<x-a><template shadowrootmode=open>a<table>b<tr><td>c</table></template></x-a>d", "ab\nc\nd"},
		{"noscript", "a<noscript><p>b</p></noscript>c", "ac"},
		{"svg", "a<svg><title>b</title><text>c</text><desc>d</desc></svg>e", "ae"},
		{"select", "a<select><option>b<option>c</select><datalist><option>d</datalist>e", "ae"},
		{"embedded", "a<iframe>b</iframe><object>c</object><video>d</video><audio>e</audio><canvas>f</canvas>g", "ag"},
		{"frames", "<frameset><frame src=x><noframes>a</noframes></frameset>", ""},
		{"title in the head", "<head><title>a</title></head><body>b", "b"},
		{"title in the body", "<body>b<title>a</title>c", "bc"},
		{"mathematics is text", "<math><mi>x</mi><mo>=</mo><mn>1</mn></math>", "x=1"},

		{"entities", "a&amp;b &lt;c&gt; &eacute;&#x4e2d;&#128512; &unknown; &copy", "a&b <c> é中😀 &unknown; ©"},
		{"entities of spaces", "a&nbsp;&nbsp;b&emsp;c&#x3000;d&ensp;", "a b c d"},
		{"Unicode spaces", "a\u00a0b\u2003c\u3000d\u2028e\u1680f\u205fg\u0085h", "a b c d e f g h"},
		{"nothing but spaces", "<p>&nbsp;</p><p>\u3000 \u2003</p>", ""},
		{"no width", "a\u200bb\ufeffc\u2060d\u00ade", "abcde"},
		{"joiners are letters", "ن\u200cا \u0915\u094d\u200d\u0937", "ن\u200cا \u0915\u094d\u200d\u0937"},
		{"only what has no width", "<p>\u200b</p>\ufeff", ""},
		{"comments", "a<!-- b --><!-->c--><!doctype x>d<![CDATA[e]]>f<?php g ?>h", "ac-->dfh"},
		{"conditional comments", "<!--[if IE]>a<![endif]--><![if !IE]>b<![endif]>", "b"},

		{"unclosed tags", "<div><p>a<b>b<p>c", "ab|c"},
		{"tag that never ends", "a<p class=\"b", "a"},
		{"end tags alone", "a</div></b></p>b", "a|b"},
		{"foster-parented text", "<table>a<tr>b<td>c</table>d", "ab|c|d"},
		{"nested links", "<a href=1>a<a href=2>b</a>c</a>", "abc"},
		{"nested buttons and forms", "<button>a<button>b</button></button><form>c<form>d</form></form>", "ab|cd"},
		{"misnested formatting", "<b>a<p>b</b>c</p>", "a|bc"},
		{"frameset after text", "a<frameset>b", "ab"},
		{"plaintext", "a<plaintext>b</plaintext>\n<c>", "a|b</plaintext>|<c>"},
		{"NUL bytes", "a\x00b<p>c\x00</p><pre>\x00d</pre>", "ab|c|d"},
		{"control characters", "a\x01b\x1bc\x7fd", "abcd"},
		{"what is no tag", "1 < 2 > 0 <3", "1 < 2 > 0 <3"},
	} {
		s := visibleText(c.page, 1<<20)
		got := s.text
		testkit.CheckLines(t, got, 1<<20)
		checkBlocks(t, s)
		if want := strings.ReplaceAll(c.want, "|", "\n"); got != want {
			t.Errorf("%s: %q\ngot  %q\nwant %q", c.name, c.page, got, want)
		}
	}
}

// What a page is for, and its main content where it is certain.
func TestMainContentOfAPage(t *testing.T) {
	o := options
	o.Clean = CleanMain
	article := "<nav><a href=/>Home</a> <a href=/c>Contact us</a></nav><h1>A story</h1>" +
		strings.Repeat("<p>It is told at some length, so that nobody takes it for a list of links to others.</p>", 5)
	index := "<p>News</p><ul>" + strings.Repeat("<li><a href=x>A headline that leads to a story</a></li>", 20) + "</ul>"
	for _, c := range []struct {
		page  string
		kind  Kind
		whole bool
	}{{article, KindTopic, false}, {index, KindNavigation, true}} {
		all, got := NewReader(options).Read(c.page, "", 1<<20), NewReader(o).Read(c.page, "", 1<<20)
		if all.Kind != c.kind || got.Kind != c.kind {
			t.Errorf("%.40q: %s, and %s of the main content", c.page, all.Kind, got.Kind)
		}
		if all.MainUnsure || got.MainUnsure != c.whole || (got.Text == all.Text) != c.whole || got.Visible != all.Text || all.Visible != all.Text {
			t.Errorf("%.40q: unsure %v\ngot %q\nall %q", c.page, got.MainUnsure, got.Text, all.Text)
		}
		if !c.whole && (strings.Contains(got.Text, "Contact") || !strings.Contains(all.Text, "Contact") || !strings.HasPrefix(got.Text, "It is told") || got.Title != "A story") {
			t.Errorf("%.40q: got %q\nall %q", c.page, got.Text, all.Text)
		}
	}
	if empty := NewReader(o).Read("<p>", "", 100); empty != (Text{}) {
		t.Errorf("an empty page: %+v", empty)
	}
}

func TestTitle(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"<p>none", ""},
		{"<title> a\n  &amp; b </title>", "a & b"},
		{"<title>a</title><title>b</title>", "a"},
		{"<body>text<title>late</title>", "late"},
		{"<svg><title>drawing</title></svg><title>page</title>", "page"},
		{"<title>a <b>not markup</b></title>", "a <b>not markup</b>"},
		{"<title>" + strings.Repeat("é", 10000) + "</title>", strings.Repeat("é", 2047)},
	} {
		if got := visibleText(c.page, 100).title; got != c.want {
			t.Errorf("%.60q: got %q, want %q", c.page, got, c.want)
		}
	}
}

func TestPlainTextKeepsItsLines(t *testing.T) {
	got, _ := PlainText("a  <b>\r\n\r\nb &amp;\tc\rd\u2028e\x00\n \n", 100)
	if want := "a <b>\nb &amp; c\nd\ne"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPageNestedTooDeepIsReadFlat(t *testing.T) {
	// No </head>: its end tag may be left out.
	page := "<html><head><title>a &amp; b</title><style>x{}</style><body>" + strings.Repeat("<div>", 5000) +
		"one <b>two</b><br/>three<script>var x</script><svg><text>no</text></svg><svg/><p>four</p><select><option>no</select>five<template class=a shadowrootmode=open> six</template><template>no</template> seven"
	s := visibleText(page, 1000)
	if title, text := s.title, s.text; title != "a & b" || text != "one two\nthree\nfour\nfive six seven" {
		t.Errorf("title %q, text %q", title, text)
	}
	for _, open := range []string{"<b>", "<a>", "<font>", "<table><tr><td>", "<ul><li>", "<svg>", "<template>", "<form>", "<button>", "<dialog>"} {
		for _, depth := range []int{100, 509, 510, 511, 512, 513, 20000} {
			text := visibleText("<p>before</p>"+strings.Repeat(open, depth)+"inside", 1000).text
			testkit.CheckLines(t, text, 1000)
			if !strings.HasPrefix(text, "before") {
				t.Errorf("%d times %s: got %q", depth, open, text)
			}
		}
	}
}

func TestHostilePagesTakeBoundedTime(t *testing.T) {
	attributes := strings.Builder{}
	for i := range 250_000 {
		fmt.Fprintf(&attributes, " a%d", i)
	}
	for _, c := range []struct{ name, page string }{
		{"a quarter of a million attributes", "<p" + attributes.String() + ">text"},
		{"one long line", "<p>" + strings.Repeat("word ", 200_000) + "</p>"},
		{"one long word", "<p>" + strings.Repeat("x", 1<<20) + "</p>"},
		{"one long style", `<p style="` + strings.Repeat("a:b;", 1<<18) + `">text`},
		{"open brackets", strings.Repeat("<", 1<<20)},
		{"open comments", strings.Repeat("<!--", 1<<18)},
		{"open formatting", "text" + strings.Repeat("<b><i><p>", 1<<15)},
		{"many links", "text" + strings.Repeat("<a>", 1<<16)},
		{"many tables", "text" + strings.Repeat("<table>", 1<<16)},
		{"end tags", "text" + strings.Repeat("</p></b></x>", 1<<16)},
		{"no blanks to collapse", strings.Repeat("&nbsp;", 1<<18) + "text"},
	} {
		start := time.Now()
		text := visibleText(c.page, 4096).text
		testkit.CheckLines(t, text, 4096)
		if took := time.Since(start); took > 8*time.Second {
			t.Errorf("%s: %v", c.name, took)
		} else {
			t.Logf("%s: %v", c.name, took)
		}
	}
}

func TestTextLimitNeverCutsACodePoint(t *testing.T) {
	page := "<p>ab é</p><p>中文 x</p>😀<p>end</p>"
	whole := visibleText(page, 1000).text
	for max := range len(whole) + 3 {
		got := visibleText(page, max).text
		testkit.CheckLines(t, got, max)
		if !strings.HasPrefix(whole, got) {
			t.Errorf("at most %d bytes: %q is no prefix of %q", max, got, whole)
		}
		if max >= len(whole)+1 && got != whole {
			t.Errorf("at most %d bytes: got %q, want all of %q", max, got, whole)
		}
	}
}

func FuzzVisibleText(f *testing.F) {
	for _, s := range []string{
		"", "<p>a<b>b", "<table>a<td>b", "<pre>\n a</pre>", "<svg><title>a", "<p style='display:none'>a</p>b",
		"<math><annotation-xml><p>", "<template><template>", "<select><table>", "\x00\xff", "&nbsp;&#0;&#x110000;",
		strings.Repeat("<div>", 600) + "a<br/>b", "<frameset><noframes>a", "<plaintext>a",
	} {
		f.Add(s, 64)
	}
	site := testSite(f, SiteRules{Host: "x.org", Keep: []string{"p, div"}, Drop: []string{"a"}})
	f.Fuzz(func(t *testing.T, page string, max int) {
		page = strings.ToValidUTF8(page, "\uFFFD") // as charset.Decode returns it
		max = 1 + max&0xffff
		s := visibleText(page, max)
		title, text := s.title, s.text
		testkit.CheckLines(t, text, max)
		testkit.CheckLines(t, title, 4<<10)
		if strings.Contains(title, "\n") {
			t.Errorf("title %q", title)
		}
		checkBlocks(t, s)
		ruled, _ := site.text(page, max, true)
		for _, s := range []shown{withoutOverlays(page, max), flatText(page, max), ruled} {
			testkit.CheckLines(t, s.text, max)
			checkBlocks(t, s)
		}
		plain, _ := PlainText(page, max)
		testkit.CheckLines(t, plain, max)
	})
}
