package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"sync"

	"neardup/extract/container"
	"neardup/pipeline/store"
)

// A source is digested while it is read, so that what was read is known: a run
// that goes on inside a file first makes sure that its beginning is the same,
// and the manifest has the checksum of what was read to its end.

// errChanged is the error of a file that another was put in the place of, or that
// was written, while it was read.
var errChanged = errors.New("it changed while it was read")

// Digested is how much of a source was digested.
type Digested struct {
	Bytes int64  `json:"bytes"`
	State []byte `json:"state"` // of SHA-256, as crypto/sha256 marshals it
}

// Digester digests what is read of a file, in order. The reader may go back, or
// skip something, which is then read for the digest alone.
type Digester struct {
	f  io.ReaderAt
	mu sync.Mutex
	h  hash.Hash
	to int64
}

const digestStep = 256 << 10

func newDigester(f io.ReaderAt, from *Digested) (*Digester, error) {
	d := &Digester{f: f, h: sha256.New()}
	if from == nil {
		return d, nil
	}
	d.to = from.Bytes
	return d, d.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(from.State)
}

// ReadAt implements io.ReaderAt.
func (d *Digester) ReadAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if off > d.to { // now, because to go back in a deflated member is to begin it again
		d.digestTo(off)
	}
	n, err := d.f.ReadAt(p, off)
	if from := d.to - off; from >= 0 && from < int64(n) {
		d.h.Write(p[from:n])
		d.to = off + int64(n)
	}
	return n, err
}

// digestTo digests the bytes before an offset, or as many as there are.
func (d *Digester) digestTo(off int64) {
	n, _ := io.Copy(d.h, io.NewSectionReader(d.f, d.to, off-d.to)) // what cannot be read is not known either
	d.to += n
}

// Digested returns what was digested so far.
func (d *Digester) Digested() (*Digested, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	state, err := d.h.(encoding.BinaryMarshaler).MarshalBinary()
	return &Digested{d.to, state}, err
}

// Sum digests the rest of a file of so many bytes and returns the checksum; empty
// if it cannot be read.
func (d *Digester) Sum(size int64) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.digestTo(size); d.to < size {
		return ""
	}
	return hex.EncodeToString(d.h.Sum(nil))
}

// isSame reports whether the file still begins with what was digested of it.
func (s Source) isSame(ctx context.Context, limits container.Limits) (bool, error) {
	f, closer, err := s.open(limits)
	if err != nil {
		return false, err
	}
	defer func() { _ = closer.Close() }()
	d, err := newDigester(f, nil)
	if err != nil {
		return false, err
	}
	for d.to < s.Digested.Bytes && ctx.Err() == nil {
		before := d.to
		if d.digestTo(min(s.Digested.Bytes, d.to+digestStep)); d.to == before {
			return false, nil // it is shorter now
		}
	}
	now, err := d.Digested()
	return err == nil && bytes.Equal(now.State, s.Digested.State), errors.Join(err, ctx.Err())
}

// Finish notes the checksum of a source that was read to its end. It returns an
// error if the file is not the one that was begun.
func (s *Source) Finish(d *Digester, limits container.Limits) error {
	sum := d.Sum(s.Size)
	info, err := os.Stat(s.file())
	if err != nil {
		return err
	}
	if s.shared != nil {
		same, err := s.shared.unchanged(*s)
		if s.Digested, s.Changed = nil, err != nil || !same; s.Changed {
			return errChanged
		}
		s.SHA256 = sum
		return nil
	}
	s.Changed = info.Size() != s.Size
	if now := info.ModTime().UnixNano(); now != s.ModTime && !s.Changed { // it may only have been touched
		if s.Digested, err = d.Digested(); err != nil {
			return err
		}
		same, err := s.isSame(context.Background(), limits)
		if s.Changed = err != nil || !same; !s.Changed {
			s.ModTime = now
		}
	}
	s.Digested = nil
	if s.Changed {
		return errChanged
	}
	s.SHA256 = sum
	return nil
}

// refreshPending compares the sources that are still to be read with their
// files, and looks up anew those that changed. It returns one of them of which
// something was read. If no inputs are named, it warns of files that changed after
// they were read.
func (w *Workspace) refreshPending(ctx context.Context, b store.Batch, named bool) (changed string, err error) {
	known, err := w.Sources()
	if err != nil {
		return "", err
	}
	limits := w.Config.Extract.Limits
	files := comparer{limits: limits}
	for _, s := range known {
		same, err := files.unchanged(s)
		if s.State != SourcePending {
			if s.State == SourceDone && !named && err == nil && !same {
				w.Options.Progress.Warn("file changed since it was read; name it among the inputs to read it again", "file", ShowName(s.Path))
			}
			continue
		}
		if err == nil && same && s.Digested != nil {
			same, err = s.isSame(ctx, limits)
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil || same { // reading finds one that is gone
			continue
		}
		for _, now := range findSources(s.file(), true, limits) {
			if now.Path == s.Path {
				err = b.SetJSON(store.SourceKey(s.Path), now)
			}
		}
		if err != nil {
			return "", err
		}
		if s.Counts.Records > 0 || s.Counts.Damaged > 0 {
			changed = s.Path
		}
	}
	return changed, nil
}
