package dataflow

import (
	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/tlcs"
)

// indexWindows is how many windows of texts are indexed at most, 16 bytes each.
const indexWindows = 8 << 20

// index bounds how much texts can have in common with others (tlcs.Index), by each
// reading that a judge compares.
type index struct {
	get   func(number int) (*pair.Text, error) // a text that was added
	texts []indexed
	whole *tlcs.Index
	own   *tlcs.Index // without frames; nil while no text has one
}

// indexed is what an index keeps of a text.
type indexed struct {
	sites      []uint64
	whole, own int // lengths of its readings, in code points
	framed     bool
}

func newIndex(get func(number int) (*pair.Text, error)) *index {
	return &index{get: get, whole: tlcs.NewIndex(indexWindows)}
}

// len is the number of texts that have bounds; none in a nil index.
func (x *index) len() int {
	switch {
	case x == nil:
		return 0
	case x.own == nil:
		return x.whole.Len()
	}
	return min(x.whole.Len(), x.own.Len())
}

// add adds a text.
func (x *index) add(t *pair.Text) error {
	x.texts = append(x.texts, indexed{t.Sites(), t.Len(), t.Own().Len(), t.HasFrame()})
	x.whole.Add(document(t))
	if x.own == nil && t.HasFrame() {
		x.own = tlcs.NewIndex(indexWindows)
		for i := range len(x.texts) - 1 {
			before, err := x.get(i)
			if err != nil {
				return err
			}
			x.own.Add(document(before))
		}
	}
	if x.own != nil {
		x.own.Add(document(t.Own()))
	}
	return nil
}

func document(t *pair.Text) *tlcs.Document { return t.Scored().(*tlcs.Document) }

// bounds are those of a text against the texts of an index.
type bounds struct {
	text       *pair.Text
	whole, own tlcs.Bounds
	apart      bool // own is not the same as whole
}

// bound sets b to the bounds of t. It does not change the index, so goroutines can
// share that.
func (x *index) bound(t *pair.Text, b *bounds) {
	if x == nil {
		return
	}
	b.text = t
	x.whole.Bound(document(t), &b.whole)
	if b.apart = x.own != nil || t.HasFrame(); b.apart {
		own := x.own
		if own == nil {
			own = x.whole
		}
		own.Bound(document(t.Own()), &b.own)
	}
}

// rejects returns the check that rejects the pair of the text with these bounds and
// the text of this number, if every reading that decides about them is rejected.
func (x *index) rejects(o *tlcs.Options, b *bounds, number int) verify.Stage {
	other := x.texts[number]
	rejected := verify.None
	if oneSite := !b.apart || pair.ShareSite(b.text.Sites(), other.sites); oneSite {
		rejected = b.whole.Rejects(o, number, b.text.Len(), other.whole)
		if rejected == verify.None || !b.text.HasFrame() && !other.framed {
			return rejected
		}
	}
	return b.own.Rejects(o, number, b.text.Own().Len(), other.own)
}

// kept is how many code points of the text with these bounds are in windows that few
// texts of the index have, and among them the one of this number.
func (x *index) kept(b *bounds, number int) int {
	if b.apart && !pair.ShareSite(b.text.Sites(), x.texts[number].sites) {
		return b.own.Kept(number)
	}
	return b.whole.Kept(number)
}
