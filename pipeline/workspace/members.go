package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"neardup/extract/container"
)

// A WACZ file may have thousands of members, and reading its directory takes as
// long as it has entries. So sources of one file share what was read of it.

// sharedZip is a WACZ file that several sources read.
type sharedZip struct {
	mu      sync.Mutex
	file    *os.File
	members map[int]*container.Member // by entry; nil: not opened
	err     error
	left    int // sources that have not been closed
	compare comparer
}

// ShareFiles makes sources that are read together open each WACZ file once. Each is
// to be opened once.
func ShareFiles(sources []Source, limits container.Limits) {
	shared := map[string]*sharedZip{}
	for i := range sources {
		s := &sources[i]
		if s.File == "" {
			continue
		}
		if shared[s.File] == nil {
			shared[s.File] = &sharedZip{compare: comparer{limits: limits}}
		}
		s.shared = shared[s.File]
		s.shared.left++
	}
}

// open opens a member. The file is closed with its last one.
func (z *sharedZip) open(s Source, limits container.Limits) (io.ReaderAt, io.Closer, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.members == nil && z.err == nil {
		z.file, z.members, z.err = openMembers(s.File, limits)
	}
	r, err := io.ReaderAt(nil), z.err
	if err == nil {
		r, err = openMember(z.members, s)
	}
	if err != nil {
		return nil, nil, errors.Join(err, z.release())
	}
	return r, closer(func() error {
		z.mu.Lock()
		defer z.mu.Unlock()
		return z.release()
	}), nil
}

// release closes the file if no source needs it any more.
func (z *sharedZip) release() error {
	if z.left--; z.left > 0 || z.file == nil {
		return nil
	}
	return z.file.Close()
}

// unchanged does what comparer does, for readers that work at the same time.
func (z *sharedZip) unchanged(s Source) (bool, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.compare.unchanged(s)
}

type closer func() error

func (c closer) Close() error { return c() }

func openMembers(path string, limits container.Limits) (*os.File, map[int]*container.Member, error) {
	f, info, err := OpenRegular(path)
	if err != nil {
		return nil, nil, err
	}
	members, err := container.Members(f, info.Size(), limits)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	out := make(map[int]*container.Member, len(members))
	for i := range members {
		out[members[i].Entry] = &members[i]
	}
	return f, out, nil
}

func openMember(members map[int]*container.Member, s Source) (io.ReaderAt, error) {
	if m := members[s.Entry]; m != nil {
		return m.Open()
	}
	return nil, fs.ErrNotExist
}

// comparer compares sources with their files, those of one WACZ file one after
// another.
type comparer struct {
	limits container.Limits

	file  string // whose members were looked up last
	found map[string]Source
	err   error
}

// unchanged reports whether the file is still the one that was read: the same
// size, and the same time or else the same sample.
func (c *comparer) unchanged(s Source) (bool, error) {
	info, err := os.Stat(s.file())
	if err != nil {
		return false, err
	}
	if s.File != "" {
		if info.ModTime().UnixNano() == s.ModTime {
			return true, nil
		}
		if c.file != s.File {
			c.look(s.File)
		}
		now, ok := c.found[s.Path]
		return ok && now.Size == s.Size && now.Sample == s.Sample, c.err
	}
	f, info, err := OpenRegular(s.file())
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	if info.ModTime().UnixNano() == s.ModTime && info.Size() == s.Size {
		return true, nil
	}
	now := s
	if err := now.look(f, info); err != nil {
		return false, err
	}
	return now.Size == s.Size && now.Sample == s.Sample, nil
}

// look looks up the members of a file.
func (c *comparer) look(path string) {
	c.file, c.found, c.err = path, map[string]Source{}, nil
	f, info, err := OpenRegular(path)
	if err != nil {
		c.err = err
		return
	}
	defer func() { _ = f.Close() }()
	found, err := findMembers(f, info, path, c.limits)
	for s := range slices.Values(found) {
		c.found[s.Path] = s
	}
	c.err = err
}
