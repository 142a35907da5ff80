package page

import (
	"cmp"
	"slices"
	"strings"
)

// The following rules separate a page's main content from its surroundings. They
// use the text and links of the lines and the elements that contain them, never
// their words, so they work in every language. Text is measured in columns: a
// Chinese character counts as two letters.

// The values are from docs/benchmarks/main-content.md. textLine is the link density
// at which the decision tree of Kohlschütter, Fankhauser and Nejdl splits first
// (Boilerplate Detection using Shallow Text Features, WSDM 2010).
const (
	linkLine  = 0.8     // share of links from which on a line is a line of links
	textLine  = 1.0 / 3 // share of links up to which a line is text
	menuLine  = 40      // a line of links with fewer columns looks like a menu entry
	leastMain = 200     // columns outside links, without title and by-line; with less, the model may have chosen the wrong lines
	thinMain  = 320     // likewise; with less, other text beside it makes the choice uncertain
	thinRest  = 0.25    // share of that other text, of the columns kept
	longLine  = 80      // columns outside links from which on a line is a paragraph

	navigationLinks = 0.55 // share of lines of links from which on a page is a navigation page ...
	topicParagraphs = 0.3  // ... unless it has this share of paragraphs

	leastTitle = 8 // bytes of a title that another line can repeat

	// The following are in thousandths of log odds.
	lowestOdds = -2000 // lowest threshold
	belowBest  = 2500  // how far a line's odds may be below those of the page's best lines
)

// measure holds the measures of a line: its columns outside and inside of links,
// and counts of its marks.
type measure struct {
	free, link int
	in         context
	title      bool // the page's title repeats the line
	repeats    bool // the line and the page's title have much in common
	ended      bool // it ends like a sentence

	stops    int32 // ends of sentences
	digits   int32
	capitals int32
	words    int32 // runs of white space, plus one
}

func (m measure) free32() int32 { return int32(m.free) }
func (m measure) link32() int32 { return int32(m.link) }

// prose returns the columns outside links if the line looks like sentences, and
// otherwise 0.
func (m measure) prose() int32 {
	if m.isText() && (m.free >= longLine || m.free >= menuLine && m.ended) {
		return int32(m.free)
	}
	return 0
}

func (m measure) columns() int { return m.free + m.link }

// linked reports whether the line consists mainly of links.
func (m measure) linked() bool { return float64(m.link) >= linkLine*float64(m.columns()) }

// isText reports whether the line is text, which may contain links.
func (m measure) isText() bool { return float64(m.link) <= textLine*float64(m.columns()) }

// paragraph reports whether the line is a paragraph.
func (m measure) paragraph() bool { return m.isText() && m.free >= longLine }

// boilerplate reports whether the line is in an element that the page marks as no
// content. An aside or footer within an article belongs to the article.
func (m measure) boilerplate() bool {
	return m.in&inNav != 0 || m.in&(inFooter|inAside) != 0 && m.in&inMain == 0
}

// measures returns the measures of the lines of s.
func measures(s shown) []measure {
	all := make([]measure, len(s.blocks))
	from := 0
	for i, b := range s.blocks {
		line := s.text[from:b.end]
		from = int(b.end) + 1
		m := &all[i]
		columns := m.read(line)
		inked := len(line) - int(m.words-1) // links does not count white space
		if inked > 0 {
			m.link = min(columns, columns*int(b.links)/inked)
		}
		m.free, m.in = columns-m.link, b.in
		in := len(line) >= leastTitle && len(line)*2 >= len(s.title) && strings.Contains(s.title, line)
		m.title = b.in&inHeading != 0 && in
		m.repeats = in || len(s.title) > leastTitle && len(line) < 2*len(s.title) && strings.Contains(line, s.title)
	}
	return all
}

// kindOf separates topic pages, the only ones that the TLCS paper clusters (section
// 4), from navigation pages, which consist of lines of links.
func kindOf(all []measure) Kind {
	columns, linked, paragraphs := 0, 0, 0
	count := func(m measure) {
		columns += m.columns()
		switch {
		case m.linked():
			linked += m.columns()
		case m.paragraph():
			paragraphs += m.columns()
		}
	}
	for _, m := range all {
		if !m.boilerplate() {
			count(m)
		}
	}
	if columns == 0 { // there is nothing else
		for _, m := range all {
			count(m)
		}
	}
	if columns > 0 && float64(linked) >= navigationLinks*float64(columns) && float64(paragraphs) < topicParagraphs*float64(columns) {
		return KindNavigation
	}
	return KindTopic
}

