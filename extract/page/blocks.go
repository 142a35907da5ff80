package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// shown is the visible content of a page.
type shown struct {
	title    string
	text     string  // visible blocks, one per line
	blocks   []block // blocks of the lines of text, in order
	nodes    []node  // nodes that contain the lines
	parsed   bool    // read through the tree, because the scanner could not be sure
	selected bool    // selected by a site's rules: all of it is content

	cut     bool // there is more text than was asked for
	dropped bool // an overlay and its text were left out
	flat    bool // read token by token, because a tree would be too large or too deep
}

// block is a line of a page's text with what contains it.
type block struct {
	end   int32   // end of its text; the next block begins after the line end
	links int32   // bytes of it that are in links
	in    context // context of its first character
	node  int32   // node that contains its first character
}

// context is a set of bits: the kinds of elements that contain a block.
type context uint16

// Contexts.
const (
	inHeading context = 1 << iota // h1 to h6
	inItem                        // list item
	inCell                        // table cell
	inNav
	inAside
	inHeader
	inFooter
	inMain // main or article
	inForm
	inPre
)

// contexts are the contexts that elements give to their content.
var contexts = map[atom.Atom]context{
	atom.H1: inHeading, atom.H2: inHeading, atom.H3: inHeading, atom.H4: inHeading, atom.H5: inHeading, atom.H6: inHeading,
	atom.Li: inItem, atom.Dd: inItem, atom.Dt: inItem, atom.Td: inCell, atom.Th: inCell,
	atom.Nav: inNav, atom.Aside: inAside, atom.Header: inHeader, atom.Footer: inFooter,
	atom.Main: inMain, atom.Article: inMain, atom.Form: inForm,
	atom.Pre: inPre, atom.Listing: inPre, atom.Xmp: inPre, atom.Plaintext: inPre,
}

// isLink reports whether n is a link.
func isLink(n *html.Node) bool {
	if n.DataAtom != atom.A || n.Namespace != "" {
		return false
	}
	for _, a := range n.Attr {
		if a.Key == "href" {
			return true
		}
	}
	return false
}
