// Package inputs finds what a run has to read: files, directories, patterns, URLs,
// standard input. It opens each as a source that can be read at any offset, and
// tells whether a source is still what was read before.
//
// A source records how much of it was read. Storing sources and ordering their
// reading is the caller's task: package workspace keeps them in its database.
package inputs

import (
	"bufio"
	"cmp"
	"context"
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

	"neardup/extract/container"
	"neardup/pipeline/remote"
)

// Find returns the sources that the arguments name. An argument is a file, a
// directory (all archives below it), a pattern, a URL, or "-" for standard input,
// which is copied into the workspace in dir so that a run can resume. A WACZ file
// stands for the archives in it.
//
// Text collections (lines of an ID, a tab and a text, or of JSON with id and text)
// must be named by an argument, a pattern or a list. They are not taken from
// directories, since too many other files look like them. A file that cannot be
// read becomes an unreadable source. So does a pipe or a device: opening it could
// wait forever. Find follows a symbolic link that is named, but none below a
// directory, which could lead anywhere or in circles. ignored counts the files and
// links below directories that it skips.
func Find(ctx context.Context, dir string, args []string, stdin io.Reader, limits container.Limits) (sources []Source, ignored int, err error) {
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
		case statErr != nil && remote.IsURL(arg):
			if err := remote.Check(arg); err != nil {
				return nil, 0, &ArgumentError{fmt.Errorf("an input cannot be read: %w", err)}
			}
			found, n, err := findObjects(ctx, arg, limits)
			if err != nil {
				return nil, 0, err
			}
			add(arg, found...)
			ignored += n
		case IsStream(arg):
			s, err := spoolArgument(ctx, dir, arg, stdin, limits)
			if err != nil {
				return nil, 0, err
			}
			add("", s...)
		case statErr == nil && info.IsDir():
			root, err := filepath.EvalSymlinks(arg) // WalkDir does not follow a link as its root
			if err != nil {
				return nil, 0, err
			}
			err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
				given := filepath.Join(arg, strings.TrimPrefix(path, root))
				switch {
				case err != nil:
					add(given, unreadable(path, err))
				case e.Type().IsRegular():
					found := findSources(ctx, path, false, limits)
					if len(found) == 0 {
						ignored++
					}
					add(given, found...)
				case e.IsDir():
				case e.Type()&fs.ModeSymlink == 0 && isArchiveName(path):
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
				return nil, 0, &ArgumentError{fmt.Errorf("pattern %s: %w", arg, err)}
			}
			if len(names) == 0 {
				return nil, 0, &ArgumentError{fmt.Errorf("no file matches %s", arg)}
			}
			more, n, err := Find(ctx, dir, names, stdin, limits)
			if err != nil {
				return nil, 0, err
			}
			for _, s := range more {
				add("", s)
			}
			ignored += n
		case statErr != nil && hasScheme(arg):
			return nil, 0, &ArgumentError{fmt.Errorf("%s is a URL of a kind that neardup does not read; it reads https, http and s3", withoutUser(arg))}
		default:
			add(arg, findSources(ctx, arg, true, limits)...)
		}
	}
	return sources, ignored, nil
}

// ReadList reads file names, one per line. It ignores empty lines and lines that
// start with #.
func ReadList(r io.Reader) ([]string, error) {
	var names []string
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	for first := true; sc.Scan(); first = false {
		line := sc.Text()
		if first { // a byte order mark is no part of the first name
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if strings.ContainsRune(line, 0) {
			return nil, errors.New("no list of names: a line has a zero byte")
		}
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			names = append(names, line)
		}
	}
	return names, sc.Err()
}

// ArgumentError reports an argument that names no input.
type ArgumentError struct{ Err error }

// Error implements error.
func (e *ArgumentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ArgumentError) Unwrap() error { return e.Err }

