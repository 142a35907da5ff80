package ppjoin

import (
	"encoding/binary"
	"slices"
)

// Record is a distinct set of tokens of one side, and the records that are equal to
// it.
type Record struct {
	Side    int
	Mass    int64
	Tokens  []uint32 // ascending
	Members []int
}

// Records groups equal records of each side, in the order of their first members. It
// leaves out records without tokens. Tokens without mass are left out too, unless
// weightless is set.
func (r *Rule) Records(cs []Collection, weightless bool) (records []Record) {
	at := map[string]int{}
	var key []byte
	for side, c := range cs {
		for i := range c.Len() {
			tokens := slices.Clone(c.Record(i))
			slices.Sort(tokens)
			tokens = slices.DeleteFunc(slices.Compact(tokens), func(t uint32) bool { return !weightless && r.Mass(t) == 0 })
			if len(tokens) == 0 {
				continue
			}
			key = append(key[:0], byte(side))
			mass := int64(0)
			for _, t := range tokens {
				key = binary.LittleEndian.AppendUint32(key, t)
				mass += r.Mass(t)
			}
			k, ok := at[string(key)]
			if !ok {
				k = len(records)
				at[string(key)] = k
				records = append(records, Record{Side: side, Mass: mass, Tokens: tokens})
			}
			records[k].Members = append(records[k].Members, i)
		}
	}
	return records
}

// Common returns the mass of the tokens that two records have in common.
func (r *Rule) Common(x, y *Record) (mass int64) {
	a, b := x.Tokens, y.Tokens
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			mass += r.Mass(a[0])
			a, b = a[1:], b[1:]
		}
	}
	return mass
}

// EmitEqual emits the pairs of the members of a record.
func (r *Rule) EmitEqual(x *Record, emit func(Pair) error) error {
	similarity, ok := r.Decide(x.Mass, x.Mass, x.Mass, x.Tokens, x.Tokens)
	if !ok {
		return nil
	}
	for k, b := range x.Members {
		for _, a := range x.Members[:k] {
			if err := emit(Pair{A: a, B: b, Similarity: similarity}); err != nil {
				return err
			}
		}
	}
	return nil
}

// EmitSimilar emits the pairs of the members of two records, if the records are
// similar. common is the mass of their common tokens.
func (r *Rule) EmitSimilar(x, y *Record, common int64, emit func(Pair) error) (similar bool, err error) {
	similarity, ok := r.Decide(x.Mass, y.Mass, common, x.Tokens, y.Tokens)
	if !ok {
		return false, nil
	}
	for _, a := range x.Members {
		for _, b := range y.Members {
			first, second := a, b
			if x.Side > y.Side || x.Side == y.Side && a > b {
				first, second = b, a
			}
			if err := emit(Pair{A: first, B: second, Similarity: similarity}); err != nil {
				return true, err
			}
		}
	}
	return true, nil
}
