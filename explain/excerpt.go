package explain

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"

	"neardup/extract/text"
)

// Limits of an excerpt, in code points or pieces.
const (
	contextShown  = 60  // common text before and after a difference
	differShown   = 200 // text of one side; a longer piece shows two thirds from its start and one third from its end
	leastSame     = 4   // shorter common text between two differences is shown as different
	longestWord   = 24  // a longer word may be cut
	excerptPieces = 12  // after so many, an excerpt ends where the texts agree again; after twice as many it ends at once
)

// Excerpt is a place where two texts differ, with the common text around it.
type Excerpt struct {
	Pieces []Piece
	Differ int // code points that only one text has, or that moved
}

// Piece is a part of an excerpt, of one kind.
type Piece struct {
	Kind Kind
	Text string
	Left int    // code points left out between Text and End
	End  string // empty if nothing is left out, or nothing after it is shown
}

// Excerpts returns the places where the texts differ most, at most limit of them,
// in the order of the texts. all is the number of all such places; if the diff is
// cut, it counts those of its segments. Common pieces that are too short to read,
// and the common parts of words that differ, are shown as different, as in
// WriteText.
func (d *Diff) Excerpts(limit int) (shown []Excerpt, all int) {
	var out []Excerpt
	var open Excerpt
	flush := func() {
		if open.Differ > 0 {
			out = append(out, open)
		}
		open = Excerpt{}
	}
	runs := byWords(legible(d.Segments))
	for i, r := range runs {
		switch {
		case r.kind != Same && r.kind != Trusted:
			if len(open.Pieces) >= 2*excerptPieces {
				flush()
			}
			open.Differ += r.n
			open.Pieces = append(open.Pieces, r.piece(differShown*2/3, differShown/3))
		case r.n <= 2*contextShown && len(open.Pieces) < excerptPieces && 0 < i && i < len(runs)-1:
			open.Pieces = append(open.Pieces, r.piece(r.n, 0))
		default:
			if open.Differ > 0 {
				open.Pieces = append(open.Pieces, r.piece(contextShown, 0))
			}
			flush()
			if i < len(runs)-1 {
				open.Pieces = []Piece{r.piece(0, contextShown)}
			}
		}
	}
	flush()
	all = len(out)
	if all <= limit {
		return out, all
	}
	order := make([]int, all)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(out[b].Differ, out[a].Differ) })
	order = order[:limit]
	slices.Sort(order)
	for _, i := range order {
		shown = append(shown, out[i])
	}
	return shown, all
}

// run is a segment without its positions.
type run struct {
	kind      Kind
	text, end string // as Segment.Text and End
	n         int    // code points
}

// piece returns the run with the given numbers of code points of its beginning
// and end.
func (r run) piece(head, tail int) Piece {
	if r.n <= head+tail {
		if r.end == "" {
			return Piece{Kind: r.kind, Text: r.text}
		}
		head, tail = maxEnds, maxEnds
	}
	end := r.end
	if end == "" {
		end = r.text
	}
	return Piece{Kind: r.kind, Text: first(r.text, head), Left: r.n - head - tail, End: last(end, tail)}
}

// byWords extends differences to whole words, unless they are moved or clipped.
func byWords(all []Segment) (out []run) {
	var before string // common text before a difference
	var kind Kind     // kind of before
	var a, b string   // the difference
	flush := func() {
		for _, r := range []run{{kind: kind, text: before}, {kind: OnlyA, text: a}, {kind: OnlyB, text: b}} {
			if r.n = utf8.RuneCountInString(r.text); r.n > 0 {
				out = append(out, r)
			}
		}
		before, a, b = "", "", ""
	}
	plain := func(s Segment) bool { return s.Other == nil && s.End == "" }
	for i, s := range all {
		switch {
		case !plain(s):
			flush()
			out = append(out, run{s.Kind, s.Text, s.End, s.length()})
		case s.Kind == OnlyA || s.Kind == OnlyB:
			own := &a
			if s.Kind == OnlyB {
				own = &b
			}
			if a+b == "" || *own == "" && startsWord(s.Text) {
				before, a, b = wordOver(before, a, b, s.Text)
			}
			*own += s.Text
		default:
			head := 0
			if endsWord(a) || endsWord(b) {
				head = firstWord(s.Text)
			}
			between := a+b != "" && i < len(all)-1 && plain(all[i+1])
			if between && utf8.RuneCountInString(s.Text[head:]) < leastSame {
				head = len(s.Text)
			}
			a, b = a+s.Text[:head], b+s.Text[:head]
			if head < len(s.Text) {
				flush()
				before, kind = s.Text[head:], s.Kind
			}
		}
	}
	flush()
	return out
}

// wordOver moves the word at the end of before to both sides of the difference, if
// the difference begins within that word.
func wordOver(before, a, b, text string) (string, string, string) {
	if !startsWord(text) {
		return before, a, b
	}
	at := lastWord(before)
	return before[:at], before[at:] + a, before[at:] + b
}

// inWord reports whether a code point can be within a word. In scripts of wide
// characters, each character stands alone.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r)) && text.Columns(string(r)) < 2
}

func startsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && inWord(r)
}

func endsWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && inWord(r)
}

// firstWord returns the length in bytes of the word at the start of s, or 0 if it
// is too long.
func firstWord(s string) int {
	n := 0
	for i, r := range s {
		if !inWord(r) {
			return i
		}
		if n++; n > longestWord {
			return 0
		}
	}
	return len(s)
}

// lastWord returns where the word at the end of s begins. It returns the length of
// s if there is no such word or it is too long.
func lastWord(s string) int {
	at := len(s)
	for n := 0; at > 0; n++ {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		if !inWord(r) {
			break
		}
		if n == longestWord {
			return len(s)
		}
		at -= size
	}
	return at
}
