package inputs

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
)

// rememberedBytes bounds the rows that Rows remembers. The sources take two to three times as
// much again.
const rememberedBytes = 16 << 20

// Rows reads sources from their rows. It remembers what it read, because a run asks for all
// sources many times, and an archive can have tens of thousands.
type Rows struct {
	mu    sync.Mutex
	known map[string]known // by key
	bytes int              // of the rows
}

type known struct {
	row    string
	source Source
}

// Source returns the source of a row. The caller may change it.
func (r *Rows) Source(key, row []byte) (s Source, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, ok := r.known[string(key)]
	if ok && before.row == string(row) {
		return before.source.clone(), nil
	}
	if err := json.Unmarshal(row, (*plainSource)(&s)); err != nil {
		return s, err
	}
	s.named()
	if bytes := r.bytes - len(before.row) + len(row); bytes <= rememberedBytes {
		if r.known == nil {
			r.known = map[string]known{}
		}
		r.bytes, r.known[string(key)] = bytes, known{string(row), s.clone()}
	}
	return s, nil
}

// clone returns a copy of s that shares nothing with it that can change.
func (s Source) clone() Source {
	s.Counts.Skipped, s.Counts.Kinds, s.Counts.Choices = maps.Clone(s.Counts.Skipped), maps.Clone(s.Counts.Kinds), maps.Clone(s.Counts.Choices)
	s.Ended = slices.Clone(s.Ended)
	if s.Digested != nil {
		d := *s.Digested
		d.State = slices.Clone(d.State)
		s.Digested = &d
	}
	return s
}
