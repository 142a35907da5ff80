package container

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"neardup/extract/internal/header"
	"neardup/uris"
)

// Kinds of damage.
var (
	errNoMember   = errors.New("expected the start of a compressed record")
	errNoRecord   = errors.New("expected the start of a record")
	errCutOff     = errors.New("the header is cut off")
	errEndsInside = errors.New("the file ends inside a record")
	errNoLength   = errors.New("no valid Content-Length")
)

const readAhead = 256 << 10 // bytes read from the file at a time

// Position is a place in an archive file from which reading can resume: the byte
// offset of a compressed member, or of a record in an uncompressed file, and the
// number of events (records, and damage between them) to skip from there. The cost
// of going back after damage is bounded for the whole file, so the cost so far is
// part of the position.
type Position struct {
	Offset int64 `json:"offset"`
	Skip   int   `json:"skip"`
	Reread int64 `json:"reread,omitempty"`
}

// Raw is a record as the file has it.
type Raw struct {
	Format  Format
	Offset  int64  // offset of the record, or of the compressed member that it starts in
	Header  []byte // with its empty line; the URL line of an ARC record; empty for a line of a collection
	Block   []byte // at most the reader's limit
	Length  int64  // length of the block that the record states
	Size    int64  // bytes in the file, of the compressed member if that holds nothing else; 0: unknown, or the member holds more
	Clipped bool   // Block is incomplete: over the limit, or the file is damaged or ends here, or Length is wrong

	Inflated int64 // bytes of it that were decompressed; 0 in an uncompressed file
	Allowed  int64 // bytes that it and all records before it may be decoded to
	Room     int64 // bytes of Allowed that are left for it, as far as the caller knows; 0: no limit
	Decoded  int64 // bytes that its content codings were decoded to; set where they are undone
}

// URI returns the target URI in the header, for messages. In an ARC file it is the
// first word.
func (r *Raw) URI() []byte {
	for line := range bytes.Lines(r.Header) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok && bytes.EqualFold(name, []byte("WARC-Target-URI")) {
			return []byte(header.TargetURI(string(value)))
		}
	}
	first, _, _ := bytes.Cut(r.Header, []byte(" "))
	if bytes.Contains(first, []byte("://")) {
		return first
	}
	return nil
}

// Damage is the error for bytes that are no record. Reading can continue after it.
type Damage struct {
	Offset int64
	Err    error
}

func (d *Damage) Error() string { return fmt.Sprintf("at offset %d: %v", d.Offset, d.Err) }

// Unwrap returns the cause.
func (d *Damage) Unwrap() error { return d.Err }

// Reader splits a WARC or ARC file into records, or a text collection into lines.
// The file is plain or compressed with gzip, zstd or lz4, per record or as a whole.
// Decompression (codec) is separate from framing. The reader does not use gowarc:
// this way records can be parsed in parallel, damage costs no more than the records
// it hits, and header and block are bounded before a parser sees them.
type Reader struct {
	src      *bufio.Reader
	file     *source
	codec    codec  // nil for an uncompressed file
	lines    Format // format of a collection, otherwise FormatRecords
	inMember bool
	member   int64 // offset of the current member
	inflated int64 // bytes decompressed from the member so far
	tried    int64 // offset of the last place where a member was expected
	furthest int64 // offset from which reading went back
	reread   int64 // cost of going back so far

	buf   []byte // decompressed bytes that are not taken yet: buf[r:]
	r     int
	off   int64 // position of buf[r]; in an uncompressed file its offset
	noEnd int64 // up to here in off, no record's header ends
	eof   bool
	fail  error // damage met while filling, or the file's error

	clean  Position // the last place to resume from
	fresh  bool     // nothing of the current member was taken
	broken bool     // the error that ends the file was reported
	cut    bool     // the file ends inside the last block, which is still to be reported
	limits Limits
	ahead  *bufio.Reader // reads ahead of src
	part   Part
	marks  []mark // see Reader.marked
}

