// Package page reads what an HTML page shows: its title, its visible text, its
// main content where that is certain, and what kind of page it is.
//
// # How a page is read
//
// There are two ways to the same text. The tree (tree.go) parses the page with
// golang.org/x/net/html and walks it; that is what "visible text" means here.
// The scanner (scan*.go) makes the same title, text and blocks in one pass
// over the bytes, without a tree, eight times as fast. It reads nearly every
// page. A page about which it cannot be sure goes to the tree (Text.Parsed), and
// so does every page of a site with rules (sites.go), because CSS selectors need
// elements. A page nested deeper than the parser goes is read token by token
// (flatText). The tests hold the scanner against the tree: on lists of markup,
// on generated tag soup, under a fuzzer, and on archives.
//
// Both ways write lines (tree.go: lines; scan_text.go: lineWriter), a visible
// block each, and note of each line how much of it stands in links and what it
// stands in (blocks.go). Main content and the kind of the page are decided from
// these notes and the text alone (main.go), so both know nothing of HTML.
//
// # What the scanner keeps
//
// The scanner follows the tree construction of the HTML standard (section
// 13.2.6) as golang.org/x/net/html has it, mode for mode and rule for rule, and
// throws away every node that is complete. What is left of the tree is:
//
//   - mode: where in a document the page is (scan_modes.go). It decides what
//     the next token means. The modes go initial, beforeHTML, beforeHead, head,
//     afterHead, body, afterBody, afterAfterBody; in a table columns, caption,
//     tableBody, row and cell (scan_table.go); text inside elements that hold
//     nothing but text, such as script and title. A function of a mode returns
//     true when the token is done with, and false when it has changed the mode
//     and the token is for the new one.
//   - open: the stack of open elements (scan_tree.go). count says how many there
//     are of each name, so that most searches need not start.
//   - active: the list of active formatting elements (scan_format.go): b, i, a
//     and their like, which are opened again after an end tag closed them out of
//     order. An entry with tagOther is a marker.
//   - modes: the modes of the open templates.
//
// A drawing or a formula has rules of its own (scan_foreign.go), which hold
// while the element on top of the stack is one of theirs.
//
// # What an open element knows
//
// Without a tree nobody can look up whether text is hidden. So each open element
// carries the answer: a set of bits (state), computed when it is pushed from its
// name (tagStates), its attributes (scan_token.go: own) and the state of what
// holds it (within). Three kinds of bits look alike and must be told apart:
//
//   - handed down: unshown, overlaid, linked, preserved, misplaced and the
//     contexts hold for everything inside the element.
//   - its own: hiding, overlaying and linking say that the element is so
//     whatever stands around it, breaks that it ends a line. They matter when an
//     element leaves another that gave it a bit, or is kept while the other goes.
//   - what it was put into: inUnshown and inOverlaid remember the state of the
//     parent, because what a table throws out goes there and not into the table.
//
// tainted is the exception: an element whose end is also the end of a block that
// has left the stack and stays in the tree around it (a form whose end tag came
// too early).
//
// # Where nodes move, and when the scanner gives up
//
// Text comes out in the order of the page as long as each node is added last in
// document order. The standard has two rules that move nodes:
//
//   - Foster parenting puts what stands straight inside a table before it. The
//     scanner reads on and marks what is put there misplaced: if that shows any
//     text, the page fails.
//   - The adoption agency takes a block out of formatting elements that end
//     inside it. canAdopt says when that changes nothing that is shown, and adopt
//     mends stack and list as the standard does; else the page fails.
//
// fail gives the page up, and scanText returns ok = false. A page also fails
// where exactness would cost more than the tree does: frames, NUL bytes, more
// than 512 open elements, more than 1,024 entries of the list, attributes whose
// equality is in doubt (the Noah's Ark clause), and a late title that may be
// the first in the tree. ghost stands for all that is open in the tree and no
// longer on the stack; adoptions are not tried beside it.
//
// To change a rule, change tree.go and its lists first (unseen, blocks,
// preserves, contexts, hidden): the scanner builds its tables from them. Then
// FuzzScan and TestScanOnArchive say whether the scanner still agrees.
package page
