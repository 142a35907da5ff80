package inputs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"sync"

	"neardup/extract/container"
)

// A source is digested while it is read. A run that resumes inside a file first
// checks that its beginning is unchanged. The manifest has the checksum of each
// file that was read to its end.

// errChanged reports that a file was replaced or written while it was read.
var errChanged = errors.New("it changed while it was read")

// Digested is the state of a source's digest.
type Digested struct {
	Bytes int64  `json:"bytes"`
	State []byte `json:"state"` // state of SHA-256, as crypto/sha256 marshals it
}

// Digester digests a file in order while it is read. If the reader goes back,
// nothing is digested twice. If it skips something, that is read for the digest
// alone.
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
	if off > d.to { // at once, since going back later in a deflated member means reading it from its start
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
	n, _ := io.Copy(d.h, io.NewSectionReader(d.f, d.to, off-d.to)) // bytes that cannot be read are not digested either
	d.to += n
}

// Digested returns the present state.
func (d *Digester) Digested() (*Digested, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	state, err := d.h.(encoding.BinaryMarshaler).MarshalBinary()
	return &Digested{d.to, state}, err
}

// Sum digests the rest of a file of size bytes and returns its checksum, or "" if
// it cannot be read.
func (d *Digester) Sum(size int64) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.digestTo(size); d.to < size {
		return ""
	}
	return hex.EncodeToString(d.h.Sum(nil))
}

// reaches digests up to an offset, and reports whether it got there: the file may be
// shorter, or ctx done.
func (d *Digester) reaches(ctx context.Context, off int64) bool {
	for d.to < off && ctx.Err() == nil {
		before := d.to
		if d.digestTo(min(off, d.to+digestStep)); d.to == before {
			break
		}
	}
	return d.to >= off
}

// BeginsAsRead reports whether the file still begins with the bytes that were
// digested.
func (s Source) BeginsAsRead(ctx context.Context, limits container.Limits) (bool, error) {
	if s.IsObject() && s.Tag != "" {
		return true, nil // the version covers all of it, and is compared
	}
	f, closer, err := s.Open(ctx, limits)
	if err != nil {
		return false, err
	}
	defer func() { _ = closer.Close() }()
	d, err := newDigester(f, nil)
	if err != nil {
		return false, err
	}
	if !d.reaches(ctx, s.Digested.Bytes) { // it may be shorter now
		return false, ctx.Err()
	}
	now, err := d.Digested()
	return err == nil && bytes.Equal(now.State, s.Digested.State), err
}

// HasContentOf reports whether the source has the content of another one with its ID, as
// far as this can be told: a file that cannot be read any more may have had. It reads
// files without a checksum. Of objects in a store only the sizes count.
func (s Source) HasContentOf(ctx context.Context, other Source, limits container.Limits) (bool, error) {
	if s.Size != other.Size || s.IsObject() || other.IsObject() {
		return s.Size == other.Size, nil
	}
	var sums [2]string
	for i, x := range [2]Source{s, other} {
		var err error
		if sums[i], err = x.readSum(ctx, limits); err != nil {
			return true, ctx.Err()
		}
	}
	return sums[0] == sums[1], nil
}

// MayHaveSum reports whether the source has a checksum, as far as this can be told. Nothing
// is known of an object in a store that was not read, and of what cannot be read.
func (s Source) MayHaveSum(ctx context.Context, sum string, limits container.Limits) bool {
	if s.SHA256 == "" && s.IsObject() {
		return true
	}
	got, err := s.readSum(ctx, limits)
	return err != nil || got == sum
}

// HasSum reports whether the source still has the checksum that it had when it was read
// to its end.
func (s Source) HasSum(ctx context.Context, limits container.Limits) (bool, error) {
	want := s.SHA256
	s.SHA256 = ""
	sum, err := s.readSum(ctx, limits)
	if errors.Is(err, errChanged) && ctx.Err() == nil {
		return false, nil
	}
	return sum == want, err
}

// readSum returns the checksum of the source. It reads the source unless it is known.
func (s Source) readSum(ctx context.Context, limits container.Limits) (string, error) {
	if s.SHA256 != "" {
		return s.SHA256, nil
	}
	f, closer, err := s.Open(ctx, limits)
	if err != nil {
		return "", err
	}
	defer func() { _ = closer.Close() }()
	d, err := newDigester(f, nil)
	if err != nil {
		return "", err
	}
	if !d.reaches(ctx, s.Size) {
		return "", errors.Join(errChanged, ctx.Err())
	}
	return d.Sum(s.Size), nil
}

// Finish records the checksum of a source that was read to its end. It returns an
// error if the file changed since reading began.
func (s *Source) Finish(ctx context.Context, d *Digester, limits container.Limits) error {
	sum := d.Sum(s.Size)
	now, err := statFile(ctx, s.Placed().FilePath())
	if err != nil {
		return err
	}
	if s.shared != nil {
		same, err := s.shared.Unchanged(ctx, *s)
		if s.Digested, s.Changed = nil, err != nil || !same; s.Changed {
			return errChanged
		}
		s.SHA256 = sum
		return nil
	}
	s.Changed = now.size != s.Size || now.tag != s.Tag
	if now.modTime != s.ModTime && !s.Changed { // it may only have been touched
		if s.Digested, err = d.Digested(); err != nil {
			return err
		}
		same, err := s.BeginsAsRead(ctx, limits)
		if s.Changed = err != nil || !same; !s.Changed {
			s.ModTime = now.modTime
		}
	}
	s.Digested = nil
	if s.Changed {
		return errChanged
	}
	s.SHA256 = sum
	return nil
}
