package review

import (
	"slices"
	"strings"

	"neardup/explain"
)

// Bounds of what is shown of two texts.
const (
	maxCharacters = 400_000 // code points, of both texts together
	maxRows       = 6_000
)

// A stretch that is equal is folded, except for some rows at either end.
const (
	contextRows = 2
	foldFrom    = 4   // rows
	foldLong    = 600 // or code points
)

// Long equal lines are broken at the end of a sentence, or else of a word; both
// texts are at the same place there.
const (
	breakFrom = 320 // code points
	breakAt   = 640
)

// Smallest length of an equal piece between differences that is shown as equal,
// outside and inside trustable regions. An LCS of different texts consists of
// single letters. neardup explain uses the former, too.
const (
	legibleFrom    = 16
	legibleTrusted = 4
)

// sides shows two texts side by side. The spans of a column, from the first row to
// the last, are that text up to what is left out.
type sides struct {
	Blocks      []block
	Differences int
	Trustable   bool // trusted stretches are marked
	Characters  map[explain.Kind]int
	Scattered   int    // common code points in pieces too short to show as equal
	LeftOut     [2]int // code points of each text that are not shown
	Stretches   int    // stretches that the explanation left out
}

// characters returns the number of characters of a kind.
func (s sides) characters(kind string) int { return s.Characters[explain.Kind(kind)] }

// block is a group of rows.
type block struct {
	Rows   []row
	Folded bool
	Same   int // code points of a folded block
}

// row is a line, or a part of a line, of each text.
type row struct {
	Cells  [2]cell
	Number int // number of the difference that begins here, from 1
	Next   int // number of the next difference; 0: none
}

// cell is one text's part of a row.
type cell []span

// span is a run of one kind.
type span struct {
	Kind explain.Kind
	Text string
	Line bool // it ends with a line end that differs
}

// shown returns the text without its line end, which is shown as a sign.
func (s span) shown() string {
	if s.Line {
		return strings.TrimSuffix(s.Text, "\n")
	}
	return s.Text
}

func (s span) differs() bool { return s.Kind != explain.Trusted && s.Kind != explain.Same }

// differs reports whether part of the cell is not in both texts.
func (c cell) differs() bool {
	for _, s := range c {
		if s.differs() {
			return true
		}
	}
	return false
}

// region returns the class of the mark at the cell's edge.
func (c cell) region() string {
	region := ""
	for _, s := range c {
		switch s.Kind {
		case explain.Trusted:
			return "trusted"
		case explain.Same:
			region = "same"
		}
	}
	return region
}

// beside puts two texts side by side. If blind is set, it does not mark trustable
// regions, which show the method's opinion.
func beside(d explain.Diff, texts [2]string, blind bool) sides {
	a := aligner{texts: [2][]rune{[]rune(texts[0]), []rune(texts[1])}, left: maxCharacters}
	a.sides = sides{Trustable: d.Trustable && !blind, Characters: map[explain.Kind]int{}, Stretches: d.LeftOut}
	for k, n := range d.Characters {
		if blind && k == explain.Trusted {
			k = explain.Same
		}
		a.sides.Characters[k] += n
	}
	segments := a.reunited(covering(d.Segments, [2]int{len(a.texts[0]), len(a.texts[1])}))
	for i, s := range segments {
		switch {
		case (s.Kind == explain.Same || s.Kind == explain.Trusted) && isolated(segments, i):
			a.sides.Scattered += s.A[1] - s.A[0]
			a.differ(0, explain.OnlyA, s.A)
			a.differ(1, explain.OnlyB, s.B)
		case s.Kind == explain.Trusted && blind:
			s.Kind = explain.Same
			fallthrough
		case s.Kind == explain.Same, s.Kind == explain.Trusted:
			a.same(s)
		case s.A[0] < s.A[1]:
			a.differ(0, s.Kind, s.A)
		default:
			a.differ(1, s.Kind, s.B)
		}
	}
	for i := range a.texts {
		a.sides.LeftOut[i] = len(a.texts[i]) - a.done[i]
	}
	a.fold()
	return a.sides
}

