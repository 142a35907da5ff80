package hamming

import (
	"iter"
	"math/bits"
	"neardup/cluster/internal/radix"
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
		entries, scratch := make([]radix.Entry, len(prints)), make([]radix.Entry, len(prints))
		for i := range t.tables {
			b := &t.tables[i]
			for j, p := range prints {
				entries[j] = radix.Entry{Key: b.permute(p), ID: uint32(j)}
			}
			radix.Sort(entries, scratch, b.prefix)
			if !radix.Runs(entries, b.prefix, func(run []radix.Entry) bool {
				for j, x := range run {
					for _, y := range run[j+1:] {
						d := bits.OnesCount64(x.Key ^ y.Key)
						if d <= t.distance && t.first(i, b.restore(x.Key^y.Key)) && !yield(Pair{int(x.ID), int(y.ID), d}) {
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
