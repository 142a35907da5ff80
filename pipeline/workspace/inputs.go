package workspace

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"neardup/extract"
	"neardup/extract/container"
)

// The states of a source.
const (
	SourcePending    = "pending"    // not read yet, or not to its end
	SourceDone       = "done"       // read to its end
	SourceUnreadable = "unreadable" // could not be opened or read further; tried again on the next run
)

// Source is an input file as the workspace knows it.
type Source struct {
	Path     string             `json:"path"`             // absolute, without symbolic links; FILE!MEMBER in a WACZ file; in JSON as ShowName shows it
	Name     string             `json:"name"`             // the file's own name as text, which exports show
	Given    string             `json:"given,omitempty"`  // the file's path as it was given, or below a directory as it was given; as text
	File     string             `json:"file,omitempty"`   // the WACZ file that it is in
	Entry    int                `json:"entry,omitempty"`  // its index in the WACZ file
	Format   container.Format   `json:"format,omitempty"` // format of a text collection; empty for records
	Size     int64              `json:"size"`
	ModTime  int64              `json:"mtime_ns"`
	Sample   string             `json:"sample"` // digest of the file's first and last 64 KiB
	State    string             `json:"state"`
	Error    string             `json:"error,omitempty"`
	Position container.Position `json:"position"` // where reading goes on
	Counts   RecordCounts       `json:"counts"`
	Ended    []EndedRun         `json:"ended,omitempty"` // records that ended a run
	Digested *Digested          `json:"digested,omitempty"`
	SHA256   string             `json:"sha256,omitempty"`  // of all of it, once it is done
	Changed  bool               `json:"changed,omitempty"` // while it was read
	Gone     bool               `json:"gone,omitempty"`    // unreadable, and there is no such file any more
	Note     string             `json:"note,omitempty"`    // set by status only

	NotArchive bool `json:"-"` // it is unreadable because it is no archive

	shared *sharedZip // nil: the source opens its file alone
}

// RecordCounts accounts for every record of one or more sources: Records =
// Captures + Revisits + the sum of Skipped. What becomes of revisits is known
// when all sources are read. A capture met again in another file is a duplicate
// of input.
type RecordCounts struct {
	Records  int64            `json:"records"`
	Captures int64            `json:"captures"`
	Revisits int64            `json:"revisits"`          // of captures, in these or other sources
	Parsed   int64            `json:"parsed"`            // captures read by way of a tree
	Clipped  int64            `json:"clipped"`           // captures whose payload was cut
	Damaged  int64            `json:"damaged"`           // places in files that are no record
	Skipped  map[string]int64 `json:"skipped"`           // by reason
	Kinds    map[string]int64 `json:"kinds,omitempty"`   // captures of HTML pages by kind
	Choices  map[string]int64 `json:"choices,omitempty"` // captures by soft choice made
}

func (c *RecordCounts) Add(o RecordCounts) {
	c.Records += o.Records
	c.Captures += o.Captures
	c.Revisits += o.Revisits
	c.Parsed += o.Parsed
	c.Clipped += o.Clipped
	c.Damaged += o.Damaged
	addCounts(&c.Skipped, o.Skipped)
	addCounts(&c.Kinds, o.Kinds)
	addCounts(&c.Choices, o.Choices)
}

func (c *RecordCounts) Skip(reason extract.Reason, n int64) {
	addCounts(&c.Skipped, map[string]int64{string(reason): n})
}

// Capture counts a document.
func (c *RecordCounts) Capture(d extract.Document) {
	c.Captures++
	if d.Parsed {
		c.Parsed++
	}
	if d.Clipped {
		c.Clipped++
	}
	if d.Kind != "" {
		addCounts(&c.Kinds, map[string]int64{string(d.Kind): 1})
	}
	for _, choice := range d.Choices.Names() {
		addCounts(&c.Choices, map[string]int64{choice: 1})
	}
}

func addCounts(to *map[string]int64, counts map[string]int64) {
	if *to == nil {
		*to = map[string]int64{}
	}
	for name, n := range counts {
		(*to)[name] += n
	}
}

