package store

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFS calls Fatalf when a log cannot be written. Pebble would panic there, in
// ways that cannot be recovered from.
type logFS struct {
	vfs.FS
	log logger
}

func (f logFS) Unwrap() vfs.FS { return f.FS }

func (f logFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, category)
	return f.file(file, err, name)
}

func (f logFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(oldname, newname, category)
	return f.file(file, err, newname)
}

func (f logFS) file(file vfs.File, err error, name string) (vfs.File, error) {
	if !strings.HasSuffix(name, ".log") {
		return file, err
	}
	if err != nil {
		f.log.Fatalf("%w", err)
	}
	return logFile{file, f.log}, err
}

type logFile struct {
	vfs.File
	log logger
}

func (f logFile) check(err error) error {
	if err != nil {
		f.log.Fatalf("%w", err)
	}
	return err
}

func (f logFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.check(err)
}

// Preallocate takes no space. Pebble asks for that of a whole table in memory for each log,
// which is far more than the database of a small archive has.
func (f logFile) Preallocate(int64, int64) error { return nil }

func (f logFile) Sync() error     { return f.check(f.File.Sync()) }
func (f logFile) SyncData() error { return f.check(f.File.SyncData()) }
func (f logFile) Close() error    { return f.check(f.File.Close()) }
