package store

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"neardup/pipeline/disk"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
)

// Pebble may open a database whose MANIFEST or log is damaged as if it were an
// older one, because a broken record there may mark the place where a crash stopped
// writing. Pebble then removes the files that the older state does not name. To
// detect this, the seal is kept outside Pebble: it records how many bytes of these
// files were made durable, and their checksum. A file may be longer than the seal
// says, since writing precedes sealing, but never shorter or different.

// sealName is the name of the seal in the database's directory. Pebble ignores this
// file.
const sealName = "seal"

const (
	sealHeader = "neardup seal 1"
	sealBlock  = 4 << 10 // the seal's size is a multiple, so that it can be rewritten on a full disk
)

// errUnsealed reports that a database has no seal, or one that cannot be read.
var errUnsealed = errors.New("the database has no seal")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// prefix is the sealed part of a file.
type prefix struct {
	length int64
	sum    uint32 // CRC-32C
}

// isSealed reports whether the seal covers a file: the files that name the files of
// the database, and the logs.
func isSealed(name string) bool {
	return strings.HasPrefix(name, "MANIFEST-") || strings.HasPrefix(name, "marker.") || strings.HasSuffix(name, ".log")
}

// seal is the seal of an open database.
type seal struct {
	mu    sync.Mutex
	file  *os.File
	files map[string]prefix
}

// openSeal opens or creates the seal in dir for writing.
func openSeal(dir string, files map[string]prefix) (*seal, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, sealName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	s := &seal{file: f, files: files}
	if err := s.change(func() {}); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// change changes the seal's contents by calling how, and writes it.
func (s *seal) change(how func()) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	how()
	if err := disk.FaultAt("write", sealName); err != nil {
		return err
	}
	_, err := s.file.WriteAt(appendSeal(nil, s.files), 0)
	return err
}

// set records the prefix of a file.
func (s *seal) set(name string, p prefix) error {
	return s.change(func() { s.files[name] = p })
}

// forget removes a file from the seal.
func (s *seal) forget(name string) error {
	s.mu.Lock()
	_, known := s.files[name]
	s.mu.Unlock()
	if !known {
		return nil
	}
	return s.change(func() { delete(s.files, name) })
}

// appendSeal appends the content of a seal: a line for each file, a line with the
// checksum of these lines, and spaces.
func appendSeal(b []byte, files map[string]prefix) []byte {
	b = append(b, sealHeader+"\n"...)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b = fmt.Appendf(b, "%d %08x %s\n", files[name].length, files[name].sum, name)
	}
	b = fmt.Appendf(b, "end %08x\n", crc32.Checksum(b, castagnoli))
	return append(b, bytes.Repeat([]byte(" "), (sealBlock-len(b)%sealBlock)%sealBlock)...)
}

// parseSeal parses what appendSeal wrote. It ignores what follows, which may be
// left from a longer seal.
func parseSeal(b []byte) (map[string]prefix, error) {
	at := bytes.Index(b, []byte("\nend "))
	var sum uint32
	if at < 0 || !bytes.HasPrefix(b, []byte(sealHeader+"\n")) {
		return nil, errUnsealed
	}
	if _, err := fmt.Sscanf(string(b[at:]), "\nend %08x\n", &sum); err != nil || sum != crc32.Checksum(b[:at+1], castagnoli) {
		return nil, errUnsealed
	}
	files := map[string]prefix{}
	for _, line := range strings.Split(string(b[:at]), "\n")[1:] {
		var p prefix
		var name string
		if _, err := fmt.Sscanf(line, "%d %x %s", &p.length, &p.sum, &name); err != nil {
			return nil, errUnsealed
		}
		files[name] = p
	}
	return files, nil
}

// checkSeal compares the files of the database in dir with its seal, which it
// returns. The error wraps ErrCorrupt if they differ, and errUnsealed if there is a
// database without a seal.
func checkSeal(dir string) (map[string]prefix, error) {
	b, err := os.ReadFile(filepath.Join(dir, sealName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	files, err := parseSeal(b)
	if err != nil {
		return map[string]prefix{}, unsealed(dir)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		want := files[name]
		got, err := sumPrefix(filepath.Join(dir, name), want.length)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%w: %s is missing", layout.ErrCorrupt, name)
		case err != nil:
			return nil, err
		case got.length != want.length:
			return nil, fmt.Errorf("%w: %s has %d bytes, but had %d", layout.ErrCorrupt, name, got.length, want.length)
		case got != want:
			return nil, fmt.Errorf("%w: %s is not what was written", layout.ErrCorrupt, name)
		}
	}
	return files, nil
}

// unsealed returns the error for a directory without a seal. It returns nil if the
// directory has no database.
func unsealed(dir string) error {
	has, err := HasDatabase(dir)
	if err != nil || !has {
		return err
	}
	if markers, err := disk.Matching(dir, "marker.manifest.*"); err != nil || len(markers) == 0 {
		return errors.Join(fmt.Errorf("%w: marker.manifest is missing", layout.ErrCorrupt), err) // Pebble would begin a new database
	}
	return errUnsealed
}

// HasDatabase reports whether dir has, or had, a database.
func HasDatabase(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return isSealed(e.Name()) || strings.HasSuffix(e.Name(), ".sst")
	}), err
}

// Contents summarizes the rows of a table.
type Contents struct {
	Rows int64  `json:"rows"`
	Keys string `json:"keys"` // sum of the xxHash64 of all keys modulo 2^64, in hexadecimal; earlier versions wrote another checksum, of 8 digits
}

