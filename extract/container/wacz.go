package container

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/klauspost/compress/flate"

	"neardup/extract/internal/header"
)

// A WACZ file is a ZIP file whose archive/ folder holds WARC files. They are read
// in place. Nothing is ever unpacked to a path that the file names.

// The ZIP directory is held in memory, so its limits are fixed. It may have 100,000
// entries and more, where a WACZ file has some dozens.
const (
	maxDirectory = 16 << 20  // bytes of a ZIP directory
	maxEntries   = 1 << 20   // entries that the directory may announce
	streamTail   = 512 << 10 // bytes of a deflated member that are kept, to go back a little
	streamStep   = 32 << 10  // bytes inflated at a time while skipping forward
	checkStep    = 64 << 10  // bytes read at a time for a checksum
	maxPath      = 1024      // bytes of a member's path
	maxName      = 255       // bytes of its last element
	maxZipSize   = 1 << 61   // leaves room for sums
)

// The end of a ZIP file (APPNOTE 6.3.10, sections 4.3.14 to 4.3.16).
const (
	zipTail      = 66 << 10     // bytes within which the end of the directory stands, with the longest comment
	zip64Locator = "PK\x06\x07" // points to the end of the directory of a large ZIP file
	zip64End     = "PK\x06\x06"
	zip64EndSize = 40 // the first bytes of it, up to the directory's size
)

var (
	errDirectory = errors.New("the zip file's directory is over 16 MiB")
	errOverlap   = errors.New("the zip member overlaps another")
	errEncrypted = errors.New("the zip member is encrypted")
	errChecksum  = errors.New("the zip member's checksum is wrong")
	errInflation = errors.New("compressed data becomes too large")
)

// Member is a file in the archive folder of a WACZ file.
type Member struct {
	Path  string // in the ZIP file: one line of UTF-8, of bounded length
	Name  string // last element of Path
	Entry int    // index in the ZIP directory
	Size  int64  // bytes when inflated
	Sum   uint32 // CRC-32 as the ZIP file states it
	file  *zip.File
	zip   io.ReaderAt
	err   error

	limits Limits
}