func unreadable(path string, err error) Source {
	cause := err
	if abs, absErr := filepath.Abs(path); absErr == nil && !remote.IsURL(path) {
		path = abs
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return Source{Path: path, Name: ShowName(fileName(path)), State: Unreadable, Error: err.Error(), Counts: RecordCounts{Skipped: map[string]int64{}}, cause: cause}
}

// findSources returns the sources in a file: the file itself, or the archives in a
// WACZ file. A source that cannot be read has an Error. A file that was not named
// and is no archive has no sources.
func findSources(ctx context.Context, path string, named bool, limits container.Limits) []Source {
	real, err := RealPath(path)
	if err != nil {
		return []Source{unreadable(path, err)}
	}
	s := Source{Path: real, Name: ShowName(fileName(real)), State: Pending, Counts: RecordCounts{Skipped: map[string]int64{}}}
	f, v, err := openFile(ctx, real, remote.Version{})
	if err != nil {
		return []Source{unreadable(real, err)}
	}
	defer func() { _ = f.Close() }()
	accepted := container.Records
	switch {
	case named:
		accepted = container.All
	case isArchiveName(real):
		accepted = container.Garbage
	}
	s.Format, err = container.Detect(f, accepted, limits)
	if err == nil && s.Format == container.FormatWACZ {
		var found []Source
		if found, err = findMembers(f, v, real, limits); len(found) > 0 {
			return found
		}
		if err == nil {
			err = fmt.Errorf("%w: a zip file without any in archive/", container.ErrNotArchive)
		}
	}
	if err == nil {
		err = s.look(f, v)
	}
	switch {
	case err == nil:
		return []Source{s}
	case named || isArchiveName(real):
		s := unreadable(real, err)
		s.NotArchive = named && errors.Is(err, container.ErrNotArchive)
		return []Source{s}
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) || s.IsObject() && !errors.Is(err, container.ErrNotArchive) { // an error of the disk or the network, not of the file
		return []Source{unreadable(real, err)}
	}
	return nil
}

// RealPath returns the absolute path of a file, without symbolic links.
func RealPath(path string) (string, error) {
	if remote.IsURL(path) {
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// checkRanges returns an error if a file cannot be read at any offset.
func checkRanges(f io.ReaderAt) error {
	if o, ok := f.(*remote.Object); ok && !o.Ranged() {
		return fmt.Errorf("%w; a WACZ file cannot be read that way: fetch it first", remote.ErrNoRanges)
	}
	return nil
}

// isArchiveName reports whether a name is that of an archive. If such a file below a
// directory is none, it is reported: one wrong bit makes its beginning unreadable.
func isArchiveName(path string) bool {
	name := strings.ToLower(fileName(path))
	for _, end := range []string{".gz", ".zst", ".lz4"} {
		name = strings.TrimSuffix(name, end)
	}
	return slices.ContainsFunc([]string{".warc", ".arc", ".wacz", ".wet"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// findMembers returns the archives in a WACZ file.
func findMembers(f io.ReaderAt, v version, path string, limits container.Limits) ([]Source, error) {
	if err := checkRanges(f); err != nil {
		return nil, err
	}
	members, err := container.Members(f, v.size, limits)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []Source
	for _, m := range members {
		s := Source{
			Path: path + "!" + m.Path, Name: m.Name, File: path, Entry: m.Entry, Size: m.Size, ModTime: v.modTime, Tag: v.tag,
			State: Pending, Counts: RecordCounts{Skipped: map[string]int64{}},
		}
		if seen[s.Path] { // a ZIP file can have two members of one name
			s.Path += fmt.Sprintf("#%d", m.Entry)
		}
		seen[s.Path] = true
		err := s.lookInside(m, limits)
		switch {
		case errors.Is(err, container.ErrNotArchive) && !isArchiveName(m.Name):
			continue
		case err != nil:
			s.State, s.Error = Unreadable, err.Error()
		}
		out = append(out, s)
	}
	return out, nil
}

// lookInside sets a member's sample and checks that it is an archive.
func (s *Source) lookInside(m container.Member, limits container.Limits) error {
	f, err := m.Open()
	if err != nil {
		return err
	}
	accepted := container.Records
	if isArchiveName(m.Name) {
		accepted = container.Garbage
	}
	if format, err := container.Detect(f, accepted, limits); err != nil {
		return err
	} else if format != container.FormatRecords {
		return container.ErrNotArchive // a ZIP file in a ZIP file
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

// openRegular opens a regular file. It rejects directories, devices and pipes
// before it opens them, since opening those could wait forever.
func openRegular(path string) (*os.File, fs.FileInfo, error) {
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

// notAFile returns the error for something that is no regular file.
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

// look sets size, time or tag, and sample.
func (s *Source) look(f io.ReaderAt, v version) (err error) {
	s.Size, s.ModTime, s.Tag = v.size, v.modTime, v.tag
	if s.IsObject() {
		s.Sample, err = sampleObject(f, v)
		return err
	}
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
