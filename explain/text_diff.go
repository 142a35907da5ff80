package explain

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"neardup/extract/text"
	"neardup/screen"
)

// ends is the number of code points shown at either end of a long equal stretch.
const ends = 60

// look is how a kind is shown: in its colour, or between marks if there are no
// colours.
type look struct{ colour, open, close string }

var looks = map[Kind]look{
	Trusted: {},
	Same:    {colour: faint},
	OnlyA:   {red, "[-", "-]"},
	OnlyB:   {green, "{+", "+}"},
	MovedA:  {purple, "[>", ">]"},
	MovedB:  {purple + ";4", "{<", "<}"},
}

func (w *writer) diff() {
	d := w.e.Diff
	w.head("both texts")
	n := d.Characters
	if d.Trustable {
		w.printf("  %s the same in trustable regions %d  %s the same outside %d\n", w.s.paint(inRegion, w.s.pick("┃", "|")), n[Trusted],
			w.s.pick("┊", ":"), n[Same])
	} else {
		w.printf("  the same %d\n", n[Same])
	}
	if short := scattered(d.Segments); short > 0 {
		w.printf("  %d of the same are in pieces under %d characters, shown as different\n", short, legibleFrom)
	}
	w.printf("  %s %d  %s %d", w.mark(OnlyA, "only a"), n[OnlyA], w.mark(OnlyB, "only b"), n[OnlyB])
	if n[MovedA] > 0 {
		w.printf("  %s %d  %s %d", w.mark(MovedA, "moved, in a"), n[MovedA], w.mark(MovedB, "moved, in b"), n[MovedB])
	}
	w.printf("\n")
	if w.s.DiffLines == 0 {
		return
	}
	w.printf("\n")
	f := &flow{w: w, room: w.s.Width - 4}
	segments := legible(d.Segments)
	for i, s := range segments {
		f.segment(s)
		if f.full() {
			f.left = len(segments) - i - 1
			break
		}
	}
	f.end()
	if left := f.left + d.LeftOut; left > 0 || f.full() {
		w.printf("  %s\n", w.s.paint(faint, fmt.Sprintf("and %d more changes and stretches", left)))
	}
}

// legibleFrom is the smallest length of an equal piece outside trustable regions
// that is shown as equal. An LCS of different texts consists of single letters.
const legibleFrom = 16

func legibleSame(s Segment) bool {
	return s.Kind == Trusted || s.Kind == Same && s.length() >= legibleFrom
}

// scattered returns the number of code points in pieces that are too short.
func scattered(all []Segment) (n int) {
	for _, s := range all {
		if s.Kind == Same && !legibleSame(s) {
			n += s.length()
		}
	}
	return n
}

// legible merges equal pieces that are too short with the differences around
// them, into one stretch of each text. Moved and clipped pieces stay.
func legible(all []Segment) (out []Segment) {
	var a, b Segment
	flush := func() {
		for _, s := range []Segment{a, b} {
			if s.Text != "" {
				out = append(out, s)
			}
		}
		a, b = Segment{Kind: OnlyA}, Segment{Kind: OnlyB}
	}
	flush()
	for _, s := range all {
		if legibleSame(s) || s.Other != nil || s.End != "" {
			flush()
			out = append(out, s)
			continue
		}
		if s.Kind != OnlyB {
			a.Text += s.Text
			a.A[1] += s.A[1] - s.A[0]
		}
		if s.Kind != OnlyA {
			b.Text += s.Text
			b.B[1] += s.B[1] - s.B[0]
		}
	}
	flush()
	return out
}

// mark returns text in the look of a kind.
func (w *writer) mark(k Kind, text string) string {
	l := looks[k]
	if w.s.Colour {
		return w.s.paint(l.colour, text)
	}
	return l.open + text + l.close
}

// flow puts segments into lines.
type flow struct {
	w       *writer
	room    int // columns left in a line
	line    strings.Builder
	run     strings.Builder // text of one kind
	kind    Kind            // kind of run
	columns int             // columns of the line, including run
	trusted bool            // the line has text inside a trustable region
	same    bool            // the line has equal text outside
	lines   int
	left    int
}

func (f *flow) full() bool { return f.w.s.DiffLines >= 0 && f.lines >= f.w.s.DiffLines }

func (f *flow) segment(s Segment) {
	equal := s.Kind == Same || s.Kind == Trusted
	head, tail, shown := s.Text, s.End, maxEnds
	if equal {
		shown = ends
	}
	n := s.length()
	if n <= 2*shown+shown/2 {
		f.text(s.Kind, head)
		return
	}
	if tail == "" {
		tail = head
	}
	f.text(s.Kind, first(head, shown))
	f.end()
	if f.full() {
		return
	}
	what := "more"
	if equal {
		what = "the same"
	}
	f.w.printf("%s %s\n", f.gutter(s.Kind == Trusted, s.Kind == Same), f.w.s.paint(faint,
		fmt.Sprintf("%s %d characters %s %[1]s", f.w.s.pick("⋯", "..."), n-2*shown, what)))
	f.lines++
	f.text(s.Kind, last(tail, shown))
}

func first(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

func last(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

// text adds a piece of a segment. It breaks lines at line ends and where a line is
// full.
func (f *flow) text(k Kind, s string) {
	equal := k == Same || k == Trusted
	for s != "" && !f.full() {
		r, size := utf8.DecodeRuneInString(s)
		piece := screen.Printable(s[:size])
		if r == '\n' {
			if piece = ""; !equal {
				piece = f.w.s.pick("⏎", `\n`)
			}
		}
		s = s[size:]
		width := text.Columns(piece)
		if f.columns > 0 && f.columns+width > f.room {
			f.end()
		}
		if f.kind != k {
			f.close()
			f.kind = k
		}
		f.run.WriteString(piece)
		f.columns += width
		f.trusted, f.same = f.trusted || k == Trusted, f.same || k == Same
		if r == '\n' {
			f.end()
		}
	}
}

// close ends the run.
func (f *flow) close() {
	if f.run.Len() > 0 {
		marked := f.w.mark(f.kind, f.run.String())
		if !f.w.s.Colour {
			f.columns += len(looks[f.kind].open) + len(looks[f.kind].close)
		}
		f.line.WriteString(marked)
		f.run.Reset()
	}
	f.kind = ""
}

// end writes the line.
func (f *flow) end() {
	f.close()
	if f.line.Len() > 0 && !f.full() {
		f.w.printf("%s %s\n", f.gutter(f.trusted, f.same), f.line.String())
		f.lines++
	}
	f.line.Reset()
	f.columns, f.trusted, f.same = 0, false, false
}

// gutter returns the mark before a line.
func (f *flow) gutter(trusted, same bool) string {
	switch {
	case !f.w.e.Diff.Trustable:
	case trusted:
		return f.w.s.paint(inRegion, f.w.s.pick("┃", "|"))
	case same:
		return f.w.s.pick("┊", ":")
	}
	return " "
}
