package dataflow

import (
	"slices"

	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/tlcs"
)

// indexWindows limits the windows of texts that are indexed, at 16 bytes each, and
// also the windows in a sample of all of them.
const indexWindows = 8 << 20

// index bounds how much texts can have in common with others (tlcs.Index), for each
// reading that a judge compares.
type index struct {
	judge   pair.Judge
	windows int                                  // limit of each of the three indexes
	get     func(number int) (*pair.Text, error) // returns a text that was added
	texts   []indexed
	whole   *tlcs.Index
	own     *tlcs.Index // readings without frames; nil while no text has one
	thin    *tlcs.Index // readings without frames, also of texts that the other indexes have no room for
}

// indexed is what an index keeps about a text.
type indexed struct {
	sentences  pair.Sentences
	sites      []uint64
	whole, own int // lengths of its readings, in code points
	framed     bool
}

func newIndex(j pair.Judge, windows int, get func(number int) (*pair.Text, error)) *index {
	return &index{judge: j, windows: windows, get: get, whole: tlcs.NewIndex(windows), thin: tlcs.NewThinIndex(windows)}
}

// len returns the number of texts that have bounds. It is 0 for a nil index.
func (x *index) len() int {
	switch {
	case x == nil:
		return 0
	case x.own == nil:
		return x.whole.Len()
	}
	return min(x.whole.Len(), x.own.Len())
}

// held returns the number of texts that were added.
func (x *index) held() int {
	if x == nil {
		return 0
	}
	return len(x.texts)
}

// add adds a text.
func (x *index) add(t *pair.Text) error {
	x.texts = append(x.texts, indexed{t.Sentences(), t.Sites(), t.Len(), t.Own().Len(), t.HasFrame()})
	x.whole.Add(document(t))
	x.thin.Add(document(t.Own()))
	if x.own == nil && t.HasFrame() {
		x.own = tlcs.NewIndex(x.windows)
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

// bounds holds the bounds of a text against the texts of an index.
type bounds struct {
	text       *pair.Text
	whole, own tlcs.Bounds
	thin       tlcs.Bounds
	apart      bool // own differs from whole
}

// bound sets b to the bounds of t. It does not change the index, so goroutines can
// share the index.
func (x *index) bound(t *pair.Text, b *bounds) {
	if x == nil {
		return
	}
	b.text = t
	x.whole.Bound(document(t), &b.whole)
	if x.len() < len(x.texts) {
		x.thin.Bound(document(t.Own()), &b.thin)
	}
	if b.apart = x.own != nil || t.HasFrame(); b.apart {
		own := x.own
		if own == nil {
			own = x.whole
		}
		own.Bound(document(t.Own()), &b.own)
	}
}

// rejects returns the check that rejects the pair of the text with these bounds and
// the text of this number. It rejects the pair only if it rejects every reading
// that decides about the pair, and their sentences do not make them near.
func (x *index) rejects(o *tlcs.Options, b *bounds, number int) verify.Stage {
	rejected := x.outOfReach(o, b, number)
	if rejected != verify.None && x.judge.Alike(b.text.Sentences(), x.texts[number].sentences) {
		return verify.None
	}
	return rejected
}

func (x *index) outOfReach(o *tlcs.Options, b *bounds, number int) verify.Stage {
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

// kept returns how many code points the text with these bounds has in windows that
// few texts of the index have, the text of this number among them. For a text
// without bounds it is an estimate.
func (x *index) kept(b *bounds, number int) int {
	switch {
	case number >= x.len() && number < x.thin.Len():
		return b.thin.Kept(number)
	case number >= x.len():
		return 0
	case b.apart && !pair.ShareSite(b.text.Sites(), x.texts[number].sites):
		return b.own.Kept(number)
	}
	return b.whole.Kept(number)
}

// alike returns those texts, from number from up to till, that share a window of a
// sample with the text of b. till is at most to. If the text of b is not long, till
// is from. A text that shares no such window hardly has enough in common with it to
// be near.
func (x *index) alike(b *bounds, from, to int) (alike []int, till int) {
	const long = 512 // code points: with half as many in common windows, a sample of a sixteenth misses all of them once in ten million times
	if x == nil || x.len() == len(x.texts) || b.text.Own().Len() < long || !b.thin.FewOnly() {
		return nil, from
	}
	till = min(to, x.thin.Len())
	for _, l := range b.thin.Few() {
		if from <= int(l) && int(l) < till {
			alike = append(alike, int(l))
		}
	}
	slices.Sort(alike)
	return alike, till
}
