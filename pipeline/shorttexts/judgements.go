package shorttexts

import (
	"fmt"

	"neardup/paper"
)

// Judgements say which pairs are right.
type Judgements struct {
	Pairs []map[[2]string]bool // of each collection, by pairOf two IDs; nil: days decide
	Days  int                  // pairs whose IDs begin with days at most so far apart are right; below 0: no pair is judged
}

// pairOf returns the key of a pair in Judgements.
func pairOf(a, b string) [2]string {
	a, b = paper.Cell(a), paper.Cell(b)
	return [2]string{min(a, b), max(a, b)}
}

func (j Judgements) by() string {
	switch {
	case j.Pairs != nil:
		return "as people judged it"
	case j.Days >= 0:
		return "if days in the ids of its texts are near enough to each other"
	}
	return ""
}

// of returns whether a pair of a collection is right, if that is known.
func (j Judgements) of(collection int, a, b Text) (right, ok bool) {
	for _, x := range a.IDs {
		for _, y := range b.IDs {
			if j.Pairs != nil {
				if right, ok := j.Pairs[collection][pairOf(x, y)]; ok {
					return right, true
				}
				continue
			}
			s, okS := dayOf(x)
			t, okT := dayOf(y)
			if j.Days >= 0 && okS && okT {
				ok = true
				right = right || max(s-t, t-s) <= j.Days
			}
		}
	}
	return right, ok
}

// Judged is a line of judged pairs.
type Judged struct {
	Line  int
	IDs   [2]string
	Texts *[2]string // as pairs.tsv has them; nil: the line does not have them
	Right bool
}

// Resolve returns the judgements of each collection. If several collections have the IDs of a
// pair, its texts tell which it is of. strange is the number of pairs that are not of two
// texts of a collection.
func Resolve(judged []Judged, collections []Collection) (pairs []map[[2]string]bool, strange int, err error) {
	byID := make([]map[string][]Text, len(collections))
	for i, of := range collections {
		byID[i] = map[string][]Text{}
		pairs = append(pairs, map[[2]string]bool{})
		for _, t := range of.Texts {
			for _, id := range t.IDs {
				id = paper.Cell(id)
				byID[i][id] = append(byID[i][id], t)
			}
		}
	}
	for _, p := range judged {
		var have, same []int // collections with the IDs, and with the texts
		for i := range collections {
			ids, texts := hasPair(byID[i], p)
			if ids {
				have = append(have, i)
			}
			if texts {
				same = append(same, i)
			}
		}
		if len(have) > 1 {
			if p.Texts == nil {
				return nil, 0, fmt.Errorf("line %d: both collections have the ids %s and %s; write the two texts behind them", p.Line, p.IDs[0], p.IDs[1])
			}
			have = same
		}
		if len(have) == 0 {
			strange++
		}
		for _, i := range have {
			key := pairOf(p.IDs[0], p.IDs[1])
			if before, ok := pairs[i][key]; ok && before != p.Right {
				return nil, 0, fmt.Errorf("line %d: the pair %s, %s is judged %v, and %v before", p.Line, p.IDs[0], p.IDs[1], p.Right, before)
			}
			pairs[i][key] = p.Right
		}
	}
	return pairs, strange, nil
}

// hasPair reports whether a collection has two texts with the IDs of a pair, and whether they
// are those that its line has.
func hasPair(byID map[string][]Text, p Judged) (ids, texts bool) {
	for _, a := range byID[p.IDs[0]] {
		for _, b := range byID[p.IDs[1]] {
			if a.Text != b.Text {
				ids = true
				texts = texts || p.Texts != nil && paper.Cell(a.Text) == p.Texts[0] && paper.Cell(b.Text) == p.Texts[1]
			}
		}
	}
	return ids, texts
}
