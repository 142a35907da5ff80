package pair

import (
	"neardup/extract/text"
	"neardup/verify"
	"neardup/verify/rarity"
)

// A frame is learned by counting pages. So an article at several addresses of a small site is
// taken for its frame, and a template is not known where one page of the site was captured. A
// sentence in the frame of one text that a text of another site has outside its frame may
// belong to the article of both, or to the template of both. How many pages of the site have
// it tells which. So two texts that do not resemble each other without frames regain such
// sentences, which are compared without their numbers. They are near if they resemble each
// other then, and by rarity, too. That one contains the other would say little. This is not in
// the TLCS paper.

// decideRegained decides about two texts of different sites that do not resemble each other
// without frames, by the readings with what they regain. It reports whether these decide: if
// they are near, or were aligned and the readings without frames were not, which counts as
// work for the pair.
func (j Judge) decideRegained(d *Decision, a, b *Sentences, measured func(reading) verify.Verdict) bool {
	r := j.regained(a, b)
	if !r.any() {
		return false
	}
	enough := j.enough(r.evidence(a, b))
	if d.Weighing.Own = saidRegained(enough); !enough {
		return false
	}
	v := measured(asRegained)
	if v.Contained || !v.Near && (d.Aligned() || !v.Aligned()) {
		return false
	}
	d.Verdict, d.Weighed = v, v.Near // texts that the measure rejects are not alike by their sentences, as those of one site can be
	return true
}

// regained is what each of two texts regains.
type regained [2]rarity.Text

func (j Judge) regained(a, b *Sentences) (r regained) {
	if !j.Frames || ShareSite(a.Sites, b.Sites) {
		return r
	}
	if a.HasFrame {
		r[0] = rarity.Regained(a.Whole, a.Own, b.Own)
	}
	if b.HasFrame {
		r[1] = rarity.Regained(b.Whole, b.Own, a.Own)
	}
	return r
}

func (r regained) any() bool { return r[0].Len()+r[1].Len() > 0 }

// evidence is what the two texts share with what they regain.
func (r regained) evidence(a, b *Sentences) rarity.Evidence {
	return rarity.Compare(a.Own.With(r[0]), b.Own.With(r[1]))
}

// Regain reports whether one of two texts regains a sentence.
func (j Judge) Regain(a, b Sentences) bool { return j.regained(&a, &b).any() }

// enough reports whether two texts share enough that is rare to be near with what they regain.
func (j Judge) enough(e rarity.Evidence) bool {
	return e.Rare.Resemblance >= j.Rarity.RareRegained()
}

// ComparedAgain reports whether two texts of different sites were compared again with what
// they regain, if only by the rarity of what they share then.
func (d Decision) ComparedAgain() bool { return d.Weighing.Own&askedRegained != 0 }

// Regained returns two texts of different sites with what they regain, and their resemblance
// weighed by rarity.
func (j Judge) Regained(a, b *Text) (texts [2]*Text, rare float64) {
	texts = j.regainedTexts(a, b)
	return texts, rarity.Compare(texts[0].rare, texts[1].rare).Rare.Resemblance
}

// regainedTexts returns two texts without frames, but with what they regain.
func (j Judge) regainedTexts(a, b *Text) [2]*Text {
	s, t := a.Sentences(), b.Sentences()
	r := j.regained(&s, &t)
	return [2]*Text{j.with(a, r[0]), j.with(b, r[1])}
}

// with returns a text without frames, but with what it regains.
func (j Judge) with(t *Text, regains rarity.Text) *Text {
	if regains.Len() == 0 {
		return t.Own()
	}
	own := map[uint64]bool{}
	for s := range text.Each(t.Own().compared) {
		own[rarity.ExactUnitOf(s).Key] = true
	}
	var drop []bool
	for s := range text.Each(t.compared) {
		is := rarity.SentenceOf(s)
		drop = append(drop, is.Exact != 0 && !own[is.Exact] && !regains.Has(is.Plain.Key))
	}
	made := j.Text(text.Without(t.compared, func(i int) bool { return drop[i] }), t.Own().rare.With(regains))
	made.id = t.id
	return made
}
