package pair

import "neardup/verify/rarity"

// Sentences are the weighed sentences of a text and of its reading without frames,
// with the sites that have it. They decide whether two texts are alike.
type Sentences struct {
	Sites      []uint64
	Whole, Own rarity.Text
	// Lengths of the two readings, in code points.
	Length, OwnLength int
	HasFrame          bool
}

// Sentences returns those of t.
func (t *Text) Sentences() Sentences {
	return Sentences{t.sites, t.rare, t.Own().rare, t.length, t.Own().length, t.HasFrame()}
}

// Weights returns the weights of the sentences and of those without frames.
func (s Sentences) Weights() (whole, own float64) {
	return float64(s.Whole.Weights().Plain), float64(s.Own.Weights().Plain)
}

// MayBeAlike reports whether Alike can hold for readings of these weights.
func (j Judge) MayBeAlike(a, b float32) bool { return j.Rarity.WeightsMayBeAlike(a, b) }

// Alike reports whether Decide finds two texts near by their sentences when the
// measure does not. If other weights could make them so, w is not zero.
func (j Judge) Alike(a, b Sentences) (alike bool, w Weighing) {
	if j.Frames && !ShareSite(a.Sites, b.Sites) {
		return false, w
	}
	of := func(x, y rarity.Text) (bool, byte) {
		if !j.Rarity.MayBeAlike(x, y) {
			return false, 0
		}
		e := rarity.Compare(x, y)
		if !j.Rarity.MayTurnAlike(e) {
			return false, 0
		}
		return j.Rarity.Alike(e), j.saidAlike(e)
	}
	if alike, w.Whole = of(a.Whole, b.Whole); !alike && j.Frames {
		alike, w.Own = of(a.Own, b.Own)
	}
	return alike, w
}

// Weighing is what the rarity of the sentences of two texts says of them: of the whole
// texts, and of their readings without frames, or with what these regain. The weights of a text change with nearly
// each new page of its site, and hardly ever change what they say of a pair. Texts that
// are otherwise as they were, and of which the weighing is as it was, get the decision
// that they got.
type Weighing struct{ Whole, Own byte } // 0: was not asked for

const (
	saidAlike = 1 << iota // Alike holds
	saidFramed
	saidApart     // Parts: by resemblance
	saidContained // and by containment
	askedAll
	askedAlike    // only for saidAlike
	askedRegained // of texts of different sites: only for saidEnough
	saidEnough    // enough holds for them
)

func (j Judge) said(e rarity.Evidence) byte {
	b := byte(askedAll)
	apart, contained := j.Rarity.Parts(e)
	for i, is := range [4]bool{j.Rarity.Alike(e), j.Rarity.Framed(e), apart, contained} {
		if is {
			b |= saidAlike << i
		}
	}
	return b
}

func (j Judge) saidAlike(e rarity.Evidence) byte {
	if j.Rarity.Alike(e) {
		return askedAlike | saidAlike
	}
	return askedAlike
}

func saidRegained(enough bool) byte {
	if enough {
		return askedRegained | saidEnough
	}
	return askedRegained
}

// Weigh asks of two texts what was asked for a weighing.
func (j Judge) Weigh(a, b Sentences, w Weighing) Weighing {
	ask := func(asked byte, x, y rarity.Text) byte {
		switch {
		case asked&askedAll != 0:
			return j.said(rarity.Compare(x, y))
		case asked&askedAlike != 0:
			return j.saidAlike(rarity.Compare(x, y))
		}
		return 0
	}
	if w.Own&askedRegained != 0 {
		return Weighing{Own: saidRegained(j.enough(j.regained(&a, &b).evidence(&a, &b)))}
	}
	return Weighing{ask(w.Whole, a.Whole, b.Whole), ask(w.Own, a.Own, b.Own)}
}
