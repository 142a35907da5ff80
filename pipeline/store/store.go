// Package store keeps the rows of a workspace in Pebble. No other package imports
// Pebble. Package layout spells every key and binary value; docs/workspace.md describes them
// byte by byte.
package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"neardup/pipeline/layout"
)

// DB is the workspace's Pebble database.
type DB struct {
	db  *pebble.DB
	Tmp string // directory for sorted runs and spilled queues; a caller may name another
	own string // directory of files that are about to be ingested; beside the database, so that they are linked and not copied
	seq int

	Unsealed bool // the database had no seal when it was opened
	seal     *seal
	at       place

	changes *changes // nil: nobody watches
}

// Settings of the database. Texts arrive in random order, so in a run of a large
// archive the database merges them again and again, level by level. Larger values
// mean less merging, at a cost:
//
//   - cacheBytes: verify looks up scattered texts. 100,000 pages in one chain took a
//     seventh more processor time with half as much.
//   - memTableBytes: up to three such tables are in memory, and as much log is read
//     again when a workspace is opened. Both are less where the process must stay
//     within little memory.
//   - l0Threshold: a lookup of a text searches up to half as many flushed tables
//     (of about 12 MB, compressed) besides the lower levels, since merging begins
//     at half of the threshold. A later crawl adds many small tables: with 8 in
//     place of 16 it costs a tenth more (docs/benchmarks/speed.md).
//   - tableFileBytes: merging reads and writes whole files, and a step from one file
//     to the next costs more than one within it. With Pebble's 2 MB a later crawl
//     costs a tenth more.
const (
	cacheBytes     = 96 << 20
	memTableBytes  = 32 << 20
	l0Threshold    = 16
	tableFileBytes = 16 << 20
)

// memory returns the bytes of the cache and of a table in memory: those above, or an
// eighth and a twenty-fourth of what the process stays within.
func memory() (cache int64, table uint64) {
	limit := debug.SetMemoryLimit(-1)
	return max(8<<20, min(cacheBytes, limit/8)), uint64(max(4<<20, min(memTableBytes, limit/24)))
}

// Lock keeps other processes out of a directory.
type Lock = pebble.Lock

// LockDirectory locks a directory, which must exist. It fails if another process
// has the lock.
func LockDirectory(dir string) (*Lock, error) { return pebble.LockDirectory(dir, vfs.Default) }

// logger receives the database's messages. Fatalf must not return.
type logger = pebble.Logger

// Open opens the database in dir. It calls onDiskFull when a write finds no space
// left. If the files are not those that were written, the error wraps ErrCorrupt
// and nothing is changed.
func Open(dir string, lock *Lock, log logger, onDiskFull func()) (*DB, error) {
	return open(dir, lock, log, onDiskFull, false)
}

// OpenCopy opens a copy made by Copy. The copy is never compacted, since that would
// read and write all of it.
func OpenCopy(dir string, lock *Lock, log logger, onDiskFull func()) (*DB, error) {
	return open(dir, lock, log, onDiskFull, true)
}

func open(dir string, lock *Lock, log logger, onDiskFull func(), isCopy bool) (_ *DB, err error) {
	files, err := checkSeal(dir)
	unsealed := errors.Is(err, errUnsealed)
	if unsealed {
		files = map[string]prefix{}
	} else if err != nil {
		return nil, err
	}
	sealed, err := openSeal(dir, files)
	if err != nil {
		return nil, err
	}
	at, err := placeOf(dir)
	if err != nil {
		return nil, errors.Join(err, sealed.file.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, sealed.file.Close())
		}
	}()
	cacheSize, tableSize := memory()
	cache := pebble.NewCache(cacheSize)
	defer cache.Unref()
	o := &pebble.Options{
		FS:                          logFS{vfs.OnDiskFull(sealedFS{fileSystem(), sealed, at}, onDiskFull), log},
		Cache:                       cache,
		MemTableSize:                tableSize,
		MemTableStopWritesThreshold: 3,
		L0CompactionThreshold:       l0Threshold,
		L0StopWritesThreshold:       1000, // ingested runs may pile up while a stage writes
		FormatMajorVersion:          pebble.FormatNewest,
		DisableAutomaticCompactions: isCopy,
		Lock:                        lock,
		Logger:                      log,
		EventListener: &pebble.EventListener{BackgroundError: func(err error) {
			if !errors.Is(err, pebble.ErrCancelledCompaction) { // a cancelled compaction would be retried for ever
				log.Fatalf("background work: %v", err)
			}
		}, DataCorruption: func(info pebble.DataCorruptionInfo) { // Pebble's own message has keys and stack traces
			log.Fatalf("%s is damaged: %v; neardup check names all damage; put a copy of the workspace back, or start a new one", filepath.Base(info.Path), info.Details)
		}},
	}
	for level := range o.TargetFileSizes {
		o.TargetFileSizes[level] = tableFileBytes
	}
	// Scans of whole tables would trigger compactions of what they read, and rows that were
	// deleted one by one those of all that lies beneath them.
	o.Experimental.ReadSamplingMultiplier = -1
	o.Experimental.TombstoneDenseCompactionThreshold = -1
	db, err := pebble.Open(dir, o)
	if err != nil {
		return nil, err
	}
	own := filepath.Join(dir, "..", "tmp")
	if err := errors.Join(os.RemoveAll(own), os.MkdirAll(own, 0o777)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &DB{db: db, Tmp: own, own: own, Unsealed: unsealed, seal: sealed, at: at}, nil
}