// covering returns the segments up to the first that does not continue where the
// one before ended, in texts of the given lengths.
func covering(segments []explain.Segment, lengths [2]int) []explain.Segment {
	var at [2]int
	for i, s := range segments {
		la, lb := s.A[1]-s.A[0], s.B[1]-s.B[0]
		ok := s.A[0] == at[0] && s.B[0] == at[1] && la >= 0 && lb >= 0 && s.A[1] <= lengths[0] && s.B[1] <= lengths[1]
		switch s.Kind {
		case explain.Trusted, explain.Same:
			ok = ok && la == lb
		case explain.OnlyA, explain.MovedA:
			ok = ok && lb == 0
		case explain.OnlyB, explain.MovedB:
			ok = ok && la == 0
		default:
			ok = false
		}
		if !ok {
			return segments[:i]
		}
		at = [2]int{s.A[1], s.B[1]}
	}
	return segments
}

// reunited joins two consecutive segments, one of each text, that have the same
// text. A sketch lacks what is in no window, such as one narrow character after
// wide ones at the end of a text.
func (a *aligner) reunited(segments []explain.Segment) (out []explain.Segment) {
	for i := 0; i < len(segments); i++ {
		s := segments[i]
		if i+1 < len(segments) && s.Kind == explain.OnlyA && segments[i+1].Kind == explain.OnlyB {
			b := segments[i+1]
			if n := s.A[1] - s.A[0]; slices.Equal(a.texts[0][s.A[0]:s.A[1]], a.texts[1][b.B[0]:b.B[1]]) {
				s = explain.Segment{Kind: explain.Same, A: s.A, B: b.B}
				a.sides.Characters[explain.Same] += n
				a.sides.Characters[explain.OnlyA] -= n
				a.sides.Characters[explain.OnlyB] -= n
				i++
			}
		}
		out = append(out, s)
	}
	return out
}

// isolated reports whether an equal stretch is short and lies between differences.
// The ends of the texts count as differences.
func isolated(segments []explain.Segment, i int) bool {
	n := segments[i].A[1] - segments[i].A[0]
	if n >= legibleFrom || segments[i].Kind == explain.Trusted && n >= legibleTrusted {
		return false
	}
	same := func(i int) bool {
		return i >= 0 && i < len(segments) && (segments[i].Kind == explain.Same || segments[i].Kind == explain.Trusted)
	}
	return !same(i-1) && !same(i+1) && len(segments) > 1
}

// aligner makes the rows.
type aligner struct {
	texts [2][]rune
	sides sides
	rows  []row
	at    [2]int // the row that each text has reached
	wide  int    // code points of the row that both have reached
	done  [2]int // code points of each text that are in rows
	left  int    // code points that may still be shown
	full  bool
}

// put adds a piece of a line to the row that its text has reached.
func (a *aligner) put(side int, k explain.Kind, from, to int) {
	if a.full {
		return
	}
	if to-from > a.left || a.at[side] >= maxRows {
		a.full = true
		if a.at[side] >= maxRows {
			return
		}
		to = from + a.left
	}
	if from == to {
		return
	}
	for len(a.rows) <= a.at[side] {
		a.rows = append(a.rows, row{})
	}
	text := string(a.texts[side][from:to])
	s := span{Kind: k, Text: text}
	s.Line = s.differs() && strings.HasSuffix(text, "\n")
	c := &a.rows[a.at[side]].Cells[side]
	if n := len(*c); n > 0 && (*c)[n-1].Kind == k && !(*c)[n-1].Line {
		(*c)[n-1].Text += text
		(*c)[n-1].Line = s.Line
	} else {
		*c = append(*c, s)
	}
	a.left -= to - from
	a.done[side] = to
}

