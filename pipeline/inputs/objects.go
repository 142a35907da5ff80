package inputs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"neardup/extract/container"
	"neardup/pipeline/remote"
)

// A source is a file, or an object at a URL. Both can be read at any offset. All
// that is read of an object belongs to one version.

// version identifies the state of a file, to tell whether it is still the one that
// was read.
type version struct {
	size    int64
	modTime int64  // of a file
	tag     string // of an object
}

// openFile opens a file or an object. If want is not empty, an object must have
// that version.
func openFile(ctx context.Context, path string, want remote.Version) (interface {
	io.ReaderAt
	io.Closer
}, version, error) {
	if remote.IsURL(path) {
		o, err := remote.Open(ctx, path, want)
		if err != nil {
			return nil, version{}, err
		}
		return o, version{size: o.Size, tag: o.Tag}, nil
	}
	f, info, err := openRegular(path)
	if err != nil {
		return nil, version{}, err
	}
	return f, version{size: info.Size(), modTime: info.ModTime().UnixNano()}, nil
}

// Open opens a file or an object at a URL, and returns its size in bytes.
func Open(ctx context.Context, path string) (interface {
	io.ReaderAt
	io.Closer
}, int64, error) {
	f, v, err := openFile(ctx, path, remote.Version{})
	return f, v.size, err
}

// statFile returns the version of a file or an object.
func statFile(ctx context.Context, path string) (version, error) {
	if remote.IsURL(path) {
		f, v, err := openFile(ctx, path, remote.Version{})
		if err != nil {
			return v, fmt.Errorf("%s: %w", path, err)
		}
		return v, f.Close()
	}
	info, err := os.Stat(path)
	if err != nil {
		return version{}, err
	}
	return version{size: info.Size(), modTime: info.ModTime().UnixNano()}, nil
}

// wanted returns the version that the source's object had when it was found. The
// size of a WACZ member is not that of its file, so it is left out.
func (s Source) wanted() remote.Version {
	if s.File != "" {
		return remote.Version{Size: -1, Tag: s.Tag}
	}
	return remote.Version{Size: s.Size, Tag: s.Tag}
}

// IsObject reports whether a source is an object at a URL, or a member of one.
func (s Source) IsObject() bool { return remote.IsURL(s.FilePath()) }

// sampleObject returns the digest of an object's first bytes and its version. The
// last bytes, which a file's sample includes, would take another request.
func sampleObject(f io.ReaderAt, v version) (string, error) {
	h := sha256.New()
	head := make([]byte, min(v.size, sampleBytes))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return "", err
	}
	h.Write(head)
	fmt.Fprintf(h, "%d %s", v.size, v.tag)
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// fileName returns the base name of a file or an object.
func fileName(name string) string {
	if !remote.IsURL(name) {
		return filepath.Base(name)
	}
	u, err := url.Parse(name)
	if err != nil || u.Scheme == "s3" { // an S3 key is no URL path
		return path.Base(name)
	}
	if base := path.Base(u.Path); base != "." && base != "/" {
		return base
	}
	return u.Host
}

// lookedUpAtOnce limits the objects of a prefix that are examined concurrently.
const lookedUpAtOnce = 8

// findObjects returns the sources at a URL. If an s3 URL names no object, or ends with
// a slash, these are all objects whose keys begin with its key; of these, the ones that
// are no archive are ignored, as below a directory.
func findObjects(ctx context.Context, name string, limits container.Limits) (sources []Source, ignored int, err error) {
	var found []Source
	if !strings.HasSuffix(name, "/") { // a folder may have an empty object of its name
		found = findSources(ctx, name, true, limits)
		if !errors.Is(found[0].cause, fs.ErrNotExist) {
			return found, 0, ctx.Err()
		}
	}
	names, err := remote.List(ctx, name)
	switch {
	case ctx.Err() != nil:
		return nil, 0, ctx.Err()
	case err != nil:
		return []Source{unreadable(name, err)}, 0, nil
	case len(names) == 0 && found == nil:
		return findSources(ctx, name, true, limits), 0, ctx.Err()
	case len(names) == 0:
		return found, 0, nil
	}
	each := make([][]Source, len(names))
	g := errgroup.Group{}
	g.SetLimit(lookedUpAtOnce)
	for i, of := range names {
		g.Go(func() error {
			each[i] = findSources(ctx, of, false, limits)
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, 0, err
	}
	for i, found := range each {
		if len(found) == 0 {
			ignored++
		}
		for _, s := range found {
			s.Given = ShowName(names[i])
			sources = append(sources, s)
		}
	}
	return sources, ignored, nil
}
