package pair

import "neardup/verify/rarity"

// In a set of many leaders most texts have nothing in common with most leaders but what their
// site has, or a third text. Their sentences tell that at a fraction of the cost of a
// comparison, and without the texts. This is not in the TLCS paper.

// Apart reports whether a set of many leaders takes two texts for apart by their
// sentences alone. Texts of one site are apart if they share none, or if Decide rejects them
// by rarity. Texts of different sites are apart if what they share is less than
// RareResemblance allows; all of it counts, since it is not rare or common on both sites. What
// they regain counts by its rarity.
// Texts of which half has no letters, or repeats, are apart only by rarity: their sentences
// do not tell enough. Otherwise rare is the weight of what the readings share that decide.
func (j Judge) Apart(a, b Sentences) (rare int64, apart bool) {
	tell := a.tell() && b.tell()
	if j.Frames && !ShareSite(a.Sites, b.Sites) {
		both := rarity.Compare(a.Own, b.Own).Both
		alike, contained := j.Rarity.Little(both.Plain, both.Plain, a.Own.Weights().Plain, b.Own.Weights().Plain)
		if apart = alike && contained && tell; !apart {
			return both.Rare, false
		}
		if r := j.regained(&a, &b); r.any() {
			if e := r.evidence(&a, &b); j.enough(e) {
				return e.Both.Rare, false
			}
		}
		return both.Rare, true
	}
	evidence := rarity.Compare(a.Whole, b.Whole)
	if evidence.Nothing() && tell {
		return 0, true
	}
	if alike, contained := j.Rarity.Parts(evidence); !alike || !contained {
		return evidence.Both.Rare, false
	}
	if j.Frames && (a.HasFrame || b.HasFrame) {
		own := rarity.Compare(a.Own, b.Own)
		return own.Both.Rare, own.Nothing() && tell || !j.mayResemble(a.OwnLength, b.OwnLength, own)
	}
	return 0, true
}

// Brief is what Strangers needs to know of a text, in little memory.
type Brief struct {
	sites      []uint64
	whole, own rarity.Weights
	ownLength  int32
	hasFrame   bool
	tells      bool
}

// tell reports whether sentences that count have more columns than half of the length of
// each reading. Wide characters are two columns, so a quarter of the length is enough of text
// that has no others; five letters are six columns, so it is five twelfths without spaces.
func (s Sentences) tell() bool {
	return 2*s.Whole.Columns() > s.Length && 2*s.Own.Columns() > s.OwnLength
}

// Brief returns the brief of a text.
func (s Sentences) Brief() Brief {
	return Brief{s.Sites, s.Whole.Weights(), s.Own.Weights(), int32(s.OwnLength), s.HasFrame, s.tell()}
}

// Least returns the brief of a text no heavier than either of two. It tells only if both do,
// and has a frame if one has.
func (b Brief) Least(o Brief) Brief {
	least := func(x, y rarity.Weights) rarity.Weights {
		return rarity.Weights{Plain: min(x.Plain, y.Plain), Rare: min(x.Rare, y.Rare)}
	}
	return Brief{whole: least(b.whole, o.whole), own: least(b.own, o.own), hasFrame: b.hasFrame || o.hasFrame, tells: b.tells && o.tells}
}

// Strangers reports whether two texts share too little to be near if they share nothing
// but common sentences of the first, which have these weights in its two readings. For
// some such texts it returns false.
func (j Judge) Strangers(a *Brief, common [2]rarity.Weights, b *Brief) bool {
	switch {
	case !a.tells || !b.tells:
		return false
	case j.Frames && !ShareSite(a.sites, b.sites):
		return j.otherStrangers(a, common, b)
	}
	second := [2]int64{common[0].Plain, common[1].Plain}
	if len(a.sites) == 1 && len(b.sites) == 1 && a.sites[0] == b.sites[0] {
		second = [2]int64{common[0].Rare, common[1].Rare} // a sentence is on as many pages for both
	}
	if !j.strangers(a, common, b, second) {
		return false
	}
	return !j.Frames || !a.hasFrame && !b.hasFrame || j.ownStrangers(a, common, b, second) ||
		j.alikeIsMore() && !j.lengthsMayResemble(int(a.ownLength), int(b.ownLength))
}

// AllStrangers reports whether Strangers holds for each text that least is no heavier than.
// A share is largest with the lightest text.
func (j Judge) AllStrangers(a *Brief, common [2]rarity.Weights, least *Brief) bool {
	second := [2]int64{common[0].Plain, common[1].Plain}
	return a.tells && least.tells && j.strangers(a, common, least, second) &&
		(!j.Frames || j.otherStrangers(a, common, least) && j.ownStrangers(a, common, least, second))
}

// strangers is Strangers by the whole texts. The common sentences weigh no more than second
// in the second text.
func (j Judge) strangers(a *Brief, common [2]rarity.Weights, b *Brief, second [2]int64) bool {
	alike, contained := j.Rarity.Little(common[0].Rare, second[0], a.whole.Rare, b.whole.Rare)
	return alike && contained
}

// ownStrangers is Strangers by the readings without frames, of texts of one site.
func (j Judge) ownStrangers(a *Brief, common [2]rarity.Weights, b *Brief, second [2]int64) bool {
	alike, _ := j.Rarity.Little(common[1].Rare, second[1], a.own.Rare, b.own.Rare)
	return alike && j.alikeIsMore()
}

// alikeIsMore reports whether texts that share little are not alike.
func (j Judge) alikeIsMore() bool {
	return j.Rarity.Sentences == 0 || j.Rarity.RareSentences >= j.Rarity.RareResemblance
}

// otherStrangers is Strangers for texts of different sites.
func (j Judge) otherStrangers(a *Brief, common [2]rarity.Weights, b *Brief) bool {
	alike, contained := j.Rarity.Little(common[1].Plain, common[1].Plain, a.own.Plain, b.own.Plain)
	if !alike || !contained || !a.hasFrame && !b.hasFrame {
		return alike && contained
	}
	rare, plain := max(common[0].Rare, common[1].Rare), max(common[0].Plain, common[1].Plain) // of a text that was cut, own is no part of whole
	regained, _ := j.Rarity.Little(rare, plain, a.own.Rare, b.own.Rare)
	return regained
}
