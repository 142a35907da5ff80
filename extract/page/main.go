package page

import (
	"strings"

	"neardup/extract/text"
)

// What follows tells a page's content from what stands around it by the text
// and the links of its lines and by the landmarks that they stand in, never by
// words, so that it works in every language. Columns measure text: a Chinese
// character counts as two letters. The rules lean towards keeping: what is lost
// here cannot be found by any later stage.

// The values are those of docs/benchmarks/main-content.md, "Where these constants
// come from", where each is varied, except for textLine: the link density at which the
// decision tree of Kohlschütter, Fankhauser and Nejdl (Boilerplate Detection
// using Shallow Text Features, WSDM 2010) splits first.
const (
	linkLine    = 0.8     // share of links from which on a line is one of links
	textLine    = 1.0 / 3 // share of links up to which a line is text
	menuLine    = 40      // columns under which a line of links is like an entry of a menu
	menuEntries = 3       // fewest lines of links that make a menu
	longLine    = 80      // columns outside links from which on a line is a paragraph

	navigationLinks = 0.55 // share of lines of links from which on a page is for navigation ...
	topicParagraphs = 0.3  // ... unless it has this share of paragraphs

	mostLost  = 0.1 // share of the content that may be taken for none
	edgeSays  = 0.5 // what an end of the page may say for each column that it links
	mostMenus = 0.5 // columns of menus that may be cut off for each that is kept
	headings  = 10  // lines above the content in which any heading is its own
)

// measure is how much of a line stands outside of links and inside, in columns.
type measure struct {
	free, link int
	in         context
	title      bool // the page's title repeats the line
}

func (m measure) columns() int { return m.free + m.link }

// linked tells whether the line leads elsewhere rather than saying something.
func (m measure) linked() bool { return float64(m.link) >= linkLine*float64(m.columns()) }

// says tells whether the line says something: links are part of its text.
func (m measure) says() bool { return float64(m.link) <= textLine*float64(m.columns()) }

// paragraph tells whether the line says much.
func (m measure) paragraph() bool { return m.says() && m.free >= longLine }

// menu tells whether the line is like an entry of a menu.
func (m measure) menu() bool { return m.linked() && m.columns() < menuLine }

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
		columns := text.Columns(line)
		inked := len(line) - strings.Count(line, " ") // links counts no white space
		link := 0
		if inked > 0 {
			link = min(columns, columns*int(b.links)/inked)
		}
		all[i] = measure{free: columns - link, link: link, in: b.in}
		all[i].title = b.in&inHeading != 0 && len(line)*2 >= len(s.title) && strings.Contains(s.title, line)
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

// mainText returns the lines of s that are its main content, by the measures of
// all. Where that is not certain, sure is false and the page's whole text is to
// be kept.
func mainText(s shown, all []measure) (main string, sure bool) {
	if kindOf(all) == KindNavigation {
		return "", false
	}
	keep := make([]bool, len(all))
	inside := dominates(all)
	for i, m := range all {
		keep[i] = !m.around() && (!inside || m.in&inMain != 0)
	}
	trim(all, keep)
	rescue(all, keep)
	if !certain(all, keep) {
		return "", false
	}
	return joinLines(s, keep), true
}

// dominates tells whether the page's own main or article elements hold nearly
// all that it says. Some pages have one around their heading only.
func dominates(all []measure) bool {
	inside, outside := 0, 0
	for _, m := range all {
		switch {
		case m.around() || m.linked():
		case m.in&inMain != 0:
			inside += m.free
		default:
			outside += m.free
		}
	}
	return inside > 0 && float64(outside) <= mostLost*float64(inside)
}

// trim takes menus off both ends of what is kept. What stays is the run of
// lines that says most for what it links, in the manner of Body Text Extraction
// (Finn, Kushmerick and Smyth, Fact or Fiction: Content Classification for
// Digital Libraries, 2001), which weighs words against tags, found in one pass
// (Bentley, Programming Pearls, CACM 27:9, 1984). All paragraphs stay.
func trim(all []measure, keep []bool) {
	best, sum, from, first, last := 0, 0, 0, 0, 0
	for i, m := range all {
		if !keep[i] {
			continue
		}
		sum += weight(m)
		if sum <= 0 {
			sum, from = 0, i+1
		}
		if sum > best {
			best, first, last = sum, from, i+1
		}
	}
	for last > first && last < len(all) && all[last-1].in&inHeading != 0 {
		last-- // it heads what is cut off
	}
	for i, m := range all {
		if keep[i] && m.paragraph() {
			first, last = min(first, i), max(last, i+1)
		}
	}
	cut(all[:first], keep[:first])
	cut(all[last:], keep[last:])
}

// cut drops an end of the page, if it holds a menu and says little: a table or
// a thread whose cells or authors are links looks like a menu, but says more.
func cut(end []measure, keep []bool) {
	free, link, entries := 0, 0, 0
	for i, m := range end {
		if !keep[i] {
			continue
		}
		free += m.free
		link += m.link
		if m.menu() {
			entries++
		}
	}
	if entries >= menuEntries && float64(free) <= edgeSays*float64(link) {
		clear(keep)
	}
}

// weight is what the line adds to a run of lines as the main content.
func weight(m measure) int {
	switch {
	case m.in&inHeading != 0 && m.columns() < menuLine:
		return m.columns() // documentation links its headings to themselves
	case m.linked():
		return m.columns() - menuLine
	case m.in&inHeader != 0 && m.in&inMain == 0 && m.columns() < menuLine:
		return 0
	case m.says():
		return m.columns()
	}
	return m.free
}

// rescue brings back the heading above what is kept, what is said between the
// two (a summary, the authors), and asides and footers that say something.
func rescue(all []measure, keep []bool) {
	first, last := -1, -1
	for i, k := range keep {
		if k {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	headed := false
	for i := 0; i < first; i++ {
		m := all[i]
		heading := m.in&inHeading != 0 && !m.around() && (m.title || first-i <= headings)
		headed = headed || heading
		keep[i] = heading || headed && !m.around() && m.says() && weight(m) > 0
	}
	for i := max(first, 0); i < last; {
		if keep[i] || !all[i].around() || all[i].in&inNav != 0 {
			i++
			continue
		}
		j, free, link := i, 0, 0
		for ; j < last && !keep[j] && all[j].around() && all[j].in&inNav == 0; j++ {
			free += all[j].free
			link += all[j].link
		}
		for ; i < j; i++ {
			keep[i] = free > link
		}
	}
}

// certain tells whether what is kept is the content and what is not is none.
func certain(all []measure, keep []bool) bool {
	kept, lost, links, around := 0, 0, 0, 0
	for i, m := range all {
		switch {
		case keep[i]:
			kept += m.free
		case m.in&(inNav|inFooter) != 0:
			around += m.free
		case m.menu():
			if !m.around() {
				links += m.link
			}
		default:
			lost += weight(m)
		}
	}
	return kept >= longLine && float64(lost) <= mostLost*float64(kept) && float64(links) <= mostMenus*float64(kept) && around <= kept
}

// joinLines joins the lines of s that are to be kept.
func joinLines(s shown, keep []bool) string {
	var b strings.Builder
	b.Grow(len(s.text))
	from := 0
	for i, block := range s.blocks {
		line := s.text[from:block.end]
		from = int(block.end) + 1
		if !keep[i] {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}
