package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
)

// runBlockBytes is the block size of ingested files, in bytes. These files are read
// sequentially, so large blocks cost no lookups.
const runBlockBytes = 32 << 10

// Ingest adds runs of entries to the database, all or none. Each run must be sorted
// by key, without repeats, and runs must not overlap. Ingesting sorted files is
// several times as fast as writing batches.
func (s *DB) Ingest(ctx context.Context, runs ...iter.Seq[extsort.Entry]) error {
	paths, err := s.writeRuns(runs)
	defer removeAll(paths)
	if err != nil || len(paths) == 0 {
		return err
	}
	return s.db.Ingest(ctx, paths)
}

// ReplaceRange replaces the rows of [lower, upper) by entries, which come sorted by key
// without repeats, and sets a row beside the range, all or none.
func (s *DB) ReplaceRange(ctx context.Context, lower, upper []byte, entries iter.Seq2[extsort.Entry, error], beside extsort.Entry) error {
	var paths []string
	for _, run := range []iter.Seq2[extsort.Entry, error]{entries, withoutErrors(slices.Values([]extsort.Entry{beside}))} {
		file := s.newFile()
		defer file.remove()
		written, err := file.fill(run)
		if err != nil {
			return err
		}
		if written {
			paths = append(paths, file.path)
		}
	}
	if err := s.changes.noteRange(lower, upper); err != nil {
		return err
	}
	_, err := s.db.IngestAndExcise(ctx, paths, nil, nil, pebble.KeyRange{Start: lower, End: upper})
	return err
}

// writeRuns writes runs to files that can be ingested. It writes none for an empty run.
func (s *DB) writeRuns(runs []iter.Seq[extsort.Entry]) (paths []string, err error) {
	files, written := make([]*tableFile, len(runs)), make([]bool, len(runs))
	var g errgroup.Group
	for i, run := range runs {
		files[i] = s.newFile()
		g.Go(func() (err error) {
			written[i], err = files[i].fill(withoutErrors(run))
			return err
		})
	}
	err = g.Wait()
	for i, f := range files {
		if written[i] {
			paths = append(paths, f.path)
		}
	}
	return paths, err
}

func removeAll(paths []string) {
	for _, p := range paths {
		_ = os.Remove(p)
	}
}

// IngestSorted adds entries, which come sorted by key, to the database. Of entries
// with one key it adds the first.
func (s *DB) IngestSorted(ctx context.Context, entries iter.Seq2[extsort.Entry, error]) error {
	f := s.newFile()
	defer f.remove()
	if written, err := f.fill(distinct(entries)); err != nil || !written {
		return err
	}
	return s.db.Ingest(ctx, []string{f.path})
}

// Replace replaces all rows of a table by entries, which come sorted by key, all or
// none, and returns the contents of the table. Of entries with one key it takes the
// first. If few rows differ from those that are there, it writes only these. Otherwise
// it reads the entries again and writes all, and the former rows cost no compaction.
func (s *DB) Replace(ctx context.Context, table byte, entries iter.Seq2[extsort.Entry, error]) (Contents, error) {
	changes := s.newFile()
	defer changes.remove()
	contents, few, err := s.writeChanges(changes, table, entries)
	written, closeErr := changes.close()
	if err := errors.Join(err, closeErr); err != nil {
		return contents, err
	}
	if few {
		if written {
			err = s.db.Ingest(ctx, []string{changes.path})
		}
		return contents, err
	}
	all := s.newFile()
	defer all.remove()
	var t Tally
	if written, err = all.fill(t.count(distinct(entries))); err != nil {
		return contents, err
	}
	if !written {
		return t.Contents(), s.Clear(table)
	}
	lower, upper := layout.TableBounds(table)
	if err := s.changes.noteRange(lower, upper); err != nil {
		return contents, err
	}
	_, err = s.db.IngestAndExcise(ctx, []string{all.path}, nil, nil, pebble.KeyRange{Start: lower, End: upper})
	return t.Contents(), err
}

// Changed rows are few up to fewBytes, and beyond that up to one byte in fewOf.
const (
	fewBytes = 64 << 10
	fewOf    = 8
)

