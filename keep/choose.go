package keep

import (
	"slices"

	"neardup/report"
)

// Texts compares the texts of a cluster's pages, by their IDs (report.Member.Text).
type Texts interface {
	// Length returns the length of a text, in code points.
	Length(text string) (int, error)
	// Common returns how many code points two texts have in common, in one order.
	// If that is below need, it may return any smaller number.
	Common(a, b string, need int) (int, error)
	// DifferentSubjects reports whether two texts are of pages at different URIs that are
	// about different subjects, as their titles name them.
	DifferentSubjects(a, b string) (bool, error)
	// Score is Common with a need of 0. ok is false if it would take too long.
	Score(a, b string) (common int, ok bool, err error)
}

// class is a set of pages of a cluster that do not differ for the choice.
type class struct {
	key
	node  int
	uri   int   // index in chooser.uris; -1: its URI sets no condition
	pages []int // members, the preferred one first

	survives bool // its first page stays; of fixed classes all stay
	why      report.Why
	also     map[int]bool // further pages that stay, because revisits that stay refer to them
}

type key struct {
	group, text, uri         string // uri is set only if one of its captures must stay
	revisit, clipped, exempt bool
	judged                   bool   // different from another page of the cluster
	shared                   bool   // another page of the cluster has its record ID
	derived                  bool   // made from a capture
	payload                  string // its digest, if it has little text
	revisitOf                string
}

// stands reports whether pages of the class can be kept in place of others. A
// revisit has no payload of its own, and part of a clipped page is unknown.
func (c *class) stands() bool { return !c.revisit && !c.clipped }

// fixed reports whether all pages of the class stay.
func (c *class) fixed() bool { return c.exempt || c.judged || c.shared || c.clipped }

// nodeKey tells nodes apart.
type nodeKey struct {
	group, text, payload string
	derived              bool
}

// node is the set of classes of a group that share a text, and are captures or derived. With
// little text, they share a payload.
type node struct {
	text    string
	payload string // of pages with little text, the digest
	derived bool
	length  int
	classes []int
	from    []edge // nodes whose pages can replace those of this one
	to      []edge // nodes whose pages this one's can replace
	kept    int    // the first class that survives and stands for others; -1: none
}

// edge leads to another node of the group. common is how many code points the two
// texts have in common.
type edge struct{ node, common int }

// name is what a revisit says of its capture.
type name struct{ text, recordID string }

// capture is a page of a class.
type capture struct{ class, page int }

// chooser holds the work on a cluster. Classes and nodes are in the order in which
// the policy prefers their first pages.
type chooser struct {
	Rules
	members   []report.Member
	scores    []float64 // of the members, for Quality
	elsewhere Elsewhere
	texts     Texts

	classes  []*class
	nodes    []*node
	groups   [][]int          // nodes
	uris     [][]int          // of each URI that must keep a capture, its classes
	captures map[string][]int // by text, the classes without revisits, until all survive
	named    map[name]capture // the first of each name
	first    map[string]int   // by group, the class with the page that the policy prefers
}

// Choose returns a choice for each member of a cluster.
//
// The members are divided into groups, whose pages can replace each other: by URI,
// host and period, as the rules demand. These pages stay:
//
//   - of each group the first by the policy, after the preferences for captures,
//     for whole pages and for hosts;
//   - pages that are exempt, those that people judged to be different from another page of
//     the cluster, those that share their record ID with one, and those of which part of the
//     text is unknown;
//   - captures that remaining revisits refer to;
//   - the smallest set of further pages such that a remaining page covers each page
//     of its group, and each URI of the cluster keeps a page, unless the rules
//     allow otherwise (see solve).
//
// A page with little text, such as one that a script fills, is covered only by one with its
// payload. Text that was made from a capture covers no capture, and is none of its URI.
//
// A page that no other page covers, and that covers none, is to be reviewed. A page
// covers nothing that it was not compared with, so a limit on comparisons keeps
// more pages, never fewer.
func (r Rules) Choose(c report.Cluster, texts Texts) ([]report.Choice, error) {
	return r.ChoosePart(c, Elsewhere{}, texts)
}

// Elsewhere is what the choice from a part of a cluster depends on in its other parts.
type Elsewhere struct {
	Revisits []report.Member // the captures that these refer to stay
	Shared   map[string]bool // record IDs of pages of the part that other pages have, too
	Judged   map[string]bool // record IDs of pages that are judged to be different from others of the cluster
}

// ChoosePart is Choose for a part of a cluster.
func (r Rules) ChoosePart(c report.Cluster, elsewhere Elsewhere, texts Texts) ([]report.Choice, error) {
	x := &chooser{Rules: r, members: c.Members, elsewhere: elsewhere, texts: texts}
	if r.Policy == Quality {
		for _, m := range c.Members {
			score, err := r.Score(m.URI)
			if err != nil {
				return nil, err
			}
			x.scores = append(x.scores, score)
		}
	}
	x.classify()
	if err := x.compareTexts(); err != nil {
		return nil, err
	}
	x.force()
	x.solve()
	return x.choices()
}

