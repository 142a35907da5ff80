package page

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Part is the role of a line in its page.
type Part uint8

// The parts of a page.
const (
	PartFrame    Part = iota // surroundings: menus, related links, notices
	PartMain                 // the main content
	PartTitle                // the heading of the main content
	PartByline               // its author and date
	PartComments             // readers' comments below it
	partCount
)

var partNames = [partCount]string{"frame", "main", "title", "byline", "comments"}

func (p Part) String() string { return partNames[p] }

// ParsePart returns the part with a name. ok is false if there is none.
func ParsePart(name string) (p Part, ok bool) {
	for p := range partCount {
		if partNames[p] == name {
			return p, true
		}
	}
	return 0, false
}

// Parts is a set of parts: bit p is set if it has part p.
type Parts uint8

// PartsOf returns the set of the parts.
func PartsOf(parts ...Part) (s Parts) {
	for _, p := range parts {
		s |= 1 << p
	}
	return s
}

// Has reports whether p is in the set.
func (s Parts) Has(p Part) bool { return s>>p&1 != 0 }

// Marks holds one byte for each line of a page's visible text: its part in the
// upper bits, and in the lower bits the certainty. Empty marks mean that all lines
// are content: in text without markup, and on a page whose content a site's rules
// select.
type Marks string

const (
	oddsBits = 5
	oddsStep = 250                 // thousandths of log odds
	oddsZero = 1 << (oddsBits - 1) // stands for log odds 0
	maxOdds  = 1<<oddsBits - 1     // stands for all higher log odds, too
)

// newMarks makes marks from the lines' parts and the log odds, in thousandths, that
// they are content.
func newMarks(parts []Part, lines []scored) Marks {
	b := make([]byte, len(parts))
	for i, p := range parts {
		b[i] = newMark(p, lines[i].odds)
	}
	return Marks(b)
}

func newMark(p Part, odds int32) byte {
	const zero = oddsZero * oddsStep
	return byte(p)<<oddsBits | byte((max(-zero, min(odds, zero-1))+zero)/oddsStep)
}

// Line is a line of a page's visible text.
type Line struct {
	Text string
	Part Part
	// Odds are the log odds that the line is content, in thousandths, from -4000 to
	// 3750, rounded down to quarters. If the page is unlike those that the model
	// knows, they only compare its lines.
	Odds int
}

// Lines yields the lines of a page's visible text.
func (m Marks) Lines(visible string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		i := 0
		for text := range strings.SplitSeq(visible, "\n") {
			l := Line{Text: text, Part: PartMain, Odds: (maxOdds - oddsZero) * oddsStep}
			if i < len(m) {
				l.Part, l.Odds = Part(m[i]>>oddsBits), (int(m[i]&maxOdds)-oddsZero)*oddsStep
			}
			if i++; !yield(l) {
				return
			}
		}
	}
}

// Select returns the lines of a page's visible text that belong to the parts.
func (m Marks) Select(visible string, parts Parts) string {
	if m == "" {
		if parts.Has(PartMain) {
			return visible
		}
		return ""
	}
	return m.selected(visible, parts, len(visible))
}

// selected returns the lines that belong to the parts, which have about so many bytes.
func (m Marks) selected(visible string, parts Parts, size int) string {
	var b strings.Builder
	b.Grow(size)
	for l := range m.Lines(visible) {
		if !parts.Has(l.Part) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.Text)
	}
	return b.String()
}

// lines returns the lines that are of a part, as Marks.Select does.
func (s shown) lines(parts []Part, of Part) string {
	var b strings.Builder
	size := 0
	each := func(run func(text string)) { // calls run with each of the runs of such lines
		from := 0
		for i := range parts {
			switch {
			case parts[i] != of:
				from = i + 1
			case i+1 == len(parts) || parts[i+1] != of:
				start := 0
				if from > 0 {
					start = int(s.blocks[from-1].end) + 1
				}
				run(s.text[start:s.blocks[i].end])
			}
		}
	}
	each(func(text string) { size += len(text) + 1 })
	b.Grow(size)
	each(func(text string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	})
	return b.String()
}

// Around returns the lines of a page's visible text that are not main content, for
// Whole. There are none if the page's text is all visible text.
func (m Marks) Around(text, visible string) string {
	if len(text) == len(visible) {
		return ""
	}
	return m.selected(visible, ^PartsOf(PartMain), max(0, len(visible)-len(text)))
}

