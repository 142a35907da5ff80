package pair

import (
	"neardup/extract/text"
	"neardup/verify"
	"neardup/verify/rarity"
)

// A frame is what many pages of a site have. An article at several addresses of a small site
// looks like one, and so does a template on a site of which only one page was captured not
// look like one. So a sentence that is in the frame of one text, and that a text of another
// site has outside its frame, may be of the articles of both or of the templates of both. How
// rare it is on the site with the frame tells which: both texts regain such sentences, and
// what they share must be as rare as if they were of one site. Then they can be near by
// resemblance; that one contains the other would say little. This is not in the TLCS paper.

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
