// Package hamming finds the pairs of fingerprints that differ in at most d
// bits: Manku, Jain, Das Sarma, Detecting near-duplicates for web crawling,
// WWW 2007, section 3, which the TLCS paper (section 4) uses for simhash.
//
// The bits are cut into z > d blocks. Fingerprints that differ in at most d
// bits differ in at most d blocks, so they agree in some z-d of them. For each
// choice of z-d blocks there is a table: the fingerprints, permuted so that the
// bits of these blocks lead, and sorted. Fingerprints that agree in these bits
// stand next to each other in the table, and are compared.
//
// The package departs from the paper in three places. The paper looks up a batch
// of fingerprints in tables; here one pass over each sorted table finds all pairs
// ([Tables.Pairs], [Scan]). A pair that stands together in several tables is
// reported once. The recursion of section 3.1 does not divide tables again.
package hamming

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Limits: a fingerprint is a uint64, and a key has two bytes for the table's
// number.
const (
	maxWidth  = 64
	maxTables = 1 << 16
)

// Tables is a design: a width, a distance, and the permutations of the bits. It is
// immutable and safe for concurrent use.
type Tables struct {
	width, distance int
	blocks          []uint64 // bits of each block
	tables          []table
}

// table is one choice of blocks.
type table struct {
	left   uint64 // the d blocks that do not lead, one bit each
	prefix int    // number of leading bits
	moves  []move
}

// move rotates the bits of mask to the left, to their places.
type move struct {
	mask   uint64
	rotate int
}

// newTables returns the tables for fingerprints of width bits, 1 to 64, and pairs that
// differ in at most distance bits. blocks must be more than distance and at most
// width. There are C(blocks, distance) tables, which must be at most maxTables.
func newTables(width, distance, blocks int) (*Tables, error) {
	switch {
	case width < 1 || width > maxWidth:
		return nil, fmt.Errorf("width is %d, must be from 1 to %d", width, maxWidth)
	case distance < 0 || distance >= width:
		return nil, fmt.Errorf("distance is %d, must be from 0 to %d", distance, width-1)
	case blocks <= distance || blocks > width:
		return nil, fmt.Errorf("blocks is %d, must be from %d to %d", blocks, distance+1, width)
	case binomial(blocks, distance) > maxTables:
		return nil, fmt.Errorf("%d blocks at distance %d make more than %d tables", blocks, distance, maxTables)
	}
	t := &Tables{width: width, distance: distance}
	sizes := make([]int, blocks)
	for i := range blocks { // block 0 is the highest
		from, to := width-i*width/blocks, width-(i+1)*width/blocks
		sizes[i] = from - to
		t.blocks = append(t.blocks, (^uint64(0)>>(64-sizes[i]))<<to)
	}
	eachChoice(blocks, distance, func(left uint64) {
		t.tables = append(t.tables, t.newTable(left, sizes))
	})
	return t, nil
}

// newTable permutes the blocks not in left to the front, in their order, and those
// in left behind them. A permuted fingerprint ends at the highest of 64 bits, so
// that numbers sort as bytes do.
func (t *Tables) newTable(left uint64, sizes []int) table {
	b := table{left: left}
	at := maxWidth // positions from here on are taken
	for _, leads := range []bool{true, false} {
		for i, mask := range t.blocks {
			if (left>>i&1 == 0) != leads {
				continue
			}
			at -= sizes[i]
			m := move{mask, at - bits.TrailingZeros64(mask)}
			if n := len(b.moves); n > 0 && b.moves[n-1].rotate == m.rotate {
				b.moves[n-1].mask |= mask
			} else {
				b.moves = append(b.moves, m)
			}
		}
		if leads {
			b.prefix = maxWidth - at
		}
	}
	return b
}

func (b *table) permute(print uint64) (p uint64) {
	for _, m := range b.moves {
		p |= bits.RotateLeft64(print&m.mask, m.rotate)
	}
	return p
}

func (b *table) restore(permuted uint64) (print uint64) {
	for _, m := range b.moves {
		print |= bits.RotateLeft64(permuted, -m.rotate) & m.mask
	}
	return print
}

// eachChoice calls do with each choice of k of n, one bit each, in lexicographic
// order of the chosen ones.
func eachChoice(n, k int, do func(chosen uint64)) {
	var from func(first, k int, chosen uint64)
	from = func(first, k int, chosen uint64) {
		if k == 0 {
			do(chosen)
			return
		}
		for i := first; i <= n-k; i++ {
			from(i+1, k-1, chosen|1<<i)
		}
	}
	from(0, k, 0)
}

