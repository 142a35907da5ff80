// Package pair decides whether two texts are near-duplicates: by a measure, and by
// the rarity of what the two pages share. The stage verify and the explanations use
// the same decision.
package pair

import (
	"crypto/sha256"
	"sync"
	"unicode/utf8"

	"neardup/verify"
	"neardup/verify/rarity"
)

// Judge decides about pairs of texts. It is immutable, so goroutines can share it.
type Judge struct {
	Measure verify.Measure
	Rarity  rarity.Options
	Frames  bool   // texts know their sites and their readings without the frames of these sites
	Memory  Memory // may be nil
}

// Memory knows what the measure said of pairs before: its verdict depends on nothing but
// the two texts as they are compared, in any order. Goroutines can share it.
type Memory interface {
	// Recall returns the verdict on a pair. ok is false if the measure must be asked.
	Recall(a, b *Text) (v verify.Verdict, ok bool)
	// Keep is given each verdict that decides, recalled or not, but not one that DecideAgain
	// was given.
	Keep(a, b *Text, v verify.Verdict)
}

// Text is a text ready for comparison. Goroutines can share it.
type Text struct {
	compared string
	length   int // code points
	rare     rarity.Text

	measure verify.Measure
	once    sync.Once
	scored  verify.Document

	sites []uint64 // sites that have the text, sorted
	own   *Text    // the text without frames; nil if it has none
	names Names    // of the pages that have the text

	id      [16]byte // only for a Memory
	summing sync.Once
	sum     [16]byte
}

// Text returns a text ready for comparison. rare has the weights of its sentences.
func (j Judge) Text(compared string, rare rarity.Text) *Text {
	return &Text{compared: compared, length: utf8.RuneCountInString(compared), measure: j.Measure, rare: rare}
}

// Framed returns a copy of the text with the sites that have it, sorted. own is the
// text without their frames, or nil if it has none of them.
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

// Named sets the names of the pages that have the text.
func (t *Text) Named(n Names) *Text {
	t.names = n
	return t
}

// Identified sets the ID of the text and of its reading without frames, for a Memory.
func (t *Text) Identified(id [16]byte) *Text {
	t.id = id
	if t.own != nil {
		t.own.id = id
	}
	return t
}

// ID returns what Identified set.
func (t *Text) ID() [16]byte { return t.id }

// Sum returns a digest of the text as it is compared.
func (t *Text) Sum() [16]byte {
	t.summing.Do(func() {
		sum := sha256.Sum256([]byte(t.compared))
		t.sum = [16]byte(sum[:])
	})
	return t.sum
}

// ShareSite reports whether two sorted lists have a site in common.
func ShareSite(x, y []uint64) bool { return share(x, y) }