// NewReader returns a reader of the records of f from start on: a Position that a
// reader of the same file returned, or the zero Position. An error comes from
// reading f, or its dictionary.
func NewReader(f io.ReaderAt, start Position, limits Limits) (*Reader, error) {
	return newReader(f, FormatRecords, start, limits)
}

// NewCollectionReader returns a reader of the lines of f, a collection of the given
// format.
func NewCollectionReader(f io.ReaderAt, format Format, start Position, limits Limits) (*Reader, error) {
	return newReader(f, format, start, limits)
}

func newReader(f io.ReaderAt, lines Format, start Position, limits Limits) (*Reader, error) {
	c, err := findCodec(f, limits)
	if err != nil {
		return nil, err
	}
	file := &source{f: f, offset: start.Offset}
	rd := &Reader{
		src: bufio.NewReaderSize(file, readAhead), file: file, codec: c, lines: lines, off: start.Offset,
		buf: make([]byte, 0, 64<<10), reread: start.Reread, limits: limits,
	}
	rd.restartFrom(start.Offset)
	if lines != FormatRecords && start.Offset == 0 {
		rd.passOver([]byte("\xef\xbb\xbf"))
	}
	for range start.Skip {
		_, err := rd.Next()
		var damage *Damage
		if err == io.EOF {
			break
		}
		if err != nil && !errors.As(err, &damage) {
			return nil, err
		}
	}
	return rd, nil
}

// passOver skips mark if the file starts with it.
func (r *Reader) passOver(mark []byte) {
	for len(r.buf)-r.r < len(mark) && r.fill() {
	}
	if bytes.HasPrefix(r.buf[r.r:], mark) {
		r.take(len(mark))
	}
}

// Position returns the place to resume from so that the next record is the one that
// Next would return now.
func (r *Reader) Position() Position { return r.clean }

// restartFrom makes an offset the place to resume from.
func (r *Reader) restartFrom(offset int64) { r.clean = Position{Offset: offset, Reread: r.reread} }

// Consumed returns the number of bytes of the file that the reader has read.
func (r *Reader) Consumed() int64 { return max(r.furthest, r.offset()) }

// offset returns the offset in the file at which reading continues.
func (r *Reader) offset() int64 { return r.file.offset - int64(r.src.Buffered()) }

func (r *Reader) buffered() []byte {
	b, _ := r.src.Peek(r.src.Buffered())
	return b
}

// fill reads more decompressed bytes after buf[r:]. It returns false at the end of
// the file, and at damage, which it leaves in fail.
func (r *Reader) fill() bool {
	if r.eof || r.fail != nil {
		return false
	}
	switch {
	case r.r == len(r.buf) || len(r.buf) == cap(r.buf) && r.r >= cap(r.buf)/2: // compact rarely, so that no byte is moved often
		n := copy(r.buf, r.buf[r.r:])
		r.buf, r.r = r.buf[:n], 0
	case len(r.buf) == cap(r.buf):
		r.buf, r.r = append(make([]byte, 0, 2*cap(r.buf)), r.buf[r.r:]...), 0
	}
	for {
		if r.codec != nil && !r.inMember && !r.openMember() {
			return false
		}
		var n int
		var err error
		if r.codec != nil {
			n, err = r.inflate(r.buf[len(r.buf):cap(r.buf)])
		} else {
			n, err = r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		}
		r.buf = r.buf[:len(r.buf)+n]
		switch {
		case err == io.EOF && r.codec != nil:
			r.inMember = false
			if n == 0 {
				continue // the next member
			}
		case err == io.EOF:
			r.eof = true
		case err != nil:
			r.failed(err)
		}
		if n > 0 {
			return true
		}
		if r.eof || r.fail != nil {
			return false
		}
	}
}

