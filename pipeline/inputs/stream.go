package inputs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"neardup/extract/container"
	"neardup/pipeline/disk"
)

// IsStream reports whether an argument names something that can be read only once
// and is therefore copied into the workspace: standard input, or a pipe that a
// shell made for this process, such as /dev/fd/63. A named pipe is not one, since
// opening it could wait forever.
func IsStream(arg string) bool {
	if arg == "-" {
		return true
	}
	clean := filepath.Clean(arg)
	if clean != "/dev/stdin" && !strings.HasPrefix(clean, "/dev/fd/") && !strings.HasPrefix(clean, "/proc/self/fd/") {
		return false
	}
	info, err := os.Stat(clean)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// spoolArgument copies a stream into the workspace.
func spoolArgument(ctx context.Context, dir, arg string, stdin io.Reader, limits container.Limits) ([]Source, error) {
	if arg == "-" || filepath.Clean(arg) == "/dev/stdin" {
		return spool(ctx, dir, stdin, limits)
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return spool(ctx, dir, f, limits)
}

// spoolName is the directory of copies of standard input, and spooledName how the
// name of a copy begins.
const (
	spoolName   = "spool"
	spooledName = "stdin-"
)

// isSpooled reports whether a file is a copy of standard input.
func isSpooled(path string) bool {
	dir, name := filepath.Split(path)
	return filepath.Base(dir) == spoolName && strings.HasPrefix(name, spooledName)
}

// IsCopy reports whether the source is a copy of standard input in a workspace.
func (s Source) IsCopy() bool { return isSpooled(s.FilePath()) }

// In makes a copy of standard input be read from the workspace in dir, which may have been
// moved or copied since. The source's path stays, because rows are stored under it.
func (s *Source) In(dir string) {
	if !s.IsCopy() {
		return
	}
	in, err := RealPath(dir)
	if at := filepath.Join(in, spoolName, filepath.Base(s.FilePath())); err == nil && at != s.FilePath() {
		s.at = at // also if it is gone: the copy of another workspace is none of this one
	}
}

// AsKnown returns sources of which copies of standard input have the paths under which the
// workspace knows them.
func AsKnown(sources, known []Source) []Source {
	of := map[string]string{}
	for _, s := range known {
		if s.IsCopy() {
			of[filepath.Base(s.FilePath())] = s.FilePath()
		}
	}
	out := slices.Clone(sources)
	for i, s := range out {
		if path, ok := of[filepath.Base(s.FilePath())]; ok && s.IsCopy() && path != s.FilePath() {
			out[i] = s.movedTo(path)
			out[i].at = s.FilePath()
		}
	}
	return out
}

// Placed returns the source with the path of the file to read.
func (s Source) Placed() Source {
	if s.at == "" {
		return s
	}
	return s.movedTo(s.at)
}

// movedTo returns the source with another path of its file.
func (s Source) movedTo(file string) Source {
	s.Path = file + strings.TrimPrefix(s.Path, s.FilePath())
	if s.File != "" {
		s.File = file
	}
	s.at = ""
	return s
}

// ErrStream reports that standard input was not copied to its end.
var ErrStream = errors.New("standard input")

// spool copies standard input into the workspace. The copy is named by its digest.
func spool(ctx context.Context, dir string, stdin io.Reader, limits container.Limits) ([]Source, error) {
	into := filepath.Join(dir, spoolName)
	if err := os.MkdirAll(into, 0o777); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(into, disk.Temporary+"*")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	h := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, h), stdin); err != nil {
		if disk.IsNoSpace(err) {
			return nil, disk.Full(dir, err)
		}
		return nil, fmt.Errorf("%w: %w", ErrStream, err)
	}
	path := filepath.Join(into, spooledName+hex.EncodeToString(h.Sum(nil)[:8]))
	if err := errors.Join(f.Sync(), os.Rename(f.Name(), path), disk.SyncDirectory(into)); err != nil {
		return nil, err
	}
	sources := findSources(ctx, path, true, limits)
	for i := range sources {
		sources[i].Given = spoolName + "/" + filepath.Base(path) // the same in each workspace
	}
	return sources, nil
}
