package hamming

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

// Pair is two fingerprints that differ in at most d bits, by their indexes, A < B,
// and the number of bits in which they differ.
type Pair struct{ A, B, Distance int }

// Pairs yields each pair of prints that differ in at most d bits once, in the order
// of tables, of the leading bits there, and of indexes. There may be fewer than
// 2^32 prints, and only their lower width bits count. Equal fingerprints are pairs
// like others; if there are many, give each once and join its documents elsewhere.
func (t *Tables) Pairs(prints []uint64) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		entries := make([]keyed, len(prints))
		for i := range t.tables {
			b := &t.tables[i]
			for j, p := range prints {
				entries[j] = keyed{b.permute(p), uint32(j)}
			}
			if !runs(entries, b.prefix, func(run []keyed) bool {
				for j, x := range run {
					for _, y := range run[j+1:] {
						d := bits.OnesCount64(x.key ^ y.key)
						if d <= t.distance && t.first(i, b.restore(x.key^y.key)) && !yield(Pair{int(x.id), int(y.id), d}) {
							return false
						}
					}
				}
				return true
			}) {
				return
			}
		}
	}
}

// Prefix returns the number of leading bits of a table, the paper's p. Fingerprints
// that agree in them are compared.
func (t *Tables) Prefix(table int) int { return t.tables[table].prefix }

// Range returns the range of keys of a table whose fingerprints agree with print
// in the leading bits: from ≤ key, and key ≤ to in the bytes that to has. To look
// up one fingerprint, read the range of each table and compare (section 3.1,
// steps 1 and 2).
func (t *Tables) Range(table int, print uint64) (from, to []byte) {
	b := &t.tables[table]
	p := b.permute(print)
	rest := ^uint64(0) >> b.prefix & t.mask()
	return t.appendKey(nil, table, p&^rest), t.appendKey(nil, table, p|rest)
}

// mask returns the bits that a permuted fingerprint may have.
func (t *Tables) mask() uint64 { return ^(^uint64(0) >> t.width) }

// keyed is a key with the number of what has it.
type keyed struct {
	key uint64
	id  uint32
}

// runs sorts entries by so many upper bits, then by number, and hands those of two
// or more that agree in these bits to do, as long as that returns true. It reports
// whether all returned true.
func runs(entries []keyed, bits int, do func(run []keyed) bool) bool {
	upper := func(e keyed) uint64 { return e.key >> (64 - bits) }
	slices.SortFunc(entries, func(a, b keyed) int { return cmp.Or(cmp.Compare(upper(a), upper(b)), cmp.Compare(a.id, b.id)) })
	for from := 0; from < len(entries); {
		to := from + 1
		for to < len(entries) && upper(entries[to]) == upper(entries[from]) {
			to++
		}
		if to-from > 1 && !do(entries[from:to]) {
			return false
		}
		from = to
	}
	return true
}
