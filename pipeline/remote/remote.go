// Package remote reads objects at URLs: of web servers (https, http) and of object
// stores that speak S3 (s3://BUCKET/KEY). An object can be read at any offset, like
// a file, and nothing of it is stored. Sequential reading uses one long answer of
// the server. If that breaks off, another request continues by range, after a
// pause. All that is read of an object belongs to one version; if the server has
// another version by then, reading fails.
package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Errors that callers tell apart. A missing object is fs.ErrNotExist.
var (
	ErrChanged  = errors.New("the object changed while it was read")
	ErrNoRanges = errors.New("the server sends whole objects only, no ranges")
)

// Bounds of reading. The pause between requests doubles from FirstPause to
// maxPause. An object is given up after maxTries failed requests in a row. They are
// in a row if fewer than progress bytes came meanwhile, so that a server that
// always breaks off cannot hold a run for ever.
const (
	maxTries  = 8
	maxPause  = 15 * time.Second
	progress  = 1 << 20
	blockSize = 64 << 10 // bytes of a read at an offset that no stream leads to
	skipLimit = 64 << 10 // a shorter gap is read over, not requested anew
	maxStream = 4        // open answers, for members that are read side by side
	maxAgain  = 8        // restarts of an object on a server without ranges
)

// FirstPause is the pause before the second request. It is a variable for tests.
var FirstPause = 250 * time.Millisecond

// Version identifies a state of an object.
type Version struct {
	Size int64  // bytes; negative: unknown
	Tag  string // ETag, or else Last-Modified; empty if the server sends neither
}

// IsURL reports whether a name is a URL that this package reads.
func IsURL(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	switch strings.ToLower(scheme) {
	case "http", "https", "s3":
		return found
	}
	return false
}

// server reads an object. get requests its bytes from the offset from up to, and
// without, to; to the end if to is 0. If want is not empty, only that version will
// do.
type server interface {
	get(ctx context.Context, from, to int64, want Version) (*answer, error)
}

// answer is what a server sends.
type answer struct {
	body   io.ReadCloser
	from   int64 // offset of the first byte; 0 if the server has no ranges
	till   int64 // offset behind the last byte, which may be before what was asked for; 0 if there are no ranges
	ranged bool
	Version
}

// failure is a server's answer without bytes.
type failure struct {
	status     int
	text       string
	retryAfter time.Duration
}

func (f *failure) Error() string { return f.text }

func (f *failure) Is(target error) bool {
	return target == fs.ErrNotExist && (f.status == 404 || f.status == 410)
}

// permanent is an error that a retry will not cure.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// temporary reports whether another request may succeed.
func temporary(err error) bool {
	var f *failure
	var p permanent
	switch {
	case errors.Is(err, ErrChanged), errors.Is(err, ErrNoRanges), errors.Is(err, context.Canceled), errors.As(err, &p):
		return false
	case errors.As(err, &f):
		return f.status == 408 || f.status == 429 || f.status >= 500 && f.status != 501 && f.status != 505
	}
	return true // an error of the network
}

// givenUp is a temporary error after the last request.
type givenUp struct {
	error
	tries int
}

func (g *givenUp) Error() string {
	if g.tries == 1 {
		return g.error.Error()
	}
	return fmt.Sprintf("%v (given up after %d tries)", g.error, g.tries)
}

func (g *givenUp) Unwrap() error { return g.error }

// GaveUp reports whether an error is of a server or a network that failed in each
// request. Requests for other objects of the server can be expected to fail, too.
func GaveUp(err error) bool {
	var g *givenUp
	return errors.As(err, &g)
}

// Object is an open object. Several goroutines may read it.
type Object struct {
	Version
	ctx    context.Context // for all requests
	server server
	ranged bool

	mu      sync.Mutex
	head    []byte    // first bytes
	block   []byte    // the last block that was read where no stream leads to
	blockAt int64     // offset of block
	streams []*stream // the most recently used is the last
	once    bool      // no failed request is made again
	tries   int       // failed requests in a row
	gained  int       // bytes since then
	again   int
}

// stream is an answer that is being read.
type stream struct {
	body       io.ReadCloser
	at         int64
	from, till int64 // what the server says that it sends
}

// endsEarly reports whether the server has sent all that it announced, which is not all that
// it was asked for (RFC 9110, 15.3.7: caches that hold parts do so).
func (s *stream) endsEarly(size int64) bool { return s.at > s.from && s.at == s.till && s.at < size }

