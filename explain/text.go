package explain

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"neardup/report"
	"neardup/screen"
)

// Style is how an explanation is written as text.
type Style struct {
	Colour    bool // with the escape sequences of terminals
	ASCII     bool // draw in ASCII; texts stay as they are
	Width     int  // columns of a line, at least 60
	DiffLines int  // lines of the diff; negative: all
}

// Colours by meaning.
const (
	heading  = "1"
	faint    = "2"
	red      = "31"
	green    = "32"
	purple   = "35"
	inRegion = "36"
)

func (s Style) paint(colour, text string) string {
	if !s.Colour || colour == "" || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func (s Style) pick(unicode, ascii string) string {
	if s.ASCII {
		return ascii
	}
	return unicode
}

const (
	chartHeight    = 10
	chartsShown    = 3
	roundsShown    = 8
	keysShown      = 5
	sentencesShown = 16
	stepsShown     = 6
	setsShown      = 5
	narrowest      = 60
	widest         = 160
)

// writer writes an explanation. Its bufio.Writer keeps the first error.
type writer struct {
	*bufio.Writer
	e *Explanation
	s Style
}

// WriteText writes the explanation as text. Crawled text is escaped, and cannot
// extend beyond its line.
func (e *Explanation) WriteText(out io.Writer, s Style) error {
	s.Width = min(max(s.Width, narrowest), widest)
	w := &writer{bufio.NewWriter(out), e, s}
	w.texts()
	w.signatures()
	if e.Run != nil {
		w.run()
	}
	if e.TLCS != nil {
		w.tlcs()
	}
	w.score()
	if e.Rarity != nil {
		w.rarity()
	}
	w.diff()
	return w.Flush()
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

func (w *writer) head(format string, args ...any) {
	w.printf("\n%s\n", w.s.paint(heading, fmt.Sprintf(format, args...)))
}

// say writes a sentence, wrapped at the line width.
func (w *writer) say(indent int, colour, format string, args ...any) {
	var line strings.Builder
	columns := 0
	end := func() {
		w.printf("%*s%s\n", indent, "", w.s.paint(colour, line.String()))
		line.Reset()
		columns = 0
	}
	for word := range strings.FieldsSeq(fmt.Sprintf(format, args...)) {
		if columns > 0 && indent+columns+1+len(word) > w.s.Width {
			end()
		}
		if columns > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(screen.Printable(word))
		columns += 1 + len(word)
	}
	end()
}

// clip shortens crawled text to what is left of a line after so many columns.
func (w *writer) clip(text string, after int) string { return w.shown(text, w.s.Width-after) }

func (w *writer) shown(text string, columns int) string {
	text = screen.Columns(text, max(columns-1, 20))
	if w.s.ASCII && strings.HasSuffix(text, "…") {
		text = strings.TrimSuffix(text, "…") + "..."
	}
	return text
}

func (w *writer) texts() {
	e := w.e
	for i, t := range e.Texts {
		name := [2]string{"a", "b"}[i]
		if t.Page == nil {
			w.printf("%s  %s\n", w.s.paint(heading, name), w.clip(t.File, 3))
			continue
		}
		w.printf("%s  %s\n", w.s.paint(heading, name), w.clip(t.Page.URI, 3))
		w.printf("   %s  %s\n", w.shown(t.Page.Date, 30), w.clip(t.Page.RecordID, 5+len(t.Page.Date)))
		for _, s := range []string{t.Page.Title, t.Page.Byline} {
			if s != "" {
				w.printf("   %s\n", w.clip(s, 3))
			}
		}
		if t.Page.Unsure {
			w.say(3, "", "What its main content is is not certain: all of its visible text is compared.")
		}
	}
	merge := ""
	if e.Method.Merge != "" {
		merge = " (" + e.Method.Merge + ")"
	}
	w.printf("\n%s  signatures %s, search %s%s, measure %s\n", w.s.paint(heading, "method"), e.Method.Scheme, e.Method.Search, merge, e.Method.Measure)
	outcome := map[bool]string{true: "joined", false: "not joined"}[e.Outcome.Joined]
	if e.Run == nil || e.Run.Stale != "" {
		outcome = map[bool]string{true: "would be joined", false: "would not be joined"}[e.Outcome.Joined]
	}
	by := ""
	if e.Outcome.EndedBy != "" {
		by = ", ended by " + string(e.Outcome.EndedBy)
	}
	w.printf("%s  %s%s\n", w.s.paint(heading, "outcome"), outcome, by)
	w.say(9, "", "%s", e.Outcome.Why)
	if d := e.Decision; e.Run != nil && d.Known {
		w.printf("%s  %s\n", w.s.paint(heading, "by the texts"), map[bool]string{true: "near", false: "not near"}[d.Near])
		w.say(9, "", "%s", Relations[d.Relation]+e.Reason(d.EndedBy))
	}

	w.head("texts %24s %10s", "a", "b")
	for _, row := range []struct {
		name string
		of   func(Text) int
	}{
		{"characters extracted", func(t Text) int { return t.Extracted }},
		{"characters compared", func(t Text) int { return t.Characters }},
		{"columns", func(t Text) int { return t.Columns }},
		{"lines", func(t Text) int { return t.Lines }},
		{"sentences", func(t Text) int { return t.Sentences }},
	} {
		w.printf("  %-20s %7d %10d\n", row.name, row.of(e.Texts[0]), row.of(e.Texts[1]))
	}
}

func (w *writer) signatures() {
	s := w.e.Signatures
	w.head("signatures (%s)", w.e.Method.Scheme)
	if s.Traced {
		w.printf("  %d and %d sentences count, %d of them in both\n", s.Counted[0], s.Counted[1], s.Common)
	}
	if t := s.Tokens; t != nil {
		w.printf("  %d and %d tokens, %d in common\n", t.Of[0], t.Of[1], t.Common)
	}
	if s.Signs {
		w.printf("  %d and %d signatures", s.Of[0], s.Of[1])
		if s.Bits == nil {
			w.printf(", %d in common", s.Shared)
		}
		if s.Least > 1 {
			w.printf(" of %d that are needed", s.Least)
		}
		w.printf("\n")
	}
	if b := s.Bits; b != nil && b.Of[0] != "" && b.Of[1] != "" {
		most := ""
		if b.Most != nil {
			most = fmt.Sprintf(", candidates in %d at most", *b.Most)
		}
		w.say(2, "", "%s and %s differ in %d bits%s", b.Of[0], b.Of[1], b.Differ, most)
	}
	for _, k := range s.Keys[:min(keysShown, len(s.Keys))] {
		w.printf("  %s", k.Signature)
		if l := k.List; l != nil {
			if n := l.Over(); n > 0 {
				w.printf("  of over %d texts", n)
			} else {
				w.printf("  of %d texts", l.Texts)
			}
			if l.Deleted != "" {
				w.printf(", deleted (%s)", l.Deleted)
			}
		}
		w.printf("\n")
		if k.Origins != nil {
			w.origins(*k.Origins)
		}
	}
	if n := s.Shared - min(keysShown, len(s.Keys)); n > 0 {
		w.printf("  and %d more\n", n)
	}
	w.sentences()
}

// origins writes how both texts made a signature, on one line if they made it in
// the same way, which is usual.
func (w *writer) origins(of [2]Origin) {
	if of[0].Rotation == of[1].Rotation && of[0].Class == of[1].Class && of[0].Whole == of[1].Whole && of[0].Few == of[1].Few {
		w.say(4, "", "%s: a %s, b %s", of[0].way(), of[0].places(), of[1].places())
		return
	}
	for i, o := range of {
		w.say(4, "", "%s: %s %s", o.way(), [2]string{"a", "b"}[i], o.places())
	}
}

func (o Origin) way() string {
	if o.Whole {
		return "of all sentences"
	}
	if o.Few {
		return "of a few sentences"
	}
	return fmt.Sprintf("rotation %d, class %d, sentences", o.Rotation, o.Class)
}

func (o Origin) places() string {
	var places []string
	for _, p := range o.Sentences {
		places = append(places, fmt.Sprint(p+1))
	}
	return strings.Join(places, " ")
}

// sentences writes the sentences that made the signatures shown, each once.
func (w *writer) sentences() {
	named := map[[2]int]bool{}
	for _, k := range w.e.Signatures.Keys[:min(keysShown, len(w.e.Signatures.Keys))] {
		if k.Origins == nil {
			continue
		}
		for i, o := range *k.Origins {
			for _, place := range o.Sentences {
				named[[2]int{i, place}] = true
			}
		}
	}
	places := map[string]*[2]int{}
	var order []string
	for _, s := range w.e.Signatures.Spelled {
		if !named[[2]int{s.Text, s.Place}] {
			continue
		}
		if places[s.Words] == nil {
			places[s.Words] = &[2]int{}
			order = append(order, s.Words)
		}
		places[s.Words][s.Text] = s.Place + 1
	}
	if len(order) > 0 {
		w.printf("  %5s %5s  sentence\n", "a", "b")
	}
	for _, words := range order[:min(sentencesShown, len(order))] {
		at := [2]string{"-", "-"}
		for i, place := range places[words] {
			if place > 0 {
				at[i] = fmt.Sprint(place)
			}
		}
		w.printf("  %5s %5s  %s\n", at[0], at[1], w.clip(words, 15))
	}
}

func (w *writer) tlcs() {
	t := w.e.TLCS
	w.head("sketches and their LCS; the longer text is %s", t.Longer)
	w.say(2, "", "%d characters must match in trustable regions, of %d that the shorter text has", t.Need,
		min(w.e.Texts[0].Characters, w.e.Texts[1].Characters))
	if len(t.Rounds) == 0 {
		w.printf("  a text is empty\n")
		return
	}
	w.printf("  %5s %8s %8s %8s %8s %8s %7s %8s %7s\n", "round", "longer", "shorter", "sketch", "sketch", "LCS", "SES", "at most", "TLCS")
	for i, r := range t.Rounds[:min(roundsShown, len(t.Rounds))] {
		most := fmt.Sprint(r.Most)
		if r.Most < 0 {
			most = "none"
		}
		note := ""
		if i >= t.Scored {
			note = " *"
		}
		w.printf("  %5d %8d %8d %8d %8d %8d %7d %8s %7d%s\n", i+1, r.A, r.B, r.SketchA, r.SketchB, r.LCS, r.SES, most, r.TLCS, note)
	}
	if n := t.AllRounds - roundsShown; n > 0 {
		w.printf("  and %d more rounds\n", n)
	}
	if t.Scored < t.AllRounds {
		w.printf("  * the verdict was certain before\n")
	}
	for i, r := range t.Rounds[:min(chartsShown, len(t.Rounds))] {
		w.printf("\n")
		left := ""
		if i > 0 {
			left = ", of what is left of it"
		}
		w.say(2, "", "edit curve of round %d: d(x) edit operations up to position x of %s%s", i+1, t.Longer, left)
		for _, line := range chart(r, w.s, w.s.Width-12, chartHeight) {
			w.printf("  %s\n", line)
		}
		switch {
		case !w.e.Diff.Trustable:
			w.printf("  the whole LCS counts, %d characters\n", r.LCS)
		case r.Start == r.End:
			w.say(2, "", "no trustable region: no run of the %d blocks has a slope of at most %v", t.Blocks, t.Slope)
		default:
			w.say(2, inRegion, "trustable region: %d to %d, slope %d/%d = %.4f, at most %v; %d characters of the LCS in it",
				r.Start, r.End, r.Inside, r.End-r.Start, r.slope(), t.Slope, r.TLCS)
		}
	}
}

func (w *writer) score() {
	s := w.e.Score
	w.head("scores (%s)", s.Note)
	if !s.Known {
		w.printf("  not known\n")
		return
	}
	row := func(name string, value report.Score, least *float64) {
		w.printf("  %-22s %6.4f   %s\n", name, float64(value), against(value, least))
	}
	row("resemblance", s.Resemblance, s.LeastResemblance)
	row("containment", s.Containment, s.LeastContainment)
	if s.LeastWhole != nil {
		row("resemblance, whole LCS", s.Whole, s.LeastWhole)
	}
	if r := w.e.Regained; r != nil {
		w.say(2, "", "%s", r.Said())
	}
}

// against says whether a score reaches its threshold.
func against(value report.Score, least *float64) string {
	switch {
	case least == nil:
		return "no threshold"
	case float64(value) >= *least:
		return fmt.Sprintf("reaches %.4g", *least)
	}
	return fmt.Sprintf("below %.4g", *least)
}
