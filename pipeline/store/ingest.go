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

// ReplaceRange replaces the rows of [lower, upper) by runs of entries, all or none. The
// runs are as those of Ingest, and may have other rows, too.
func (s *DB) ReplaceRange(ctx context.Context, lower, upper []byte, runs ...iter.Seq[extsort.Entry]) error {
	paths, err := s.writeRuns(runs)
	defer removeAll(paths)
	if err != nil {
		return err
	}
	_, err = s.db.IngestAndExcise(ctx, paths, nil, nil, pebble.KeyRange{Start: lower, End: upper})
	return err
}

// writeRuns writes runs to files that can be ingested. It writes none for an empty run.
func (s *DB) writeRuns(runs []iter.Seq[extsort.Entry]) (paths []string, err error) {
	all, written := make([]string, len(runs)), make([]bool, len(runs))
	var g errgroup.Group
	for i, run := range runs {
		s.seq++
		all[i] = filepath.Join(s.own, fmt.Sprintf("run-%06d.sst", s.seq))
		g.Go(func() (err error) {
			written[i], err = s.writeRun(all[i], run)
			return err
		})
	}
	err = g.Wait()
	for i, path := range all {
		if written[i] {
			paths = append(paths, path)
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
	path, written, err := s.writeSorted(entries)
	defer func() { _ = os.Remove(path) }()
	if err != nil || !written {
		return err
	}
	return s.db.Ingest(ctx, []string{path})
}

// Replace replaces all rows of a table by entries, which come sorted by key, all or
// none. Of entries with one key it takes the first. The former rows cost no compaction.
func (s *DB) Replace(ctx context.Context, table byte, entries iter.Seq2[extsort.Entry, error]) error {
	path, written, err := s.writeSorted(entries)
	defer func() { _ = os.Remove(path) }()
	if err != nil {
		return err
	}
	if !written {
		b := s.Batch()
		return errors.Join(b.Clear(table), b.Commit())
	}
	lower, upper := layout.TableBounds(table)
	_, err = s.db.IngestAndExcise(ctx, []string{path}, nil, nil, pebble.KeyRange{Start: lower, End: upper})
	return err
}

// writeSorted writes entries to a file that can be ingested. It writes none if there are
// no entries.
func (s *DB) writeSorted(entries iter.Seq2[extsort.Entry, error]) (path string, written bool, err error) {
	var failed error
	run := func(yield func(extsort.Entry) bool) {
		var last []byte
		for e, err := range entries {
			if failed = err; err != nil {
				return
			}
			if last != nil && bytes.Equal(e.Key, last) {
				continue
			}
			last = append(last[:0], e.Key...)
			if !yield(e) {
				return
			}
		}
	}
	s.seq++
	path = filepath.Join(s.own, fmt.Sprintf("run-%06d.sst", s.seq))
	written, err = s.writeRun(path, run)
	return path, written, errors.Join(failed, err)
}

// writeRun writes a run to a file. It writes no file if the run is empty.
func (s *DB) writeRun(path string, run iter.Seq[extsort.Entry]) (written bool, err error) {
	var w *sstable.Writer
	for e := range run {
		if w == nil {
			f, err := fileSystem().Create(path, vfs.WriteCategoryUnspecified)
			if err != nil {
				return false, err
			}
			w = sstable.NewWriter(objstorageprovider.NewFileWritable(f),
				sstable.WriterOptions{TableFormat: s.db.TableFormat(), BlockSize: runBlockBytes})
		}
		if err := w.Set(e.Key, e.Value); err != nil {
			return true, errors.Join(err, w.Close())
		}
	}
	if w == nil {
		return false, nil
	}
	return true, w.Close()
}

// SortEntries yields the entries sorted by key. No two may have the same key.
func SortEntries(run []extsort.Entry) iter.Seq[extsort.Entry] {
	slices.SortFunc(run, func(a, b extsort.Entry) int { return bytes.Compare(a.Key, b.Key) })
	return slices.Values(run)
}
