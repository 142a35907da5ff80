package dataflow

import (
	"slices"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify"
	"neardup/verify/pair"
)

// Recall has decisions of an earlier run on texts of a set or component, and what is
// needed to tell which of them still hold. Goroutines can share it. A nil one has none.
type Recall struct {
	judge  pair.Judge
	about  Abouts
	before map[rows.TextID]rows.State
	now    map[rows.TextID]rows.State
	pairs  map[[2]rows.TextID]rows.Decided
	screen *earlierScreen // nil: nothing is known
}

// Earlier is what an earlier run noted of a set or component.
type Earlier struct {
	States    []rows.State
	Decided   []rows.Decided
	Screening rows.Screening
}

// Abouts is what is known of texts without reading them.
type Abouts interface {
	State(rows.TextID) (rows.State, error)
	// Length returns the length of a text as it is compared whole, in code points.
	Length(rows.TextID) (length int, ok bool)
	// Sentences returns the weighed sentences of a text.
	Sentences(rows.TextID) (pair.Sentences, error)
}

// StatesOf returns the states of texts.
func StatesOf(keys []cluster.Key, about Abouts) ([]rows.State, error) {
	states := make([]rows.State, 0, len(keys))
	for _, k := range keys {
		s, err := about.State(k.ID())
		if err != nil {
			return nil, err
		}
		states = append(states, s)
	}
	return states, nil
}

// NewRecall returns the recall of what was noted of texts, for texts that have the states
// now. Sets and components may have been others then. What a screen said is recalled of the
// first of them only.
func NewRecall(j pair.Judge, about Abouts, now []rows.State, noted ...Earlier) *Recall {
	r := &Recall{judge: j, about: about, before: map[rows.TextID]rows.State{}, now: make(map[rows.TextID]rows.State, len(now)), pairs: map[[2]rows.TextID]rows.Decided{}}
	for _, s := range now {
		r.now[s.ID] = s
	}
	for i, e := range noted {
		same := make([]bool, len(e.States)) // as others have noted it, too
		for i, s := range e.States {
			old, there := r.before[s.ID]
			if same[i] = !there || old == s; !there {
				r.before[s.ID] = s
			}
		}
		for _, d := range e.Decided {
			if !d.Bounded && same[d.A] && same[d.B] {
				r.pairs[[2]rows.TextID{e.States[d.A].ID, e.States[d.B].ID}] = d
			}
		}
		if i == 0 {
			r.screen = newEarlierScreen(e, now)
		}
	}
	return r
}

// Of returns the decision on two texts, the one with the larger key first. ok is false
// if it must be made.
func (r *Recall) Of(a, b rows.TextID) (d rows.Decided, ok bool, err error) {
	if r == nil {
		return d, false, nil
	}
	if d, ok = r.pairs[[2]rows.TextID{a, b}]; !ok {
		return d, false, nil
	}
	ok, err = holds(r.judge, r.about, [2]rows.State{r.before[a], r.before[b]}, [2]rows.State{r.now[a], r.now[b]}, d.Weighing)
	return d, ok, err
}

// Whole returns what the measure said of two texts with their frames, or nil: it holds
// where the decision on them does not.
func (r *Recall) Whole(a, b rows.TextID) *verify.Verdict {
	if r == nil {
		return nil
	}
	return r.pairs[[2]rows.TextID{a, b}].Whole
}

// earlierScreen returns what is known of a screen, or nil.
func (r *Recall) earlierScreen() *earlierScreen {
	if r == nil {
		return nil
	}
	return r.screen
}

// Rejected returns the decision on two texts if their sentences alone reject the pair.
// Without an earlier result ok is false: then most texts of the set are read anyway, and
// to look up their sentences would only cost more.
func (r *Recall) Rejected(a, b rows.TextID) (d pair.Decision, ok bool, err error) {
	if r == nil || len(r.before) == 0 || r.judge.Rarity.RarePages == 0 {
		return d, false, nil
	}
	x, err := r.about.Sentences(a)
	if err != nil {
		return d, false, err
	}
	y, err := r.about.Sentences(b)
	if err != nil {
		return d, false, err
	}
	d, ok = r.judge.RejectedByRarity(x, y)
	return d, ok, nil
}

// holds reports whether two texts have the weighing that they had.
func holds(j pair.Judge, about Abouts, before, now [2]rows.State, w pair.Weighing) (bool, error) {
	if before[0].Fixed != now[0].Fixed || before[1].Fixed != now[1].Fixed {
		return false, nil
	}
	if before == now || w == (pair.Weighing{}) {
		return true, nil
	}
	a, err := about.Sentences(now[0].ID)
	if err != nil {
		return false, err
	}
	b, err := about.Sentences(now[1].ID)
	return err == nil && j.Weigh(a, b, w) == w, err
}

// Length returns the length of a text, see Abouts.
func (r *Recall) Length(t rows.TextID) (int, bool) {
	if r == nil {
		return 0, false
	}
	return r.about.Length(t)
}

// Screens reports whether the result of a set of so many texts may depend on weights in
// other ways than decisions do: they say which pairs are decided.
func Screens(c configs.Verify, texts int) bool {
	return texts >= manyLeaders && c.Measure == configs.MeasureTLCS && c.RarePages > 0
}

// Unchanged reports whether the result of a set or component is what it was: it has the
// same texts, and all decisions on them hold.
func Unchanged(j pair.Judge, about Abouts, before []rows.State, decided []rows.Decided, now []rows.State) (bool, error) {
	if slices.Equal(before, now) {
		return true, nil
	}
	if len(before) != len(now) {
		return false, nil
	}
	for i := range now {
		if before[i].ID != now[i].ID || before[i].Fixed != now[i].Fixed {
			return false, nil
		}
	}
	for _, d := range decided {
		ok, err := holds(j, about, [2]rows.State{before[d.A], before[d.B]}, [2]rows.State{now[d.A], now[d.B]}, d.Weighing)
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}
