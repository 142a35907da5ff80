package workspace

import (
	"sync"

	"neardup/pipeline/inputs"
	"neardup/pipeline/store"
)

// RowCount counts the rows of a table while a stage adds to it. A nil one counts nothing.
// Goroutines can share it.
type RowCount struct {
	mu sync.Mutex
	t  store.Tally
}

// Add counts a new row.
func (c *RowCount) Add(key []byte) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Add(key)
}

// Remove counts a row that is gone.
func (c *RowCount) Remove(key []byte) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Remove(key)
}

// Tell tells the contents of a table, if its rows were counted.
func (c *RowCount) Tell(sr *StageRun, table byte) {
	if c != nil {
		sr.Known(table, c.t.Contents())
	}
}

// CountAdded returns a count of a table of which a key names a source, if the stage adds to
// what it had and all rows that it will write are new. Two sources of one ID may have the
// same rows.
func CountAdded(sr *StageRun, known []inputs.Source, table byte) *RowCount {
	t, ok := sr.Tally(table)
	ids := map[string]bool{}
	for _, s := range known {
		ids[s.ID()] = true
	}
	if !ok || len(ids) < len(known) {
		return nil
	}
	return &RowCount{t: t}
}