// inflate reads on in the member and checks that it does not become too large. It
// checks at the same positions whatever is read at a time.
func (r *Reader) inflate(p []byte) (int, error) {
	const every = 1 << 20
	n, err := r.codec.Read(p[:min(int64(len(p)), every-r.inflated%every)])
	r.inflated += int64(n)
	if n > 0 && r.inflated%every == 0 {
		r.marked(n, r.offset())
	}
	if err == nil && r.inflated%every == 0 && r.inflated > r.limits.inflated(r.offset()-r.member) {
		err = r.limits.inflationError()
	}
	return n, err
}

// failed records why no more bytes come: the file's error, or damage.
func (r *Reader) failed(err error) {
	if r.fail = err; r.file.err != nil {
		r.fail = r.file.err
	}
}

// openMember starts the next compressed member. It skips zero bytes, which pad
// files on tape, and what the format requires to be skipped. It returns false at
// the end of the file and at damage.
func (r *Reader) openMember() bool {
	for {
		magic, err := r.src.Peek(magicSize)
		if len(magic) > 0 && magic[0] == 0 {
			b := r.buffered()
			_, _ = r.src.Discard(len(b) - len(bytes.TrimLeft(b, "\x00")))
			continue
		}
		r.tried, r.inflated = r.offset(), 0
		switch {
		case err != nil && err != io.EOF:
			r.failed(err)
			return false
		case len(magic) == 0:
			r.eof = true
			return false
		case !r.codec.starts(magic):
			r.fail = errNoMember
			return false
		}
		data, err := r.codec.open(r.src)
		if err == io.EOF { // inside the member's header; the file's own end was handled above
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			if r.offset() == r.tried { // so that it is not tried again
				_, _ = r.src.Discard(1)
			}
			r.failed(err)
			return false
		}
		if data {
			break
		}
	}
	r.inMember, r.member = true, r.tried
	r.fresh = r.r == len(r.buf)
	r.marked(0, r.tried)
	return true
}

// take removes n bytes from the front of the buffer.
func (r *Reader) take(n int) {
	r.r += n
	r.off += int64(n)
}

// Next returns the next record. It returns io.EOF at the end, a *Damage for bytes
// that are no record (calling Next again continues after it), and any other error
// if the file itself cannot be read further.
func (r *Reader) Next() (*Raw, error) {
	if r.lines != FormatRecords {
		return r.line()
	}
	if !r.skipLineEnds() {
		return nil, r.ended()
	}
	start := r.start()
	format, header, err := r.header()
	if err != nil {
		return nil, r.resync(start, err)
	}
	if r.codec == nil {
		r.restartFrom(start)
	}
	var length int64
	ok := true
	if format == FormatARC {
		a, _ := ParseARC(header)
		length = a.Length
	} else {
		length, ok = contentLength(header)
	}
	if !ok {
		r.take(len(header))
		return nil, r.resync(start, errNoLength)
	}
	raw := &Raw{Format: format, Offset: start, Header: bytes.Clone(header), Length: length}
	r.take(len(header))
	length, wrong := r.trueLength(format, length)
	raw.Block, raw.Clipped = r.block(length)
	raw.Clipped = raw.Clipped || wrong
	if raw.Clipped && r.fail != nil && r.file.err != nil {
		return nil, r.file.err // the file may give the whole record another time
	}
	r.account(raw)
	if raw.Size = r.size(start); raw.Size > 0 && r.codec != nil {
		r.allow(raw, start+raw.Size)
	}
	r.clean.Skip++
	return raw, nil
}

// skipLineEnds skips the line ends between records. It returns false if no byte
// follows.
func (r *Reader) skipLineEnds() bool {
	for {
		for r.r < len(r.buf) && (r.buf[r.r] == '\r' || r.buf[r.r] == '\n') {
			r.take(1)
		}
		if r.r < len(r.buf) {
			return true
		}
		if !r.fill() {
			return false
		}
	}
}

// size returns how many bytes of the file the record takes that starts at an offset
// and was just read, including the line ends after it.
func (r *Reader) size(start int64) int64 {
	alone := r.codec == nil || r.clean.Offset == start && r.clean.Skip == 0 // so far
	more := r.skipLineEnds()
	switch {
	case !alone || !more && r.fail != nil:
		return 0
	case r.codec == nil:
		return r.off - start
	case !more:
		return r.offset() - start
	case r.member == start: // another record is in the member
		return 0
	}
	return r.member - start
}

