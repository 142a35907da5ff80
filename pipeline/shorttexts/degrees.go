package shorttexts

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"neardup/paper"
	"neardup/verify/terms"
)

// degrees makes the measurements of figures 1 and 2.
func (s *simFinder) degrees(out *paper.ShortTexts, j Judgements) ([]Asked, error) {
	plain := s.measure
	plain.Similarity = terms.Plain
	weighted := s.measure
	weighted.Similarity = terms.Weighted
	pairs, err := s.similar(plain)
	if err != nil {
		return nil, err
	}
	var asked []Asked
	drawn := map[pair]bool{}
	draw := func(p pair) {
		if !drawn[p] {
			drawn[p] = true
			asked = append(asked, Asked{s.texts[p.a], s.texts[p.b]})
		}
	}
	out.Plain = s.precision(plain, pairs, j, draw)
	out.Weighted = s.precision(weighted, pairs, j, draw)
	return asked, nil
}

// similar returns the pairs of the baseline with a degree that figures 1 and 2 may
// show. The order is arbitrary, and does not depend on that of the texts.
func (s *simFinder) similar(o terms.Options) (pairs []pair, err error) {
	c := s.prepare(o, s.texts)
	if err := candidates(s.ctx, s.wordPairs(), func(a, b int) {
		if c.of(a, b).Resemblance >= leastPlain {
			pairs = append(pairs, pair{a, b})
		}
	}); err != nil {
		return nil, err
	}
	order := make(map[pair]uint64, len(pairs))
	for _, p := range pairs {
		x, y := s.texts[p.a].Text, s.texts[p.b].Text
		h := sha256.Sum256([]byte(min(x, y) + "\x00" + max(x, y)))
		order[p] = binary.BigEndian.Uint64(h[:])
	}
	slices.SortFunc(pairs, func(p, q pair) int { return cmp.Or(cmp.Compare(order[p], order[q]), compare(p, q)) })
	return pairs, nil
}

// judgedPair is a pair that people judged.
type judgedPair struct {
	degree float64
	right  bool
}

// precision returns the precision of pairs by their degree, with a measure. It calls
// draw with the first pairs of each interval.
func (s *simFinder) precision(o terms.Options, pairs []pair, j Judgements, draw func(pair)) paper.Degrees {
	c := s.prepare(o, s.texts)
	out := paper.Degrees{Intervals: make([]paper.Interval, intervals)}
	for i := range out.Intervals {
		out.Intervals[i].To = firstDegree + degreeStep*float64(i+1)
	}
	var all []judgedPair
	for _, p := range pairs {
		degree := c.of(p.a, p.b).Resemblance
		right, ok := j.of(s.place, s.texts[p.a], s.texts[p.b])
		if j.Pairs == nil && ok {
			all = append(all, judgedPair{degree, right})
		}
		if degree >= o.Threshold {
			out.Near++
			if right {
				out.NearRight++
			}
		}
		at := intervalOf(degree)
		if at < 0 {
			continue
		}
		i := &out.Intervals[at]
		if i.Pairs++; i.Pairs <= perInterval {
			draw(p)
		}
		if ok {
			i.Judged++
			if right {
				i.Right++
			}
		}
	}
	out.AveragePrecision = averagePrecision(all)
	return out
}

// averagePrecision returns that of all right pairs by descending degree, nil if there
// are none.
func averagePrecision(all []judgedPair) *float64 {
	sort.SliceStable(all, func(i, j int) bool {
		x, y := all[i], all[j]
		return cmp.Compare(y.degree, x.degree) < 0
	})
	right, sum := 0, 0.0
	for i, x := range all {
		if x.right {
			right++
			sum += float64(right) / float64(i+1)
		}
	}
	if right == 0 {
		return nil
	}
	sum /= float64(right)
	return &sum
}

// intervalOf returns the interval of a degree, [d - .05, d]; below all, -1. A degree on a
// boundary belongs to the lower one.
func intervalOf(degree float64) int {
	if math.Abs(degree-firstDegree) < 1e-9 {
		return 0
	}
	for i := range intervals {
		if degree > firstDegree+degreeStep*float64(i)+1e-9 && degree <= firstDegree+degreeStep*float64(i+1)+1e-9 {
			return i
		}
	}
	return -1
}
