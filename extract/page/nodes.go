package page

import (
	"strings"

	"golang.org/x/net/html"
)

// node is an element that contains lines of a page's text.
type node struct {
	parent int32 // index of its parent; -1: it is the page
	tag    tag
	names  nameBits
	hash   uint32 // hash of its class
}

// nodeTags are the elements that become nodes: those that no misnested tag can move
// out of each other. They are the special elements of the HTML standard, without
// void elements and groups of table rows.
var nodeTags = buildNodeTags()

func buildNodeTags() (is [tagCount]bool) {
	for name := range strings.FieldsSeq(`address article aside blockquote button caption center dd details dir div dl dt
		fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup li listing main marquee menu nav ol p
		plaintext pre section summary table td th tr ul xmp`) {
		is[lookupTag(name)] = true
	}
	return is
}

// compactNodes returns the nodes that contain blocks, and their ancestors, in the
// order in which the lines meet them. It updates the blocks' indexes.
func compactNodes(nodes []node, blocks []block) []node {
	place := make([]int32, len(nodes))
	out := make([]node, 1, 16)
	out[0] = nodes[0]
	var path []int32
	for i := range blocks {
		n := blocks[i].node
		if place[n] == 0 && n != 0 {
			path = path[:0]
			for m := n; m != 0 && place[m] == 0; m = nodes[m].parent {
				path = append(path, m)
			}
			for j := len(path) - 1; j >= 0; j-- {
				m := path[j]
				place[m] = int32(len(out))
				c := nodes[m]
				c.parent = place[c.parent]
				out = append(out, c)
			}
		}
		blocks[i].node = place[n]
	}
	return out
}

func (w *lines) addNode(n *html.Node, t tag, parent int32) int32 {
	if len(w.nodes) == 0 {
		w.nodes = append(w.nodes, node{parent: -1})
	}
	c := node{parent: parent, tag: t}
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			c.names |= namesOf(a.Val)
		case "class":
			c.names |= namesOf(a.Val)
			c.hash = classHash(a.Val)
		case "role":
			c.names |= roleOf(a.Val)
		}
	}
	w.nodes = append(w.nodes, c)
	return int32(len(w.nodes) - 1)
}
