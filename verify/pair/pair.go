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
}

// Text is a text ready for comparison. Goroutines can share it.
type Text struct {
	compared string
	length   int // in code points
	rare     rarity.Text

	measure verify.Measure
	once    sync.Once
	scored  verify.Document
}

// Text returns a text, and how common its sentences are.
func (j Judge) Text(compared string, rare rarity.Text) *Text {
	return &Text{compared: compared, length: utf8.RuneCountInString(compared), measure: j.Measure, rare: rare}
}

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
	n := len(t.compared) + t.rare.Bytes()
	if m, ok := t.measure.(interface{ BytesOf(codePoints int) int }); ok {
		return n + m.BytesOf(t.length)
	}
	return n + t.Scored().Bytes()
}

// Decision is the decision about a pair.
type Decision struct{ verify.Verdict }

// Comparers returns n comparers of the measure.
func (j Judge) Comparers(n int) []verify.Comparer {
	var out []verify.Comparer
	for range n {
		out = append(out, j.Measure.Comparer())
	}
	return out
}

// Decide decides about two texts. It measures them only if what they share of
// rare text leaves that open.
func (j Judge) Decide(c verify.Comparer, a, b *Text) Decision {
	return Decision{j.Rarity.Decide(rarity.Compare(a.rare, b.rare), func() verify.Verdict { return c.Compare(a.Scored(), b.Scored()) })}
}

// Outcome returns the decision that follows from the evidence and from what the
// measure says.
func (j Judge) Outcome(evidence rarity.Evidence, v verify.Verdict) Decision {
	return Decision{j.Rarity.Decide(evidence, func() verify.Verdict { return v })}
}

// Relation is the relation of a near pair, seen from its second text.
type Relation uint8

const (
	Near      Relation = iota // resemblance reaches its threshold, or containment with texts of one length
	Contained                 // the second text is contained in the first
	Contains                  // the second text contains the first
)

// Relation returns the relation of a near pair of texts of these lengths.
func (d Decision) Relation(first, second int) Relation {
	switch {
	case !d.Contained || first == second:
		return Near
	case second < first:
		return Contained
	}
	return Contains
}
