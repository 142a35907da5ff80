package page

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// visibleText returns a page's visible content. It uses the scanner if that is sure
// to agree with the tree.
func visibleText(page string, max int) shown { return readText(page, max, false) }

// withoutOverlays is visibleText without the text of overlays, unless there is no
// other text.
func withoutOverlays(page string, max int) shown {
	s := readText(page, max, true)
	if s.text == "" && s.dropped {
		return visibleText(page, max)
	}
	return s
}

func readText(page string, max int, drop bool) shown {
	if s, ok := scanText(page, max, drop); ok {
		return s
	}
	return treeText(page, max, drop)
}

// treeText returns a page's visible content through the tree: a line for each
// block, inline elements joined, white space collapsed, at most max bytes. drop
// leaves out overlays. TLCS paper, section 3.1: "visible text blocks are extracted
// from web documents by removing all HTML markups and formatting directives".
func treeText(page string, max int, drop bool) shown {
	var s shown
	err := withTree(page, func(root *html.Node) {
		w := lines{max: max, drop: drop}
		w.node(root, place{})
		s = w.shown(titleOf(goquery.NewDocumentFromNode(root)))
	})
	if err != nil { // nested deeper than the parser allows, or too large
		s = flatText(page, max)
		s.flat = true
	}
	return s
}

func titleOf(doc *goquery.Document) string {
	return collapse(doc.Find("title").FilterFunction(func(_ int, s *goquery.Selection) bool {
		return s.Nodes[0].Namespace == "" // not the title of a drawing
	}).First().Text())
}

// flatText returns the title and text of a page without a tree: every text token
// outside elements that are never shown, including overlays.
func flatText(page string, max int) shown {
	title := ""
	w := lines{max: max}
	z := html.NewTokenizer(strings.NewReader(page))
	var skip atom.Atom
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return w.shown(title)
		case html.TextToken:
			if skip == 0 {
				w.text(string(z.Text()), place{})
			} else if skip == atom.Title && title == "" {
				title = collapse(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			a := atom.Lookup(name)
			hides := unseen[a]
			if a == atom.Template && kind == html.StartTagToken {
				for hides = true; more; {
					var key, val []byte
					if key, val, more = z.TagAttr(); string(key) == "shadowrootmode" {
						hides = !isShadowMode(string(val))
						break
					}
				}
			}
			if kind == html.EndTagToken && a == skip {
				skip = 0
			}
			// A head and an rp may lack their end tags. What is in a head is unseen anyway.
			if kind == html.StartTagToken && skip == 0 && hides && a != atom.Head && a != atom.Rp {
				skip = a
			}
			if blocks[a] {
				w.end()
			}
		}
	}
}

// PlainText returns the lines of text without markup, with white space collapsed.
// cut reports whether there is more.
func PlainText(s string, max int) (text string, cut bool) {
	w := lines{max: max}
	w.text(s, place{pre: true})
	return w.String(), w.full
}

// unseen lists the elements whose content a reader never sees: code, other forms of a
// formula, fallbacks for what is not supported, and the choices of form controls.
var unseen = map[atom.Atom]bool{
	atom.Head: true, atom.Title: true, atom.Script: true, atom.Style: true,
	atom.Noscript: true, atom.Noframes: true, atom.Noembed: true, atom.Iframe: true, atom.Object: true,
	atom.Audio: true, atom.Video: true, atom.Canvas: true, atom.Svg: true, atom.Select: true, atom.Datalist: true,
	atom.Annotation: true, atom.AnnotationXml: true, atom.Rp: true, atom.Meter: true, atom.Progress: true,
}

// blocks lists the elements that start and end a line.
var blocks = map[atom.Atom]bool{
	atom.Address: true, atom.Article: true, atom.Aside: true, atom.Blockquote: true, atom.Body: true, atom.Br: true,
	atom.Caption: true, atom.Center: true, atom.Dd: true, atom.Details: true, atom.Dialog: true, atom.Dir: true,
	atom.Div: true, atom.Dl: true, atom.Dt: true, atom.Fieldset: true, atom.Figcaption: true, atom.Figure: true,
	atom.Footer: true, atom.Form: true, atom.H1: true, atom.H2: true, atom.H3: true, atom.H4: true, atom.H5: true,
	atom.H6: true, atom.Header: true, atom.Hgroup: true, atom.Hr: true, atom.Html: true, atom.Legend: true,
	atom.Li: true, atom.Listing: true, atom.Main: true, atom.Menu: true, atom.Nav: true, atom.Ol: true, atom.P: true,
	atom.Plaintext: true, atom.Pre: true, atom.Search: true, atom.Section: true, atom.Summary: true, atom.Table: true, atom.Tbody: true,
	atom.Td: true, atom.Tfoot: true, atom.Th: true, atom.Thead: true, atom.Tr: true, atom.Ul: true, atom.Xmp: true,
}

// preserves lists the elements in which line ends are kept.
var preserves = map[atom.Atom]bool{
	atom.Pre: true, atom.Listing: true, atom.Xmp: true, atom.Plaintext: true, atom.Textarea: true,
}

// hidden reports whether the element's attributes hide it. The whole page, and
// parts of a streamed page, do not count as hidden, since a script shows them after
// loading.
func hidden(n *html.Node) bool {
	if n.DataAtom == atom.Html || n.DataAtom == atom.Body {
		return false
	}
	open, hide, popover, streamed, shadow := false, false, false, false, false
	var style display
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			hide = true
		case "id":
			streamed = streamedID(a.Val)
		case "open":
			open = true
		case "popover":
			popover = true
		case "shadowrootmode":
			shadow = isShadowMode(a.Val)
		case "style":
			style = displayOf(a.Val)
		}
	}
	if n.DataAtom == atom.Template {
		return !shadow
	}
	hide = hide && !streamed || popover || n.DataAtom == atom.Dialog && !open
	return style == displayNone || hide && style != displayShown
}

