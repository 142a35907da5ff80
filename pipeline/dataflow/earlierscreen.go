package dataflow

import "neardup/pipeline/rows"

// earlierScreen is what the screen of an earlier run said of the texts of a set that did
// not change. While all leaders are looked at, what is said of a leader and a member depends
// on their sentences, and on which sentences of the member many leaders have. So it holds if
// all of these are as they were.
type earlierScreen struct {
	rows.Screening
	places  map[rows.TextID]int // of the texts that did not change, in the set as it was
	leaders []bool              // by place
	begin   []int               // by place: where the pairs of a member begin in Left; one more
}

// newEarlierScreen returns what may still hold. It is nil if nothing does, or if texts came
// in another order.
func newEarlierScreen(e Earlier, now []rows.State) *earlierScreen {
	if e.Screening.From == 0 {
		return nil
	}
	n := len(e.States)
	x := &earlierScreen{Screening: e.Screening, places: make(map[rows.TextID]int, n), leaders: make([]bool, n), begin: make([]int, n+1)}
	for i, s := range e.States {
		x.places[s.ID] = i
	}
	last := -1
	for _, s := range now {
		i, there := x.places[s.ID]
		switch {
		case there && e.States[i] != s:
			delete(x.places, s.ID)
		case there && i < last:
			return nil
		case there:
			last = i
		}
	}
	for _, l := range x.Leaders {
		x.leaders[l] = true
	}
	for _, l := range x.Left {
		x.begin[l.Member+1]++
	}
	for i := range n {
		x.begin[i+1] += x.begin[i]
	}
	return x
}

// leader returns the place of a text that was a leader and did not change.
func (x *earlierScreen) leader(id rows.TextID) (place int, ok bool) {
	if x == nil {
		return 0, false
	}
	place, ok = x.places[id]
	return place, ok && x.leaders[place]
}

// member returns the place of a text that was screened and did not change, if many leaders
// had the sentences with this digest.
func (x *earlierScreen) member(id rows.TextID, digest uint64) (place int, ok bool) {
	if x == nil {
		return 0, false
	}
	place, ok = x.places[id]
	return place, ok && place >= x.From && x.Common[place-x.From] == digest
}

// left returns the pairs of a member that were compared. They are of leaders with places
// before that of chunkOf.
func (x *earlierScreen) left(place int) []rows.Left { return x.Left[x.begin[place]:x.begin[place+1]] }

// chunkOf returns the first place of the chunk of a place.
func chunkOf(place int) int { return place - place%chunkSize }
