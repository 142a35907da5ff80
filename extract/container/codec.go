package container

import (
	"bufio"
	"bytes"
	"io"

	"neardup/extract/internal/inflate"
)

const (
	magicSize = 4       // bytes that identify the start of a member
	codecHead = 4 << 10 // bytes of a file within which its first member starts, or damage before it ends
)

var (
	gzipMark  = []byte{0x1f, 0x8b, 0x08}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// codec decompresses the members of a file in succession.
type codec interface {
	// starts reports whether a member can start with magic: magicSize bytes, or
	// what is left of the file.
	starts(magic []byte) bool
	// find returns the index in b of a possible start of a member, or -1.
	find(b []byte) int
	// open starts the member at src's position. data is false if there was none:
	// open has skipped something that the format requires to be skipped.
	open(src *bufio.Reader) (data bool, err error)
	// Read reads the member. At its end it returns io.EOF, and src stands after the
	// member.
	Read(p []byte) (int, error)
	// lookBack returns how far beyond a damaged member's true end the damage can be
	// noticed, in bytes.
	lookBack() int64
}

// findCodec returns the codec of f, by the first bytes. If they are damaged, the
// first member that follows decides. If they show nothing known and are no text,
// the first member may be long, and more of the file is searched.
func findCodec(f io.ReaderAt, limits Limits) (codec, error) {
	for size := int64(codecHead); ; size *= 16 {
		head, err := readHead(f, 0, size)
		if err != nil {
			return nil, err
		}
		c, found, err := codecOf(f, head, limits)
		if err != nil || found || int64(len(head)) < size || size >= detectBytes/16 || looksText(head) {
			return c, err
		}
	}
}

// looksText reports whether b has no control characters other than white space.
func looksText(b []byte) bool {
	return bytes.IndexFunc(b, func(c rune) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\x1b' }) < 0
}

// codecOf returns the codec of a file that starts with head, or nil for none. found
// reports whether anything known was found.
func codecOf(f io.ReaderAt, head []byte, limits Limits) (c codec, found bool, err error) {
	switch {
	case isZstd(head):
		c, err = newZstdCodec(f, limits)
		return c, true, err
	case startsRecord(bytes.TrimLeft(head, "\r\n"), limits.MaxHeaderBytes): // which may hold anything
		return nil, true, nil
	}
	first := len(head)
	comesFirst := func(b []byte, mark string) bool {
		at := bytes.Index(b[:min(first+len(mark), len(b))], []byte(mark))
		if at < 0 || at >= first {
			return false
		}
		first = at
		return true
	}
	upper := bytes.Clone(head)
	for i, c := range upper {
		if c >= 'a' && c <= 'z' {
			upper[i] -= 'a' - 'A'
		}
	}
	plain := comesFirst(upper, "WARC")
	plain = comesFirst(upper, "FILEDESC:") || plain
	gz, zs, lz := comesFirst(head, string(gzipMark)), comesFirst(head, string(zstdMagic)), comesFirst(head, string(lz4Magic))
	switch { // the last case that is true takes precedence
	case lz:
		return newLZ4Codec(), true, nil
	case zs:
		c, err = newZstdCodec(f, limits)
		return c, true, err
	case gz:
		return &gzipCodec{}, true, nil
	}
	return nil, plain, nil
}

// readHead returns size bytes from offset on, or as many as there are.
func readHead(f io.ReaderAt, offset, size int64) ([]byte, error) {
	b := make([]byte, size)
	n, err := io.ReadFull(&source{f: f, offset: offset}, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return b[:n], err
}

// framed reads exactly the bytes of one zstd or lz4 frame, so that the offset of
// the next frame is known: the header, blocks that each state their length, and a
// checksum.
type framed struct {
	src      *bufio.Reader
	next     func(src *bufio.Reader) (size int, last bool, err error) // reads the header of the next block
	left     int                                                      // bytes left of the header, block or checksum
	last     bool
	checksum bool
	err      error
}

func (f *framed) Read(p []byte) (n int, err error) {
	if f.left == 0 {
		switch {
		case !f.last:
			f.left, f.last, err = f.next(f.src)
		case f.checksum:
			f.left, f.checksum = 4, false
		default:
			return 0, io.EOF
		}
	}
	if err == nil {
		n, err = f.src.Read(p[:min(len(p), f.left)])
		f.left -= n
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		f.err = err
	}
	return n, err
}

// gzipLookBack covers all but the largest members: the damage of a truncated member
// is noticed at the end of the next one at the latest.
const gzipLookBack = 16 << 20

// gzipCodec decompresses gzip members.
type gzipCodec struct{ member inflate.Reader }

func (*gzipCodec) starts(magic []byte) bool {
	return len(magic) >= 2 && bytes.HasPrefix(gzipMark, magic[:2])
}

func (*gzipCodec) find(b []byte) int { return bytes.Index(b, gzipMark) }

func (*gzipCodec) lookBack() int64 { return gzipLookBack }

func (c *gzipCodec) open(src *bufio.Reader) (bool, error) {
	err := c.member.Reset(src)
	return err == nil, err
}

func (c *gzipCodec) Read(p []byte) (int, error) { return c.member.Read(p) }
