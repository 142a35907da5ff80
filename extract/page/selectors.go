package page

import (
	"reflect"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// cascadia matches one node at a time. For each it walks the siblings and ancestors
// again, which takes hours on a page of a few megabytes. So each part of a selector is
// matched on all nodes of a page before the parts are combined, in one pass over the
// nodes for each combinator.

// maxSelecting bounds the bytes and nodes that are read again for the selectors of a
// page: the text of nested elements by :contains and :matches, ancestors by :lang,
// ancestors and siblings by :enabled and :disabled.
const maxSelecting = 256 << 20

// document is the nodes of a page in document order.
type document struct {
	nodes []*html.Node
	above []int32 // index of the parent
	depth []int32
	size  []int // bytes and nodes of the element's text
	wide  int   // largest number of children
	spent int   // of maxSelecting
}

func documentOf(root *html.Node) *document {
	d := &document{}
	d.add(root, -1, 0)
	return d
}

func (d *document) add(n *html.Node, above, depth int32) int {
	at, size, children := int32(len(d.nodes)), 1, 0
	d.nodes, d.above, d.depth, d.size = append(d.nodes, n), append(d.above, above), append(d.depth, depth), append(d.size, 0)
	if n.Type == html.TextNode {
		size += len(n.Data)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		size += d.add(c, at, depth+1)
		children++
	}
	d.size[at], d.wide = size, max(d.wide, children)
	return size
}

// selects returns the nodes that one of the selectors selects, unless that costs
// too much.
func (d *document) selects(group cascadia.SelectorGroup) map[*html.Node]bool {
	nodes := map[*html.Node]bool{}
	for i, matches := range d.any(group) {
		if matches {
			nodes[d.nodes[i]] = true
		}
	}
	return nodes
}

// any returns for each node whether one of the selectors matches it.
func (d *document) any(group cascadia.SelectorGroup) []bool {
	out := make([]bool, len(d.nodes))
	for _, s := range group {
		m := d.all()
		d.match(s, m)
		for i := range out {
			out[i] = out[i] || m[i]
		}
	}
	return out
}

func (d *document) all() []bool {
	m := make([]bool, len(d.nodes))
	for i := range m {
		m[i] = true
	}
	return m
}

// match clears m for the nodes that the selector does not match.
func (d *document) match(s cascadia.Sel, m []bool) {
	switch v := parts(s); v.Type().Name() {
	case "combinedSelector":
		first := d.all()
		d.match(part[cascadia.Sel](v, "first"), first)
		d.match(part[cascadia.Sel](v, "second"), m)
		d.combine(first, part[byte](v, "combinator"), m)
	case "compoundSelector":
		all := part[[]cascadia.Sel](v, "selectors")
		if len(all) == 0 { // *
			d.simple(s, v, m)
		}
		for _, s := range all {
			d.match(s, m)
		}
	case "relativePseudoClassSelector":
		d.relate(part[string](v, "name"), d.any(part[cascadia.SelectorGroup](v, "match")), m)
	case "nthPseudoClassSelector":
		d.count(part[bool](v, "ofType"), m, nth(part[int](v, "a"), part[int](v, "b"), part[bool](v, "last")))
	case "onlyChildPseudoClassSelector":
		d.count(part[bool](v, "ofType"), m, func(_, count int) bool { return count == 1 })
	default:
		d.simple(s, v, m)
	}
}

// parts returns the struct of a selector. Its type is not exported.
func parts(s cascadia.Sel) reflect.Value {
	v := reflect.New(reflect.TypeOf(s)).Elem()
	v.Set(reflect.ValueOf(s))
	return v
}

func part[T any](v reflect.Value, name string) T {
	return *(*T)(v.FieldByName(name).Addr().UnsafePointer())
}

// combine clears m where no node that first matches stands before the node as the
// combinator says.
func (d *document) combine(first []bool, combinator byte, m []bool) {
	state := make([]bool, len(d.nodes)) // of an element, for its descendants or children
	for i := 1; i < len(m); i++ {
		above := d.above[i]
		switch combinator {
		case ' ':
			state[i] = state[above] || first[above]
			m[i] = m[i] && state[i]
		case '>':
			m[i] = m[i] && first[above]
		case '~':
			m[i] = m[i] && state[above]
			state[above] = state[above] || first[i]
		case '+':
			m[i] = m[i] && state[above]
			if t := d.nodes[i].Type; t != html.TextNode && t != html.CommentNode {
				state[above] = first[i]
			}
		}
	}
	m[0] = false // nothing is before the root
}

// relate clears m for the nodes that :not, :has and :haschild do not match. in has
// the nodes that their argument matches.
func (d *document) relate(name string, in, m []bool) {
	below := make([]bool, len(d.nodes))
	for i := len(m) - 1; i > 0; i-- {
		if in[i] || name == "has" && below[i] {
			below[d.above[i]] = true
		}
	}
	for i, n := range d.nodes {
		m[i] = m[i] && n.Type == html.ElementNode && (name == "not" && !in[i] || name != "not" && below[i])
	}
}

// count clears m for the elements whose position among their siblings, and the
// number of these, the function does not accept.
func (d *document) count(ofType bool, m []bool, accepts func(at, count int) bool) {
	type siblings struct {
		above int32
		name  string
	}
	of := func(i int) siblings {
		if !ofType {
			return siblings{above: d.above[i]}
		}
		return siblings{d.above[i], d.nodes[i].Data}
	}
	counts := map[siblings]int{}
	at := make([]int, len(d.nodes))
	for i, n := range d.nodes {
		if n.Type == html.ElementNode {
			counts[of(i)]++
			at[i] = counts[of(i)]
		}
	}
	for i := range m {
		m[i] = m[i] && at[i] > 0 && accepts(at[i], counts[of(i)])
	}
}

// nth accepts the positions an+b, from the last sibling if last is true.
func nth(a, b int, last bool) func(at, count int) bool {
	return func(at, count int) bool {
		if last {
			at = count - at + 1
		}
		if a == 0 {
			return at == b
		}
		return (at-b)%a == 0 && (at-b)/a >= 0
	}
}

// simple clears m for the nodes that a selector without parts does not match.
func (d *document) simple(s cascadia.Sel, v reflect.Value, m []bool) {
	cost := func(int) int { return 0 }
	switch v.Type().Name() {
	case "containsPseudoClassSelector", "regexpPseudoClassSelector":
		if !part[bool](v, "own") {
			cost = func(i int) int { return d.size[i] }
		}
	case "langPseudoClassSelector":
		cost = func(i int) int { return int(d.depth[i]) }
	case "enabledPseudoClassSelector", "disabledPseudoClassSelector":
		cost = func(i int) int { return int(d.depth[i]) + d.wide }
	}
	for i, n := range d.nodes {
		if !m[i] {
			continue
		}
		if d.spent += cost(i); d.spent > maxSelecting {
			return
		}
		m[i] = s.Match(n)
	}
}
