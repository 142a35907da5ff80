package keep

import (
	"cmp"
	"slices"

	"neardup/report"
)

// Texts compares the texts of a cluster's pages, by their ids (report.Member.Text).
type Texts interface {
	// Length returns the code points of a text.
	Length(text string) (int, error)
	// Common returns how many code points two texts have in common, in one order. It
	// may return any smaller number where that is below need.
	Common(a, b string, need int) (int, error)
	// Score does what Common does with a need of 0; ok is false if that would take
	// too long.
	Score(a, b string) (common int, ok bool, err error)
}

// class is pages of a cluster that are alike in all that matters here.
type class struct {
	key
	node  int
	uri   int   // index in chooser.uris; -1: its URI needs nothing
	pages []int // members, first the one to prefer

	survives bool // its first page stays; of exempt and clipped pages all
	why      report.Why
	also     []int // further pages that stay, because revisits that stay repeat them
}

type key struct {
	group, text, uri         string // uri only where one of its captures must stay
	revisit, clipped, exempt bool
}

// stands reports whether pages of the class can stand for others. A revisit has no
// payload of its own, and of a clipped page not all is known.
func (c *class) stands() bool { return !c.revisit && !c.clipped }

// fixed reports whether all pages of the class stay.
func (c *class) fixed() bool { return c.exempt || c.clipped }

// node is the classes of a group that have one text.
type node struct {
	text    string
	length  int
	classes []int
	from    []edge // nodes whose pages may stand for those of this one
	to      []edge // nodes for whose pages those of this one may stand
	kept    int    // the first class that survives and stands for others; -1: none
}

// edge leads to another node of the group. common is what the two texts have in
// common, in code points.
type edge struct{ node, common int }

// chooser is the work on a cluster. Classes and nodes are in the order in which the
// policy prefers their first pages.
type chooser struct {
	Rules
	members []report.Member
	texts   Texts

	classes []*class
	nodes   []*node
	groups  [][]int // nodes
	uris    [][]int // the classes of each URI that needs a capture
}

// Choose says what to do with each member of a cluster.
//
// The members are parted into groups, whose pages may stand for one another: by
// URI, host and period, as far as the rules ask for it. These pages stay:
//
//   - of each group the first by the policy, which goes behind the preference for
//     captures, for whole pages and for hosts;
//   - pages that are exempt, and those not all of whose text is known;
//   - captures that revisits which stay repeat;
//   - the smallest set of further pages with which a page that stays covers each
//     page of its group, and each URI of the cluster has a page that stays,
//     unless the rules allow otherwise (see solve).
//
// A page that no other page covers, and that covers none, is to be reviewed. What
// is not compared covers nothing, so a limit on comparisons keeps more pages, never
// fewer.
func (r Rules) Choose(c report.Cluster, texts Texts) ([]report.Choice, error) {
	x := &chooser{Rules: r, members: c.Members, texts: texts}
	x.classify()
	if err := x.compareTexts(); err != nil {
		return nil, err
	}
	x.force()
	x.solve()
	return x.choices()
}

// classify makes classes, nodes and groups of the members.
func (x *chooser) classify() {
	order := make([]int, len(x.members))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(x.compare(x.members[a], x.members[b]), a-b) })
	classes, nodes, groups, uris := map[key]int{}, map[[2]string]int{}, map[string]int{}, map[string]int{}
	for _, i := range order {
		m := x.members[i]
		k := key{group: x.group(m), text: m.Text, revisit: m.RevisitOf != "", clipped: m.Clipped, exempt: x.exempt(m.URI)}
		if !x.AllowLostURIs {
			k.uri = m.URI
		}
		n, ok := classes[k]
		if !ok {
			n = len(x.classes)
			classes[k] = n
			c := &class{key: k, uri: -1}
			x.classes = append(x.classes, c)
			if c.node, ok = nodes[[2]string{k.group, k.text}]; !ok {
				c.node = len(x.nodes)
				nodes[[2]string{k.group, k.text}] = c.node
				x.nodes = append(x.nodes, &node{text: k.text, kept: -1})
				add(&x.groups, groups, k.group, c.node)
			}
			x.nodes[c.node].classes = append(x.nodes[c.node].classes, n)
			if k.uri != "" {
				c.uri = add(&x.uris, uris, k.uri, n)
			}
		}
		x.classes[n].pages = append(x.classes[n].pages, i)
	}
}

// add appends an item to the list of a name, which is made where it is missing, and
// returns the list's index.
func add(lists *[][]int, byName map[string]int, name string, item int) int {
	i, ok := byName[name]
	if !ok {
		i = len(*lists)
		byName[name] = i
		*lists = append(*lists, nil)
	}
	(*lists)[i] = append((*lists)[i], item)
	return i
}

// force makes classes survive that survive in every solution.
func (x *chooser) force() {
	for _, g := range x.groups {
		x.survive(x.first(g), report.WhyPolicy)
	}
	for n, c := range x.classes {
		switch {
		case c.exempt:
			x.survive(n, report.WhyExempt)
		case c.clipped:
			x.survive(n, report.WhyClipped)
		}
	}
	for _, of := range x.uris {
		if len(of) == 1 {
			x.survive(of[0], report.WhyURI)
		}
	}
	for _, o := range x.nodes {
		if !slices.ContainsFunc(o.classes, func(n int) bool { return x.classes[n].stands() }) {
			for _, n := range o.classes {
				x.survive(n, report.WhyScore)
			}
		}
	}
}

// first returns the class of the page of a group that the policy prefers. A page
// that is contained in the representative, or was not compared with it, is preferred
// only where there is no other.
func (x *chooser) first(group []int) int {
	first, other := -1, -1
	for _, o := range group {
		for _, n := range x.nodes[o].classes {
			at := &other
			switch x.members[x.classes[n].pages[0]].Relation {
			case report.Representative, report.Identical, report.Near:
				at = &first
			}
			if *at < 0 || n < *at {
				*at = n
			}
		}
	}
	if first < 0 || other >= 0 && x.classes[other].stands() && !x.classes[first].stands() {
		return other
	}
	return first
}

// survive makes a class survive, and with revisits the captures that they repeat.
func (x *chooser) survive(n int, why report.Why) {
	c := x.classes[n]
	if c.survives {
		return
	}
	c.survives, c.why = true, why
	if o := x.nodes[c.node]; c.stands() && (o.kept < 0 || n < o.kept) {
		o.kept = n
	}
	if !c.revisit {
		return
	}
	pages := c.pages[:1]
	if c.fixed() {
		pages = c.pages
	}
	for _, p := range pages {
		x.surviveCapture(p, c.text)
	}
}

// surviveCapture makes the capture survive that a revisit repeats: the first page of
// its record id that has the text, or all captures of the text where none has the id.
func (x *chooser) surviveCapture(revisit int, text string) {
	var all []int
	for n, c := range x.classes {
		if c.text != text || c.revisit {
			continue
		}
		all = append(all, n)
		for i, p := range c.pages {
			if x.members[p].RecordID != x.members[revisit].RevisitOf {
				continue
			}
			switch {
			case !c.survives:
				copy(c.pages[1:i+1], c.pages[:i])
				c.pages[0] = p
				x.survive(n, report.WhyRevisited)
			case i > 0 && !slices.Contains(c.also, p):
				c.also = append(c.also, p)
			}
			return
		}
	}
	for _, n := range all {
		x.survive(n, report.WhyRevisited)
	}
}
