package stages

import (
	"sync"

	"neardup/pipeline/inputs"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// rowCount counts the rows of a table while the stage adds to it. A nil one counts
// nothing.
type rowCount struct {
	mu sync.Mutex
	t  store.Tally
}

func (c *rowCount) add(key []byte) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Add(key)
}

func (c *rowCount) remove(key []byte) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Remove(key)
}

// tell tells the contents of a table, if its rows were counted.
func (c *rowCount) tell(sr *workspace.StageRun, table byte) {
	if c != nil {
		sr.Known(table, c.t.Contents())
	}
}

// countAdded returns a count of a table of which a key names a source, if the stage adds to
// what it had and all rows that it will write are new. Two sources of one ID may have the
// same rows.
func countAdded(sr *workspace.StageRun, known []inputs.Source, table byte) *rowCount {
	t, ok := sr.Tally(table)
	ids := map[string]bool{}
	for _, s := range known {
		ids[s.ID()] = true
	}
	if !ok || len(ids) < len(known) {
		return nil
	}
	return &rowCount{t: t}
}
