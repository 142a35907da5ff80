package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"neardup/pipeline/disk"
	"neardup/pipeline/layout"
)

// CheckFiles reads all blocks of the table files in dir, also those that no row is
// read from, and verifies their checksums. It returns the number of files and an
// error for each damaged one.
func CheckFiles(ctx context.Context, dir string) (files int, wrong []error, err error) {
	paths, err := disk.Matching(dir, "*.sst")
	if err != nil {
		return 0, nil, err
	}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return files, wrong, err
		}
		switch err := checkFile(ctx, path); {
		case errors.Is(err, fs.ErrNotExist): // the database has removed it since
		case disk.IsRefused(err):
			return files, wrong, err
		case err != nil:
			wrong = append(wrong, fmt.Errorf("%s: %w", filepath.Base(path), err))
			fallthrough
		default:
			files++
		}
	}
	return files, wrong, nil
}

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
