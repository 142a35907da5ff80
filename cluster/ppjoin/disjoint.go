package ppjoin

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
)

// disjoint emits the pairs of records without a common token whose Hamming distance
// is within the threshold: their sizes add up to no more than that. No prefix finds
// them. It returns how many pairs of distinct records these are, and how many it
// emitted. All that it compares is emitted here, or by the join.
func disjoint(ctx context.Context, cs []Collection, o Options, emit func(Pair) error) (distinct, emitted int64, err error) {
	limit := int(o.Threshold)
	if o.Measure != Hamming || limit < 2 {
		return 0, 0, nil
	}
	type small struct {
		tokens  []uint32 // ascending; lone ones are not listed
		size    int
		members []int
	}
	sides := make([][]*small, len(cs))
	for side, c := range cs {
		at := map[string]*small{}
		for i := range c.Len() {
			tokens := slices.Clone(c.Record(i))
			slices.Sort(tokens)
			tokens = slices.Compact(tokens)
			s := &small{tokens: tokens, size: len(tokens)}
			if c.Alone != nil {
				s.size += int(c.Alone[i])
			}
			if s.size == 0 || s.size >= limit {
				continue
			}
			if s.size == len(tokens) {
				var key []byte
				for _, t := range tokens {
					key = binary.LittleEndian.AppendUint32(key, t)
				}
				if known := at[string(key)]; known != nil {
					known.members = append(known.members, i)
					continue
				}
				at[string(key)] = s
			}
			s.members = []int{i}
			sides[side] = append(sides[side], s)
		}
		slices.SortStableFunc(sides[side], func(a, b *small) int { return cmp.Compare(a.size, b.size) })
	}
	others := sides[len(sides)-1]
	for i, x := range sides[0] {
		if err := ctx.Err(); err != nil {
			return distinct, emitted, err
		}
		if len(cs) == 1 {
			others = sides[0][i+1:]
		}
		for _, y := range others {
			if x.size+y.size > limit {
				break
			}
			if common(x.tokens, y.tokens, 1) > 0 {
				continue
			}
			distinct++
			for _, a := range x.members {
				for _, b := range y.members {
					if err := ctx.Err(); err != nil {
						return distinct, emitted, err
					}
					p := Pair{a, b, float64(x.size + y.size)}
					if len(cs) == 1 && a > b {
						p.A, p.B = b, a
					}
					emitted++
					if err := emit(p); err != nil {
						return distinct, emitted, err
					}
				}
			}
		}
	}
	return distinct, emitted, nil
}
