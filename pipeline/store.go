package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// store is the workspace's Pebble database.
type store struct {
	db  *pebble.DB
	tmp string // directory of files on their way into the database
	seq int
}

// What the database may use. A run of a large archive merges the texts that
// arrive in random order again and again, level by level; what is larger here
// makes that less, and costs:
//
//   - memTableBytes: up to three of them in memory, and as much log to be read
//     again when a workspace is opened;
//   - l0Threshold: a lookup of a text looks into up to half as many flushed
//     tables (of about 12 MB, compressed) more than the lower levels have, since
//     half of it is where merging begins. With 4, which merges at the second
//     flush already, a run of 12,831 pages spent 0.3 s of 10 s of processor time
//     on merging, with 8 none; beyond, a lookup costs more and an archive that is
//     merged anyhow saves little.
const (
	cacheBytes    = 48 << 20
	memTableBytes = 32 << 20
	l0Threshold   = 8
)

// openStore opens the database in dir. onDiskFull is called when a write finds
// no space left.
func openStore(dir string, lock *pebble.Lock, log pebble.Logger, onDiskFull func()) (*store, error) {
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref()
	o := &pebble.Options{
		FS:                          vfs.OnDiskFull(vfs.Default, onDiskFull),
		Cache:                       cache,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: 3,
		L0CompactionThreshold:       l0Threshold,
		L0StopWritesThreshold:       1000, // ingested runs may pile up while a stage writes
		FormatMajorVersion:          pebble.FormatNewest,
		Lock:                        lock,
		Logger:                      log,
		EventListener: &pebble.EventListener{BackgroundError: func(err error) {
			if !errors.Is(err, pebble.ErrCancelledCompaction) { // else it would be tried again for ever
				log.Fatalf("background work: %v", err)
			}
		}},
	}
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	tmp := filepath.Join(dir, "..", "tmp")
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o777)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &store{db: db, tmp: tmp}, nil
}

func (s *store) Close() error { return errors.Join(s.db.Close(), os.RemoveAll(s.tmp)) }

// rows iterates over the keys and values of [lower, upper). Both are only
// valid until the next step.
func (s *store) rows(lower, upper []byte) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
		if err != nil {
			yield(row{}, err)
			return
		}
		defer func() { _ = it.Close() }()
		for ok := it.First(); ok; ok = it.Next() {
			if !yield(row{it}, nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(row{}, err)
		}
	}
}

// seeker reads rows here and there in a table with one iterator: making one
// costs several times the lookup. It sees the table as it was when it was made.
type seeker struct{ it *pebble.Iterator }

func (s *store) seeker(table byte) (*seeker, error) {
	lower, upper := tableBounds(table)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	return &seeker{it}, err
}

func (s *seeker) Close() error { return s.it.Close() }

// rows iterates over the rows whose keys start with prefix, as store.rows does.
func (s *seeker) rows(prefix []byte) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		for ok := s.it.SeekGE(prefix); ok && bytes.HasPrefix(s.it.Key(), prefix); ok = s.it.Next() {
			if !yield(row{s.it}, nil) {
				return
			}
		}
		if err := s.it.Error(); err != nil {
			yield(row{}, err)
		}
	}
}

type row struct{ it *pebble.Iterator }

func (r row) key() []byte            { return r.it.Key() }
func (r row) value() ([]byte, error) { return r.it.ValueAndErr() }

func (r row) json(v any) error {
	b, err := r.value()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w (%w)", corrupt(r.key()), err)
	}
	return nil
}

func (s *store) table(table byte) iter.Seq2[row, error] { return s.rows(tableBounds(table)) }

// count is the number of rows of a table.
func (s *store) count(table byte) (n int64, err error) {
	for _, err := range s.table(table) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// get returns a copy of the value of key; ok is false when there is none.
func (s *store) get(key []byte) (value []byte, ok bool, err error) {
	v, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value = bytes.Clone(v)
	return value, true, closer.Close()
}

func (s *store) getJSON(key []byte, v any) (ok bool, err error) {
	b, ok, err := s.get(key)
	if !ok || err != nil {
		return false, err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return false, fmt.Errorf("%w (%w)", corrupt(key), err)
	}
	return true, nil
}

// batch collects writes that are committed together.
type batch struct {
	*pebble.Batch
	store *store
}

func (s *store) batch() batch { return batch{s.db.NewBatch(), s} }

// largeBatch is a batch of about so many bytes, for which it has memory from the
// start.
func (s *store) largeBatch(bytes int) batch {
	return batch{s.db.NewBatchWithSize(bytes + bytes/16), s}
}

func (b batch) set(key, value []byte) error { return b.Set(key, value, nil) }

func (b batch) setJSON(key []byte, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Set(key, value, nil)
}

// clear deletes all committed rows of the tables. In an empty table it leaves no
// mark: a run ingested later would overlap with it, and could not go straight to
// the lowest level of the database, where it is compacted no more.
func (b batch) clear(tables ...byte) error {
	for _, t := range tables {
		for _, err := range b.store.table(t) {
			lower, upper := tableBounds(t)
			if err := errors.Join(err, b.DeleteRange(lower, upper, nil)); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// commit makes the batch durable.
func (b batch) commit() error { return b.Commit(pebble.Sync) }