// Members returns the files in the archive folder of f, a ZIP file of size bytes,
// in the order of its directory.
func Members(f io.ReaderAt, size int64, limits Limits) ([]Member, error) {
	if err := checkAnnounced(f, size); err != nil {
		return nil, err
	}
	limited := &budgetReader{f: f, left: maxDirectory}
	zr, err := zip.NewReader(limited, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // such paths are only compared
		return nil, err
	}
	var out []Member
	limited.left = maxDirectory // for the headers of members
	for i, file := range zr.File {
		name := strings.ReplaceAll(file.Name, `\`, "/")
		if !strings.HasPrefix(name, "archive/") || strings.HasSuffix(name, "/") {
			continue
		}
		if len(out) == limits.MaxMembers {
			return nil, limits.membersError()
		}
		m := Member{Path: shorten(header.Clean(name), maxPath), Entry: i, Size: zipSize(file.UncompressedSize64), Sum: file.CRC32, file: file, zip: f, limits: limits}
		if file.Method == zip.Store {
			m.Size = zipSize(file.CompressedSize64)
		}
		m.Name = shorten(path.Base(m.Path), maxName)
		out = append(out, m)
	}
	refuseOverlaps(out)
	return out, nil
}

// zipSize bounds a size that a ZIP file states, so that sums do not overflow.
func zipSize(n uint64) int64 { return int64(min(n, maxZipSize)) }

// checkAnnounced rejects a ZIP file that announces too many entries, because
// archive/zip allocates all of them before it has seen any. It checks every
// possible end of the directory.
func checkAnnounced(f io.ReaderAt, size int64) error {
	from := max(0, size-zipTail)
	tail, err := readHead(f, from, size-from)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		next := bytes.Index(tail[i:], []byte(zip64Locator))
		if i += next; next < 0 || len(tail)-i < 16 {
			return nil
		}
		at := binary.LittleEndian.Uint64(tail[i+8:])
		if at >= uint64(size) {
			continue
		}
		end, err := readHead(f, int64(at), zip64EndSize)
		if err != nil {
			return err
		}
		if len(end) == zip64EndSize && bytes.HasPrefix(end, []byte(zip64End)) && binary.LittleEndian.Uint64(end[32:]) > maxEntries {
			return errDirectory
		}
	}
}

// shorten cuts s to at most n bytes of valid UTF-8.
func shorten(s string, n int) string { return strings.ToValidUTF8(s[:min(n, len(s))], "") }

// refuseOverlaps rejects members that share bytes of the file. Sharing would let a
// small file expand into a huge one.
func refuseOverlaps(members []Member) {
	type span struct {
		m        *Member
		from, to int64
	}
	var spans []span
	for i := range members {
		m := &members[i]
		from, err := m.file.DataOffset()
		if err != nil {
			m.err = err
			continue
		}
		spans = append(spans, span{m, from, from + zipSize(m.file.CompressedSize64)})
	}
	sort.Slice(spans, func(i, j int) bool {
		a, b := spans[i], spans[j]
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) < 0
	})
	end := int64(-1)
	for _, s := range spans {
		if s.from < end {
			s.m.err = errOverlap
			continue
		}
		end = s.to
	}
}

// Open opens the member as a file. A stored member is read in place. To go back by
// more than a little, a deflated one is read again from its start.
func (m *Member) Open() (io.ReaderAt, error) {
	switch {
	case m.err != nil:
		return nil, m.err
	case m.file.Flags&1 != 0:
		return nil, errEncrypted
	}
	at, err := m.file.DataOffset()
	if err != nil {
		return nil, err
	}
	section := io.NewSectionReader(m.zip, at, zipSize(m.file.CompressedSize64))
	switch m.file.Method {
	case zip.Store:
		return &stored{raw: section, sum: checksum{want: m.Sum}}, nil
	case zip.Deflate:
		return newInflated(section, m), nil
	}
	return nil, fmt.Errorf("zip method %d: %w", m.file.Method, zip.ErrAlgorithm)
}

// budgetReader fails after more than left bytes were read.
type budgetReader struct {
	f    io.ReaderAt
	left int64
}

// ReadAt implements io.ReaderAt.
func (b *budgetReader) ReadAt(p []byte, offset int64) (int, error) {
	b.left -= int64(len(p))
	if b.left < 0 {
		return 0, errDirectory
	}
	return b.f.ReadAt(p, offset)
}

// checksum is the CRC-32 of what was read from a member's start on. 0 in the
// directory means that it has none.
type checksum struct {
	want, is uint32
	at       int64 // bytes that is covers
}

// add adds the bytes at an offset, as far as they continue what was added.
func (c *checksum) add(b []byte, offset int64) {
	if skip := c.at - offset; skip >= 0 && skip < int64(len(b)) {
		c.is = crc32.Update(c.is, crc32.IEEETable, b[skip:])
		c.at = offset + int64(len(b))
	}
}

func (c *checksum) wrong() bool { return c.want != 0 && c.is != c.want }

// stored is a stored member as a file.
type stored struct {
	raw *io.SectionReader
	sum checksum
}

// ReadAt implements io.ReaderAt. At the end it checks the checksum, and reads what
// was skipped before. It is not safe for concurrent use.
func (f *stored) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.raw.ReadAt(p, offset)
	f.sum.add(p[:n], offset)
	if err != io.EOF {
		return n, err
	}
	for b := make([]byte, checkStep); f.sum.at < f.raw.Size(); {
		more, err := f.raw.ReadAt(b, f.sum.at)
		if more == 0 {
			if err == io.EOF {
				err = &brokenOff{sizeError(f.sum.at, f.raw.Size())}
			}
			return n, err
		}
		f.sum.add(b[:more], f.sum.at)
	}
	if f.sum.wrong() {
		err = &brokenOff{errChecksum}
	}
	return n, err
}

func sizeError(is, want int64) error {
	return fmt.Errorf("the zip member has %d bytes and should have %d", is, want)
}

// inflated is a deflated member as a file. It reads forward and keeps the last
// bytes.
type inflated struct {
	raw      *io.SectionReader
	limit    int64
	tooLarge error
	size     int64 // as the directory states; a member of another size is damaged
	sum      checksum

	disk   *source // reads raw
	stream io.ReadCloser
	at     int64 // offset of stream
	tail   []byte
	err    error // error of stream
}

func newInflated(raw *io.SectionReader, m *Member) *inflated {
	return &inflated{
		raw: raw, limit: m.limits.inflated(raw.Size()), tooLarge: m.limits.inflationError(),
		size: m.Size, sum: checksum{want: m.Sum},
	}
}

// ReadAt implements io.ReaderAt. It is not safe for concurrent use.
func (f *inflated) ReadAt(p []byte, offset int64) (n int, err error) {
	if f.stream == nil || offset < f.at-int64(len(f.tail)) {
		f.disk = &source{f: f.raw}
		f.stream = flate.NewReader(f.disk)
		f.at, f.tail, f.err = 0, nil, nil
		f.sum.at, f.sum.is = 0, 0
	}
	for f.at < offset && f.err == nil {
		f.more(streamStep)
	}
	for n < len(p) {
		if back := f.at - offset - int64(n); back > 0 && back <= int64(len(f.tail)) {
			n += copy(p[n:], f.tail[int64(len(f.tail))-back:])
			continue
		}
		if f.err != nil {
			return n, f.err
		}
		f.more(len(p) - n)
	}
	return n, nil
}

// more reads up to n bytes of the stream into the tail.
func (f *inflated) more(n int) {
	n = min(n, streamTail)
	if len(f.tail)+n > 2*streamTail {
		f.tail = f.tail[:copy(f.tail, f.tail[len(f.tail)-streamTail:])]
	}
	if free := cap(f.tail) - len(f.tail); free < n {
		f.tail = slices.Grow(f.tail, max(n, min(2*streamTail-len(f.tail), 64<<10)))
	}
	n, err := f.stream.Read(f.tail[len(f.tail) : len(f.tail)+n])
	f.sum.add(f.tail[len(f.tail):len(f.tail)+n], f.at)
	f.tail, f.at = f.tail[:len(f.tail)+n], f.at+int64(n)
	switch {
	case err == nil && f.at > f.limit:
		err = &brokenOff{f.tooLarge}
	case f.disk.err != nil && err != nil:
		err = f.disk.err
	case err == io.EOF && f.at != f.size:
		err = &brokenOff{sizeError(f.at, f.size)}
	case err == io.EOF && f.sum.wrong():
		err = &brokenOff{errChecksum}
	case err != nil && err != io.EOF:
		err = &brokenOff{err}
	}
	f.err = err
}
