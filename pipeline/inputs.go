package pipeline

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"neardup/extract"
)

// The states of a source.
const (
	sourcePending    = "pending"    // not read yet, or not to its end
	sourceDone       = "done"       // read to its end
	sourceUnreadable = "unreadable" // could not be opened or read further; tried again on the next run
)

// Source is an input file as the workspace knows it.
type Source struct {
	Path     string           `json:"path"` // absolute, without symbolic links
	Name     string           `json:"name"` // the file's own name, as exports show it
	Size     int64            `json:"size"`
	ModTime  int64            `json:"mtime_ns"`
	Sample   string           `json:"sample"` // digest of the file's first and last 64 KiB
	State    string           `json:"state"`
	Error    string           `json:"error,omitempty"`
	Position extract.Position `json:"position"` // where reading goes on
	Counts   RecordCounts     `json:"counts"`
	Note     string           `json:"note,omitempty"` // set by status only
}

// RecordCounts accounts for every record of one or more sources:
// Records = Captures + the sum of Skipped. Captures of one document met
// again, in another file, are duplicates of input.
type RecordCounts struct {
	Records  int64            `json:"records"`
	Captures int64            `json:"captures"`
	Clipped  int64            `json:"clipped"`           // captures whose payload was cut
	Damaged  int64            `json:"damaged"`           // places in files that are no record
	Skipped  map[string]int64 `json:"skipped"`           // by reason
	Choices  map[string]int64 `json:"choices,omitempty"` // captures by soft choice made
}

func (c *RecordCounts) add(o RecordCounts) {
	if c.Skipped == nil {
		c.Skipped = map[string]int64{}
	}
	c.Records += o.Records
	c.Captures += o.Captures
	c.Clipped += o.Clipped
	c.Damaged += o.Damaged
	for reason, n := range o.Skipped {
		c.skip(reason, n)
	}
	for choice, n := range o.Choices {
		c.choose(choice, n)
	}
}

func (c *RecordCounts) choose(choice string, n int64) {
	if c.Choices == nil {
		c.Choices = map[string]int64{}
	}
	c.Choices[choice] += n
}

func (c *RecordCounts) skip(reason string, n int64) {
	c.Skipped[reason] += n
}

// Inputs finds the files that the arguments name: files, directories (all
// archives below them), patterns, and "-" for standard input, which is copied
// into the workspace in dir so that a run can resume. A file that cannot be
// read becomes an unreadable source. ignored counts the files below
// directories that are no archives.
func Inputs(dir string, args []string, stdin io.Reader) (sources []Source, ignored int, err error) {
	seen := map[string]bool{}
	add := func(s Source) {
		if !seen[s.Path] {
			seen[s.Path] = true
			sources = append(sources, s)
		}
	}
	for _, arg := range args {
		switch info, statErr := os.Stat(arg); {
		case arg == "-":
			s, err := spool(dir, stdin)
			if err != nil {
				return nil, 0, err
			}
			add(s)
		case statErr == nil && info.IsDir():
			err := filepath.WalkDir(arg, func(path string, e fs.DirEntry, err error) error {
				switch {
				case err != nil:
					add(unreadable(path, err))
				case e.Type().IsRegular():
					s := newSource(path)
					if s.Error == errNotArchive.Error() {
						ignored++
						return nil
					}
					add(s)
				}
				return nil
			})
			if err != nil {
				return nil, 0, err
			}
		case statErr != nil && strings.ContainsAny(arg, "*?["):
			names, err := filepath.Glob(arg)
			if err != nil {
				return nil, 0, fmt.Errorf("%w: pattern %s: %w", ErrUsage, arg, err)
			}
			if len(names) == 0 {
				return nil, 0, fmt.Errorf("%w: no file matches %s", ErrUsage, arg)
			}
			more, n, err := Inputs(dir, names, stdin)
			if err != nil {
				return nil, 0, err
			}
			for _, s := range more {
				add(s)
			}
			ignored += n
		default:
			add(newSource(arg))
		}
	}
	return sources, ignored, nil
}

// ReadSourceList reads file names, one a line; empty lines and lines that
// start with # are passed over.
func ReadSourceList(r io.Reader) ([]string, error) {
	var names []string
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if line := strings.TrimSpace(sc.Text()); line != "" && !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	return names, sc.Err()
}

var errNotArchive = errors.New("not a WARC file")

func unreadable(path string, err error) Source {
	if abs, absErr := filepath.Abs(path); absErr == nil {
		path = abs
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return Source{Path: path, Name: filepath.Base(path), State: sourceUnreadable, Error: err.Error(), Counts: RecordCounts{Skipped: map[string]int64{}}}
}

// newSource looks at a file. What is wrong with it is in the source's Error.
func newSource(path string) Source {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return unreadable(path, err)
	}
	if real, err = filepath.Abs(real); err != nil {
		return unreadable(path, err)
	}
	s := Source{Path: real, Name: filepath.Base(real), State: sourcePending, Counts: RecordCounts{Skipped: map[string]int64{}}}
	if err := s.look(true); err != nil {
		return unreadable(real, err)
	}
	return s
}

const sampleBytes = 64 << 10

// look fills in the file's size, time and sample, and checks that it is an
// archive.
func (s *Source) look(check bool) error {
	info, err := os.Stat(s.Path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	s.Size, s.ModTime = info.Size(), info.ModTime().UnixNano()
	h := sha256.New()
	head := make([]byte, min(s.Size, sampleBytes))
	if _, err := io.ReadFull(f, head); err != nil {
		return err
	}
	h.Write(head)
	tail := make([]byte, min(s.Size, sampleBytes))
	if _, err := f.ReadAt(tail, s.Size-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	h.Write(tail)
	s.Sample = hex.EncodeToString(h.Sum(nil)[:16])
	if check && !isArchive(head) {
		return errNotArchive
	}
	return nil
}

// isArchive tells by its first bytes whether a file holds WARC records.
func isArchive(head []byte) bool {
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		zr, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return false
		}
		b := make([]byte, 512)
		n, _ := io.ReadFull(zr, b)
		head = b[:n]
	}
	return bytes.HasPrefix(bytes.TrimLeft(head, "\r\n"), []byte("WARC/"))
}

