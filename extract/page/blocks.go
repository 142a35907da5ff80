package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// shown is what a page shows.
type shown struct {
	title    string
	text     string  // its visible blocks, one a line
	blocks   []block // of the lines of text, in their order
	nodes    []node  // that the lines stand in
	parsed   bool    // by the tree: the scanner could not be sure
	selected bool    // by a site's rules: it is all content

	cut     bool // there is more text than asked for
	dropped bool // an overlay was, and its text
	flat    bool // read token by token: a tree would be too large or too deep
}

// block is a line of a page's text, and what it stands in.
type block struct {
	end   int32   // where its text ends; the next begins behind the line end
	links int32   // bytes of it that stand in links
	in    context // of its first character
	node  int32   // the node that its first character stands in
}

// context says what a block stands in: a set of bits.
type context uint16

// The contexts.
const (
	inHeading context = 1 << iota // h1 to h6
	inItem                        // of a list
	inCell                        // of a table
	inNav
	inAside
	inHeader
	inFooter
	inMain // main or article
	inForm
	inPre
)

// contexts are what the elements give to what stands in them.
var contexts = map[atom.Atom]context{
	atom.H1: inHeading, atom.H2: inHeading, atom.H3: inHeading, atom.H4: inHeading, atom.H5: inHeading, atom.H6: inHeading,
	atom.Li: inItem, atom.Dd: inItem, atom.Dt: inItem, atom.Td: inCell, atom.Th: inCell,
	atom.Nav: inNav, atom.Aside: inAside, atom.Header: inHeader, atom.Footer: inFooter,
	atom.Main: inMain, atom.Article: inMain, atom.Form: inForm,
	atom.Pre: inPre, atom.Listing: inPre, atom.Xmp: inPre, atom.Plaintext: inPre,
}

// isLink tells whether n is a link.
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