// Inputs returns the sources that the arguments name: files, directories (all
// archives below them), patterns, and "-" for standard input, which it copies
// into the workspace in dir so that a run can resume. A WACZ file stands for
// the archives in it. Text collections (lines of an id, a tab and a text, or of
// JSON with id and text) must be named by an argument, a pattern or a list.
// Below a directory they are not taken: too much else looks like them. A file
// that cannot be read becomes an unreadable source. So does a pipe or a device,
// which Inputs does not open, because that could wait forever. It follows a
// symbolic link that is named. It does not follow one below a directory, which
// could lead anywhere and in circles. ignored counts the files and links below
// directories that it passes over.
func Inputs(dir string, args []string, stdin io.Reader, limits container.Limits) (sources []Source, ignored int, err error) {
	seen := map[string]bool{}
	add := func(given string, found ...Source) {
		for _, s := range found {
			if !seen[s.Path] {
				seen[s.Path] = true
				s.Given = cmp.Or(s.Given, ShowName(given))
				sources = append(sources, s)
			}
		}
	}
	for _, arg := range args {
		switch info, statErr := os.Stat(arg); {
		case IsStream(arg):
			s, err := spoolArgument(dir, arg, stdin, limits)
			if err != nil {
				return nil, 0, err
			}
			add("", s...)
		case statErr == nil && info.IsDir():
			root, err := filepath.EvalSymlinks(arg) // WalkDir does not follow a link that it starts from
			if err != nil {
				return nil, 0, err
			}
			err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
				given := filepath.Join(arg, strings.TrimPrefix(path, root))
				switch {
				case err != nil:
					add(given, unreadable(path, err))
				case e.Type().IsRegular():
					found := findSources(path, false, limits)
					if len(found) == 0 {
						ignored++
					}
					add(given, found...)
				case e.IsDir():
				case e.Type()&fs.ModeSymlink == 0 && hasArchiveName(path):
					add(given, unreadable(path, notAFile(e.Type())))
				default:
					ignored++
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
			more, n, err := Inputs(dir, names, stdin, limits)
			if err != nil {
				return nil, 0, err
			}
			for _, s := range more {
				add("", s)
			}
			ignored += n
		case statErr != nil && hasScheme(arg):
			return nil, 0, fmt.Errorf("%w: %s is a URL, and neardup reads files; fetch it first, or give it as standard input (curl %s | neardup run -)", ErrUsage, arg, arg)
		default:
			add(arg, findSources(arg, true, limits)...)
		}
	}
	return sources, ignored, nil
}

// ReadSourceList reads file names, one on each line. It ignores empty lines and
// lines that start with #.
func ReadSourceList(r io.Reader) ([]string, error) {
	var names []string
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for first := true; sc.Scan(); first = false {
		line := sc.Text()
		if first { // a byte order mark is no part of the first name
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	return names, sc.Err()
}

func unreadable(path string, err error) Source {
	if abs, absErr := filepath.Abs(path); absErr == nil {
		path = abs
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return Source{Path: path, Name: ShowName(filepath.Base(path)), State: SourceUnreadable, Error: err.Error(), Counts: RecordCounts{Skipped: map[string]int64{}}}
}

// findSources returns the sources in a file: the file itself, or the archives
// in a WACZ file. A source that cannot be read has an Error. A file that is not
// named and no archive has no sources.
func findSources(path string, named bool, limits container.Limits) []Source {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return []Source{unreadable(path, err)}
	}
	s := Source{Path: real, Name: ShowName(filepath.Base(real)), State: SourcePending, Counts: RecordCounts{Skipped: map[string]int64{}}}
	f, info, err := OpenRegular(real)
	if err != nil {
		return []Source{unreadable(real, err)}
	}
	defer func() { _ = f.Close() }()
	s.Format, err = container.Detect(f, named, limits)
	if err == nil && s.Format == container.FormatWACZ {
		var found []Source
		if found, err = findMembers(f, info, real, limits); len(found) > 0 {
			return found
		}
		if err == nil {
			err = fmt.Errorf("%w: a zip file without any in archive/", container.ErrNotArchive)
		}
	}
	if err == nil {
		err = s.look(f, info)
	}
	switch {
	case err == nil:
		return []Source{s}
	case named || !errors.Is(err, container.ErrNotArchive) && hasArchiveName(real):
		s := unreadable(real, err)
		s.NotArchive = errors.Is(err, container.ErrNotArchive)
		return []Source{s}
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) { // the disk's error, not the file's
		return []Source{unreadable(real, err)}
	}
	return nil
}

// hasArchiveName reports whether a file that cannot be read is called an
// archive, so that one below a directory is not passed over in silence.
func hasArchiveName(path string) bool {
	name := strings.ToLower(filepath.Base(path))
	for _, part := range []string{".warc", ".arc", ".wacz", ".wet"} {
		if strings.HasSuffix(name, part) || strings.Contains(name, part+".") {
			return true
		}
	}
	return false
}

// findMembers finds the archives in a WACZ file.
func findMembers(f io.ReaderAt, info fs.FileInfo, path string, limits container.Limits) ([]Source, error) {
	members, err := container.Members(f, info.Size(), limits)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []Source
	for _, m := range members {
		s := Source{
			Path: path + "!" + m.Path, Name: m.Name, File: path, Entry: m.Entry, Size: m.Size, ModTime: info.ModTime().UnixNano(),
			State: SourcePending, Counts: RecordCounts{Skipped: map[string]int64{}},
		}
		if seen[s.Path] { // a zip file can hold a name twice
			s.Path += fmt.Sprintf("#%d", m.Entry)
		}
		seen[s.Path] = true
		err := s.lookInside(m, limits)
		switch {
		case errors.Is(err, container.ErrNotArchive):
			continue
		case err != nil:
			s.State, s.Error = SourceUnreadable, err.Error()
		}
		out = append(out, s)
	}
	return out, nil
}

// lookInside fills in a member's sample, and checks that it is an archive.
func (s *Source) lookInside(m container.Member, limits container.Limits) error {
	f, err := m.Open()
	if err != nil {
		return err
	}
	if format, err := container.Detect(f, false, limits); err != nil {
		return err
	} else if format != container.FormatRecords {
		return container.ErrNotArchive // a zip file in a zip file
	}
	head := make([]byte, min(s.Size, sampleBytes))
	n, err := f.ReadAt(head, 0)
	if n == 0 && err != nil {
		return err
	}
	h := sha256.New()
	h.Write(head[:n])
	fmt.Fprintf(h, "%d %x", m.Entry, m.Sum)
	s.Sample = hex.EncodeToString(h.Sum(nil)[:16])
	return nil
}

const sampleBytes = 64 << 10

// OpenRegular opens a file that is neither a directory nor a device or pipe,
// on which opening could wait forever.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: notAFile(info.Mode())}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return f, info, nil
}

// notAFile is the error of what has a name and is no file.
func notAFile(mode fs.FileMode) error {
	what := "not a file"
	switch {
	case mode.IsDir():
		what = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe, not a file; to read what comes out of it, name - and give it as standard input"
	case mode&fs.ModeDevice != 0:
		what = "a device, not a file"
	case mode&fs.ModeSocket != 0:
		what = "a socket, not a file"
	}
	return errors.New(what)
}

// look sets the file's size, time and sample.
func (s *Source) look(f *os.File, info fs.FileInfo) error {
	s.Size, s.ModTime = info.Size(), info.ModTime().UnixNano()
	h := sha256.New()
	head := make([]byte, min(s.Size, sampleBytes))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	h.Write(head)
	tail := make([]byte, min(s.Size, sampleBytes))
	if _, err := f.ReadAt(tail, s.Size-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	h.Write(tail)
	s.Sample = hex.EncodeToString(h.Sum(nil)[:16])
	return nil
}

// file returns the path of the source's file.
func (s Source) file() string { return cmp.Or(s.File, s.Path) }

// Open opens the source for reading at any place.
func (s Source) Open(limits container.Limits) (io.ReaderAt, io.Closer, error) { return s.open(limits) }

// open opens the source.
func (s Source) open(limits container.Limits) (io.ReaderAt, io.Closer, error) {
	if s.shared != nil {
		r, c, err := s.shared.open(s, limits)
		if err != nil {
			err = fmt.Errorf("%s: %w", ShowName(s.Path), err)
		}
		return r, c, err
	}
	if s.File != "" {
		alone := []Source{s}
		ShareFiles(alone, limits)
		return alone[0].open(limits)
	}
	f, _, err := OpenRegular(s.Path)
	return f, f, err
}

// Reader opens the source and starts a reader at its position. What it reads is
// digested.
func (s Source) Reader(limits container.Limits) (*container.Reader, *Digester, io.Closer, error) {
	file, closer, err := s.open(limits)
	if err != nil {
		return nil, nil, nil, err
	}
	f, err := newDigester(file, s.Digested)
	if err != nil {
		return nil, nil, nil, errors.Join(err, closer.Close())
	}
	var r *container.Reader
	if s.Format == container.FormatRecords {
		r, err = container.NewReader(f, s.Position, limits)
	} else {
		r, err = container.NewCollectionReader(f, s.Format, s.Position, limits)
	}
	if err != nil {
		_ = closer.Close()
		return nil, nil, nil, err
	}
	return r, f, closer, nil
}