// writeChanges writes how entries differ from the rows of a table. few is false if too
// many do, or if the table has no rows; the file is of no use then.
func (s *DB) writeChanges(to *tableFile, table byte, entries iter.Seq2[extsort.Entry, error]) (_ Contents, few bool, err error) {
	lower, upper := layout.TableBounds(table)
	there, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return Contents{}, false, err
	}
	defer func() { err = errors.Join(err, there.Close()) }()
	if !there.First() {
		return Contents{}, false, there.Error()
	}
	var t Tally
	bytesRead, bytesChanged := 0, 0
	tooMany := func() bool { return bytesChanged > fewBytes+bytesRead/fewOf }
	dropTo := func(key []byte) error { // drops the rows before key, or all if it is nil
		for there.Valid() && (key == nil || bytes.Compare(there.Key(), key) < 0) && !tooMany() {
			if err := to.delete(there.Key()); err != nil {
				return err
			}
			bytesChanged += len(there.Key())
			there.Next()
		}
		return nil
	}
	for e, err := range t.count(distinct(entries)) {
		if err == nil {
			err = dropTo(e.Key)
		}
		if err != nil {
			return Contents{}, false, err
		}
		bytesRead += len(e.Key) + len(e.Value)
		if there.Valid() && bytes.Equal(there.Key(), e.Key) {
			value, err := there.ValueAndErr()
			if err != nil {
				return Contents{}, false, err
			}
			same := bytes.Equal(value, e.Value)
			there.Next()
			if same {
				continue
			}
		}
		if err := to.set(e); err != nil {
			return Contents{}, false, err
		}
		if bytesChanged += len(e.Key) + len(e.Value); tooMany() {
			return Contents{}, false, nil
		}
	}
	err = dropTo(nil)
	return t.Contents(), !tooMany(), errors.Join(err, there.Error())
}

// distinct yields the first entry of each key.
func distinct(entries iter.Seq2[extsort.Entry, error]) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		var last []byte
		for e, err := range entries {
			if err == nil && last != nil && bytes.Equal(e.Key, last) {
				continue
			}
			last = append(last[:0], e.Key...)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// withoutErrors yields the entries of a run, which has no errors.
func withoutErrors(run iter.Seq[extsort.Entry]) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		for e := range run {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// tableFile is a file of sorted changes that can be ingested. It does not exist before
// the first.
type tableFile struct {
	s    *DB
	path string
	w    *sstable.Writer
}

func (s *DB) newFile() *tableFile {
	s.seq++
	return &tableFile{s: s, path: filepath.Join(s.own, fmt.Sprintf("run-%06d.sst", s.seq))}
}

// begin makes the file if it does not exist yet.
func (f *tableFile) begin() error {
	if f.w != nil {
		return nil
	}
	file, err := fileSystem().Create(f.path, vfs.WriteCategoryUnspecified)
	if err == nil {
		f.w = sstable.NewWriter(objstorageprovider.NewFileWritable(file),
			sstable.WriterOptions{TableFormat: f.s.db.TableFormat(), BlockSize: runBlockBytes})
	}
	return err
}

// set adds a row.
func (f *tableFile) set(e extsort.Entry) error {
	if err := errors.Join(f.begin(), f.s.changes.note(e.Key)); err != nil {
		return err
	}
	return f.w.Set(e.Key, e.Value)
}

// fill adds entries, which come sorted, and ends the file. written is false if there is
// none.
func (f *tableFile) fill(entries iter.Seq2[extsort.Entry, error]) (written bool, err error) {
	for e, entryErr := range entries {
		if err = entryErr; err == nil {
			err = f.set(e)
		}
		if err != nil {
			break
		}
	}
	written, closeErr := f.close()
	return written, errors.Join(err, closeErr)
}

// delete drops a row.
func (f *tableFile) delete(key []byte) error {
	if err := errors.Join(f.begin(), f.s.changes.note(key)); err != nil {
		return err
	}
	return f.w.Delete(key)
}

// close ends the file. written is false if there is none.
func (f *tableFile) close() (written bool, err error) {
	if f.w == nil {
		return false, nil
	}
	return true, f.w.Close()
}

func (f *tableFile) remove() { _ = os.Remove(f.path) }

// SortEntries yields the entries sorted by key. No two may have the same key.
func SortEntries(run []extsort.Entry) iter.Seq[extsort.Entry] {
	slices.SortFunc(run, func(a, b extsort.Entry) int { return bytes.Compare(a.Key, b.Key) })
	return slices.Values(run)
}
