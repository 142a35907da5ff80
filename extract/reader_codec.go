package extract

import (
	"bufio"
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
)

const magicSize = 4 // bytes that tell the start of a member

var (
	gzipMark  = []byte{0x1f, 0x8b, 0x08}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// codec decompresses a file's members, one after another.
type codec interface {
	// starts tells whether a member can start with magic: magicSize bytes, or
	// what is left of the file.
	starts(magic []byte) bool
	// find is the index in b of what looks like a member, or -1.
	find(b []byte) int
	// open starts the member at src's place. There is none where data is
	// false: open has passed over what the format has to be skipped.
	open(src *bufio.Reader) (data bool, err error)
	// Read reads the member; io.EOF is its end, and src stands behind it.
	Read(p []byte) (int, error)
	// lookBack is how far behind a member's true end its damage can show.
	lookBack() int64
}

// findCodec tells by its first bytes how f is compressed. A file whose first
// bytes are damaged is what comes first in it.
func findCodec(f io.ReaderAt) (codec, error) {
	head, err := readHead(f, 0, 4096)
	if err != nil {
		return nil, err
	}
	if isZstd(head) {
		return newZstdCodec(f)
	}
	i, j := bytes.Index(head, gzipMark), bytes.Index(head, zstdMagic)
	upper := bytes.ToUpper(head)
	records := bytes.Index(upper, []byte("WARC"))
	if k := bytes.Index(upper, []byte("FILEDESC:")); k >= 0 && (records < 0 || k < records) {
		records = k
	}
	switch {
	case i >= 0 && (records < 0 || i < records) && (j < 0 || i < j):
		return &gzipCodec{}, nil
	case j >= 0 && (records < 0 || j < records):
		return newZstdCodec(f)
	}
	return nil, nil
}

// readHead reads size bytes from offset on, or what there is of them.
func readHead(f io.ReaderAt, offset, size int64) ([]byte, error) {
	b := make([]byte, size)
	n, err := io.ReadFull(&source{f: f, offset: offset}, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return b[:n], err
}

// gzipCodec decompresses gzip members.
type gzipCodec struct{ zr *gzip.Reader }

func (*gzipCodec) starts(magic []byte) bool {
	return len(magic) >= 2 && bytes.HasPrefix(gzipMark, magic[:2])
}

func (*gzipCodec) find(b []byte) int { return bytes.Index(b, gzipMark) }

func (*gzipCodec) lookBack() int64 { return 64 << 10 }

func (c *gzipCodec) open(src *bufio.Reader) (bool, error) {
	var err error
	if c.zr == nil {
		c.zr, err = gzip.NewReader(src)
	} else {
		err = c.zr.Reset(src)
	}
	if err != nil {
		return false, err
	}
	c.zr.Multistream(false)
	return true, nil
}

func (c *gzipCodec) Read(p []byte) (int, error) { return c.zr.Read(p) }
