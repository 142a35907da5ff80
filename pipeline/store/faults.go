package store

import (
	"github.com/cockroachdb/pebble/v2/vfs"

	"neardup/pipeline/disk"
)

// fileSystem returns the file system that databases use.
func fileSystem() vfs.FS {
	if disk.Fault.Load() == nil {
		return vfs.Default
	}
	return faultFS{vfs.Default}
}

// faultFS asks disk.Fault before each change of a directory.
type faultFS struct{ vfs.FS }

func (f faultFS) Unwrap() vfs.FS { return f.FS }

func (f faultFS) faulty(file vfs.File, err error, name string) (vfs.File, error) {
	if err != nil {
		return file, err
	}
	return faultFile{file, name}, nil
}

func (f faultFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := disk.FaultAt("create", name); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name, category)
	return f.faulty(file, err, name)
}

func (f faultFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.Open(name, opts...)
	return f.faulty(file, err, name)
}

func (f faultFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := disk.FaultAt("reuse", newname); err != nil {
		return nil, err
	}
	file, err := f.FS.ReuseForWrite(oldname, newname, category)
	return f.faulty(file, err, newname)
}

func (f faultFS) Remove(name string) error {
	if err := disk.FaultAt("remove", name); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f faultFS) Rename(oldname, newname string) error {
	if err := disk.FaultAt("rename", newname); err != nil {
		return err
	}
	return f.FS.Rename(oldname, newname)
}

func (f faultFS) Link(oldname, newname string) error {
	if err := disk.FaultAt("link", newname); err != nil {
		return err
	}
	return f.FS.Link(oldname, newname)
}

// faultFile asks disk.Fault before each change of a file, and before each read.
type faultFile struct {
	vfs.File
	name string
}

func (f faultFile) ReadAt(p []byte, off int64) (int, error) {
	if err := disk.FaultAt("read", f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f faultFile) Write(p []byte) (int, error) {
	allowed, err := disk.FaultOf("write", f.name, len(p))
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
	if err := disk.FaultAt("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f faultFile) SyncData() error {
	if err := disk.FaultAt("sync", f.name); err != nil {
		return err
	}
	return f.File.SyncData()
}