// differ adds what only one text has, one line per row.
func (a *aligner) differ(side int, k explain.Kind, at [2]int) {
	from := at[0]
	for i := from; i < at[1] && !a.full; i++ {
		if a.texts[side][i] == '\n' {
			a.put(side, k, from, i+1)
			a.at[side]++
			from = i + 1
		}
	}
	a.put(side, k, from, at[1])
}

// same adds what both texts have to the same rows.
func (a *aligner) same(s explain.Segment) {
	if a.at[0] != a.at[1] {
		a.at[0] = max(a.at[0], a.at[1])
		a.at[1] = a.at[0]
		a.wide = 0
	}
	from, n := 0, s.A[1]-s.A[0]
	end := func(to int, line bool) {
		if !a.full && 2*(to-from) > a.left {
			to = from + a.left/2
			line = false
			defer func() { a.full = true }()
		}
		a.put(0, s.Kind, s.A[0]+from, s.A[0]+to)
		a.put(1, s.Kind, s.B[0]+from, s.B[0]+to)
		a.wide += to - from
		from = to
		if line {
			a.at[0]++
			a.at[1]++
			a.wide = 0
		}
	}
	for i := 0; i < n && !a.full; i++ {
		switch r := a.texts[0][s.A[0]+i]; {
		case r == '\n',
			a.wide+i-from >= breakFrom && strings.ContainsRune(".!?。！？؟।…", r),
			a.wide+i-from >= breakAt && strings.ContainsRune(" ,;、，；،", r):
			end(i+1, true)
		}
	}
	if !a.full {
		end(n, false)
	}
}

// fold numbers the differences and folds long equal stretches.
func (a *aligner) fold() {
	s := &a.sides
	var starts []int
	for from := 0; from < len(a.rows); {
		to := from
		differs := a.rows[from].differs()
		for to < len(a.rows) && a.rows[to].differs() == differs {
			to++
		}
		if differs {
			starts = append(starts, from)
			s.add(a.rows[from:to], false)
		} else {
			s.addSame(a.rows[from:to])
		}
		from = to
	}
	s.Differences = len(starts)
	n := 0
	for b := range s.Blocks {
		rows := s.Blocks[b].Rows
		for i := range rows {
			if !rows[i].differs() || i > 0 && rows[i-1].differs() {
				continue
			}
			n++
			rows[i].Number = n
			if n < len(starts) {
				rows[i].Next = n + 1
			}
		}
	}
}

// equal reports whether all of the row is in both texts.
func (r row) equal() bool { return !r.differs() }

func (r row) differs() bool { return r.Cells[0].differs() || r.Cells[1].differs() }

// add adds rows to the last block, or as a block of their own.
func (s *sides) add(rows []row, folded bool) {
	if len(rows) == 0 {
		return
	}
	if n := len(s.Blocks); !folded && n > 0 && !s.Blocks[n-1].Folded {
		s.Blocks[n-1].Rows = append(s.Blocks[n-1].Rows, rows...)
		return
	}
	b := block{Rows: append([]row(nil), rows...), Folded: folded}
	if folded {
		b.Same = length(rows)
	}
	s.Blocks = append(s.Blocks, b)
}

// addSame adds equal rows and folds the middle of many.
func (s *sides) addSame(rows []row) {
	if len(rows) <= 2*contextRows {
		s.add(rows, false)
		return
	}
	middle := rows[contextRows : len(rows)-contextRows]
	folded := len(middle) >= foldFrom || length(middle) >= foldLong
	s.add(rows[:contextRows], false)
	s.add(middle, folded)
	s.add(rows[len(rows)-contextRows:], false)
}

// length returns the length of the first text in the rows, in code points.
func length(rows []row) (n int) {
	for _, r := range rows {
		for _, p := range r.Cells[0] {
			n += len([]rune(p.Text))
		}
	}
	return n
}
