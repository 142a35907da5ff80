// Package pair decides about a pair of texts: by a measure, and by what the two
// pages are about. The stage and the explanations decide by it alike.
package pair

import (
	"sync"
	"unicode/utf8"

	"neardup/verify"
	"neardup/verify/subject"
)

// Judge decides whether two texts are near-duplicates. It is immutable, so
// goroutines can share it.
type Judge struct {
	Measure verify.Measure
	Subject subject.Options
}

// Text is a text ready for comparison. Goroutines can share it.
type Text struct {
	compared, whole string // what is scored, and what tells the subject; usually the same
	length          int    // of what is scored, in code points
	page            *subject.Page

	measure verify.Measure
	once    sync.Once
	scored  verify.Document
}

// Text returns a text whose subject is read from whole, and whose scores are
// those of compared, the part of it that is scored.
func (j Judge) Text(compared, whole string) *Text {
	return &Text{compared: compared, whole: whole, length: utf8.RuneCountInString(compared), measure: j.Measure,
		page: subject.Read(whole, j.Subject.Lines)}
}

// Len returns the length of what is scored, in code points.
func (t *Text) Len() int { return t.length }

// Scored returns the text prepared by the measure. It is prepared when it is
// first asked for: the subjects of many texts differ from those of all others.
func (t *Text) Scored() verify.Document {
	t.once.Do(func() { t.scored = t.measure.Prepare(t.compared) })
	return t.scored
}

// Bytes returns about the memory that the text holds. A measure with BytesOf says
// what everything takes that it may be asked for later; for any other measure the
// text is prepared here.
func (t *Text) Bytes() int {
	n := len(t.whole)
	if len(t.compared) != len(t.whole) {
		n += len(t.compared)
	}
	if m, ok := t.measure.(interface{ BytesOf(codePoints int) int }); ok {
		return n + m.BytesOf(t.length)
	}
	return n + t.Scored().Bytes()
}

// Decision is the decision about a pair.
type Decision struct {
	verify.Verdict      // of the measure; empty if BySubject
	BySubject      bool // the pair is not near because its pages are about different subjects
}

// Comparers returns n comparers of the measure.
func (j Judge) Comparers(n int) []verify.Comparer {
	var out []verify.Comparer
	for range n {
		out = append(out, j.Measure.Comparer())
	}
	return out
}

// Decide decides about two texts. It measures them only if their subjects leave
// that open.
func (j Judge) Decide(c verify.Comparer, a, b *Text) Decision {
	evidence := j.Subject.Compare(a.page, b.page)
	if evidence == subject.Both {
		return Decision{BySubject: true}
	}
	return j.Outcome(evidence, c.Compare(a.Scored(), b.Scored()))
}

// Outcome returns the decision that follows from what the subjects and the
// measure say. Texts about different subjects are not near, whatever the measure
// says. Evidence from one side does not count against containment: a page that
// contains another may well be about more.
func (j Judge) Outcome(evidence subject.Evidence, v verify.Verdict) Decision {
	if evidence == subject.Both ||
		v.Near && evidence == subject.OneSided && !v.Contained && v.Resemblance < j.Subject.OneSided {
		return Decision{BySubject: true}
	}
	return Decision{Verdict: v}
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
