package page

import (
	"math/bits"
)

// featureList names the features of a line by which the model separates content
// from its surroundings. All features are whole numbers, and shares are in
// thousandths, so every machine computes the same. Prose means lines that look like
// sentences, outside links. A container of the line is the node that contains it
// (0), that node's parent (1), and so on.
const featureList = `
depth        nodes around it
lists        list items around it
heading      level of the heading that it stands in, or 0
paragraph    it stands in a p
division     it stands straight in a div, section, article or main
buttons      around it
quotes       around it
figures      around it
up-half      steps up from the lowest node with half of the prose to one that holds the line
up-most      the same, with 80% of the prose
below-half   levels that its node is below the lowest one with half of the prose
below-most   the same, with 80% of the prose
same0        nodes in the parent of container 0 that have its tag and class
same1        of container 1
same3        of container 3
free0        columns outside links in container 0
free1        in container 1
free2        in container 2
free3        in container 3
links0       share of columns in links of container 0
links1       of container 1
links2       of container 2
links3       of container 3
links4       of container 4
share1       share that container 1 has of the page's prose
share2       that container 2 has
share3       that container 3 has
prose0       share of prose in container 0
prose1       in container 1
prose2       in container 2
columns      of the line
links        share of them in links
stops        ends of sentences
ended        it ends like a sentence
digits       share of its columns
capitals     a word
words        white space, and one
titled       it repeats the page's title
item         it is in a list item
cell         in a table
nav          in a nav
aside        in an aside
header       in a header
footer       in a footer
main         in a main or article
form         in a form
pre          in a pre
lines-before share of the page's lines
prose-before share of the page's prose
prose-after  share of the page's prose
from-prose   lines since the first of prose
to-prose     lines to the last of prose
from-title   lines since the heading, or -1000
before3      share of links in 3 lines before it
before8      in 8 lines before it
after3       in 3 lines after it
after8       in 8 lines after it
prose-after3 share of prose in 3 lines after it
previous     how the line before it stands to it: 3 in the same node or one like it beside it, 2 beside it, 1 above or below, 0 apart
next         the line after it
previous-links share of links in the line before it
page-lines   of the page
page-prose   columns of prose of the page
page-links   share of links of the page
page-dense   share of prose of the page outside links
`

// Indexes of features in a row. Those of the names come last.
const (
	atDepth = iota
	atLists
	atHeading
	atParagraph
	atDivision
	atButtons
	atQuotes
	atFigures
	atUpHalf
	atUpMost
	atBelowHalf
	atBelowMost
	atSame0
	atSame1
	atSame3
	atFree0
	atFree1
	atFree2
	atFree3
	atLinks0
	atLinks1
	atLinks2
	atLinks3
	atLinks4
	atShare1
	atShare2
	atShare3
	atProse0
	atProse1
	atProse2
	atColumns
	atLinks
	atStops
	atEnded
	atDigits
	atCapitals
	atWords
	atTitled
	atItem
	atCell
	atNav
	atAside
	atHeader
	atFooter
	atMain
	atForm
	atPre
	atLinesBefore
	atProseBefore
	atProseAfter
	atFromProse
	atToProse
	atFromTitle
	atBefore3
	atBefore8
	atAfter3
	atAfter8
	atProseAfter3
	atPrevious
	atNext
	atPreviousLinks
	atPageLines
	atPageProse
	atPageLinks
	atPageDense
	atNames
	featureCount = atNames + nameKinds
	featureRoom  = 128 // a power of two
)

// row holds the features of a line.
type row [featureRoom]int32

// sums are counts over the lines that a node contains.
type sums struct{ lines, free, link, prose int32 }

func (s sums) add(o sums) sums {
	return sums{s.lines + o.lines, s.free + o.free, s.link + o.link, s.prose + o.prose}
}

// holder holds the sums of a node and of its siblings.
type holder struct {
	sums
	depth int32
	same  int32 // nodes in its parent with its tag and class
}

// thousandths returns a/b in thousandths.
func thousandths(a, b int32) int32 {
	if b <= 0 {
		return 0
	}
	return int32(int64(a) * 1000 / int64(b))
}

