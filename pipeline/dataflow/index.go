package dataflow

import (
	"math/bits"
	"slices"

	"neardup/verify"
	"neardup/verify/pair"
	"neardup/verify/tlcs"
)

// indexWindows limits the windows of texts that are indexed, at 16 bytes each, and
// also the windows in a sample of all of them.
const indexWindows = 8 << 20

// windowBytes is what a window takes, and room for the next ones.
const windowBytes = 24

// index bounds how much texts can have in common with others (tlcs.Index), for each
// reading that a judge compares.
type index struct {
	judge   pair.Judge
	options *tlcs.Options
	windows int                                  // limit of each of the three indexes
	get     func(number int) (*pair.Text, error) // returns a text that was added
	memory  *memory
	texts   []indexed
	briefs  []brief     // of the same texts
	sizes   [33][]int32 // their numbers, by the bits of their length without frames
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

// brief is what decides about most texts, in little memory, because each text is
// checked against all texts of the index.
type brief struct {
	whole, own int32   // lengths of its readings
	weights    weights // of the sentences of its readings
	site       uint64  // 0 if it has several
}

// weights are the weights of the sentences of a text and of its reading without frames.
type weights struct{ whole, own float32 }

func weightsOf(s pair.Sentences) weights {
	whole, own := s.Weights()
	return weights{float32(whole), float32(own)}
}

// onlySite returns the site of a text, or 0 if it has none or several.
func onlySite(t *pair.Text) uint64 {
	if len(t.Sites()) == 1 {
		return t.Sites()[0]
	}
	return 0
}

func newIndex(j pair.Judge, o *tlcs.Options, windows int, m *memory, get func(number int) (*pair.Text, error)) *index {
	return &index{judge: j, options: o, windows: windows, memory: m, get: get, whole: tlcs.NewIndex(windows), thin: tlcs.NewThinIndex(windows)}
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

// added returns the number of texts that were added.
func (x *index) added() int {
	if x == nil {
		return 0
	}
	return len(x.texts)
}

// add adds a text.
func (x *index) add(t *pair.Text) error {
	x.memory.take(windowBytes * (t.Len() + t.Own().Len()))
	s := t.Sentences()
	x.texts = append(x.texts, indexed{s, t.Sites(), t.Len(), t.Own().Len(), t.HasFrame()})
	x.briefs = append(x.briefs, brief{int32(t.Len()), int32(t.Own().Len()), weightsOf(s), onlySite(t)})
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
	size := bits.Len32(uint32(t.Own().Len()))
	x.sizes[size] = append(x.sizes[size], int32(len(x.texts)-1))
	return nil
}

func document(t *pair.Text) *tlcs.Document { return t.Scored().(*tlcs.Document) }

// bounds holds the bounds of a text against the texts of an index.
type bounds struct {
	text       *pair.Text
	whole, own tlcs.Bounds
	thin       tlcs.Bounds
	apart      bool // own differs from whole
	site       uint64
	weights    weights
	reach      struct{ whole, own tlcs.Reach }
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
		b.reach.own = b.own.Reach(x.options, t.Own().Len())
	}
	b.reach.whole = b.whole.Reach(x.options, t.Len())
	b.site, b.weights = onlySite(t), weightsOf(t.Sentences())
}

// rejects returns the check that rejects the pair of the text with these bounds and
// the text of this number. It rejects the pair only if it rejects every reading
// that decides about the pair, and their sentences do not make them near. If other
// weights of their sentences could make them near, w is not zero.
func (x *index) rejects(b *bounds, number int) (_ verify.Stage, w pair.Weighing) {
	if rejected := x.strange(b, number); rejected != verify.None {
		return rejected, w
	}
	rejected := x.outOfReach(b, number)
	if rejected == verify.None {
		return rejected, w
	}
	alike, w := x.judge.Alike(b.text.Sentences(), x.texts[number].sentences)
	if alike {
		return verify.None, w
	}
	return rejected, w
}

// strange is rejects for texts that share nothing but what many share. It decides
// about most of them, by little memory, and returns None for the others.
func (x *index) strange(b *bounds, number int) verify.Stage {
	if b.whole.Kept(number) != 0 || b.apart && b.own.Kept(number) != 0 {
		return verify.None
	}
	other := &x.briefs[number]
	others := b.site != 0 && other.site != 0 && b.site != other.site
	if !(others && x.judge.Frames) && (x.judge.MayBeAlike(b.weights.whole, other.weights.whole) || x.judge.MayBeAlike(b.weights.own, other.weights.own)) {
		return verify.None
	}
	if !b.apart {
		return b.reach.whole.Rejects(int(other.whole))
	}
	if (b.site == 0 || b.site != other.site) && x.regain(b, number) {
		return verify.None
	}
	own := b.reach.own.Rejects(int(other.own))
	if !others && b.reach.whole.Rejects(int(other.whole)) != own {
		return verify.None
	}
	return own
}

// regain reports whether the two texts may be compared with what they regain, which no index
// has.
func (x *index) regain(b *bounds, number int) bool {
	return x.judge.Regain(b.text.Sentences(), x.texts[number].sentences)
}

func (x *index) outOfReach(b *bounds, number int) verify.Stage {
	other := x.texts[number]
	if b.apart && x.regain(b, number) {
		return verify.None
	}
	rejected := verify.None
	if oneSite := !b.apart || pair.ShareSite(b.text.Sites(), other.sites); oneSite {
		rejected = b.whole.Rejects(x.options, number, b.text.Len(), other.whole)
		if rejected == verify.None || !b.text.HasFrame() && !other.framed {
			return rejected
		}
	}
	return b.own.Rejects(x.options, number, b.text.Own().Len(), other.own)
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

// alike returns those texts, from number from up to till, that may have enough in
// common with the text of b, by a sample of all windows. till is at most to. If the
// text of b is not long, till is from. The other texts hardly have enough in common
// with it to be near.
func (x *index) alike(b *bounds, from, to int) (alike []int, till int) {
	const long = 512 // code points: with half as many in common windows, a sample of a sixteenth misses all of them once in ten million times
	if x == nil || x.len() == len(x.texts) || b.text.Own().Len() < long {
		return nil, from
	}
	till = min(to, x.thin.Len())
	longest := b.thin.Longest(x.options, b.text.Own().Len())
	for size := range 1 + bits.Len(uint(longest)) {
		numbers := x.sizes[size]
		first, _ := slices.BinarySearch(numbers, int32(from))
		for _, l := range numbers[first:] {
			if int(l) >= till {
				break
			}
			if int(x.briefs[l].own) <= longest {
				alike = append(alike, int(l))
			}
		}
	}
	for _, l := range b.thin.Few() {
		if from <= int(l) && int(l) < till {
			alike = append(alike, int(l))
		}
	}
	slices.Sort(alike)
	return slices.Compact(alike), till
}
