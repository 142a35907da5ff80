package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"neardup/pipeline/extsort"
)

// runBlockBytes is the block size of ingested files, in bytes. These files are read
// sequentially, so large blocks cost no lookups.
const runBlockBytes = 32 << 10

// Ingest adds runs of entries to the database, all or none. Each run must be sorted
// by key, without repeats, and runs must not overlap. Ingesting sorted files is
// several times as fast as writing batches.
func (s *DB) Ingest(ctx context.Context, runs ...iter.Seq[extsort.Entry]) error {
	var paths []string
	defer func() {
		for _, p := range paths {
			_ = os.Remove(p)
		}
	}()
	written := make([]bool, len(runs))
	var g errgroup.Group
	for i, run := range runs {
		s.seq++
		path := filepath.Join(s.own, fmt.Sprintf("run-%06d.sst", s.seq))
		paths = append(paths, path)
		g.Go(func() (err error) {
			written[i], err = s.writeRun(path, run)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var files []string
	for i, path := range paths {
		if written[i] {
			files = append(files, path)
		}
	}
	if len(files) == 0 {
		return nil
	}
	return s.db.Ingest(ctx, files)
}

// IngestSorted adds entries, which come sorted by key, to the database. Of entries
// with one key it adds the first.
func (s *DB) IngestSorted(ctx context.Context, entries iter.Seq2[extsort.Entry, error]) error {
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
	path := filepath.Join(s.own, fmt.Sprintf("run-%06d.sst", s.seq))
	defer func() { _ = os.Remove(path) }()
	written, err := s.writeRun(path, run)
	if err := errors.Join(failed, err); err != nil || !written {
		return err
	}
	return s.db.Ingest(ctx, []string{path})
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

// FixedRun collects keys of one length, without an allocation for each, and sorts
// them into a run.
type FixedRun struct {
	Size   int
	n      int
	chunks [][]byte // each but the last has chunkKeys keys, so keys never move
}

const chunkKeys = 4096

// Add adds a key, given in parts.
func (r *FixedRun) Add(parts ...[]byte) {
	if r.n/chunkKeys == len(r.chunks) {
		r.chunks = append(r.chunks, make([]byte, 0, chunkKeys*r.Size))
	}
	c := &r.chunks[r.n/chunkKeys]
	for _, p := range parts {
		*c = append(*c, p...)
	}
	r.n++
}

// Len returns the number of keys, with repeats.
func (r *FixedRun) Len() int { return r.n }

// Clear drops the keys and keeps their memory.
func (r *FixedRun) Clear() {
	for i := range r.chunks {
		r.chunks[i] = r.chunks[i][:0]
	}
	r.n = 0
}

func (r *FixedRun) key(i uint32) []byte {
	at := int(i%chunkKeys) * r.Size
	return r.chunks[i/chunkKeys][at : at+r.Size]
}

// place is the place of a key in a FixedRun. lead holds the bytes after the first,
// which is the table's. Sorting compares it as one number before it looks at whole
// keys.
type place struct {
	lead uint64
	i    uint32
}

// Sorted returns the keys, sorted and without repeats, in at most parts parts,
// which goroutines can process concurrently.
func (r *FixedRun) Sorted(parts int) []iter.Seq[extsort.Entry] {
	var starts [257]int // of the places with each first byte of lead
	lead := func(i int) uint64 {
		var b [8]byte
		copy(b[:], r.key(uint32(i))[1:])
		return binary.BigEndian.Uint64(b[:])
	}
	for i := range r.n {
		starts[lead(i)>>56+1]++
	}
	for b := range 256 {
		starts[b+1] += starts[b]
	}
	places, next := make([]place, r.n), starts
	for i := range r.n {
		l := lead(i)
		places[next[l>>56]] = place{l, uint32(i)}
		next[l>>56]++
	}
	var out []iter.Seq[extsort.Entry]
	for from, b := 0, 1; b <= 256; b++ {
		if to := starts[b]; to > from && (b == 256 || (to-from)*parts >= r.n) {
			out = append(out, r.part(places[from:to]))
			from = to
		}
	}
	return out
}

// part yields the keys of the places, sorted and without repeats.
func (r *FixedRun) part(places []place) iter.Seq[extsort.Entry] {
	return func(yield func(extsort.Entry) bool) {
		slices.SortFunc(places, func(a, b place) int {
			if a.lead != b.lead {
				return cmp.Compare(a.lead, b.lead)
			}
			return bytes.Compare(r.key(a.i), r.key(b.i))
		})
		var last []byte
		for _, p := range places {
			if key := r.key(p.i); !bytes.Equal(key, last) {
				if !yield(extsort.Entry{Key: key}) {
					return
				}
				last = key
			}
		}
	}
}

// SortEntries yields the entries sorted by key. No two may have the same key.
func SortEntries(run []extsort.Entry) iter.Seq[extsort.Entry] {
	slices.SortFunc(run, func(a, b extsort.Entry) int { return bytes.Compare(a.Key, b.Key) })
	return slices.Values(run)
}
