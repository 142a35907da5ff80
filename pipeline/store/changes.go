package store

import (
	"bytes"
	"strings"
	"sync"

	"neardup/pipeline/layout"
)

// changes collects which rows of some tables are written.
type changes struct {
	tables string
	first  func() error
	most   int

	mu    sync.Mutex
	begun bool
	lost  bool
	rows  map[layout.RowID]struct{}
}

// Watch collects the rows of tables that are written from now on, at most so many. It
// calls first before the first of these writes, in place of an earlier Watch.
func (s *DB) Watch(tables string, most int, first func() error) {
	s.changes = &changes{tables: tables, first: first, most: most, rows: map[layout.RowID]struct{}{}}
}

// Changed returns what was written since Watch. ok is false if there was no Watch, if
// more was written than it collects, or a range of rows.
func (s *DB) Changed() (written map[layout.RowID]struct{}, ok bool) {
	c := s.changes
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rows, !c.lost
}

// note collects a row that is about to be written or deleted.
func (c *changes) note(key []byte) error {
	if c == nil || len(key) == 0 || strings.IndexByte(c.tables, key[0]) < 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(); err != nil || c.lost {
		return err
	}
	var id layout.RowID
	copy(id[:], key)
	c.rows[id] = struct{}{}
	if len(c.rows) > c.most {
		c.lose()
	}
	return nil
}

// noteRange is note for all rows of [lower, upper).
func (c *changes) noteRange(lower, upper []byte) error {
	if c == nil {
		return nil
	}
	for i := range len(c.tables) {
		if from, to := layout.TableBounds(c.tables[i]); bytes.Compare(lower, to) < 0 && bytes.Compare(from, upper) < 0 {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.lose()
			return c.begin()
		}
	}
	return nil
}

func (c *changes) lose() { c.lost, c.rows = true, nil }

func (c *changes) begin() error {
	if c.begun {
		return nil
	}
	err := c.first()
	c.begun = err == nil
	return err
}