// content is a page's text divided into parts.
type content struct {
	marks         Marks
	title, byline string
	main          string // lines of the main content
	sure          bool   // the main content is certain; otherwise the page's whole text has to be kept
}

// contentOf divides the lines of s into parts. all are the measures of the lines.
func contentOf(s shown, all []measure) content {
	if len(all) == 0 {
		return content{}
	}
	lines := scoredLines(s, all)
	marks := partsByOdds(lines, threshold(all, lines))
	keepThread(all, lines, marks)
	var c content
	c.title, c.byline = markTitle(s, all, lines, marks)
	c.marks = newMarks(marks, lines)
	if c.sure = certain(all, marks); c.sure {
		c.main = s.lines(marks, PartMain)
	}
	return c
}

// certain reports whether the lines of the main content are enough to stand for the
// page. A short text such as a licence may be all that looks like content on pages
// whose content is a table or a declaration. So a short text is uncertain if there
// is other text beside it, outside of the elements that the page marks as no content.
func certain(all []measure, parts []Part) bool {
	kept, rest := 0, 0
	for i, p := range parts {
		switch {
		case p == PartMain:
			kept += all[i].free
		case p == PartFrame && !all[i].boilerplate():
			rest += all[i].free
		}
	}
	return kept >= thinMain || kept >= leastMain && float64(rest) < thinRest*float64(kept)
}

// scored is what the model says of a line, and what its row tells the rules.
type scored struct {
	odds    int32 // log odds that it is content, in thousandths
	central bool  // it is in the lowest node with most of the page's prose
	comment bool  // it is among comments
	meta    bool  // an element near it is named as a by-line
}

// scoredLines returns what the model says of each line.
func scoredLines(s shown, all []measure) []scored {
	lines := make([]scored, len(all))
	eachRow(s, all, func(i int, r *row) {
		lines[i] = scored{odds: r.weigh(), central: r[atUpMost] == 0, comment: r[atNames+kindComment] != 0, meta: r[atNames+kindMeta] == 2}
	})
	return lines
}

// partsByOdds returns the parts of lines by the log odds that they are content.
func partsByOdds(lines []scored, over int32) []Part {
	parts := make([]Part, len(lines))
	for i, l := range lines {
		switch {
		case l.odds > over:
			parts[i] = PartMain
		case l.comment:
			parts[i] = PartComments
		}
	}
	return parts
}

// keepThread keeps all comments of a page whose content is comments: some of them look like
// content, and what else does is too little for a page. The posts of many forums and trackers
// are named comments, and only some look like content.
func keepThread(all []measure, lines []scored, parts []Part) {
	inside, outside := 0, 0
	for i, p := range parts {
		switch {
		case p != PartMain:
		case lines[i].comment:
			inside += all[i].free
		default:
			outside += all[i].free
		}
	}
	if inside == 0 || outside >= leastMain {
		return
	}
	for i, p := range parts {
		if p == PartComments && !all[i].boilerplate() {
			parts[i] = PartMain
		}
	}
}

// threshold returns the odds above which a line is content. The prose in the lowest
// node with half of the page's prose tells how the model's odds are to be taken. If most
// of it has odds below 0, the page is unlike those that the model knows, and the odds
// only compare its lines. The threshold is then what most of that prose reaches.
// Otherwise it is 0, or more if the page's best lines are far above and hardly any of
// that prose is lost.
func threshold(all []measure, lines []scored) int32 {
	raised := max(0, bestOdds(all, lines)-belowBest)
	prose, over, overRaised := 0, 0, 0
	var reached []int32
	for i, m := range all {
		l := lines[i]
		if !l.central || m.prose() == 0 || l.comment {
			continue
		}
		prose += m.free
		if l.odds > 0 {
			over += m.free
		}
		if l.odds > raised {
			overRaised += m.free
		}
		reached = append(reached, l.odds)
	}
	switch {
	case 4*over < prose:
		slices.Sort(reached)
		return max(min(0, reached[len(reached)/10]-1), lowestOdds)
	case 4*overRaised < 3*over:
		return 0
	}
	return raised
}

// bestOdds returns the odds that the best lines reach: a third of the columns with
// odds above 0, and enough of them to be certain. It is 0 if there are not so many.
func bestOdds(all []measure, lines []scored) int32 {
	var above []int
	columns := 0
	for i, l := range lines {
		if l.odds > 0 {
			above = append(above, i)
			columns += all[i].free
		}
	}
	slices.SortFunc(above, func(a, b int) int { return cmp.Compare(lines[b].odds, lines[a].odds) })
	best := 0
	for _, i := range above {
		if best += all[i].free; best >= max(thinMain, columns/3) {
			return lines[i].odds
		}
	}
	return 0
}
