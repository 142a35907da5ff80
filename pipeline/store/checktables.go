package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"neardup/pipeline/disk"
	"neardup/pipeline/layout"
)

// CheckedFiles is the result of CheckFiles.
type CheckedFiles struct {
	Files int      // that were read
	Wrong []error  // of each damaged one
	Left  []string // names of damaged files that are no part of the database: a process that was stopped had not written them to the end
}

// CheckFiles reads all blocks of the table files in dir, also those that no row is
// read from, and verifies their checksums. The caller has the lock of dir.
func CheckFiles(ctx context.Context, dir string, lock *Lock) (c CheckedFiles, err error) {
	paths, err := disk.Matching(dir, "*.sst")
	if err != nil {
		return c, err
	}
	var part map[string]bool // names of the files of the database; nil: not asked yet, or not known
	asked := false
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return c, err
		}
		switch err := checkFile(ctx, path); {
		case errors.Is(err, fs.ErrNotExist): // the database has removed it since
		case disk.IsRefused(err):
			return c, err
		case err == nil:
			c.Files++
		default:
			name := filepath.Base(path)
			if !asked {
				asked, part = true, parts(dir, lock)
			}
			if part != nil && !part[name] {
				c.Left = append(c.Left, name)
				continue
			}
			c.Files++
			c.Wrong = append(c.Wrong, fmt.Errorf("%s: %w", name, err))
		}
	}
	return c, nil
}

// parts returns the names of the table files that the database in dir has, or nil if it
// does not say so reliably. It reads none of them, and changes nothing.
func parts(dir string, lock *Lock) (names map[string]bool) {
	defer func() {
		if recover() != nil { // as in checkFile
			names = nil
		}
	}()
	if _, err := checkSeal(dir); err != nil {
		return nil
	}
	db, err := pebble.Open(dir, &pebble.Options{ReadOnly: true, DisableTableStats: true, Lock: lock, Logger: failing{}})
	if err != nil {
		return nil
	}
	levels, err := db.SSTables()
	if err := errors.Join(err, db.Close()); err != nil {
		return nil
	}
	names = map[string]bool{}
	for _, level := range levels {
		for _, t := range level {
			names[fmt.Sprintf("%06d.sst", uint64(t.BackingSSTNum))] = true
		}
	}
	return names
}

// failing is a logger that says nothing. It panics with what the database can't survive.
type failing struct{}

func (failing) Infof(string, ...any)              {}
func (failing) Errorf(string, ...any)             {}
func (failing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func checkFile(ctx context.Context, path string) (err error) {
	defer func() {
		if p := recover(); p != nil { // a damaged footer makes the library panic
			err = fmt.Errorf("%w: %v", layout.ErrCorrupt, p)
		}
	}()
	f, err := vfs.Default.Open(path)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r, err := sstable.NewReader(ctx, readable, sstable.ReaderOptions{})
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	return errors.Join(r.ValidateBlockChecksums(), r.Close())
}
