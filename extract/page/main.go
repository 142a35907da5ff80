package page

import (
	"slices"
	"strings"
	"sync"
)

// What follows tells a page's content from what stands around it by the text
// and the links of its lines and by what they stand in, never by its words, so
// that it works in every language. Columns measure text: a Chinese character
// counts as two letters.

// The values are those of docs/benchmarks/main-content.md, except for textLine: the link density at which the
// decision tree of Kohlschütter, Fankhauser and Nejdl (Boilerplate Detection
// using Shallow Text Features, WSDM 2010) splits first.
const (
	linkLine  = 0.8     // share of links from which on a line is one of links
	textLine  = 1.0 / 3 // share of links up to which a line is text
	menuLine  = 40      // columns under which a line of links is like an entry of a menu
	leastMain = 200     // columns outside links of main content, title and by-line apart: of less, the model may have taken the wrong lines
	longLine  = 80      // columns outside links from which on a line is a paragraph

	navigationLinks = 0.55 // share of lines of links from which on a page is for navigation ...
	topicParagraphs = 0.3  // ... unless it has this share of paragraphs

	maxLift    = -2000 // log odds, in thousandths, that the threshold falls to at most
	leastTitle = 8     // bytes of a title that another line can repeat
)

// measure is what a line looks like: how much of it stands outside of links and
// inside, in columns, and counts of its marks.
type measure struct {
	free, link int
	in         context
	title      bool // the page's title repeats the line
	repeats    bool // the line and the page's title have much in common
	ended      bool // it ends like a sentence

	stops    int32 // ends of sentences
	digits   int32
	capitals int32
	words    int32 // white space, and one
}

func (m measure) free32() int32 { return int32(m.free) }
func (m measure) link32() int32 { return int32(m.link) }

// prose returns the columns outside links, if the line is like sentences.
func (m measure) prose() int32 {
	if m.says() && (m.free >= longLine || m.free >= menuLine && m.ended) {
		return int32(m.free)
	}
	return 0
}

func (m measure) columns() int { return m.free + m.link }

// linked tells whether the line leads elsewhere rather than saying something.
func (m measure) linked() bool { return float64(m.link) >= linkLine*float64(m.columns()) }

// says tells whether the line says something: links are part of its text.
func (m measure) says() bool { return float64(m.link) <= textLine*float64(m.columns()) }

// paragraph tells whether the line says much.
func (m measure) paragraph() bool { return m.says() && m.free >= longLine }

// around tells whether the line stands in what the page says is not its
// content. An aside or footer within an article belongs to that.
func (m measure) around() bool {
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
		inked := len(line) - int(m.words-1) // links counts no white space
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

// kindOf tells topic pages, the only ones that the TLCS paper clusters
// (section 4), from navigation pages: these are made of lines of links.
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
		if !m.around() {
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

// content is what a page's lines are.
type content struct {
	marks         Marks
	title, byline string
	main          string // the lines of the main content
	sure          bool   // what that is is certain; else the page's whole text is to be kept
}

// contentOf tells the lines of s apart, by the measures of all.
func contentOf(s shown, all []measure) content {
	if len(all) == 0 {
		return content{}
	}
	rows := rowsFor(len(all))
	defer freeRows(rows)
	featuresOf(s, all, rows)
	scores := make([]int32, len(all))
	for i := range rows {
		scores[i] = rows[i].weigh()
	}
	marks := partsByOdds(rows, scores, threshold(all, rows, scores))
	var c content
	c.title, c.byline = markTitle(s, all, rows, marks)
	kept := 0
	for i, p := range marks {
		if p == PartMain {
			kept += all[i].free
		}
	}
	c.marks = newMarks(marks, scores)
	if c.sure = kept >= leastMain; c.sure {
		c.main = c.marks.Select(s.text, PartsOf(PartMain))
	}
	return c
}

// partsByOdds returns the parts of lines by the odds that they are content.
func partsByOdds(rows []row, scores []int32, over int32) []Part {
	parts := make([]Part, len(rows))
	for i := range rows {
		switch {
		case scores[i] > over:
			parts[i] = PartMain
		case rows[i][atNames+kindComment] != 0:
			parts[i] = PartComments
		}
	}
	return parts
}

// rowsFor returns room for the rows of a page.
func rowsFor(n int) []row {
	if p := rowPool.Get().(*[]row); cap(*p) >= n {
		return (*p)[:n]
	}
	return make([]row, n, n+n/4)
}

// freeRows gives room back, unless there is too much of it.
func freeRows(rows []row) {
	if cap(rows) <= maxRows {
		rowPool.Put(&rows)
	}
}

var rowPool = sync.Pool{New: func() any { return new([]row) }}

// maxRows bounds the rows that are kept for the next page.
const maxRows = 1 << 14

// threshold returns the score over which a line is content: 0, unless the
// lowest node with half of the page's prose would lose most of it. Then the
// page is like none that the model knows, and the scores are right only as far
// as they compare lines: it is what most of that prose reaches.
func threshold(all []measure, rows []row, scores []int32) int32 {
	prose, kept := 0, 0
	var reached []int32
	for i, m := range all {
		if r := &rows[i]; r[atUpMost] == 0 && m.prose() > 0 && r[atNames+kindComment] == 0 {
			prose += m.free
			if scores[i] > 0 {
				kept += m.free
			}
			reached = append(reached, scores[i])
		}
	}
	if len(reached) == 0 || 4*kept >= prose {
		return 0
	}
	slices.Sort(reached)
	return max(min(0, reached[len(reached)/10]-1), maxLift)
}