// binomial returns C(n, k), at most math.MaxInt32.
func binomial(n, k int) int {
	c := 1
	for i := range min(k, n-k) {
		if c = c * (n - i) / (i + 1); c > math.MaxInt32 {
			return math.MaxInt32
		}
	}
	return c
}

// Len returns the number of tables.
func (t *Tables) Len() int { return len(t.tables) }

// Candidates returns the expected number of comparisons among n random
// fingerprints: C(n,2)·2^-p, summed over the tables (section 3.1: "we expect only
// 2^(d-p) fingerprints as matches" of 2^d). Comparisons of near-duplicates come on
// top.
func (t *Tables) Candidates(n float64) float64 {
	sum := 0.0
	for i := range t.tables {
		sum += math.Ldexp(1, -t.tables[i].prefix)
	}
	return n * (n - 1) / 2 * sum
}

// Costs of an entry of a table for Choose, in comparisons.
const (
	// EntryMemory: permuting and sorting in memory, against a comparison
	// (BenchmarkPairs: some 20 ns and 1 ns).
	EntryMemory = 20
	// EntryStore: writing to and reading from a key-value store, some 1 µs.
	EntryStore = 1000
)

// Choose calls newTables with the number of blocks for which n fingerprints should cost
// least. More blocks make longer prefixes, and so fewer comparisons, but more
// tables. entry is the cost of one fingerprint in one table, in comparisons.
func Choose(width, distance int, n, entry float64) (*Tables, error) {
	var best *Tables
	least := math.Inf(1)
	var err error
	for blocks := distance + 1; blocks <= width; blocks++ {
		tables := binomial(blocks, distance)
		if best != nil && (tables > maxTables || float64(tables)*n*entry >= least) {
			break // the tables alone cost more, and their number grows
		}
		var t *Tables
		if t, err = newTables(width, distance, blocks); err != nil {
			break
		}
		if cost := float64(t.Len())*n*entry + t.Candidates(n); best == nil || cost < least {
			best, least = t, cost
		}
	}
	if best != nil {
		return best, nil
	}
	if err == nil { // no number of blocks was possible
		_, err = newTables(width, distance, distance+1)
	}
	return nil, err
}

// KeySize returns the length of a key: the number of the table in two bytes, then the
// permuted fingerprint.
func (t *Tables) KeySize() int { return 2 + (t.width+7)/8 }

// AppendKey appends to dst the key of a fingerprint in a table. Only the lower
// width bits of the fingerprint count. Keys sort as bytes: by table, then by
// permuted fingerprint.
func (t *Tables) AppendKey(dst []byte, table int, print uint64) []byte {
	return t.appendKey(dst, table, t.tables[table].permute(print))
}

func (t *Tables) appendKey(dst []byte, table int, permuted uint64) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(table))
	n := len(dst) + (t.width+7)/8
	return binary.BigEndian.AppendUint64(dst, permuted)[:n]
}

// ParseKey returns the table and the fingerprint of a key.
func (t *Tables) ParseKey(key []byte) (table int, print uint64, err error) {
	table, permuted, err := t.parse(key)
	if err != nil {
		return 0, 0, err
	}
	return table, t.tables[table].restore(permuted), nil
}

func (t *Tables) parse(key []byte) (table int, permuted uint64, err error) {
	if len(key) != t.KeySize() {
		return 0, 0, fmt.Errorf("hamming: key %x has %d bytes, must have %d", key, len(key), t.KeySize())
	}
	var eight [8]byte
	copy(eight[:], key[2:])
	permuted = binary.BigEndian.Uint64(eight[:])
	if table = int(binary.BigEndian.Uint16(key)); table >= len(t.tables) {
		return 0, 0, fmt.Errorf("hamming: key %x is of table %d, there are %d", key, table, len(t.tables))
	}
	if permuted<<t.width != 0 {
		return 0, 0, fmt.Errorf("hamming: key %x has more than %d bits", key, t.width)
	}
	return table, permuted, nil
}

// first reports whether table is the first in which fingerprints that differ by x
// (not permuted) stand together. Its left blocks are those that differ, and the
// first others up to d.
func (t *Tables) first(table int, x uint64) bool {
	var left uint64
	for i, mask := range t.blocks {
		if x&mask != 0 {
			left |= 1 << i
		}
	}
	for n := t.distance - bits.OnesCount64(left); n > 0; n-- {
		left |= left + 1 // the lowest 0
	}
	return left == t.tables[table].left
}
