package hamming

import (
	"bytes"
	"fmt"
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

// Scan finds pairs in the keys of a sorted store, with any kind of ID. It holds the
// entries that agree in the leading bits of a table. Do not use it after an
// error.
type Scan[ID any] struct {
	t    *Tables
	emit func(a, b ID, distance int) error
	last []byte
	run  []scanned[ID]
	at   int // the table of run
}

type scanned[ID any] struct {
	permuted uint64
	id       ID
}

// NewScan returns a Scan that calls emit with each pair, once over all tables. a is
// the one that was added first.
func NewScan[ID any](t *Tables, emit func(a, b ID, distance int) error) *Scan[ID] {
	return &Scan[ID]{t: t, emit: emit}
}

// Add adds the next entry. Keys are those of AppendKey, in ascending order; equal
// keys come in any order that is the same every time. When Add returns, all pairs
// of this entry with earlier ones have been emitted, so nothing needs flushing.
func (s *Scan[ID]) Add(key []byte, id ID) error {
	if bytes.Compare(key, s.last) < 0 {
		return fmt.Errorf("hamming: keys out of order: %x after %x", key, s.last)
	}
	table, permuted, err := s.t.parse(key)
	if err != nil {
		return err
	}
	s.last = append(s.last[:0], key...)
	b := &s.t.tables[table]
	if table != s.at || len(s.run) > 0 && (s.run[0].permuted^permuted)>>(64-b.prefix) != 0 {
		s.at, s.run = table, s.run[:0]
	}
	for _, e := range s.run {
		x := e.permuted ^ permuted
		if d := bits.OnesCount64(x); d <= s.t.distance && s.t.first(table, b.restore(x)) {
			if err := s.emit(e.id, id, d); err != nil {
				return fmt.Errorf("hamming: emit pair: %w", err)
			}
		}
	}
	s.run = append(s.run, scanned[ID]{permuted, id})
	return nil
}