func (s *DB) Close() error {
	err := errors.Join(s.db.Close(), s.seal.file.Close())
	if s.There() == nil { // else it may be that of another
		err = errors.Join(err, os.RemoveAll(s.own))
	}
	return err
}

// Rows iterates over the rows with keys in [lower, upper). Key and value of a row
// are valid only until the next step.
func (s *DB) Rows(lower, upper []byte) iter.Seq2[layout.Row, error] {
	return func(yield func(layout.Row, error) bool) {
		it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
		if err != nil {
			yield(layout.Row{}, err)
			return
		}
		defer func() { _ = it.Close() }()
		for ok := it.First(); ok; ok = it.Next() {
			if !yield(layout.RowOf(it), nil) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(layout.Row{}, err)
		}
	}
}

// Seeker reads scattered rows of a table with one iterator. Making an iterator
// costs several times as much as a lookup. It sees the table as of its creation.
type Seeker struct {
	it  *pebble.Iterator
	key []byte // memory for a key
}

// Seeker returns a Seeker for a table. The caller closes it.
func (s *DB) Seeker(table byte) (*Seeker, error) {
	lower, upper := layout.TableBounds(table)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, err
	}
	return &Seeker{it: it}, nil
}

func (s *Seeker) Close() error { return s.it.Close() }

// Get returns the row of a key. It is valid until the Seeker is used again. ok is false
// if there is none. Keys that come in order cost less than others.
func (s *Seeker) Get(key []byte) (r layout.Row, ok bool, err error) {
	if !s.it.SeekGE(key) || !bytes.Equal(s.it.Key(), key) {
		return layout.Row{}, false, s.it.Error()
	}
	return layout.RowOf(s.it), true, nil
}

// GetNext is Get for keys of which most follow, in the table, the one before. It steps to
// the next row before it searches.
func (s *Seeker) GetNext(key []byte) (r layout.Row, ok bool, err error) {
	if !s.it.Valid() || bytes.Compare(s.it.Key(), key) >= 0 || !s.it.Next() || bytes.Compare(s.it.Key(), key) < 0 {
		return s.Get(key)
	}
	return layout.RowOf(s.it), bytes.Equal(s.it.Key(), key), nil
}

// Rows iterates over the rows whose keys start with prefix, as DB.Rows does.
func (s *Seeker) Rows(prefix []byte) iter.Seq2[layout.Row, error] {
	return func(yield func(layout.Row, error) bool) {
		for ok := s.it.SeekGE(prefix); ok && bytes.HasPrefix(s.it.Key(), prefix); ok = s.it.Next() {
			if !yield(layout.RowOf(s.it), nil) {
				return
			}
		}
		if err := s.it.Error(); err != nil {
			yield(layout.Row{}, err)
		}
	}
}

// FewRows is Rows for prefixes that come in order and have few rows each. It searches
// for each row: the database searches on from where the search before ended, but from
// the start after a step to the next row.
func (s *Seeker) FewRows(prefix []byte) iter.Seq2[layout.Row, error] {
	return func(yield func(layout.Row, error) bool) {
		key := append(s.key[:0], prefix...)
		defer func() { s.key = key }()
		for s.it.SeekGE(key) && bytes.HasPrefix(s.it.Key(), prefix) {
			if key = append(append(key[:0], s.it.Key()...), 0); !yield(layout.RowOf(s.it), nil) {
				return
			}
		}
		if err := s.it.Error(); err != nil {
			yield(layout.Row{}, err)
		}
	}
}

