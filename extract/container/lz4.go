package container

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/pierrec/lz4/v4"
)

// This is the LZ4 frame format, version 1.6.4. FastWARC writes one frame per
// record.

var lz4Magic = []byte{0x04, 0x22, 0x4d, 0x18}

const lz4MaxBlock = 4 << 20 // bytes of the largest block that a frame may announce

var errLZ4Block = errors.New("lz4 block of over 4 MiB")

// Bits of a frame's flags for its optional parts.
const (
	lz4BlockChecksum = 1 << 4
	lz4ContentSize   = 1 << 3
	lz4Checksum      = 1 << 2
	lz4Dictionary    = 1 << 0
)

// lz4Codec decompresses lz4 frames. The largest block, 4 MiB, bounds its memory.
type lz4Codec struct {
	reader *lz4.Reader
	frame  framed
}

func newLZ4Codec() *lz4Codec { return &lz4Codec{reader: lz4.NewReader(nil)} }

func (*lz4Codec) starts(magic []byte) bool {
	return bytes.HasPrefix(magic, lz4Magic) || isSkippable(magic)
}

func (*lz4Codec) find(b []byte) int { return bytes.Index(b, lz4Magic) }

// lookBack implements codec. It is a block of the largest size, and a little more.
func (*lz4Codec) lookBack() int64 { return lz4MaxBlock + 64<<10 }

func (c *lz4Codec) open(src *bufio.Reader) (bool, error) {
	b, err := src.Peek(8)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return false, err
	}
	if isSkippable(b) {
		return false, skip(src, 8+int64(binary.LittleEndian.Uint32(b[4:])))
	}
	flags := b[4]
	if flags&lz4Dictionary != 0 {
		return false, errors.New("lz4 frame with a dictionary")
	}
	header := 7 // magic, flags, block size, and their checksum
	if flags&lz4ContentSize != 0 {
		header += 8
	}
	block := func(src *bufio.Reader) (size int, last bool, err error) { return lz4Block(src, flags) }
	c.frame = framed{src: src, next: block, left: header, checksum: flags&lz4Checksum != 0}
	c.reader.Reset(&c.frame)
	return true, nil
}

// lz4Block reads the size of the next block, 4 bytes. Size 0 is the end.
func lz4Block(src *bufio.Reader, flags byte) (size int, last bool, err error) {
	b, err := src.Peek(4)
	if err != nil {
		return 0, false, err
	}
	n := int(binary.LittleEndian.Uint32(b) &^ (1 << 31)) // the bit means that the block is not compressed
	switch {
	case n == 0:
		return 4, true, nil
	case n > lz4MaxBlock:
		return 0, false, errLZ4Block
	case flags&lz4BlockChecksum != 0:
		n += 4
	}
	return 4 + n, false, nil
}

func (c *lz4Codec) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	if err != nil && c.frame.err != nil {
		err = c.frame.err // not the decoder's error, which follows from it
	}
	return n, err
}
