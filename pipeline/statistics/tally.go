package statistics

import (
	"encoding/binary"
	"iter"

	"neardup/pipeline/extsort"
	"neardup/pipeline/store"
	"neardup/report/static"
)

// tallyNames and tallyBytes limit the names that a tally holds in memory, by number
// and by size. They are variables for tests.
var tallyNames, tallyBytes = 1 << 14, 1 << 20

// tally sums up counts for any number of names. What does not fit into memory goes
// to a sorter.
type tally struct {
	sums  map[string]*static.Counts
	bytes int // of the names in memory
	rest  *extsort.Sorter
}

func newTally(s *store.DB) *tally {
	return &tally{sums: map[string]*static.Counts{}, rest: extsort.New(s.Tmp)}
}

func (t *tally) close() error { return t.rest.Close() }

func (t *tally) add(name string, c static.Counts) error {
	if sum, ok := t.sums[name]; ok {
		sum.Add(c)
		return nil
	}
	if len(t.sums) >= tallyNames || t.bytes+len(name) > tallyBytes {
		if err := t.spill(); err != nil {
			return err
		}
	}
	t.sums[name] = &c
	t.bytes += len(name)
	return nil
}

func (t *tally) spill() error {
	var value []byte
	for name, c := range t.sums {
		value = value[:0]
		for _, n := range [...]int64{c.Pages, c.Bytes, c.Clustered, c.Duplicates, c.DuplicateBytes} {
			value = binary.BigEndian.AppendUint64(value, uint64(n))
		}
		if err := t.rest.Add([]byte(name), value); err != nil {
			return err
		}
	}
	clear(t.sums)
	t.bytes = 0
	return nil
}

// named yields the sums, ordered by name.
func (t *tally) named() iter.Seq2[static.Named, error] {
	return func(yield func(static.Named, error) bool) {
		if err := t.spill(); err != nil {
			yield(static.Named{}, err)
			return
		}
		var at static.Named
		any := false
		for e, err := range t.rest.Sorted() {
			if err != nil {
				yield(static.Named{}, err)
				return
			}
			if any && at.Name != string(e.Key) {
				if !yield(at, nil) {
					return
				}
				any = false
			}
			if !any {
				at, any = static.Named{Name: string(e.Key)}, true
			}
			number := func(i int) int64 { return int64(binary.BigEndian.Uint64(e.Value[8*i:])) }
			at.Add(static.Counts{Pages: number(0), Bytes: number(1), Clustered: number(2), Duplicates: number(3), DuplicateBytes: number(4)})
		}
		if any {
			yield(at, nil)
		}
	}
}
