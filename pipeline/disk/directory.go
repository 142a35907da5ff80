package disk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
)

// CheckDirectory returns an error if ExportDirectory must not write to path. The
// path must be free, an empty directory, or an earlier export: a directory that has
// the file mark and otherwise only files for which owns is true.
func CheckDirectory(path, mark string, owns func(name string) bool) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", path)
	}
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) == 0 {
		return err
	}
	if _, err := os.Stat(filepath.Join(path, mark)); err != nil {
		return fmt.Errorf("%s is not empty, and is not replaced; name another directory, or a new one", path)
	}
	return fs.WalkDir(os.DirFS(path), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || owns(name) {
			return err
		}
		return fmt.Errorf("%s is not replaced, because %s in it is none of the files that it would have; move that away, or name another directory", path, name)
	})
}

// ExportDirectory publishes the files that write makes as the directory path, all
// or none. Names of files use slashes. The files are written beside path and moved
// there when all are complete. An existing directory that CheckDirectory allows is
// replaced.
func ExportDirectory(path string, write func(create func(name string) (io.WriteCloser, error)) error) error {
	err := exportDirectory(path, write)
	if err != nil && IsNoSpace(err) && !errors.Is(err, ErrFull) {
		return Full(filepath.Dir(path), err)
	}
	return err
}

func exportDirectory(path string, write func(create func(name string) (io.WriteCloser, error)) error) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	parent := filepath.Dir(path)
	if err := RemoveStale(parent); err != nil {
		return err
	}
	made, err := os.MkdirTemp(parent, Temporary+"*")
	if err != nil {
		return err
	}
	if held, err := os.Open(made); err == nil {
		hold(held)
		defer func() { _ = held.Close() }()
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(made)
		}
	}()
	var files []string
	err = write(func(name string) (io.WriteCloser, error) {
		file := filepath.Join(made, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		return &bufferedFile{bufio.NewWriterSize(f, 64<<10), f}, nil
	})
	if err == nil {
		err = errors.Join(SyncFiles(files), os.Chmod(made, 0o755))
	}
	dirs := map[string]bool{made: true}
	for _, file := range files {
		for dir := filepath.Dir(file); !dirs[dir]; dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	for dir := range dirs {
		err = errors.Join(err, SyncDirectory(dir))
	}
	if err == nil {
		err = replaceDirectory(made, path)
	}
	if err != nil {
		return err
	}
	return SyncDirectory(parent)
}

// formerName is the temporary name of a directory while another takes its place.
const formerName = "former"

// replaceDirectory moves the directory made to path and removes what stood there,
// if anything.
func replaceDirectory(made, path string) error {
	old, err := os.MkdirTemp(filepath.Dir(path), Temporary+"*")
	if err != nil {
		return err
	}
	former := filepath.Join(old, formerName)
	err = os.Rename(path, former)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, os.Remove(old))
	}
	if err := os.Rename(made, path); err != nil {
		if back := os.Rename(former, path); back != nil && !errors.Is(back, fs.ErrNotExist) {
			return errors.Join(err, fmt.Errorf("the former one is now %s: %w", former, back))
		}
		return errors.Join(err, os.Remove(old))
	}
	return os.RemoveAll(old)
}

// bufferedFile buffers writes and flushes them when it is closed.
type bufferedFile struct {
	*bufio.Writer
	f *os.File
}

// Close implements io.Closer.
func (b *bufferedFile) Close() error { return errors.Join(b.Flush(), b.f.Close()) }

// SyncFiles makes files durable. It syncs them concurrently, which hardly takes
// longer than syncing one.
func SyncFiles(files []string) error {
	var g errgroup.Group
	g.SetLimit(16)
	for _, name := range files {
		g.Go(func() error {
			f, err := os.OpenFile(name, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			if err = FaultAt("sync", name); err == nil {
				err = f.Sync()
			}
			return errors.Join(err, f.Close())
		})
	}
	return g.Wait()
}
