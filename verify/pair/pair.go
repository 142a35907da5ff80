// Package pair decides about a pair of texts: by a measure, and by what the two
// pages are about. The stage and the explanations decide by it alike.
package pair

import (
	"sync"
	"unicode/utf8"

	"neardup/verify"
	"neardup/verify/rarity"
)

// Judge decides whether two texts are near-duplicates. It is immutable, so
// goroutines can share it.
type Judge struct {
	Measure verify.Measure
	Rarity  rarity.Options
	Frames  bool // texts know their sites, and how they read without the frames of these
}

// Text is a text ready for comparison. Goroutines can share it.
type Text struct {
	compared string
	length   int // in code points
	rare     rarity.Text

	measure verify.Measure
	once    sync.Once
	scored  verify.Document

	sites []uint64 // that have the text, sorted
	own   *Text    // the text without frames; nil if it has none
}

// Text returns a text, and how common its sentences are.
func (j Judge) Text(compared string, rare rarity.Text) *Text {
	return &Text{compared: compared, length: utf8.RuneCountInString(compared), measure: j.Measure, rare: rare}
}

// Framed returns a text that stands on these sites, which are sorted. own is the text
// without their frames, or nil if they have none in it.
func (t *Text) Framed(sites []uint64, own *Text) *Text {
	t.sites, t.own = sites, own
	return t
}

// Own returns the text without the frames of its sites.
func (t *Text) Own() *Text {
	if t.own == nil {
		return t
	}
	return t.own
}

// HasFrame reports whether the text has sentences that are of the frame of a site.
func (t *Text) HasFrame() bool { return t.own != nil }

// Sites returns the sites that have the text, sorted.
func (t *Text) Sites() []uint64 { return t.sites }

// ShareSite reports whether a site is in both lists, which are sorted.
func ShareSite(x, y []uint64) bool {
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0] == y[0]:
			return true
		case x[0] < y[0]:
			x = x[1:]
		default:
			y = y[1:]
		}
	}
	return false
}

// Compared returns the text as it is compared.
func (t *Text) Compared() string { return t.compared }

// Len returns the length of what is scored, in code points.
func (t *Text) Len() int { return t.length }

// Scored returns the text prepared by the measure. It is prepared when it is
// first asked for: many texts share nothing rare with any other.
func (t *Text) Scored() verify.Document {
	t.once.Do(func() { t.scored = t.measure.Prepare(t.compared) })
	return t.scored
}

// Bytes returns about the memory that the text holds. A measure with BytesOf says
// what everything takes that it may be asked for later; for any other measure the
// text is prepared here.
func (t *Text) Bytes() int {
	n := len(t.compared) + t.rare.Bytes() + 8*len(t.sites)
	if t.own != nil {
		n += t.own.Bytes()
	}
	if m, ok := t.measure.(interface{ BytesOf(codePoints int) int }); ok {
		return n + m.BytesOf(t.length)
	}
	return n + t.Scored().Bytes()
}

// Decision is the decision about a pair.
type Decision struct {
	verify.Verdict
	Texts   [2]*Text // the readings that decided; nil if the texts were not read
	Weighed bool     // what the two share was weighed by its rarity
}

// Comparers returns n comparers of the measure.
func (j Judge) Comparers(n int) []verify.Comparer {
	var out []verify.Comparer
	for range n {
		out = append(out, j.Measure.Comparer())
	}
	return out
}

// Decide decides about two texts. Pages of one site have its frame in common, so
// what they share is weighed by how rare it is on the site. If that is too little,
// or not alike, they can still resemble each other without the frame; that one has
// the other in it says little then. Texts of different sites
// are compared without the frames of these: what is left is not common to any site.
func (j Judge) Decide(c verify.Comparer, a, b *Text) Decision {
	if !j.Frames {
		return j.weighed(c, a, b)
	}
	framed := a.HasFrame() || b.HasFrame()
	if !ShareSite(a.sites, b.sites) {
		a, b = a.Own(), b.Own()
		return Decision{Verdict: c.Compare(a.Scored(), b.Scored()), Texts: [2]*Text{a, b}}
	}
	d := j.weighed(c, a, b)
	if d.Near || !framed {
		return d
	}
	if own := j.weighed(c, a.Own(), b.Own()); own.Near && !own.Contained {
		return own
	}
	return d
}

// weighed decides by the rarity of what the two share. It measures them only if that
// leaves it open.
func (j Judge) weighed(c verify.Comparer, a, b *Text) Decision {
	v := j.Rarity.Decide(rarity.Compare(a.rare, b.rare), func() verify.Verdict { return c.Compare(a.Scored(), b.Scored()) })
	return Decision{v, [2]*Text{a, b}, true}
}

// Outcome returns the verdict that follows from the evidence and from what the
// measure says.
func (j Judge) Outcome(evidence rarity.Evidence, v verify.Verdict) verify.Verdict {
	return j.Rarity.Decide(evidence, func() verify.Verdict { return v })
}

// Relation is the relation of a near pair, seen from its second text.
type Relation uint8

const (
	Near      Relation = iota // resemblance reaches its threshold, or containment with texts of one length
	Contained                 // the second text is contained in the first
	Contains                  // the second text contains the first
)

// RelationOf returns the relation of a near pair of texts of these lengths.
func RelationOf(v verify.Verdict, first, second int) Relation {
	switch {
	case !v.Contained || first == second:
		return Near
	case second < first:
		return Contained
	}
	return Contains
}

// Relation returns the relation of a near pair.
func (d Decision) Relation() Relation {
	return RelationOf(d.Verdict, d.Texts[0].Len(), d.Texts[1].Len())
}
