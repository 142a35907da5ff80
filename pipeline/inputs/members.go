package inputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"neardup/extract/container"
	"neardup/pipeline/remote"
)

// A WACZ file may have thousands of members, and reading its directory takes time
// for each. So the sources of one file share what was read of it.

// sharedZip is a WACZ file that several sources share.
type sharedZip struct {
	mu      sync.Mutex
	file    io.Closer
	members map[int]*container.Member // by entry; nil: the file is not open
	err     error
	left    int // sources that are not closed yet
	compare *Comparer
}

// ShareFiles makes sources that are read together open each WACZ file that has at least so
// many of them once. Each source that is not unreadable must then be opened once.
func ShareFiles(sources []Source, limits container.Limits, least int) {
	members := map[string]int{}
	for _, s := range sources {
		if s.State != Unreadable {
			members[s.File]++
		}
	}
	shared := map[string]*sharedZip{}
	for i := range sources {
		s := &sources[i]
		if s.File == "" || s.State == Unreadable || members[s.File] < least {
			continue
		}
		if shared[s.File] == nil {
			shared[s.File] = &sharedZip{compare: NewComparer(limits)}
		}
		s.shared = shared[s.File]
		s.shared.left++
	}
}

// open opens a member. The file is closed with the last of its members.
func (z *sharedZip) open(ctx context.Context, s Source, limits container.Limits) (io.ReaderAt, io.Closer, container.Part, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.members == nil && z.err == nil {
		z.file, z.members, z.err = openMembers(ctx, s, limits)
	}
	r, part, err := io.ReaderAt(nil), container.Part{}, z.err
	if err == nil {
		r, part, err = openMember(z.members, s)
	}
	if err != nil {
		return nil, nil, part, errors.Join(err, z.release())
	}
	return r, closer(func() error {
		z.mu.Lock()
		defer z.mu.Unlock()
		return z.release()
	}), part, nil
}

// release closes the file if no source needs it any more.
func (z *sharedZip) release() error {
	if z.left--; z.left > 0 || z.file == nil {
		return nil
	}
	return z.file.Close()
}

// Unchanged is Comparer.Unchanged for readers that work concurrently.
func (z *sharedZip) Unchanged(ctx context.Context, s Source) (bool, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.compare.Unchanged(ctx, s)
}

type closer func() error

func (c closer) Close() error { return c() }

func openMembers(ctx context.Context, s Source, limits container.Limits) (io.Closer, map[int]*container.Member, error) {
	f, v, err := openFile(ctx, s.File, s.wanted())
	if err != nil {
		return nil, nil, err
	}
	members, err := container.Members(f, v.size, limits)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	out := make(map[int]*container.Member, len(members))
	for i := range members {
		out[members[i].Entry] = &members[i]
	}
	return f, out, nil
}

func openMember(members map[int]*container.Member, s Source) (io.ReaderAt, container.Part, error) {
	m := members[s.Entry]
	if m == nil {
		return nil, container.Part{}, fs.ErrNotExist
	}
	r, err := m.Open()
	return r, m.Part(len(members)), err
}

// Comparer compares sources with their files. It is fast if the sources of one WACZ
// file, or of one object, are compared in succession. A server that fails is not asked
// about further objects. Only one goroutine may use a Comparer.
type Comparer struct {
	limits container.Limits
	once   bool             // no failed request is made again
	failed map[string]error // by server

	file  string // the file whose members were looked up last
	found map[string]Source
	err   error

	object     string // the object that was asked for last; each request takes time
	version    version
	versionErr error
}

// NewComparer returns a Comparer that reads files within limits.
func NewComparer(limits container.Limits) *Comparer {
	return &Comparer{limits: limits, failed: map[string]error{}}
}

// NewHastyComparer returns a Comparer that asks each server only once when it fails.
func NewHastyComparer(limits container.Limits) *Comparer {
	return &Comparer{limits: limits, failed: map[string]error{}, once: true}
}

// Unchanged reports whether the file is still the one that was read: it has the
// same size, and the same time or else the same sample.
func (c *Comparer) Unchanged(ctx context.Context, s Source) (bool, error) {
	s = s.Placed()
	if s.IsObject() {
		if c.object != s.FilePath() {
			c.object = s.FilePath()
			c.version, c.versionErr = c.ask(ctx, c.object)
		}
		return c.versionErr == nil && c.version.tag == s.Tag && (s.File != "" || c.version.size == s.Size), c.versionErr
	}
	v, err := statFile(ctx, s.FilePath())
	if err != nil {
		return false, err
	}
	if s.File != "" {
		if v.modTime == s.ModTime {
			return true, nil
		}
		if c.file != s.File {
			c.look(ctx, s.File)
		}
		now, ok := c.found[s.Path]
		return ok && now.Size == s.Size && now.Sample == s.Sample, c.err
	}
	if v.modTime == s.ModTime && v.size == s.Size {
		return true, nil
	}
	f, v, err := openFile(ctx, s.FilePath(), remote.Version{})
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	now := s
	if err := now.look(f, v); err != nil {
		return false, err
	}
	return now.Size == s.Size && now.Sample == s.Sample, nil
}

// ask returns the version of an object.
func (c *Comparer) ask(ctx context.Context, name string) (version, error) {
	server := serverOf(name)
	if err := c.failed[server]; err != nil {
		return version{}, fmt.Errorf("%s: not asked, because the server failed before: %w", name, err)
	}
	o, err := (*remote.Object)(nil), error(nil)
	if c.once {
		o, err = remote.OpenOnce(ctx, name)
	} else {
		o, err = remote.Open(ctx, name, remote.Version{})
	}
	if err != nil {
		if remote.GaveUp(err) {
			c.failed[server] = err
		}
		return version{}, fmt.Errorf("%s: %w", name, err)
	}
	return version{size: o.Size, tag: o.Tag}, o.Close()
}

// serverOf returns the part of a URL that names the server or the bucket.
func serverOf(name string) string {
	scheme, rest, _ := strings.Cut(name, "://")
	host, _, _ := strings.Cut(rest, "/")
	return strings.ToLower(scheme) + "://" + host
}

// look looks up the members of a file.
func (c *Comparer) look(ctx context.Context, path string) {
	c.file, c.found, c.err = path, map[string]Source{}, nil
	f, v, err := openFile(ctx, path, remote.Version{})
	if err != nil {
		c.err = err
		return
	}
	defer func() { _ = f.Close() }()
	found, err := findMembers(f, v, path, c.limits)
	for s := range slices.Values(found) {
		c.found[s.Path] = s
	}
	c.err = err
}
