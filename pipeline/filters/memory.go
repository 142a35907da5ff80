package filters

import (
	"bytes"
	"errors"
	"slices"
	"sync"

	"neardup/pipeline/blocks"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/verify"
	"neardup/verify/pair"
)

// memory has the verdicts of the measure that tasks before this one wrote, in this run
// or in an earlier one. It implements pair.Memory. A verdict is found by what the two
// texts are, not by where they stood, so no step has to tell another what changed.
type memory struct {
	before *extsort.Table // nil if there are none
	mu     sync.Mutex
	now    *extsort.Sorter
	err    error // the first one
}

// remember returns the verdicts of the input.
func (t *task) remember() (*memory, error) {
	m := &memory{now: extsort.New(t.Temp)}
	t.closers = append(t.closers, m.now.Close)
	if t.in[blocks.Measured.Letter] == nil {
		return m, nil
	}
	var err error
	m.before, err = t.table(t.rows(blocks.Measured))
	return m, err
}

// write writes the verdicts of this task.
func (m *memory) write(t *task) error {
	if m.err != nil {
		return m.err
	}
	var last []byte
	for e, err := range m.now.Sorted() {
		if err == nil && !bytes.Equal(e.Key, last) {
			err = t.out.Put(blocks.Measured, e.Key, e.Value)
			last = append(last[:0], e.Key...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// key returns the key of a pair, which does not depend on the order.
func (m *memory) key(a, b *pair.Text) []byte {
	x, y := a.ID(), b.ID()
	if c := bytes.Compare(x[:], y[:]); c > 0 {
		a, b, x = b, a, y
	}
	one, other := a.Sum(), b.Sum()
	return slices.Concat(x[:], one[:], other[:])
}

// Recall implements pair.Memory.
func (m *memory) Recall(a, b *pair.Text) (v verify.Verdict, ok bool) {
	if m.before == nil {
		return v, false
	}
	key := m.key(a, b)
	value, ok, err := m.before.Get(key)
	if err == nil && ok {
		if v, err = layout.ParseVerdict(value); err != nil {
			err = damaged(blocks.Measured, extsort.Entry{Key: key})
		}
	}
	if err != nil {
		m.fail(err)
		return v, false
	}
	return v, ok
}

// Keep implements pair.Memory.
func (m *memory) Keep(a, b *pair.Text, v verify.Verdict) {
	key := m.key(a, b)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = errors.Join(m.err, m.now.Add(key, layout.AppendVerdict(nil, v)))
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = errors.Join(m.err, err)
}
