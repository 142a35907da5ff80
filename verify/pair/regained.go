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
// it tells which. So two texts that are not near without frames regain such sentences. They
// are near if they resemble each other then, and share as much that is rare as two pages of one
// site must. That one contains the other would say little. This is not in the TLCS paper.

// decideRegained decides about two texts of different sites that are not near without frames,
// by the readings with what they regain. It reports whether these are near.
func (j Judge) decideRegained(d *Decision, a, b *Sentences, measured func(reading) verify.Verdict) bool {
	x, y, ok := j.regained(a, b)
	if !ok {
		return false
	}
	enough := j.enough(rarity.Compare(x, y))
	if d.Weighing.Own = saidRegained(enough); !enough {
		return false
	}
	v := measured(asRegained)
	if v.Contained || !v.Near {
		return false
	}
	d.Verdict, d.Weighed = v, true
	return true
}

// regained returns the sentences of two texts of different sites without frames, but with
// what they regain. ok is false if that is nothing.
func (j Judge) regained(a, b *Sentences) (x, y rarity.Text, ok bool) {
	x, y = a.Own, b.Own
	if a.HasFrame {
		x, ok = rarity.Regained(a.Whole, a.Own, b.Own)
	}
	if b.HasFrame {
		var also bool
		y, also = rarity.Regained(b.Whole, b.Own, a.Own)
		ok = ok || also
	}
	return x, y, ok
}

// enough reports whether two texts share as much that is rare as pages of one site must that
// are near with its frame.
func (j Judge) enough(e rarity.Evidence) bool {
	return e.Rare.Resemblance >= max(j.Rarity.RareResemblance, j.Rarity.RareFramed)
}

// regainedTexts returns two texts without frames, but with what they regain.
func (j Judge) regainedTexts(a, b *Text) [2]*Text {
	s, t := a.Sentences(), b.Sentences()
	x, y, _ := j.regained(&s, &t)
	return [2]*Text{j.only(a, x), j.only(b, y)}
}

// only returns a text with only these of its sentences that count.
func (j Judge) only(t *Text, sentences rarity.Text) *Text {
	var drop []bool
	for s := range text.Each(t.compared) {
		key := rarity.UnitOf(s).Key
		drop = append(drop, key != 0 && !sentences.Has(key))
	}
	made := j.Text(text.Without(t.compared, func(i int) bool { return drop[i] }), sentences)
	made.id = t.id
	return made
}
