package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"neardup/configs"
	"neardup/extract"
	"neardup/pipeline/inputs"
)

// Compacted is the result of CompactDisk.
type Compacted struct {
	Before, After int64    // size of the database's files, in bytes
	Inputs        []string // removed copies of standard input that had withdrawn captures
}

// CompactDisk frees the disk space of what the workspace in dir no longer has: rows
// that were deleted or replaced, and copies of standard input that hold withdrawn
// captures. Such a copy is the input itself, so the input cannot be extracted
// again. first is called with the open workspace before.
func CompactDisk(ctx context.Context, dir string, stages []Stage, config configs.Config, o Options, first func(*Workspace) error) (c Compacted, err error) {
	if c.Before, err = sizeOf(filepath.Join(dir, "db")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	w, err := Open(dir, stages, config, false, o)
	if err != nil {
		return c, err
	}
	if err = first(w); err == nil {
		err = w.ExplainError(w.DB.Compact(ctx))
	}
	if err == nil {
		c.Inputs, err = w.dropSpooled()
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return c, err
	}
	c.After, err = sizeOf(filepath.Join(dir, "db"))
	return c, err
}

// dropSpooled removes the copies of standard input that hold withdrawn captures or
// that nothing refers to.
func (w *Workspace) dropSpooled() (gone []string, err error) {
	known, err := w.Sources()
	if err != nil {
		return nil, err
	}
	keeps := map[string]bool{}
	for _, s := range known {
		if s.Counts.Skipped[string(extract.ReasonWithdrawn)] == 0 {
			keeps[filepath.Base(s.FilePath())] = true
		}
	}
	entries, err := os.ReadDir(w.Path("spool"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if keeps[e.Name()] || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := os.Remove(w.Path("spool", e.Name())); err != nil {
			return gone, err
		}
		gone = append(gone, inputs.ShowName(e.Name()))
	}
	return gone, nil
}

// sizeOf returns the total size of the regular files in a directory, in bytes.
func sizeOf(dir string) (n int64, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() { // an error means that the file was removed since
			n += info.Size()
		}
	}
	return n, err
}

// DropExports removes the exports. A caller uses it when the workspace has nothing
// left to export.
func (w *Workspace) DropExports() error { return os.RemoveAll(w.Path("exports")) }