// Whole returns the visible text of a page from its text, which is all of it or the
// main content. It inserts the lines of around, which Around returned, at their
// places. ok reports whether the numbers of lines agree with the marks.
func (m Marks) Whole(text, around string) (visible string, ok bool) {
	lines := strings.Count(text, "\n") + 1
	if m == "" || lines == len(m) && around == "" {
		return text, true
	}
	main := 0
	for i := range len(m) {
		if Part(m[i]>>oddsBits) == PartMain {
			main++
		}
	}
	if main != lines || len(m)-main != strings.Count(around, "\n")+1 {
		return text, false
	}
	var b strings.Builder
	b.Grow(len(text) + 1 + len(around))
	for i := range len(m) {
		from := &around
		if Part(m[i]>>oddsBits) == PartMain {
			from = &text
		}
		line, rest, _ := strings.Cut(*from, "\n")
		*from = rest
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String(), true
}

// docs/content.md shows what leaving title and by-line out of the compared text
// gains. Where they are found is common practice.
const (
	minHeading   = 4   // columns of a heading that may be the title
	maxByline    = 120 // columns of a line that may be a by-line
	bylineBefore = 2   // lines before the title that may be by-lines
	bylineBehind = 8   // lines after the title that may be by-lines
)

// titleLine returns the line that is the heading of the content, or -1. It is the
// longest heading that agrees with the page's title; otherwise the last line above
// the first prose that agrees with it; otherwise the only h1, unless it is a link. If the
// title says no more than the line that agrees, it may be the name of the site: then the only
// h1 counts, too, if it stands below that and above the first prose.
func titleLine(s shown, all []measure) int {
	heading, above, size := -1, -1, 0
	prose := false
	for i := range all {
		m := &all[i]
		prose = prose || m.prose() > 0
		if m.boilerplate() || !m.repeats && (m.in&inHeading == 0 || !startsTitle(s.title, s.line(i))) {
			continue
		}
		switch n := m.columns(); {
		case m.in&inHeading == 0:
			if !prose && m.isText() {
				above = i
			}
		case n > size:
			heading, size = i, n
		}
	}
	agrees := above
	if heading >= 0 {
		agrees = heading
	}
	if agrees >= 0 && s.title != s.line(agrees) {
		return agrees
	}
	only := onlyFirst(s, all)
	if agrees >= 0 && slices.ContainsFunc(all[:max(only, 0)], func(m measure) bool { return m.prose() > 0 }) {
		return agrees
	}
	return max(agrees, only)
}

// onlyFirst returns the line of the only h1, or -1 if there are others or it is a link.
func onlyFirst(s shown, all []measure) int {
	only := -1
	for i := range all {
		if all[i].in&inHeading == 0 || !headed(s.nodes, s.blocks[i].node) {
			continue
		}
		if only >= 0 {
			return -1
		}
		only = i
	}
	if only >= 0 && (all[only].columns() < minHeading || all[only].linked() || all[only].boilerplate()) {
		return -1
	}
	return only
}

// startsTitle reports whether a page's title is the line, or the line followed by a
// separator and something else, such as the name of the site.
func startsTitle(title, line string) bool {
	rest, ok := strings.CutPrefix(title, line)
	if !ok || rest == "" {
		return ok
	}
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// headed reports whether the node is in an h1.
func headed(nodes []node, n int32) bool {
	for ; n > 0; n = nodes[n].parent {
		if nodes[n].tag == tagH1 {
			return true
		}
	}
	return false
}

// isByline reports whether a line beside the title has the page's author or date:
// it is short, no prose, and in an element named as a by-line, or has a date.
func isByline(line string, m measure, named bool) bool {
	return m.columns() <= maxByline && m.prose() == 0 && m.in&(inHeading|inPre) == 0 &&
		(named || dated(line))
}

// dated reports whether a line has a year of the last decades, beside another
// number or a word.
func dated(line string) bool {
	for i := 0; i+4 <= len(line); i++ {
		if c := line[i]; c != '1' && c != '2' {
			continue
		}
		y := line[i : i+4]
		if (y[:2] == "19" && y[2] == '9' || y[:2] == "20" && y[2] <= '4') && digit(y[2]) && digit(y[3]) &&
			(i == 0 || !digit(line[i-1])) && (i+4 == len(line) || !digit(line[i+4])) {
			return len(line) > 4
		}
	}
	return false
}

func digit(c byte) bool { return c-'0' < 10 }

// markTitle marks the heading of the content, and the lines beside it with author
// and date, whatever part they had before. It returns these texts.
func markTitle(s shown, all []measure, lines []scored, parts []Part) (title, byline string) {
	at := titleLine(s, all)
	if at < 0 {
		return "", ""
	}
	parts[at], title = PartTitle, collapse(s.line(at))
	var by []string
	for i := max(0, at-bylineBefore); i < len(all) && i <= at+bylineBehind; i++ {
		if i > at && all[i].prose() > 0 {
			break
		}
		if i != at && isByline(s.line(i), all[i], lines[i].meta) {
			parts[i] = PartByline
			by = append(by, s.line(i))
		}
	}
	return title, strings.Join(by, " · ")
}

// line returns the i-th line of the text.
func (s shown) line(i int) string {
	from := int32(0)
	if i > 0 {
		from = s.blocks[i-1].end + 1
	}
	return s.text[from:s.blocks[i].end]
}
