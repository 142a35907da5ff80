package ppjoin

import "slices"

// Multiset gives the second, third ... occurrence of a token in a record a token
// of its own, the same one in all records of all collections. This is section
// 2.1, "treating each subsequent occurrence of the same token as a new token".
// New ids follow the largest id. The tokens of each record come out sorted, new
// ones behind their first.
func Multiset(cs ...Collection) []Collection {
	next := uint32(0)
	for _, c := range cs {
		for _, t := range c.Tokens {
			next = max(next, t+1)
		}
	}
	ids := map[uint64]uint32{} // new IDs, by token and number of earlier occurrences
	out := make([]Collection, len(cs))
	var record []uint32
	for i, c := range cs {
		out[i] = Collection{Tokens: make([]uint32, 0, len(c.Tokens)), Ends: c.Ends, Alone: c.Alone}
		for j := range c.Len() {
			record = append(record[:0], c.Record(j)...)
			slices.Sort(record)
			n := uint64(0)
			for k, t := range record {
				if k == 0 || record[k-1] != t {
					n = 0
					out[i].Tokens = append(out[i].Tokens, t)
					continue
				}
				n++
				id, ok := ids[uint64(t)<<32|n]
				if !ok {
					id = next
					ids[uint64(t)<<32|n] = id
					next++
				}
				out[i].Tokens = append(out[i].Tokens, id)
			}
		}
	}
	return out
}