// isShadowMode reports whether the content of a template with this shadowrootmode is shown:
// it is what browsers show of the element around the template, without a script.
func isShadowMode(mode string) bool {
	return strings.EqualFold(mode, "open") || strings.EqualFold(mode, "closed")
}

// streamedID reports whether an ID is that of a part of a page that React sends
// later than the rest, hidden at the end of the page. A script moves it to its
// place and shows it. All of the content may be such a part.
func streamedID(id string) bool {
	if len(id) < 3 || id[:2] != "S:" {
		return false
	}
	for _, c := range id[2:] {
		if c-'0' >= 10 && c-'a' >= 6 {
			return false
		}
	}
	return true
}

// display is what a style attribute says about whether its element is shown.
type display uint8

const (
	displayUnsaid display = iota
	displayNone           // it hides the element
	displayShown          // it shows the element, also if another attribute hides it
)

// displayOf reads a style attribute. Of the declarations of a property the last one
// counts, or the last important one. A value that is no word is none that browsers
// know.
func displayOf(style string) display {
	var shown, seen declared
	for decl := range strings.SplitSeq(withoutComments(style), ";") {
		name, value, ok := strings.Cut(decl, ":")
		if !ok {
			continue
		}
		value, priority, _ := strings.Cut(value, "!")
		value = strings.ToLower(strings.TrimSpace(value))
		if value == "" || strings.ContainsFunc(value, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' && r != ' ' }) {
			continue
		}
		important := strings.EqualFold(strings.TrimSpace(priority), "important")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "display":
			shown.add(value, important)
		case "visibility":
			seen.add(value, important)
		}
	}
	switch {
	case shown.value == "none", seen.value == "hidden", seen.value == "collapse":
		return displayNone
	case shown.value != "":
		return displayShown
	}
	return displayUnsaid
}

// declared is the value of a property.
type declared struct {
	value     string
	important bool
}

func (d *declared) add(value string, important bool) {
	if important || !d.important {
		*d = declared{value, important}
	}
}

// withoutComments returns a style with a space for each comment.
func withoutComments(style string) string {
	before, rest, ok := strings.Cut(style, "/*")
	if !ok {
		return style
	}
	var b strings.Builder
	for b.WriteString(before); ok; b.WriteString(" " + before) {
		_, rest, _ = strings.Cut(rest, "*/")
		before, rest, ok = strings.Cut(rest, "/*")
	}
	return b.String()
}

// lines collects text as lines of collapsed white space.
type lines struct {
	b     strings.Builder
	line  bool // the current line has text
	space bool // white space is due before more text
	max   int
	full  bool

	blocks  []block
	nodes   []node
	drop    bool // drop overlays
	dropped bool // an overlay had text
	rules   *selected
}

// place is the context of text.
type place struct {
	pre  bool // line ends are kept
	link bool
	over bool // in an overlay
	kept bool // in an element that a site's rules keep
	node int32
	in   context
}

// node writes the visible text under n. The parser bounds the depth.
func (w *lines) node(n *html.Node, at place) {
	switch n.Type {
	case html.TextNode:
		switch {
		case w.rules != nil && w.rules.keep != nil && !at.kept:
		case at.over:
			w.dropped = w.dropped || collapse(n.Data) != ""
		default:
			w.text(n.Data, at)
		}
		return
	case html.ElementNode:
		if unseen[n.DataAtom] || hidden(n) {
			return
		}
		breaks := n.Namespace == "" && blocks[n.DataAtom]
		if w.rules != nil {
			if w.rules.drop[n] {
				return
			}
			if !at.kept && w.rules.keep[n] { // it may be in the middle of a line that is left out
				at.kept, breaks = true, true
			}
		}
		if at.over = at.over || w.drop && overlay(n); breaks && !at.over {
			w.end()
			defer w.end()
		}
		at.pre = at.pre || preserves[n.DataAtom]
		at.link = at.link || isLink(n)
		if n.Namespace == "" {
			at.in |= contexts[n.DataAtom]
			if t := lookupTag(n.Data); nodeTags[t] {
				at.node = w.addNode(n, t, at.node)
			}
		}
	case html.CommentNode, html.DoctypeNode:
		return
	}
	for c := n.FirstChild; c != nil && !w.full; c = c.NextSibling {
		w.node(c, at)
	}
}

// text adds s with its context.
func (w *lines) text(s string, at place) {
	for i := 0; i < len(s) && !w.full; {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		i += n
		switch {
		case at.pre && (r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029'):
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
		if !w.line {
			w.blocks = append(w.blocks, block{in: at.in, node: at.node})
		}
		w.line = true
		w.b.WriteRune(r)
		b := &w.blocks[len(w.blocks)-1]
		b.end = int32(w.b.Len())
		if at.link {
			b.links += int32(n)
		}
	}
}

// end ends the current line.
func (w *lines) end() { w.line, w.space = false, false }

func (w *lines) String() string { return w.b.String() }

func (w *lines) shown(title string) shown {
	if len(w.nodes) == 0 {
		w.nodes = []node{{parent: -1}}
	}
	nodes := compactNodes(w.nodes, w.blocks)
	return shown{title: title, text: w.b.String(), blocks: w.blocks, nodes: nodes, cut: w.full, parsed: true, dropped: w.dropped}
}

const maxTitle = 4 << 10 // bytes

// collapse joins s into one line.
func collapse(s string) string {
	w := lines{max: maxTitle}
	w.text(s, place{})
	return w.String()
}