// Contents returns the summary of a table. It reads all keys and no values.
func (s *DB) Contents(table byte) (Contents, error) {
	var t Tally
	for r, err := range s.Table(table) {
		if err != nil {
			return Contents{}, err
		}
		t.Add(r.Key())
	}
	return t.Contents(), nil
}

// Tally sums up the keys of a table.
type Tally struct {
	rows int64
	sum  uint64
}

// Tally returns c as a sum that goes on. ok is false for a checksum of an earlier
// version.
func (c Contents) Tally() (t Tally, ok bool) {
	sum, err := strconv.ParseUint(c.Keys, 16, 64)
	return Tally{c.Rows, sum}, err == nil && len(c.Keys) == 16
}

// Add adds a key.
func (t *Tally) Add(key []byte) { t.rows, t.sum = t.rows+1, t.sum+xxhash.Sum64(key) }

// count adds the keys of entries while it yields them.
func (t *Tally) count(entries iter.Seq2[extsort.Entry, error]) iter.Seq2[extsort.Entry, error] {
	return func(yield func(extsort.Entry, error) bool) {
		for e, err := range entries {
			if err == nil {
				t.Add(e.Key)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Remove takes away a key.
func (t *Tally) Remove(key []byte) { t.rows, t.sum = t.rows-1, t.sum-xxhash.Sum64(key) }

// Contents returns the summary of the keys.
func (t *Tally) Contents() Contents { return Contents{t.rows, fmt.Sprintf("%016x", t.sum)} }

// Equal reports whether two summaries agree, as far as their checksums are of one
// kind.
func (c Contents) Equal(o Contents) bool {
	return c.Rows == o.Rows && (c.Keys == o.Keys || len(c.Keys) != len(o.Keys))
}

// sumPrefix returns the length and checksum of a file's first length bytes, or of
// the whole file if it is shorter.
func sumPrefix(path string, length int64) (prefix, error) {
	f, err := os.Open(path)
	if err != nil {
		return prefix{}, err
	}
	defer func() { _ = f.Close() }()
	h := crc32.New(castagnoli)
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{io.LimitReader(f, length)}, make([]byte, 256<<10))
	return prefix{n, h.Sum32()}, err
}

// sealedFS updates the seal as the database writes.
type sealedFS struct {
	vfs.FS
	seal *seal
	at   place
}

// place is the directory that a database was opened in.
type place struct {
	dir string
	was os.FileInfo
}

func placeOf(dir string) (place, error) {
	info, err := os.Stat(dir)
	return place{dir, info}, err
}

// ErrReplaced reports that the directory of an open database is gone, or that another is in
// its place. The files of another must not be touched.
var ErrReplaced = errors.New("the directory was removed or replaced since it was opened")

// check returns an error if the place has another directory now.
func (p place) check() error {
	if info, err := os.Stat(p.dir); err != nil || !os.SameFile(info, p.was) {
		return fmt.Errorf("%s: %w", p.dir, ErrReplaced)
	}
	return nil
}

func (f sealedFS) Unwrap() vfs.FS { return f.FS }

// A file leaves the seal before it is removed, and enters the seal after it is
// created. A crash in between must not look like damage.

func (f sealedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.at.check(); err != nil {
		return nil, err
	}
	base := filepath.Base(name)
	if !isSealed(base) {
		return f.FS.Create(name, category)
	}
	if err := f.seal.forget(base); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name, category)
	return f.sealed(file, err, base)
}

func (f sealedFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.at.check(); err != nil {
		return nil, err
	}
	if err := errors.Join(f.seal.forget(filepath.Base(oldname)), f.seal.forget(filepath.Base(newname))); err != nil {
		return nil, err
	}
	file, err := f.FS.ReuseForWrite(oldname, newname, category)
	if !isSealed(filepath.Base(newname)) {
		return file, err
	}
	return f.sealed(file, err, filepath.Base(newname))
}

func (f sealedFS) Remove(name string) error {
	if err := f.at.check(); err != nil {
		return err
	}
	if err := f.seal.forget(filepath.Base(name)); err != nil {
		return err
	}
	return f.FS.Remove(name)
}

func (f sealedFS) Rename(oldname, newname string) error {
	if err := f.at.check(); err != nil {
		return err
	}
	if err := errors.Join(f.seal.forget(filepath.Base(oldname)), f.seal.forget(filepath.Base(newname))); err != nil {
		return err
	}
	return f.FS.Rename(oldname, newname)
}

func (f sealedFS) Link(oldname, newname string) error {
	if err := f.at.check(); err != nil {
		return err
	}
	return f.FS.Link(oldname, newname)
}

// sealed returns a file that seals what is written to it.
func (f sealedFS) sealed(file vfs.File, err error, name string) (vfs.File, error) {
	if err != nil {
		return file, err
	}
	if err := f.seal.set(name, prefix{}); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &sealedFile{File: file, seal: f.seal, name: name}, nil
}

// sealedFile is a sealed file. It is written sequentially.
type sealedFile struct {
	vfs.File
	seal    *seal
	name    string
	written prefix
}

func (f *sealedFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.written.length += int64(n)
	f.written.sum = crc32.Update(f.written.sum, castagnoli, p[:n])
	return n, err
}

func (f *sealedFile) Sync() error {
	if err := f.File.Sync(); err != nil {
		return err
	}
	return f.seal.set(f.name, f.written)
}

func (f *sealedFile) SyncData() error {
	if err := f.File.SyncData(); err != nil {
		return err
	}
	return f.seal.set(f.name, f.written)
}

func (f *sealedFile) SyncTo(length int64) (fullSync bool, err error) {
	if fullSync, err = f.File.SyncTo(length); err != nil || !fullSync {
		return fullSync, err
	}
	return true, f.seal.set(f.name, f.written)
}