func truth(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// eachRow calls do with the features of each line of s, in order. all are the
// measures of all lines. The row is the same each time, so that a page of millions of
// lines takes no more memory for it.
func eachRow(s shown, all []measure, do func(i int, r *row)) {
	held := holders(s, all)
	page := held[0]
	half, most := lowest(held, page.prose/2), lowest(held, int32(int64(page.prose)*4/5))
	upHalf, upMost := stepsUp(s.nodes, half), stepsUp(s.nodes, most)

	run := make([]sums, len(all)+1) // sums over the lines before
	first, last, heading := len(all), 0, -1
	for i, m := range all {
		run[i+1] = run[i].add(sums{free: m.free32(), link: m.link32(), prose: m.prose()})
		if m.prose() > 0 {
			first, last = min(first, i), i
		}
		if heading < 0 && m.repeats && m.in&inHeading != 0 {
			heading = i
		}
	}
	for i := 0; heading < 0 && i < len(all); i++ {
		if s.nodes[s.blocks[i].node].tag == tagH1 {
			heading = i
		}
	}

	n := int32(len(all))
	r, links := new(row), int32(-1)
	for i, m := range all {
		node := s.blocks[i].node
		if i == 0 || s.blocks[i-1].node != node {
			r.setNode(s.nodes, held, node)
			r[atUpHalf], r[atUpMost] = upHalf[node], upMost[node]
			r[atBelowHalf], r[atBelowMost] = held[node].depth-held[half].depth, held[node].depth-held[most].depth
		}
		r[atColumns] = int32(m.columns())
		r[atLinks] = thousandths(m.link32(), int32(m.columns()))
		r[atStops] = m.stops
		r[atEnded] = truth(m.ended)
		r[atDigits] = thousandths(m.digits, int32(m.columns()))
		r[atCapitals] = thousandths(m.capitals, m.words)
		r[atWords] = m.words
		r[atTitled] = truth(m.repeats)
		for k, c := range [...]context{inItem, inCell, inNav, inAside, inHeader, inFooter, inMain, inForm, inPre} {
			r[atItem+k] = truth(m.in&c != 0)
		}
		r[atLinesBefore] = thousandths(int32(i), n)
		r[atProseBefore] = thousandths(run[i].prose, page.prose)
		r[atProseAfter] = thousandths(page.prose-run[i+1].prose, page.prose)
		r[atFromProse] = int32(i - first)
		r[atToProse] = int32(last - i)
		r[atFromTitle] = -1000
		if heading >= 0 {
			r[atFromTitle] = int32(i - heading)
		}
		for k, w := range [...]int{3, 8} {
			a, b := run[max(0, i-w)], run[i]
			r[atBefore3+k] = thousandths(b.link-a.link, b.link+b.free-a.link-a.free)
			a, b = run[i+1], run[min(len(all), i+1+w)]
			r[atAfter3+k] = thousandths(b.link-a.link, b.link+b.free-a.link-a.free)
			if k == 0 {
				r[atProseAfter3] = thousandths(b.prose-a.prose, b.link+b.free-a.link-a.free)
			}
		}
		r[atPrevious], r[atNext], r[atPreviousLinks] = -1, -1, links
		if i > 0 {
			r[atPrevious] = standing(s.nodes, node, s.blocks[i-1].node)
		}
		links = r[atLinks]
		if i+1 < len(all) {
			r[atNext] = standing(s.nodes, node, s.blocks[i+1].node)
		}
		r[atPageLines] = n
		r[atPageProse] = page.prose
		r[atPageLinks] = thousandths(page.link, page.link+page.free)
		r[atPageDense] = thousandths(page.prose, page.free)
		do(i, r)
	}
}

// setNode sets the features of the containing node.
func (r *row) setNode(nodes []node, held []holder, at int32) {
	clear(r[:])
	depth := int32(0)
	var near, far nameBits
	for n := at; n > 0; n = nodes[n].parent {
		if depth < 3 {
			near |= nodes[n].names
		} else {
			far |= nodes[n].names
		}
		switch t := nodes[n].tag; t {
		case tagLi, tagDd, tagDt:
			r[atLists]++
		case tagButton:
			r[atButtons]++
		case tagBlockquote:
			r[atQuotes]++
		case tagFigure:
			r[atFigures]++
		case tagH1, tagH2, tagH3, tagH4, tagH5, tagH6:
			if r[atHeading] == 0 {
				r[atHeading] = int32(t-tagH1) + 1
			}
		}
		depth++
	}
	for w := far &^ near; w != 0; w &= w - 1 {
		r[atNames+bits.TrailingZeros32(uint32(w))] = 1
	}
	for w := near; w != 0; w &= w - 1 {
		r[atNames+bits.TrailingZeros32(uint32(w))] = 2
	}
	r[atDepth] = depth
	r[atParagraph] = truth(nodes[at].tag == tagP)
	switch nodes[at].tag {
	case tagDiv, tagSection, tagArticle, tagMain:
		r[atDivision] = 1
	}
	page := held[0].prose
	n := at
	for k := range int32(5) {
		c := &held[n]
		r[atLinks0+k] = thousandths(c.link, c.link+c.free)
		if k < 4 {
			r[atFree0+k] = c.free
		}
		if k < 3 {
			r[atProse0+k] = thousandths(c.prose, c.link+c.free)
		}
		if 0 < k && k < 4 {
			r[atShare1+k-1] = thousandths(c.prose, page)
		}
		switch k {
		case 0, 1:
			r[atSame0+k] = c.same
		case 3:
			r[atSame3] = c.same
		}
		n = max(0, nodes[n].parent)
	}
}

// holders returns the holders of all nodes.
func holders(s shown, all []measure) []holder {
	held := make([]holder, len(s.nodes))
	for i, m := range all {
		h := &held[s.blocks[i].node]
		h.sums = h.add(sums{1, m.free32(), m.link32(), m.prose()})
	}
	same := alike(s.nodes)
	for i := len(held) - 1; i > 0; i-- {
		p := &held[s.nodes[i].parent]
		p.sums = p.add(held[i].sums)
		held[i].same = same.count(i)
	}
	for i := 1; i < len(held); i++ {
		held[i].depth = held[s.nodes[i].parent].depth + 1
	}
	return held
}

// lowest returns the lowest node that contains that much prose; among equally low
// nodes, the first.
func lowest(held []holder, prose int32) int32 {
	low := int32(0)
	for i := range held {
		if h := &held[i]; h.prose >= prose && h.prose > 0 && h.depth > held[low].depth {
			low = int32(i)
		}
	}
	return low
}

// stepsUp returns for each node the number of steps up from the node from to one
// that contains it.
func stepsUp(nodes []node, from int32) []int32 {
	steps := make([]int32, len(nodes))
	for i := range steps {
		steps[i] = -1
	}
	up := int32(0)
	for n := from; n >= 0; n = nodes[n].parent {
		steps[n] = up
		up++
	}
	for i := range steps {
		if steps[i] < 0 {
			steps[i] = steps[nodes[i].parent]
		}
	}
	return steps
}

// standing returns how two nodes are related.
func standing(nodes []node, a, b int32) int32 {
	x, y := &nodes[a], &nodes[b]
	switch {
	case a == b:
		return 3
	case x.parent == y.parent:
		if x.tag == y.tag && x.hash == y.hash {
			return 3
		}
		return 2
	case x.parent == b || y.parent == a:
		return 1
	}
	return 0
}

// siblings counts nodes of one parent with the same tag and class. It is a hash
// table with linear probing.
type siblings struct {
	nodes []node
	slots []int32 // index of the first node of its kind, plus one
	first []int32 // of each node, the first one of its kind
	of    []int32 // of each first node, the number of its kind
}

// maxProbes limits the search for a kind of node, since hostile classes may
// collide. A node that is not found within the limit counts alone.
const maxProbes = 64

func alike(nodes []node) siblings {
	size := 4
	for size < 2*len(nodes) {
		size *= 2
	}
	s := siblings{nodes: nodes, slots: make([]int32, size), first: make([]int32, len(nodes)), of: make([]int32, len(nodes))}
	for i := range nodes {
		n := &nodes[i]
		h := (uint32(n.parent)*31+uint32(n.tag))*0x9e3779b1 ^ n.hash*0x85ebca6b
		h ^= h >> 15
		for j, probes := int(h)&(size-1), 0; ; j, probes = (j+1)&(size-1), probes+1 {
			f := s.slots[j] - 1
			switch {
			case f < 0:
				s.slots[j], f = int32(i)+1, int32(i)
			case probes == maxProbes:
				f = int32(i)
			default:
				if o := &nodes[f]; o.parent != n.parent || o.tag != n.tag || o.hash != n.hash {
					continue
				}
			}
			s.first[i] = f
			s.of[f]++
			break
		}
	}
	return s
}

func (s siblings) count(i int) int32 { return s.of[s.first[i]] }
