package dataflow

import (
	"cmp"
	"slices"

	"neardup/cluster"
	"neardup/pipeline/rows"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// screenSentences limits the sentences of leaders that a screen holds, in both of their
// readings.
const screenSentences = 8 << 20

// screenBlock is the number of leaders that are rejected together where the lightest of them
// would be: a set may have very many.
const screenBlock = 128

// mostLooked limits the leaders that are looked at one by one although they share only
// common sentences with a member. It bounds the time that a member takes. It is a variable
// for tests.
var mostLooked = 4096

// screen tells which leaders of a set a member is compared with, by the sentences of both.
// It needs no text. So a later run, which has the decisions on the others, reads hardly
// any.
type screen struct {
	judge   pair.Judge
	index   *rarity.Index
	leaders []screened   // the first leaders, as many as the index holds
	least   []pair.Brief // of each screenBlock of them
	n       int          // all leaders

	earlier *earlierScreen // nil: nothing is known
	numbers []int          // by place in the earlier set: number of the leader, or -1
	fresh   []int          // numbers of leaders of which the earlier screen knows nothing
}

// screened is a text, as a screen sees it.
type screened struct {
	sentences pair.Sentences
	brief     pair.Brief
}

// newScreen returns an empty screen with room for so many sentences. earlier may be nil.
func newScreen(j pair.Judge, most int, earlier *earlierScreen) *screen {
	x := &screen{judge: j, index: rarity.NewIndex(most), earlier: earlier}
	if earlier != nil {
		x.numbers = slices.Repeat([]int{-1}, len(earlier.leaders))
	}
	return x
}

// added returns the number of leaders that were added. It is 0 for a nil screen.
func (x *screen) added() int {
	if x == nil {
		return 0
	}
	return x.n
}

func (x *screen) add(id rows.TextID, s pair.Sentences) {
	if place, ok := x.earlier.leader(id); ok {
		x.numbers[place] = x.n
	} else if x.earlier != nil {
		x.fresh = append(x.fresh, x.n)
	}
	x.n++
	if x.index.Add(s.Whole, s.Own); x.index.Len() == len(x.leaders) {
		return
	}
	brief := s.Brief()
	if block := len(x.leaders) / screenBlock; block == len(x.least) {
		x.least = append(x.least, brief)
	} else {
		x.least[block] = x.least[block].Least(brief)
	}
	x.leaders = append(x.leaders, screened{s, brief})
}

// looksAtAll reports whether it looks at every leader. Otherwise what it says of one may
// depend on how many come before it.
func (x *screen) looksAtAll() bool { return x.n == len(x.leaders) && x.n <= mostLooked }

// sighting is a member, as a screen sees it.
type sighting struct {
	screened
	bounds rarity.Bounds
	known  bool // by the earlier screen
	place  int  // then: in the earlier set
}

// bound sets g to what the member with these sentences shares with the leaders.
func (x *screen) bound(id rows.TextID, s pair.Sentences, g *sighting) {
	g.screened = screened{s, s.Brief()}
	x.index.Bound(&g.bounds, s.Whole, s.Own)
	g.place, g.known = x.earlier.member(id, g.bounds.Digest)
	g.known = g.known && x.looksAtAll()
}

// left returns the leaders from number from up to to that a member is compared with, each
// with the weight of what they share, and the number of others. Leaders that were not looked
// at one by one, since they are too many, have no weight, and may turn out to be apart.
func (x *screen) left(g *sighting, from, to int) (left []candidate, apart int64) {
	if g.known {
		return x.leftAgain(g, from, to)
	}
	few := g.bounds.Few
	first, _ := slices.BinarySearch(few, int32(from))
	few = few[first:]
	common := [2]rarity.Weights(g.bounds.Common)
	bounded := min(to, len(x.leaders))
	one := func(l int) {
		if rare, is := x.judge.Apart(x.leaders[l].sentences, g.sentences); is {
			apart++
		} else {
			left = append(left, candidate{l, int(max(1, rare))})
		}
	}
	looked := 0
	for l := from; l < bounded; l++ {
		if end := l + screenBlock; l%screenBlock == 0 && end <= bounded && x.judge.AllStrangers(&g.brief, common, &x.least[l/screenBlock]) {
			for apart += screenBlock; len(few) > 0 && int(few[0]) < end; few = few[1:] {
				apart--
				one(int(few[0]))
			}
			l = end - 1
			continue
		}
		switch {
		case len(few) > 0 && int(few[0]) == l:
			few = few[1:]
			one(l)
		case x.judge.Strangers(&g.brief, common, &x.leaders[l].brief):
			apart++
		case looked < mostLooked:
			looked++
			one(l)
		default:
			left = append(left, candidate{number: l})
		}
	}
	for l := max(from, bounded); l < to; l++ {
		left = append(left, candidate{number: l})
	}
	return left, apart
}

// leftAgain is left for a member that the earlier screen knows. It looks only at leaders of
// which that knows nothing.
func (x *screen) leftAgain(g *sighting, from, to int) (left []candidate, apart int64) {
	common := [2]rarity.Weights(g.bounds.Common)
	one := func(l int) {
		if l < from || l >= to {
			return
		}
		leader := &x.leaders[l]
		if _, few := slices.BinarySearch(g.bounds.Few, int32(l)); !few && x.judge.Strangers(&g.brief, common, &leader.brief) {
			return
		}
		if rare, is := x.judge.Apart(leader.sentences, g.sentences); !is {
			left = append(left, candidate{l, int(max(1, rare))})
		}
	}
	for _, l := range x.fresh {
		one(l)
	}
	for _, l := range x.numbers[chunkOf(g.place):g.place] {
		one(l)
	}
	for _, p := range x.earlier.left(g.place) {
		if l := x.numbers[p.Leader]; l >= from && l < to {
			left = append(left, candidate{l, p.Rare})
		}
	}
	slices.SortFunc(left, func(a, b candidate) int { return cmp.Compare(a.number, b.number) })
	return left, int64(to - from - len(left))
}

// apart reports whether the sentences of a member and of a leader tell that it is not compared
// with this leader.
func (v *setVerifier) apart(m *member, leader int) (apart bool, err error) {
	var s pair.Sentences
	if leader < len(v.screen.leaders) {
		s = v.screen.leaders[leader].sentences
	} else if s, err = v.sentencesOf(v.leaders[leader]); err != nil {
		return false, err
	}
	_, apart = v.Apart(s, m.sighting.sentences)
	return apart, nil
}

// sentencesOf returns the sentences of a text, which it reads only if it must.
func (v *setVerifier) sentencesOf(k cluster.Key) (pair.Sentences, error) {
	if v.recall != nil {
		return v.recall.about.Sentences(k.ID())
	}
	t, err := v.docs(k.ID())
	if err != nil {
		return pair.Sentences{}, err
	}
	return t.Sentences(), nil
}
