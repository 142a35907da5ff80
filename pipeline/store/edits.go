package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"

	"neardup/pipeline/extsort"
)

// Edits collects changes of rows, on disk if they are many, and makes all of them or none.
// A Batch does so in memory.
type Edits struct {
	db     *DB
	sorter *extsort.Sorter // key → 2^64-1-number of the change[8] deletes[1] value
	n      uint64
}

// Edits returns no edits yet. The caller closes them.
func (s *DB) Edits() *Edits { return &Edits{db: s, sorter: extsort.New(s.Tmp)} }

// Set sets the value of a key.
func (e *Edits) Set(key, value []byte) error { return e.add(key, 0, value) }

// SetJSON sets the value of a key to v as JSON.
func (e *Edits) SetJSON(key []byte, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.Set(key, value)
}

// Delete deletes a key.
func (e *Edits) Delete(key []byte) error { return e.add(key, 1, nil) }

func (e *Edits) add(key []byte, deletes byte, value []byte) error {
	e.n++
	return e.sorter.Add(key, append(append(binary.BigEndian.AppendUint64(nil, ^e.n), deletes), value...))
}

// Commit makes the changes. Of several changes of a key the last counts.
func (e *Edits) Commit(ctx context.Context) error {
	f := e.db.newFile()
	defer f.remove()
	written, err := f.edit(ctx, e.sorter)
	if err != nil || !written {
		return err
	}
	return e.db.db.Ingest(ctx, []string{f.path})
}

// edit writes edits, and ends the file. written is false if there is none.
func (f *tableFile) edit(ctx context.Context, edits *extsort.Sorter) (written bool, err error) {
	n := 0
	for x, entryErr := range distinct(edits.Sorted()) {
		if err = entryErr; err == nil && n&0xfff == 0 {
			err = ctx.Err()
		}
		switch n++; {
		case err != nil:
		case x.Value[8] != 0:
			err = f.delete(x.Key)
		default:
			err = f.set(extsort.Entry{Key: x.Key, Value: x.Value[9:]})
		}
		if err != nil {
			break
		}
	}
	written, closeErr := f.close()
	return written, errors.Join(err, closeErr)
}

// Close drops the edits.
func (e *Edits) Close() error { return e.sorter.Close() }
