package explain

import (
	"strings"

	"neardup/extract/text"
	"neardup/verify/tlcs"
)

// Limits of a Diff. Counts and positions cover the whole texts.
const (
	maxSegments = 2000
	maxEnds     = 200 // code points shown at either end of a segment
)

// Kind is the kind of a segment.
type Kind string

// Kinds of segments. Without trustable regions all equal text is Same.
const (
	Trusted Kind = "trusted" // equal in both, in a trustable region
	Same    Kind = "same"    // equal in both, outside trustable regions
	OnlyA   Kind = "a"       // not in the other text, or not in a run that the sketches keep
	OnlyB   Kind = "b"
	MovedA  Kind = "moved-a" // in a, matched by a later round with another place in b
	MovedB  Kind = "moved-b"
)

// Diff is an alignment of the texts by the LCS of the first round.
type Diff struct {
	Trustable  bool         `json:"trustable"`  // trustable regions are marked
	Characters map[Kind]int `json:"characters"` // number of code points by kind; text that both have counts once
	Segments   []Segment    `json:"segments"`   // in the order of both texts, the first 2,000
	LeftOut    int          `json:"left_out"`   // number of further segments
}

// Segment is a run of one kind.
type Segment struct {
	Kind  Kind   `json:"kind"`
	A     [2]int `json:"a"`               // start and end in text a
	B     [2]int `json:"b"`               // start and end in text b
	Round int    `json:"round,omitempty"` // round that trusts it, from 1
	Other *int   `json:"other,omitempty"` // of moved text: where it begins in the other text
	Text  string `json:"text"`            // the text, or its first 200 characters if it has more than 400
	End   string `json:"end,omitempty"`   // its last 200 characters then
}

// length returns the length of the segment's text.
func (s *Segment) length() int { return max(s.A[1]-s.A[0], s.B[1]-s.B[0]) }

// place is the match of a code point in a later round.
type place struct {
	other int32 // the matched code point of the other text
	round int32 // 0: none
}

// diff aligns two texts by the trace of their comparison.
func diff(t tlcs.Trace, texts [2][]rune, trustable bool) Diff {
	d := Diff{Trustable: trustable, Characters: map[Kind]int{}, Segments: []Segment{}}
	b := differ{Diff: &d, texts: texts}
	for i := range b.later {
		b.later[i] = make([]place, len(texts[i]))
	}
	var first []tlcs.Run
	for i, r := range t.Rounds {
		for _, run := range r.Runs {
			if t.Swapped {
				run.A, run.B = run.B, run.A
			}
			switch {
			case i == 0:
				first = append(first, run)
			case run.Trusted:
				for k := range run.Len {
					b.later[0][run.A+k] = place{int32(run.B + k), int32(i + 1)}
					b.later[1][run.B+k] = place{int32(run.A + k), int32(i + 1)}
				}
			}
		}
	}
	for _, run := range first {
		for k := range run.Len {
			p := b.later[0][run.A+k]
			if !run.Trusted && (p.round > 0 && int(p.other) != run.B+k || p.round == 0 && b.later[1][run.B+k].round > 0) {
				continue // a later round found a better place
			}
			b.gap(run.A+k, run.B+k)
			s := Segment{Kind: Same, A: [2]int{run.A + k, run.A + k + 1}, B: [2]int{run.B + k, run.B + k + 1}}
			switch {
			case !trustable:
			case run.Trusted:
				s.Kind, s.Round = Trusted, 1
			case p.round > 0 && int(p.other) == run.B+k:
				s.Kind, s.Round = Trusted, int(p.round)
			}
			b.add(s)
			b.at = [2]int{run.A + k + 1, run.B + k + 1}
		}
	}
	b.gap(len(texts[0]), len(texts[1]))
	b.flush()
	return d
}

// differ makes the segments.
type differ struct {
	*Diff
	texts [2][]rune
	later [2][]place
	at    [2]int  // both texts are done up to here
	open  Segment // not added yet
}

// gap adds the unmatched text before two places.
func (b *differ) gap(toA, toB int) {
	for side, to := range [2]int{toA, toB} {
		for at := b.at[side]; at < to; at++ {
			s := Segment{Kind: [2]Kind{OnlyA, OnlyB}[side], A: [2]int{b.at[0], b.at[0]}, B: [2]int{b.at[1], b.at[1]}}
			own := &s.A
			if side == 1 {
				own = &s.B
				s.A = [2]int{toA, toA}
			}
			*own = [2]int{at, at + 1}
			if p := b.later[side][at]; p.round > 0 {
				other := int(p.other)
				s.Kind, s.Round, s.Other = [2]Kind{MovedA, MovedB}[side], int(p.round), &other
			}
			b.add(s)
		}
	}
}

// add adds a code point. It extends the last segment if possible.
func (b *differ) add(s Segment) {
	o := &b.open
	n := o.length()
	if n > 0 && o.Kind == s.Kind && o.Round == s.Round && (o.Other == nil || *o.Other+n == *s.Other) {
		o.A[1], o.B[1] = s.A[1], s.B[1]
		return
	}
	b.flush()
	b.open = s
}

func (b *differ) flush() {
	s := b.open
	b.open = Segment{}
	n := s.length()
	if n == 0 {
		return
	}
	b.Characters[s.Kind] += n
	if len(b.Segments) == maxSegments {
		b.LeftOut++
		return
	}
	whole := b.texts[0][s.A[0]:s.A[1]]
	if len(whole) == 0 {
		whole = b.texts[1][s.B[0]:s.B[1]]
	}
	s.Text = string(whole)
	if n > 2*maxEnds {
		s.Text, s.End = string(whole[:maxEnds]), string(whole[n-maxEnds:])
	}
	b.Segments = append(b.Segments, s)
}

// cut shortens text for a list.
func cut(s string) string { return strings.ToValidUTF8(text.Cut(s, listed), "\uFFFD") }

const listed = 120 // columns