// Open opens the object at a URL. If want is not empty, the object must have that
// version. ctx also applies to later reads.
func Open(ctx context.Context, name string, want Version) (*Object, error) {
	return open(name, &Object{ctx: ctx, Version: want})
}

// OpenOnce opens the object at a URL in its present version. It does not repeat a
// request that fails.
func OpenOnce(ctx context.Context, name string) (*Object, error) {
	return open(name, &Object{ctx: ctx, once: true})
}

func open(name string, o *Object) (_ *Object, err error) {
	if o.server, err = find(name); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.retry(o.first); err != nil {
		return nil, err
	}
	return o, nil
}

// Check returns an error if a URL cannot be requested.
func Check(name string) error {
	_, err := find(name)
	var p permanent
	if errors.As(err, &p) {
		return p
	}
	return nil
}

// find returns the server of an object.
func find(name string) (server, error) {
	switch b, key, err := splitBucket(name); {
	case err != nil:
		return nil, err
	case b != nil && key == "":
		return nil, &failure{404, "this is a bucket, not an object", 0}
	case b != nil:
		return item{b, key}, nil
	}
	u, err := url.Parse(name)
	switch {
	case err != nil:
		return nil, permanent{errors.New("this is no URL")} // the parser's error repeats the URL
	case u.User != nil:
		return nil, permanent{errors.New("a URL with a password would be kept by the workspace; leave it out")}
	case u.Host == "":
		return nil, permanent{errors.New("the URL has no host")}
	}
	u.Fragment = ""
	return web{u.String()}, nil
}

// first requests the first bytes, which also gives the version.
func (o *Object) first() error {
	a, err := o.server.get(o.ctx, 0, blockSize, o.Version)
	if err != nil {
		return err
	}
	if a.Size < 0 {
		_ = a.body.Close()
		return permanent{errors.New("the server does not tell how long it is; fetch it, or give it as standard input")}
	}
	if err := o.admit(a); err != nil {
		return err
	}
	o.Version, o.ranged = a.Version, a.ranged
	if !a.ranged {
		o.streams = []*stream{{a.body, 0, 0, a.Size}}
		return nil
	}
	head := make([]byte, min(a.Size, blockSize, a.till))
	_, err = io.ReadFull(a.body, head)
	if err := errors.Join(err, a.body.Close()); err != nil {
		return err
	}
	o.head = head
	return nil
}

// admit closes an answer and returns an error if it is of another version than the
// one wanted.
func (o *Object) admit(a *answer) error {
	same := (o.Version == Version{}) || (a.Size < 0 || o.Size < 0 || a.Size == o.Size) && (a.Tag == o.Tag || a.Tag == "" || o.Tag == "")
	if same {
		return nil
	}
	_ = a.body.Close()
	return ErrChanged
}

// retry repeats do while it fails with a temporary error. That the object changed must be said
// twice, because a server may send an answer that nobody asked for.
func (o *Object) retry(do func() error) error {
	for doubted := o.once; ; {
		err := do()
		if err != nil && o.ctx.Err() != nil {
			return o.ctx.Err()
		}
		if errors.Is(err, ErrChanged) && !doubted {
			doubted = true
			continue
		}
		if err == nil || !temporary(err) {
			return err
		}
		if o.gained >= progress {
			o.tries = 0
		}
		o.gained = 0
		if o.tries++; o.tries >= maxTries || o.once {
			return &givenUp{err, o.tries}
		}
		pause := min(maxPause, FirstPause<<(o.tries-1))
		var f *failure
		if errors.As(err, &f) {
			pause = max(pause, min(maxPause, f.retryAfter))
		}
		select {
		case <-time.After(pause):
		case <-o.ctx.Done():
		}
	}
}

// ReadAt implements io.ReaderAt.
func (o *Object) ReadAt(p []byte, off int64) (n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for n < len(p) {
		if off+int64(n) >= o.Size {
			return n, io.EOF
		}
		err := o.retry(func() error {
			m, err := o.read(p[n:min(int64(len(p)), o.Size-off)], off+int64(n))
			n += m
			o.gained += m
			return err
		})
		if err != nil {
			return n, fmt.Errorf("at byte %d: %w", off+int64(n), err)
		}
	}
	return n, nil
}

