package join

import "math"

// Multiset makes the second, third ... occurrence of a token in a record a
// token of its own, the same one in all records of all collections: section
// 2.1, "treating each subsequent occurrence of the same token as a new token".
// New ids are the smallest that are free after the largest.
func Multiset(cs ...Collection) []Collection {
	next := uint32(0)
	for _, c := range cs {
		for _, t := range c.Tokens {
			next = max(next, t+1)
		}
	}
	ids := map[uint64]uint32{}    // of a token and how often it came before
	before := map[uint32]uint32{} // in the record
	out := make([]Collection, len(cs))
	for i, c := range cs {
		out[i] = Collection{Tokens: make([]uint32, 0, len(c.Tokens)), Ends: c.Ends, Alone: c.Alone}
		for j := range c.Len() {
			clear(before)
			for _, t := range c.Record(j) {
				n := before[t]
				before[t]++
				if n > 0 {
					key := uint64(t)<<32 | uint64(n)
					id, ok := ids[key]
					if !ok {
						id = next
						ids[key] = id
						next++
					}
					t = id
				}
				out[i].Tokens = append(out[i].Tokens, t)
			}
		}
	}
	return out
}

// IDF weighs the tokens of collections by how rare they are, as section 8.1.1
// does: log of all records over those that have the token. A token that none
// has weighs 0.
func IDF(cs ...Collection) []float64 {
	n, records := 0, 0
	for _, c := range cs {
		records += c.Len()
		for _, t := range c.Tokens {
			n = max(n, int(t)+1)
		}
	}
	frequency, last := make([]int, n), make([]int, n)
	record := 0
	for _, c := range cs {
		for i := range c.Len() {
			record++
			for _, t := range c.Record(i) {
				if last[t] != record {
					last[t] = record
					frequency[t]++
				}
			}
		}
	}
	weights := make([]float64, n)
	for t, f := range frequency {
		if f > 0 {
			weights[t] = math.Log(float64(records) / float64(f))
		}
	}
	return weights
}
