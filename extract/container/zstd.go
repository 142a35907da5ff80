package container

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// This is Zstandard as in RFC 8878, used in WARC files as in the IIPC's "Use of
// Zstandard Compression in WARC Files 1.0": one frame per record, and optionally a
// skippable frame with their dictionary before them, plain or itself compressed.

const (
	maxDictionary = 16 << 20 // fixed: the zstd command trains 110 KB by default
	zstdMaxBlock  = 128 << 10
	dictionaryID  = 0xd // of the skippable frame 184D2A5D
)

var zstdDictionaryMagic = []byte{0x37, 0xa4, 0x30, 0xec}

// isSkippable reports whether b starts with one of the magic numbers 184D2A50 to
// 184D2A5F.
func isSkippable(b []byte) bool {
	return len(b) >= 4 && b[0]&0xf0 == 0x50 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18})
}

// isZstd reports whether a file that starts with head is zstd.
func isZstd(head []byte) bool { return bytes.HasPrefix(head, zstdMagic) || isSkippable(head) }

// zstdCodec decompresses zstd frames. It passes one frame at a time to the decoder,
// because the offset of each frame must be known.
type zstdCodec struct {
	decoder *zstd.Decoder
	frame   framed
	limits  Limits
}

func newZstdCodec(f io.ReaderAt, limits Limits) (*zstdCodec, error) {
	window := uint64(limits.MaxWindowBytes)
	o := []zstd.DOption{
		zstd.WithDecoderConcurrency(1), // so that it reads no further than necessary
		zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window),
		zstd.WithDecoderMaxMemory(window),
	}
	dictionary, err := readDictionary(f)
	if err != nil {
		return nil, fmt.Errorf("zstd dictionary: %w", err)
	}
	switch {
	case len(dictionary) == 0:
	case bytes.HasPrefix(dictionary, zstdDictionaryMagic):
		o = append(o, zstd.WithDecoderDicts(dictionary))
	default: // raw content, for frames that name no dictionary
		o = append(o, zstd.WithDecoderDictRaw(0, dictionary))
	}
	d, err := zstd.NewReader(nil, o...)
	if err != nil {
		return nil, fmt.Errorf("zstd dictionary: %w", err)
	}
	return &zstdCodec{decoder: d, limits: limits}, nil
}

// readDictionary returns the dictionary that f starts with, if any.
func readDictionary(f io.ReaderAt) ([]byte, error) {
	head, err := readHead(f, 0, 8)
	if err != nil || len(head) < 8 {
		return nil, err
	}
	if !isSkippable(head) || head[0]&0x0f != dictionaryID {
		return nil, nil
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxDictionary {
		return nil, fmt.Errorf("%d bytes are over %d", size, maxDictionary)
	}
	b, err := readHead(f, 8, int64(size))
	if err == nil && len(b) < int(size) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(b, zstdMagic) {
		return b, nil
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDictionary), zstd.WithDecoderMaxWindow(maxDictionary))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(b, nil)
}

func (*zstdCodec) starts(magic []byte) bool {
	return bytes.HasPrefix(magic, zstdMagic) || isSkippable(magic)
}

// find implements codec. It finds only frames with data: a skippable frame is no
// place to resume from.
func (*zstdCodec) find(b []byte) int { return bytes.Index(b, zstdMagic) }

// lookBack implements codec. It is a block of the largest size, and a little more.
func (*zstdCodec) lookBack() int64 { return zstdMaxBlock + 64<<10 }

func (c *zstdCodec) open(src *bufio.Reader) (bool, error) {
	b, err := src.Peek(zstd.HeaderMaxSize)
	if err != nil && err != io.EOF {
		return false, err
	}
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		return false, err
	}
	if h.Skippable {
		return false, skip(src, int64(h.HeaderSize)+int64(h.SkippableSize))
	}
	window := h.WindowSize
	if h.SingleSegment { // no window, but all of its content
		window = max(window, h.FrameContentSize)
	}
	if window > uint64(c.limits.MaxWindowBytes) {
		return false, c.limits.windowError(window)
	}
	c.frame = framed{src: src, next: zstdBlock, left: h.HeaderSize, checksum: h.HasCheckSum}
	return true, c.decoder.Reset(&c.frame)
}

// skip skips n bytes.
func skip(src io.Reader, n int64) error {
	done, err := io.CopyN(io.Discard, src, n)
	if err == io.EOF && done < n {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (c *zstdCodec) Read(p []byte) (int, error) {
	n, err := c.decoder.Read(p)
	if err != nil && c.frame.err != nil {
		err = c.frame.err // the decoder takes some errors for the end
	}
	return n, err
}

// zstdBlock reads the header of the next block, 3 bytes.
func zstdBlock(src *bufio.Reader) (size int, last bool, err error) {
	b, err := src.Peek(3)
	if err != nil {
		return 0, false, err
	}
	h := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
	size = 3 + h>>3
	if h>>1&3 == 1 { // one byte, repeated
		size = 4
	}
	return size, h&1 != 0, nil
}