// Table iterates over all rows of a table.
func (s *DB) Table(table byte) iter.Seq2[layout.Row, error] { return s.Rows(layout.TableBounds(table)) }

// Count returns the number of rows of a table.
func (s *DB) Count(table byte) (n int64, err error) {
	for _, err := range s.Table(table) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// FreeSpace returns the bytes that this process may still write to the disk that
// holds dir.
func FreeSpace(dir string) (int64, error) {
	usage, err := vfs.Default.GetDiskUsage(dir)
	return int64(min(usage.AvailBytes, math.MaxInt64)), err
}

// DiskUsage returns an estimate of the disk space of a table's rows, in bytes.
func (s *DB) DiskUsage(table byte) (uint64, error) {
	return s.db.EstimateDiskUsage(layout.TableBounds(table))
}

// Get returns a copy of the value of key. ok is false if there is none.
func (s *DB) Get(key []byte) (value []byte, ok bool, err error) {
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

// GetJSON decodes the value of key into v. ok is false if there is none.
func (s *DB) GetJSON(key []byte, v any) (ok bool, err error) {
	b, ok, err := s.Get(key)
	if !ok || err != nil {
		return false, err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return false, fmt.Errorf("%w (%w)", layout.Corrupt(key), err)
	}
	return true, nil
}

// Batch collects writes that are committed together.
type Batch struct {
	b  *pebble.Batch
	db *DB
}

// Batch returns an empty batch.
func (s *DB) Batch() Batch { return Batch{s.db.NewBatch(), s} }

// LargeBatch returns an empty batch with memory for about so many bytes.
func (s *DB) LargeBatch(bytes int) Batch {
	return Batch{s.db.NewBatchWithSize(bytes + bytes/16), s}
}

// Len returns the size of the batch in bytes.
func (b Batch) Len() int { return b.b.Len() }

// Count returns the number of writes in the batch.
func (b Batch) Count() uint32 { return b.b.Count() }

// Close drops the batch.
func (b Batch) Close() error { return b.b.Close() }

// Set sets the value of a key.
func (b Batch) Set(key, value []byte) error {
	if err := b.db.changes.note(key); err != nil {
		return err
	}
	return b.b.Set(key, value, nil)
}

// SetJSON sets the value of a key to v as JSON.
func (b Batch) SetJSON(key []byte, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Set(key, value)
}

// Delete deletes a key. It is no error if the key does not exist.
func (b Batch) Delete(key []byte) error {
	if err := b.db.changes.note(key); err != nil {
		return err
	}
	return b.b.Delete(key, nil)
}

// DeleteRange deletes the keys of [lower, upper).
func (b Batch) DeleteRange(lower, upper []byte) error {
	if err := b.db.changes.noteRange(lower, upper); err != nil {
		return err
	}
	return b.b.DeleteRange(lower, upper, nil)
}

// Clear deletes all committed rows of the tables. It writes no range deletion for
// an empty table: a run that is ingested later would overlap with it, and could not
// go straight to the lowest level, which is not compacted any more.
func (b Batch) Clear(tables ...byte) error {
	for _, t := range tables {
		for _, err := range b.db.Table(t) {
			if err := errors.Join(err, b.DeleteRange(layout.TableBounds(t))); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// Clear drops the rows of tables.
func (s *DB) Clear(tables ...byte) error {
	b := s.Batch()
	return errors.Join(b.Clear(tables...), b.Commit())
}

// Commit makes the batch durable.
func (b Batch) Commit() error {
	if err := b.db.at.check(); err != nil {
		return errors.Join(err, b.Close())
	}
	return b.b.Commit(pebble.Sync)
}

// There returns an error that wraps ErrReplaced if the database's directory is no longer
// the one that was opened.
func (s *DB) There() error { return s.at.check() }

// Compact rewrites the whole database without deleted and replaced rows. While it
// works, it takes up to as much disk space again. Logs from before the database was
// opened are gone by then. Rows that were deleted since may still be in the present
// logs.
func (s *DB) Compact(ctx context.Context) error {
	// Pebble leaves files of the lowest level alone that no other level overlaps. A file of
	// which ReplaceRange or Replace cut a part away may hold deleted rows there. Two deletions
	// of keys that no table has make a file that overlaps with all.
	first, last := []byte{0}, []byte{0xfe}
	b := s.db.NewBatch()
	if err := errors.Join(b.Delete(first, nil), b.Delete(last, nil), b.Commit(pebble.Sync), s.db.Flush()); err != nil {
		return err
	}
	return s.db.Compact(ctx, first, []byte{0xff}, true)
}
