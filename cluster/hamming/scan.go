package hamming

import (
	"bytes"
	"fmt"
	"math/bits"
)

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
