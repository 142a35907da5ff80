// Package page reads the visible content of an HTML page: its title, its visible
// text, its main content if that is certain, and the kind of page.
//
// # How a page is read
//
// There are two ways to the same text. The tree (tree.go) parses the page with
// golang.org/x/net/html and walks the result; this defines "visible text". The
// scanner (scan*.go) produces the same title, text and blocks in one pass over the
// bytes, without a tree, eight times as fast. It reads nearly every page. A page
// about which it cannot be sure goes to the tree (Text.Parsed). So does every page
// of a site with rules (sites.go), because CSS selectors need elements. A page
// nested deeper than the parser allows is read token by token (flatText). The tests
// compare the scanner with the tree: on lists of markup, on generated tag soup,
// under a fuzzer, and on archives.
//
// Both ways write lines (tree.go: lines; scan_text.go: lineWriter), one per visible
// block. For each line they record how much of it is in links and which elements
// contain it (blocks.go). Main content and the kind of the page are decided from
// these records and the text alone (main.go), which know nothing of HTML.
//
// # What the scanner keeps
//
// The scanner follows the tree construction of the HTML standard (section 13.2.6)
// as implemented by golang.org/x/net/html, mode for mode and rule for rule, and
// drops every node that is complete. What remains of the tree is:
//
//   - mode: the current place in a document (scan_modes.go). It decides what the
//     next token means. The modes are initial, beforeHTML, beforeHead, head,
//     afterHead, body, afterBody, afterAfterBody; in a table columns, caption,
//     tableBody, row and cell (scan_table.go); and text inside elements that hold
//     nothing but text, such as script and title. The function of a mode returns
//     true if it has handled the token, and false if it has changed the mode and
//     the new mode must handle the token.
//   - open: the stack of open elements (scan_tree.go). count has the number of them
//     by name, so that most searches can be skipped.
//   - active: the list of active formatting elements (scan_format.go), such as b, i
//     and a. They are opened again after an end tag closed them out of order. An
//     entry with tagOther is a marker.
//   - modes: the modes of the open templates.
//
// A drawing or a formula has rules of its own (scan_foreign.go). They apply while
// the element on top of the stack belongs to it.
//
// # What an open element knows
//
// Without a tree, nothing can look up later whether text is hidden. So each open
// element carries the answer as a set of bits (state). It is computed when the
// element is pushed, from its name (tagStates), its attributes (scan_token.go: own)
// and the state of its parent (within). There are three kinds of bits, which must
// not be confused:
//
//   - inherited: unshown, overlaid, linked, preserved, misplaced and the contexts
//     apply to everything inside the element.
//   - its own: hiding, overlaying and linking mean that the element itself causes
//     this, whatever contains it. breaks means that it ends a line. They matter
//     when an element leaves another that gave it a bit, or when it stays and the
//     other goes.
//   - its parent's: inUnshown and inOverlaid keep the state of the parent, because
//     content that a table throws out goes there and not into the table.
//
// tainted is the exception. It marks an element whose end is also the end of a
// block that has left the stack and still surrounds it in the tree (a form whose
// end tag came too early).
//
// # Where nodes move, and when the scanner gives up
//
// Text comes out in the order of the page as long as each node is added last in
// document order. Two rules of the standard move nodes:
//
//   - Foster parenting moves content directly inside a table to the place before
//     the table. The scanner reads on and marks this content misplaced. If it shows
//     any text, the page fails.
//   - The adoption agency moves a block out of formatting elements that end inside
//     it. canAdopt tells when that changes nothing that is shown, and then adopt
//     updates stack and list as the standard does. Otherwise the page fails.
//
// fail gives up on the page, and scanText returns ok = false. A page also fails
// where exactness would cost more than the tree: frames, NUL bytes, more than 512
// open elements, more than 1,024 entries of the list, attributes whose equality is
// in doubt (the Noah's Ark clause), and a late title that may be the first in the
// tree. ghost stands for everything that is open in the tree and no longer on the
// stack; beside it, adoptions are not tried.
//
// To change a rule, change tree.go and its lists first (unseen, blocks, preserves,
// contexts, hidden): the scanner builds its tables from them. Then FuzzScan and
// TestScanOnArchive tell whether the scanner still agrees.
package page