// start returns the offset of what comes next. If a member starts with it, it
// becomes the place to resume from.
func (r *Reader) start() int64 {
	if r.codec == nil {
		return r.off
	}
	if r.fresh {
		r.restartFrom(r.member)
		r.fresh = false
	}
	return r.member
}

// header returns the record's header, including its empty line, or an ARC record's
// line. Both stay in the buffer.
func (r *Reader) header() (Format, []byte, error) {
	for {
		b := r.buf[r.r:]
		n := min(len(b), len("WARC/"))
		warc := strings.EqualFold(string(b[:n]), "WARC/"[:n])
		if !warc && !uris.StartsWithScheme(b) {
			return "", nil, errNoRecord
		}
		b = b[:min(len(b), r.limits.MaxHeaderBytes)] // the result must not depend on how much is buffered
		if !warc {
			if i := bytes.IndexByte(b, '\n'); i >= 0 {
				switch at := arcStart(b[:i+1]); {
				case at == 0:
					return FormatARC, b[:i+1], nil
				case at > 0:
					r.take(at)
					return "", nil, errCutOff
				}
				return "", nil, errNoRecord
			}
		} else {
			// Bytes searched after an earlier mark are not searched again, since a
			// file may be full of marks.
			searched := int(min(max(0, r.noEnd-r.off-3), int64(len(b))))
			if end := header.End(b, searched); end > 0 {
				if at := lastMark(b[:end]); at > 0 {
					r.take(at)
					return "", nil, errCutOff
				}
				return FormatRecords, b[:end], nil
			}
			r.noEnd = max(r.noEnd, r.off+int64(len(b)))
		}
		if len(b) == r.limits.MaxHeaderBytes {
			r.take(len("WARC/"))
			return "", nil, r.limits.headerError()
		}
		if !r.fill() {
			if r.fail == nil {
				r.take(len(b))
				return "", nil, io.ErrUnexpectedEOF
			}
			r.take(min(len(b), len("WARC/")))
			return "", nil, r.fail
		}
	}
}

func contentLength(h []byte) (int64, bool) {
	for name, value := range header.Fields(h) {
		if strings.EqualFold(name, "Content-Length") {
			n, err := strconv.ParseInt(value, 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

// block takes a block of length bytes and returns the part that is kept. clipped
// reports that the block is incomplete. A member that starts a record ends the
// block before it, so that a Content-Length that is too large does not swallow the
// records that follow.
func (r *Reader) block(length int64) (block []byte, clipped bool) {
	keep := min(length, r.limits.MaxRecordBytes)
	block = make([]byte, 0, min(keep, 1<<20))
	for left := length; left > 0; {
		if r.r == len(r.buf) && (!r.fill() || r.fresh && r.atRecord()) {
			r.cut = r.codec == nil && r.eof
			return block, true
		}
		r.fresh = false
		n := int(min(left, int64(len(r.buf)-r.r)))
		if room := keep - int64(len(block)); room > 0 {
			block = append(block, r.buf[r.r:r.r+int(min(room, int64(n)))]...)
		}
		r.take(n)
		left -= int64(n)
	}
	return block, keep < length
}

// atRecord reports whether the next bytes start a record.
func (r *Reader) atRecord() bool {
	for len(r.buf)-r.r < markSize && r.fill() {
	}
	if startsMark(r.buf[r.r:]) {
		return true
	}
	for uris.StartsWithScheme(r.buf[r.r:]) {
		b := r.buf[r.r:]
		b = b[:min(len(b), r.limits.MaxHeaderBytes)]
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			_, ok := ParseARC(b[:i+1])
			return ok
		}
		if len(b) == r.limits.MaxHeaderBytes || !r.fill() {
			break
		}
	}
	return false
}