// unchanged tells whether the file is still the one that was read: the same
// size, and the same time or else the same sample.
func (s Source) unchanged() (bool, error) {
	now := s
	if info, err := os.Stat(s.Path); err != nil {
		return false, err
	} else if info.Size() == s.Size && info.ModTime().UnixNano() == s.ModTime {
		return true, nil
	}
	if err := now.look(false); err != nil {
		return false, err
	}
	return now.Size == s.Size && now.Sample == s.Sample, nil
}

// spool copies standard input into the workspace, under the name of its
// digest.
func spool(dir string, stdin io.Reader) (Source, error) {
	into := filepath.Join(dir, "spool")
	if err := os.MkdirAll(into, 0o777); err != nil {
		return Source{}, err
	}
	f, err := os.CreateTemp(into, temporary+"*")
	if err != nil {
		return Source{}, err
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, h), stdin); err != nil {
		if isNoSpace(err) {
			return Source{}, diskFull(dir, err)
		}
		return Source{}, fmt.Errorf("standard input: %w", err)
	}
	path := filepath.Join(into, "stdin-"+hex.EncodeToString(h.Sum(nil)[:8]))
	if err := errors.Join(f.Sync(), os.Rename(f.Name(), path)); err != nil {
		return Source{}, err
	}
	s := newSource(path)
	return s, nil
}

// sources are the inputs that the workspace knows, by path.
func (w *Workspace) sources() ([]Source, error) {
	var out []Source
	for r, err := range w.store.table(tableSource) {
		if err != nil {
			return nil, err
		}
		var s Source
		if err := r.json(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// sourcesGeneration names what extract reads. Only files of which something
// could be read count, and where they lie does not.
func sourcesGeneration(known []Source) string {
	var ids []string
	for _, s := range known {
		if s.State != sourceUnreadable || s.Counts.Records > 0 {
			ids = append(ids, fmt.Sprintf("%s %d %s", s.Name, s.Size, s.Sample))
		}
	}
	slices.Sort(ids)
	return digest(strings.Join(ids, "\n"))
}

// admit records the inputs of a run. A file that changed since it was read
// makes the extraction start over, for which all files must still be there.
func (w *Workspace) admit(inputs []Source) error {
	b := w.store.batch()
	inputs, err := w.retry(b, inputs)
	if err != nil {
		return err
	}
	changed := ""
	for _, s := range inputs {
		var old Source
		known, err := w.store.getJSON(sourceKey(s.Path), &old)
		if err != nil {
			return err
		}
		if s.State == sourceUnreadable {
			w.o.Progress.Warn("cannot read file", "file", s.Path, "error", s.Error)
			if known && old.State != sourceUnreadable {
				continue // what was read of it stays
			}
		} else if known && old.State != sourceUnreadable {
			if s.Size == old.Size && s.Sample == old.Sample {
				continue
			}
			changed = s.Path
		}
		if err := b.setJSON(sourceKey(s.Path), s); err != nil {
			return err
		}
	}
	if changed != "" {
		if err := w.restartExtraction(b, changed); err != nil {
			return err
		}
	}
	return b.commit()
}

// retry adds the files that could not be read before to a run that names no
// inputs; a run that names its inputs forgets those that are not among them.
func (w *Workspace) retry(b batch, inputs []Source) ([]Source, error) {
	named := map[string]bool{}
	for _, s := range inputs {
		named[s.Path] = true
	}
	known, err := w.sources()
	if err != nil {
		return nil, err
	}
	again := len(inputs) == 0
	for _, s := range known {
		switch {
		case s.State != sourceUnreadable || named[s.Path]:
		case again:
			inputs = append(inputs, newSource(s.Path))
		case s.Counts.Records == 0:
			if err := b.Delete(sourceKey(s.Path), nil); err != nil {
				return nil, err
			}
		}
	}
	return inputs, nil
}

// restartExtraction makes the next extraction begin anew because file changed.
func (w *Workspace) restartExtraction(b batch, file string) error {
	known, err := w.sources()
	if err != nil {
		return err
	}
	for _, s := range known {
		if _, err := os.Stat(s.Path); err != nil && s.State != sourceUnreadable {
			return fmt.Errorf("%s has changed since it was read, so everything must be read again, but %w; start a new workspace", file, err)
		}
	}
	w.o.Progress.Warn("file changed since it was read: everything is extracted again", "file", file)
	return b.Delete(metaKey("stage/"+stages[0].name), nil)
}

// forgetProgress makes all sources unread. They must all still be there.
func (w *Workspace) forgetProgress(b batch) error {
	known, err := w.sources()
	if err != nil {
		return err
	}
	for _, s := range known {
		if s.State == sourceUnreadable {
			continue
		}
		if same, err := s.unchanged(); err != nil {
			return fmt.Errorf("everything must be read again, but %w; start a new workspace", err)
		} else if !same {
			return fmt.Errorf("everything must be read again, but %s has changed; name it among the inputs", s.Path)
		}
		s.State, s.Position, s.Counts = sourcePending, extract.Position{}, RecordCounts{Skipped: map[string]int64{}}
		if err := b.setJSON(sourceKey(s.Path), s); err != nil {
			return err
		}
	}
	return nil
}
