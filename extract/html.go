package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// visibleText returns a page's title and visible text, in one pass where that
// is certain to give what the tree gives.
func visibleText(page string, max int) (title, text string) {
	if title, text, ok := scanText(page, max); ok {
		return title, text
	}
	return treeText(page, max)
}

// treeText returns a page's title and its visible text: a line for each
// block, inline elements joined, white space collapsed, at most max bytes.
// TLCS paper, section 3.1: "visible text blocks are extracted from web
// documents by removing all HTML markups and formatting directives".
func treeText(page string, max int) (title, text string) {
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil { // nested deeper than the parser goes
		return flatText(page, max)
	}
	title = collapse(doc.Find("title").FilterFunction(func(_ int, s *goquery.Selection) bool {
		return s.Nodes[0].Namespace == "" // not that of a drawing
	}).First().Text())
	w := lines{max: max}
	for _, n := range doc.Nodes {
		w.node(n, false)
	}
	return title, w.String()
}

// flatText is the title and text of a page that has no tree: every text token
// outside elements that are never shown.
func flatText(page string, max int) (title, text string) {
	w := lines{max: max}
	z := html.NewTokenizer(strings.NewReader(page))
	var skip atom.Atom
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return title, w.String()
		case html.TextToken:
			if skip == 0 {
				w.text(string(z.Text()), false)
			} else if skip == atom.Title && title == "" {
				title = collapse(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			if kind == html.EndTagToken && a == skip {
				skip = 0
			}
			// A head may have no end tag; what it holds is unseen by itself.
			if kind == html.StartTagToken && skip == 0 && unseen[a] && a != atom.Head {
				skip = a
			}
			if blocks[a] {
				w.end()
			}
		}
	}
}

// plainText is text that has no markup: its lines, white space collapsed.
func plainText(s string, max int) string {
	w := lines{max: max}
	w.text(s, true)
	return w.String()
}

// unseen are the elements whose content is never part of the page that a
// reader sees: code, what is shown only where something else is not
// supported, and the choices of form controls.
var unseen = map[atom.Atom]bool{
	atom.Head: true, atom.Title: true, atom.Script: true, atom.Style: true, atom.Template: true,
	atom.Noscript: true, atom.Noframes: true, atom.Noembed: true, atom.Iframe: true, atom.Object: true,
	atom.Audio: true, atom.Video: true, atom.Canvas: true, atom.Svg: true, atom.Select: true, atom.Datalist: true,
}

// blocks are the elements that start and end a line.
var blocks = map[atom.Atom]bool{
	atom.Address: true, atom.Article: true, atom.Aside: true, atom.Blockquote: true, atom.Body: true, atom.Br: true,
	atom.Caption: true, atom.Center: true, atom.Dd: true, atom.Details: true, atom.Dialog: true, atom.Dir: true,
	atom.Div: true, atom.Dl: true, atom.Dt: true, atom.Fieldset: true, atom.Figcaption: true, atom.Figure: true,
	atom.Footer: true, atom.Form: true, atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true,
	atom.H6: true, atom.Header: true, atom.Hgroup: true, atom.Hr: true, atom.Html: true, atom.Legend: true,
	atom.Li: true, atom.Listing: true, atom.Main: true, atom.Menu: true, atom.Nav: true, atom.Ol: true, atom.P: true,
	atom.Plaintext: true, atom.Pre: true, atom.Section: true, atom.Summary: true, atom.Table: true, atom.Tbody: true,
	atom.Td: true, atom.Tfoot: true, atom.Th: true, atom.Thead: true, atom.Tr: true, atom.Ul: true, atom.Xmp: true,
}

// hidden tells whether the element says that it is not shown. Of the whole page
// a script undoes that once it has loaded.
func hidden(n *html.Node) bool {
	if n.DataAtom == atom.Html || n.DataAtom == atom.Body {
		return false
	}
	open := false
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "open":
			open = true
		case "style":
			if hiddenStyle(a.Val) {
				return true
			}
		}
	}
	return n.DataAtom == atom.Dialog && !open
}

func hiddenStyle(style string) bool {
	for decl := range strings.SplitSeq(style, ";") {
		name, value, ok := strings.Cut(decl, ":")
		if !ok {
			continue
		}
		value, _, _ = strings.Cut(value, "!")
		value = strings.ToLower(strings.TrimSpace(value))
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "display":
			if value == "none" {
				return true
			}
		case "visibility":
			if value == "hidden" || value == "collapse" {
				return true
			}
		}
	}
	return false
}

// lines collects text as lines of collapsed white space.
type lines struct {
	b     strings.Builder
	line  bool // the current line has text
	space bool // white space is due before more text
	max   int
	full  bool
}

// node writes the visible text under n. The parser bounds the depth.
func (w *lines) node(n *html.Node, pre bool) {
	switch n.Type {
	case html.TextNode:
		w.text(n.Data, pre)
		return
	case html.ElementNode:
		if unseen[n.DataAtom] || hidden(n) {
			return
		}
		if n.Namespace == "" && blocks[n.DataAtom] {
			w.end()
			defer w.end()
		}
		pre = pre || n.DataAtom == atom.Pre || n.DataAtom == atom.Listing || n.DataAtom == atom.Xmp ||
			n.DataAtom == atom.Plaintext || n.DataAtom == atom.Textarea
	case html.CommentNode, html.DoctypeNode:
		return
	}
	for c := n.FirstChild; c != nil && !w.full; c = c.NextSibling {
		w.node(c, pre)
	}
}

// text adds s; breaks tells whether its line ends are kept.
func (w *lines) text(s string, breaks bool) {
	for i := 0; i < len(s) && !w.full; {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		i += n
		switch {
		case breaks && (r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029'):
			w.end()
			continue
		case r == ' ' || r != 0 && unicode.IsSpace(r):
			w.space = w.line
			continue
		case r < ' ' || r == 0x7f || r == '\u00ad' || r == '\u200b' || r == '\u2060' || r == '\ufeff':
			continue // no width: controls, soft hyphen, zero-width space, word joiner, BOM
		}
		if w.b.Len()+n+1 > w.max {
			w.full = true
			return
		}
		if w.space {
			w.b.WriteByte(' ')
			w.space = false
		} else if !w.line && w.b.Len() > 0 {
			w.b.WriteByte('\n')
		}
		w.line = true
		w.b.WriteRune(r)
	}
}

// end ends the current line.
func (w *lines) end() { w.line, w.space = false, false }

func (w *lines) String() string { return w.b.String() }

// collapse joins s into one line.
func collapse(s string) string {
	w := lines{max: 4 << 10}
	w.text(s, false)
	return w.String()
}
