package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"neardup/pipeline/disk"
)

// To read a database while another process has it open, a copy is made: of its
// small files, and of further names for its table files, which never change. No
// lock is taken. The copy is of one moment. It counts only if the seal, which
// changes with every durable write, and the list of files are the same before and
// after.

// How often, and for how long, copying is retried until nothing is written
// meanwhile.
const (
	copyTries = 50
	copyPause = 100 * time.Millisecond
)

// errBusy reports that the database was written during every try.
var errBusy = errors.New("the database is being written all the time")

// Copy copies the database in the directory from to the empty directory to, for
// OpenCopy. The copy may be read until release is called.
func Copy(from, to string) (release func(), err error) {
	var tables []*os.File
	release = func() {
		for _, f := range tables {
			_ = f.Close()
		}
		tables = nil
	}
	err = copyMoment(from, to, release, func(f *os.File, to string) error {
		if runtime.GOOS != "linux" {
			return copyFile(f, to)
		}
		tables = append(tables, f) // stays readable, though the owner may remove its name
		return os.Symlink(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()), to)
	})
	if err != nil {
		release()
	}
	return release, err
}

// Keep copies the database in the directory from, which may be open, to the empty
// directory to. Later changes of the database do not affect the copy. The two share
// their table files through hard links; where the file system has none, the files
// are copied.
func Keep(from, to string) error {
	return copyMoment(from, to, func() {}, func(f *os.File, to string) error {
		err := disk.FaultAt("link", to)
		if err == nil {
			err = os.Link(f.Name(), to)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, f.Close())
		}
		return copyFile(f, to)
	})
}

// copyMoment copies the files of a database at one moment. It calls table to copy
// and close a table file, and again before each further try.
func copyMoment(from, to string, again func(), table func(f *os.File, to string) error) (err error) {
	for range copyTries {
		err = copyOnce(from, to, table)
		if err == nil || !errors.Is(err, errBusy) && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if _, missing := os.Stat(from); missing != nil {
			return err
		}
		again()
		time.Sleep(copyPause)
		if err := errors.Join(os.RemoveAll(to), os.Mkdir(to, 0o777)); err != nil {
			return err
		}
	}
	return err
}

func copyOnce(from, to string, table func(f *os.File, to string) error) error {
	seal, names, err := moment(from)
	if err != nil {
		return err
	}
	for _, name := range names {
		f, err := os.Open(filepath.Join(from, name))
		if err != nil {
			return err
		}
		copyTo := copyFile
		if strings.HasSuffix(name, ".sst") {
			copyTo = table
		}
		if err := copyTo(f, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	now, namesNow, err := moment(from)
	if err == nil && (!bytes.Equal(seal, now) || !slices.Equal(names, namesNow)) {
		err = errBusy
	}
	return err
}

// moment returns the seal of a database, and the names of its files except the
// lock.
func moment(dir string) (seal []byte, names []string, err error) {
	if seal, err = os.ReadFile(filepath.Join(dir, sealName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != "LOCK" && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return seal, names, err
}

func copyFile(from *os.File, to string) error {
	defer func() { _ = from.Close() }()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}
