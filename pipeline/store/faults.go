package store

import (
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Fault is called before each operation that changes a file of a workspace, if it
// is set: the harness of faults does, to fail it or to end the process there. Of a
// write, n is how many bytes are to be written, and fewer may be allowed.
var Fault func(operation, file string, n int) (allowed int, err error)

// fault calls Fault.
func fault(operation, path string, n int) (int, error) {
	if Fault == nil {
		return n, nil
	}
	return Fault(operation, filepath.Base(path), n)
}

// FaultAt is called before a file outside of the database is published.
func FaultAt(operation, path string) error {
	_, err := fault(operation, path, 0)
	return err
}

// fileSystem returns the file system of databases.
func fileSystem() vfs.FS {
	if Fault == nil {
		return vfs.Default
	}
	return faultFS{vfs.Default}
}

// faultFS calls Fault before each change.
type faultFS struct{ vfs.FS }

func (f faultFS) Unwrap() vfs.FS { return f.FS }

func (f faultFS) faulty(file vfs.File, err error, name string) (vfs.File, error) {
	if err != nil {
		return file, err
	}
	return faultFile{file, name}, nil
}

func (f faultFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := FaultAt("create", name); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name, category)
	return f.faulty(file, err, name)
}

func (f faultFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := FaultAt("reuse", newname); err != nil {
		return nil, err
	}
	file, err := f.FS.ReuseForWrite(oldname, newname, category)
	return f.faulty(file, err, newname)
}

func (f faultFS) Remove(name string) error {
	if err := FaultAt("remove", name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f faultFS) Rename(oldname, newname string) error {
	if err := FaultAt("rename", newname); err != nil {
		return err
	}
	return f.FS.Rename(oldname, newname)
}

func (f faultFS) Link(oldname, newname string) error {
	if err := FaultAt("link", newname); err != nil {
		return err
	}
	return f.FS.Link(oldname, newname)
}

// faultFile calls Fault before each change of a file.
type faultFile struct {
	vfs.File
	name string
}

func (f faultFile) Write(p []byte) (int, error) {
	allowed, err := fault("write", f.name, len(p))
	if err == nil {
		return f.File.Write(p)
	}
	n, writeErr := f.File.Write(p[:allowed])
	if writeErr != nil {
		err = writeErr
	}
	return n, err
}

func (f faultFile) Sync() error {
	if err := FaultAt("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f faultFile) SyncData() error {
	if err := FaultAt("sync", f.name); err != nil {
		return err
	}
	return f.File.SyncData()
}