// share reports whether two sorted lists have an element in common.
func share(x, y []uint64) bool {
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

// Len returns the length of the scored text, in code points.
func (t *Text) Len() int { return t.length }

// Scored returns the text prepared by the measure. It is prepared on the first
// call, since many texts share nothing rare with any other and are never scored.
func (t *Text) Scored() verify.Document {
	t.once.Do(func() { t.scored = t.measure.Prepare(t.compared) })
	return t.scored
}

// Bytes returns about the memory that the text holds. If the measure has BytesOf,
// this includes what it may prepare later. For any other measure Bytes prepares the
// text.
func (t *Text) Bytes() int {
	n := len(t.compared) + t.rare.Bytes() + 8*len(t.sites) + t.names.bytes()
	if t.own != nil {
		n += t.own.Bytes()
	}
	if m, ok := t.measure.(interface{ BytesOf(codePoints int) int }); ok {
		return n + m.BytesOf(t.length)
	}
	return n + t.Scored().Bytes()
}

// Decision is a decision about a pair.
type Decision struct {
	verify.Verdict
	Texts    [2]*Text // readings that decided; nil if the texts were not read
	Lengths  [2]int   // of these readings, in code points; 0 then
	Regained bool     // the readings have what the two texts regain
	Weighed  bool     // what the two share was weighed by its rarity
	Weighing Weighing // all that the decision owes to the rarity of sentences

	// Whole is what the measure said of the two texts with their frames, if it was asked and
	// aligned them, which costs most. It depends on nothing else.
	Whole *verify.Verdict
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
// what they share is weighed by its rarity on the site. If they are not near by that,
// they can still be near by resemblance of their readings without the frame;
// containment of these would say little. If they are near by resemblance and little
// of what they share is rare, their readings without the frame decide. Texts of different sites are
// compared without the frames of their sites: what is left is not common on any
// site. If they do not resemble each other so, they regain what is in the frame of one
// of them only. Different pages of one site must be nearly equal, and of one subject.
// Different pages of different sites must not say other numbers.
func (j Judge) Decide(c verify.Comparer, a, b *Text) Decision { return j.DecideAgain(c, a, b, nil) }

// DecideAgain is Decide for two texts that were decided about when other sentences were in
// frames, or other pages had them. whole is the Whole of that decision, which may be nil.
func (j Judge) DecideAgain(c verify.Comparer, a, b *Text, whole *verify.Verdict) Decision {
	x, y := a.Sentences(), b.Sentences()
	texts := [...][2]*Text{{a, b}, {a.Own(), b.Own()}, {}}
	d, r := j.decide(&x, &y, func(r reading) verify.Verdict {
		switch {
		case r == asWhole && whole != nil:
			return *whole
		case r == asRegained:
			texts[r] = j.regainedTexts(a, b)
		}
		return j.measured(c, texts[r][0], texts[r][1])
	})
	d.Texts, d.Regained = texts[r], r == asRegained
	d.Lengths = [2]int{d.Texts[0].length, d.Texts[1].length}
	switch {
	case d.Near && j.OtherNumbers(a, b, d.Texts):
		d.Verdict = j.OfOtherPages(d.Verdict, d.Lengths[0], d.Lengths[1], true)
	case d.Near && j.elsewhere(a, b) && ShareSite(a.sites, b.sites):
		decided := func(subjects bool) verify.Verdict {
			return j.OfOtherPages(d.Verdict, d.Lengths[0], d.Lengths[1], subjects)
		}
		if a.names.different(b.names) {
			d.Verdict = decided(false)
		}
		if d.Near && otherSubjects(a, b) { // which reads both texts
			d.Verdict = decided(true)
		}
	}
	return d
}

// RejectedByRarity returns what Decide does for two texts, without the texts, if their
// sentences alone reject the pair.
func (j Judge) RejectedByRarity(a, b Sentences) (d Decision, ok bool) {
	if j.Frames && !ShareSite(a.Sites, b.Sites) {
		return d, false
	}
	asked := false
	d, _ = j.decide(&a, &b, func(reading) (v verify.Verdict) {
		asked = true
		return v
	})
	return d, !asked
}

// OtherPages reports whether two texts are of different pages of one site, as far as
// their titles and addresses tell.
func (j Judge) OtherPages(a, b *Text) bool { return ShareSite(a.sites, b.sites) && j.differ(a, b) }

// differ reports whether two texts are of different pages, as far as their titles and
// addresses tell, and whether that counts.
func (j Judge) differ(a, b *Text) bool { return j.elsewhere(a, b) && a.names.different(b.names) }

// elsewhere reports whether two texts are of pages that have titles, at different addresses,
// and whether that counts.
func (j Judge) elsewhere(a, b *Text) bool {
	return j.Rarity.RarePages > 0 && j.Rarity.OtherPages > 0 && a.names.elsewhere(b.names)
}

// OtherNumbers reports whether two texts are of different pages of different sites, which
// say other numbers in the readings that decide.
func (j Judge) OtherNumbers(a, b *Text, readings [2]*Text) bool {
	return len(a.sites) > 0 && len(b.sites) > 0 && !ShareSite(a.sites, b.sites) && j.differ(a, b) && otherNumbers(readings[0].compared, readings[1].compared)
}

// OtherSubjects reports whether two texts of one site, of pages at different addresses, are
// about different subjects, as their titles name them.
func (j Judge) OtherSubjects(a, b *Text) bool {
	return ShareSite(a.sites, b.sites) && j.elsewhere(a, b) && otherSubjects(a, b)
}

// DifferentSubjects reports whether two texts are of pages at different addresses, on one site
// or not, that are about different subjects, as their titles name them.
func DifferentSubjects(a, b *Text) bool {
	return a.names.elsewhere(b.names) && otherSubjects(a, b)
}

// OfOtherPages returns the verdict on texts of these lengths, in code points, that are
// of different pages of one site. What these share is their subject or their template,
// unless they are nearly equal. Pages on other subjects are not one page however equal
// they are, and neither are pages of different sites that say other numbers, nor those
// that have the same sentences but for numbers, as the months of a calendar do. That one
// contains the other is no claim that they are one page.
func (j Judge) OfOtherPages(v verify.Verdict, first, second int, subjects bool) verify.Verdict {
	if v.Near && (subjects || v.Alike || v.Resemblance < j.Rarity.OtherPages) && !v.OnlyContained(first, second) {
		return verify.Verdict{Rejected: verify.ByTitle}
	}
	return v
}

// reading says in which form two texts are compared.
type reading int

const (
	asWhole    reading = iota
	asOwn              // without frames
	asRegained         // likewise, but with what is in the frame of one of them only
)

// decide decides about two texts by their sentences, and by what measured says of them in
// a reading. It does not ask whether they are of different pages of one site. It returns the
// reading that decided.
func (j Judge) decide(a, b *Sentences, measured func(reading) verify.Verdict) (d Decision, r reading) {
	framed := j.Frames && (a.HasFrame || b.HasFrame)
	whole := func() verify.Verdict {
		v := measured(asWhole)
		if v.Aligned() {
			d.Whole = &v
		}
		return v
	}
	if j.Frames && !ShareSite(a.Sites, b.Sites) {
		if !framed {
			d.Verdict = whole()
			return d, asOwn
		}
		if d.Verdict = measured(asOwn); (!d.Near || d.Contained) && j.decideRegained(&d, a, b, measured) {
			return d, asRegained
		}
		return d, asOwn
	}
	evidence := rarity.Compare(a.Whole, b.Whole)
	d.Weighed, d.Weighing.Whole = true, j.said(evidence)
	d.Verdict = j.Rarity.Decide(evidence, whole)
	if framed && (!d.Near || !d.Contained && j.Rarity.Framed(evidence)) {
		evidence = rarity.Compare(a.Own, b.Own)
		d.Weighing.Own = j.said(evidence)
		if d.Near || j.mayResemble(a.OwnLength, b.OwnLength, evidence) {
			v := j.Rarity.Decide(evidence, func() verify.Verdict { return measured(asOwn) })
			if d.Near || v.Near && !v.Contained {
				d.Verdict, r = v, asOwn
			}
		}
	}
	return d, r
}

// mayResemble reports whether decide can find two texts of these lengths near other than
// by containment.
func (j Judge) mayResemble(a, b int, evidence rarity.Evidence) bool {
	if j.Rarity.Alike(evidence) {
		return true
	}
	parted, _ := j.Rarity.Parts(evidence)
	return !parted && j.lengthsMayResemble(a, b)
}

func (j Judge) lengthsMayResemble(a, b int) bool {
	m, ok := j.Measure.(verify.ByLengths)
	return !ok || m.MayResemble(a, b)
}

// measured returns the verdict of the measure.
func (j Judge) measured(c verify.Comparer, a, b *Text) verify.Verdict {
	if j.Memory == nil {
		return c.Compare(a.Scored(), b.Scored())
	}
	v, ok := j.Memory.Recall(a, b)
	if !ok {
		v = c.Compare(a.Scored(), b.Scored())
	}
	j.Memory.Keep(a, b, v)
	return v
}

// Outcome returns the verdict that follows from the evidence and the measure's
// verdict.
func (j Judge) Outcome(evidence rarity.Evidence, v verify.Verdict) verify.Verdict {
	return j.Rarity.Decide(evidence, func() verify.Verdict { return v })
}