// read reads some bytes at an offset. It reads none if it fails, and where an answer ends
// that has fewer than were asked for; the next read asks for the rest.
func (o *Object) read(p []byte, off int64) (int, error) {
	if off < int64(len(o.head)) {
		return copy(p, o.head[off:]), nil
	}
	if back := off - o.blockAt; back >= 0 && back < int64(len(o.block)) {
		return copy(p, o.block[back:]), nil
	}
	s, err := o.streamTo(off)
	if err != nil {
		return 0, err
	}
	follows := off == int64(len(o.head)) || off == o.blockAt+int64(len(o.block))
	if s == nil && o.ranged && !follows && len(p) < blockSize {
		return o.readBlock(p, off)
	}
	if s == nil {
		if s, err = o.begin(off); err != nil {
			return 0, err
		}
	}
	n, err := s.body.Read(p)
	s.at += int64(n)
	if n > 0 {
		return n, nil // the next read meets the error again
	}
	o.drop(s)
	if err == io.EOF && s.endsEarly(o.Size) {
		return 0, nil
	}
	if err == nil || err == io.EOF {
		err = fmt.Errorf("the answer ends at byte %d of %d: %w", s.at, o.Size, io.ErrUnexpectedEOF)
	}
	return 0, err
}

// streamTo returns a stream that is at an offset or shortly before it, or nil if
// there is none.
func (o *Object) streamTo(off int64) (*stream, error) {
	for i, s := range slices.Backward(o.streams) {
		skip := off - s.at
		if skip < 0 || skip > skipLimit && o.ranged {
			continue
		}
		o.streams = append(slices.Delete(o.streams, i, i+1), s)
		for skip > 0 { // in steps, since a server may never end
			n, err := io.CopyN(io.Discard, s.body, min(skip, blockSize))
			s.at, skip = s.at+n, skip-n
			if err != nil {
				o.drop(s)
				if err == io.EOF && s.endsEarly(o.Size) {
					return nil, nil
				}
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
		}
		return s, nil
	}
	return nil, nil
}

// begin requests all bytes from an offset on.
func (o *Object) begin(off int64) (*stream, error) {
	if !o.ranged {
		if o.again++; o.again > maxAgain {
			return nil, fmt.Errorf("%w, and neardup asked for the whole object %d times; fetch it first", ErrNoRanges, maxAgain)
		}
		a, err := o.server.get(o.ctx, 0, 0, o.Version)
		if err == nil {
			err = o.admit(a)
		}
		if err != nil {
			return nil, err
		}
		o.streams = []*stream{{a.body, 0, 0, o.Size}}
		return o.streamTo(off)
	}
	a, err := o.get(off, 0)
	if err != nil {
		return nil, err
	}
	if len(o.streams) == maxStream {
		o.drop(o.streams[0])
	}
	s := &stream{a.body, off, off, a.till}
	o.streams = append(o.streams, s)
	return s, nil
}

// get requests a range.
func (o *Object) get(from, to int64) (*answer, error) {
	a, err := o.server.get(o.ctx, from, to, o.Version)
	if err != nil {
		return nil, err
	}
	if err := o.admit(a); err != nil {
		return nil, err
	}
	if a.from != from {
		_ = a.body.Close()
		o.ranged = o.ranged && a.ranged // the next try asks for the whole object
		return nil, fmt.Errorf("the server sends what is at byte %d, and was asked for byte %d", a.from, from)
	}
	return a, nil
}

// readBlock reads a block at an offset.
func (o *Object) readBlock(p []byte, off int64) (int, error) {
	to := min(o.Size, off+max(blockSize, int64(len(p))))
	a, err := o.get(off, to)
	if err != nil {
		return 0, err
	}
	block := make([]byte, to-off)
	n, err := io.ReadFull(a.body, block)
	if closed := a.body.Close(); err == nil {
		err = closed
	}
	if n == 0 {
		return 0, err
	}
	o.block, o.blockAt = block[:n], off // the next read requests what is missing
	return copy(p, o.block), nil
}

// drop closes a stream.
func (o *Object) drop(s *stream) {
	_ = s.body.Close() // what was read stays valid
	o.streams = slices.DeleteFunc(o.streams, func(t *stream) bool { return t == s })
}

// Close implements io.Closer.
func (o *Object) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.streams) > 0 {
		o.drop(o.streams[0])
	}
	return nil
}

// Ranged reports whether the server supports ranges.
func (o *Object) Ranged() bool { return o.ranged }
