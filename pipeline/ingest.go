package pipeline

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
)

// runBlockBytes is the size of a block of an ingested file. What is ingested is
// read from one end to the other, so large blocks cost no lookup anything.
const runBlockBytes = 32 << 10

// entry is one row of a sorted run.
type entry struct{ key, value []byte }

// ingest adds runs of entries to the database, all or none; each must be
// sorted by key, without repeats, and they must not overlap. Writing sorted
// files and handing them over is several times as fast as batches.
func (s *store) ingest(ctx context.Context, runs ...iter.Seq[entry]) error {
	var paths []string
	defer func() {
		for _, p := range paths {
			_ = os.Remove(p)
		}
	}()
	for _, run := range runs {
		s.seq++
		path := filepath.Join(s.tmp, fmt.Sprintf("run-%06d.sst", s.seq))
		written, err := s.writeRun(path, run)
		if written {
			paths = append(paths, path)
		}
		if err != nil {
			return err
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return s.db.Ingest(ctx, paths)
}

// writeRun writes a file of the run, none if it is empty.
func (s *store) writeRun(path string, run iter.Seq[entry]) (written bool, err error) {
	var w *sstable.Writer
	for e := range run {
		if w == nil {
			f, err := vfs.Default.Create(path, vfs.WriteCategoryUnspecified)
			if err != nil {
				return false, err
			}
			w = sstable.NewWriter(objstorageprovider.NewFileWritable(f),
				sstable.WriterOptions{TableFormat: s.db.TableFormat(), BlockSize: runBlockBytes})
		}
		if err := w.Set(e.key, e.value); err != nil {
			return true, errors.Join(err, w.Close())
		}
	}
	if w == nil {
		return false, nil
	}
	return true, w.Close()
}

// fixedRun collects keys of one length, many at a time without an allocation
// each, and sorts them into a run.
type fixedRun struct {
	size   int
	n      int
	chunks [][]byte // chunkKeys in each but the last, so that none is moved when more come
}

const chunkKeys = 4096

// add adds a key, the parts of which are given.
func (r *fixedRun) add(parts ...[]byte) {
	if r.n/chunkKeys == len(r.chunks) {
		r.chunks = append(r.chunks, make([]byte, 0, chunkKeys*r.size))
	}
	c := &r.chunks[r.n/chunkKeys]
	for _, p := range parts {
		*c = append(*c, p...)
	}
	r.n++
}

func (r *fixedRun) len() int { return r.n }

// clear drops the keys, and keeps their memory for others.
func (r *fixedRun) clear() {
	for i := range r.chunks {
		r.chunks[i] = r.chunks[i][:0]
	}
	r.n = 0
}

func (r *fixedRun) key(i uint32) []byte {
	at := int(i%chunkKeys) * r.size
	return r.chunks[i/chunkKeys][at : at+r.size]
}

// sorted are the keys sorted, each once. The bytes behind the first, which is
// the table's, are compared as one number wherever that decides.
func (r *fixedRun) sorted() iter.Seq[entry] {
	type place struct {
		lead uint64
		i    uint32
	}
	places := make([]place, r.n)
	for i := range places {
		var lead [8]byte
		copy(lead[:], r.key(uint32(i))[1:])
		places[i] = place{binary.BigEndian.Uint64(lead[:]), uint32(i)}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.lead != b.lead {
			return cmp.Compare(a.lead, b.lead)
		}
		return bytes.Compare(r.key(a.i), r.key(b.i))
	})
	return func(yield func(entry) bool) {
		var last []byte
		for _, p := range places {
			if key := r.key(p.i); !bytes.Equal(key, last) {
				if !yield(entry{key: key}) {
					return
				}
				last = key
			}
		}
	}
}

// sortEntries gives the entries sorted, of which no two have the same key.
func sortEntries(run []entry) iter.Seq[entry] {
	slices.SortFunc(run, func(a, b entry) int { return bytes.Compare(a.key, b.key) })
	return slices.Values(run)
}