// classify divides the members into classes, nodes and groups.
func (x *chooser) classify() {
	order := make([]int, len(x.members))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, x.compare)
	x.captures, x.named = map[string][]int{}, map[name]capture{}
	captured := map[string]bool{}
	for _, m := range x.members {
		captured[m.URI] = captured[m.URI] || !m.Derived
	}
	judged, shared := x.Judged.Among(recordIDs(x.members)), sharedIDs(x.members)
	classes, nodes, groups, uris := map[key]int{}, map[nodeKey]int{}, map[string]int{}, map[string]int{}
	for _, i := range order {
		m := x.members[i]
		k := key{group: x.Group(m), text: m.Text, revisit: m.RevisitOf != "", revisitOf: m.RevisitOf, clipped: m.Clipped, derived: m.Derived, exempt: x.Exempt.Has(m.URI),
			judged: judged[m.RecordID] || x.elsewhere.Judged[m.RecordID], shared: shared[m.RecordID] || x.elsewhere.Shared[m.RecordID]}
		if !x.AllowLostURIs {
			k.uri = m.URI
			if m.Derived && captured[m.URI] { // a capture of it must stay, not this
				k.uri = ""
			}
		}
		if m.TextBytes < int64(x.MinText) {
			k.payload = m.Digest
		}
		n, ok := classes[k]
		if !ok {
			n = len(x.classes)
			classes[k] = n
			c := &class{key: k, uri: -1}
			x.classes = append(x.classes, c)
			of := nodeKey{k.group, k.text, k.payload, k.derived}
			if c.node, ok = nodes[of]; !ok {
				c.node = len(x.nodes)
				nodes[of] = c.node
				x.nodes = append(x.nodes, &node{text: k.text, payload: k.payload, derived: k.derived, kept: -1})
				add(&x.groups, groups, k.group, c.node)
			}
			x.nodes[c.node].classes = append(x.nodes[c.node].classes, n)
			if !c.revisit {
				x.captures[c.text] = append(x.captures[c.text], n)
			}
			if k.uri != "" {
				c.uri = add(&x.uris, uris, k.uri, n)
			}
		}
		x.classes[n].pages = append(x.classes[n].pages, i)
		if as := (name{k.text, m.RecordID}); !k.revisit {
			// The class that was there first is the one that counts.
			if at, ok := x.named[as]; !ok || n < at.class {
				x.named[as] = capture{n, i}
			}
		}
	}
}

func recordIDs(members []report.Member) map[string]bool {
	ids := map[string]bool{}
	for _, m := range members {
		ids[m.RecordID] = true
	}
	return ids
}

// sharedIDs returns the record IDs that several of the members have. A list could not say which
// of these is redundant.
func sharedIDs(members []report.Member) map[string]bool {
	seen, shared := map[string]string{}, map[string]bool{}
	for _, m := range members {
		if other, ok := seen[m.RecordID]; ok && other != m.Document {
			shared[m.RecordID] = true
		}
		seen[m.RecordID] = m.Document
	}
	return shared
}

// add appends an item to the list of a name, which it creates if needed, and
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

// force marks the classes that survive in every solution.
func (x *chooser) force() {
	x.first = map[string]int{}
	for _, g := range x.groups {
		first := x.preferred(g)
		x.first[x.classes[first].group] = first
		x.survive(first, report.WhyPolicy)
	}
	for _, m := range x.elsewhere.Revisits {
		x.surviveCapture(m.RevisitOf, m.Text)
	}
	for n, c := range x.classes {
		switch {
		case c.exempt:
			x.survive(n, report.WhyExempt)
		case c.judged:
			x.survive(n, report.WhyJudged)
		case c.shared:
			x.survive(n, report.WhyShared)
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

// preferred returns the class of the page of a group that the policy prefers. It
// prefers a page that is contained in the representative, or was not compared with
// it, only if there is no other.
func (x *chooser) preferred(group []int) int {
	first, other := -1, -1
	for _, o := range group {
		for _, n := range x.nodes[o].classes {
			at := &other
			switch x.members[x.classes[n].pages[0]].Relation {
			case report.Representative, report.Identical, report.Near, report.Alike:
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

// survive marks a class as surviving. If it has revisits, it also marks the
// captures that they refer to.
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
		x.surviveCapture(x.members[p].RevisitOf, c.text)
	}
}

// surviveCapture marks the capture that a revisit refers to: the first page with the
// record ID that has the text, or all captures of the text if none has the ID.
func (x *chooser) surviveCapture(id, text string) {
	if at, ok := x.named[name{text, id}]; ok {
		switch c := x.classes[at.class]; {
		case !c.survives:
			i := slices.Index(c.pages, at.page)
			copy(c.pages[1:i+1], c.pages[:i])
			c.pages[0] = at.page
			x.survive(at.class, report.WhyRevisited)
		case c.pages[0] != at.page:
			if c.also == nil {
				c.also = map[int]bool{}
			}
			c.also[at.page] = true
		}
		return
	}
	of := x.captures[text]
	delete(x.captures, text) // once is enough
	for _, n := range of {
		x.survive(n, report.WhyRevisited)
	}
}
