package extract

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

var errNotGzip = errors.New("expected a gzip member")

const (
	maxHeader = 64 << 10  // bounds a WARC header; real ones are under 2 KB
	readAhead = 256 << 10 // bytes read from the file at a time
	lookBack  = 64 << 10  // bytes read again after a damaged gzip member
)

var (
	recordMark = []byte("WARC/1.")
	gzipMark   = []byte{0x1f, 0x8b, 0x08}
)

// Position is a place in an archive file from which reading can start again:
// the byte offset of a gzip member, or of a record in an uncompressed file,
// and the number of events (records, and damage between them) to pass over from
// there. It is always a place that shows what the file is, so that a reader
// that starts there reads the same events.
type Position struct {
	Offset int64 `json:"offset"`
	Skip   int   `json:"skip"`
}

// Raw is one record as it stands in the file.
type Raw struct {
	Offset  int64 // of the record, or of the gzip member that it starts in
	Header  []byte
	Block   []byte // at most the reader's limit
	Length  int64  // Content-Length
	Clipped bool   // Block is shorter than Length: over the limit, or the file is damaged or ends here
}

// Damage is a place that is no record. Reading goes on after it.
type Damage struct {
	Offset int64
	Err    error
}

func (d *Damage) Error() string { return fmt.Sprintf("at offset %d: %v", d.Offset, d.Err) }

// Unwrap gives the cause.
func (d *Damage) Unwrap() error { return d.Err }

// Reader frames the records of a WARC file, plain, gzip a record or gzip as
// a whole. It decompresses and frames outside gowarc, because that way records
// can be parsed in parallel, damage costs no more than the records it hits,
// and header and block are bounded before a parser sees them.
type Reader struct {
	src      *bufio.Reader
	file     *source
	gz       *gzip.Reader
	gzipped  bool
	inMember bool
	member   int64 // offset of the current member
	tried    int64 // offset of the last place at which a member was expected
	furthest int64 // offset from which reading went back

	buf  []byte // decompressed bytes not yet taken: buf[r:]
	r    int
	off  int64 // uncompressed files: offset of buf[r]
	eof  bool
	fail error // gzip damage met while filling

	clean    Position // the last place to start again from
	fresh    bool     // nothing of the current member has been taken
	maxBlock int64
}

// source reads a file, knows the offset, and can go back a little.
type source struct {
	r      io.Reader
	offset int64
	tail   []byte // the last bytes read
	again  int    // bytes at the end of tail that are to be read again
	keep   int    // bytes of tail that are needed
}

func (s *source) Read(p []byte) (n int, err error) {
	if s.again > 0 {
		n = copy(p, s.tail[len(s.tail)-s.again:])
		s.again -= n
	} else {
		n, err = s.r.Read(p)
		if s.keep > 0 {
			if len(s.tail) > 2*s.keep {
				s.tail = s.tail[:copy(s.tail, s.tail[len(s.tail)-s.keep:])]
			}
			s.tail = append(s.tail, p[:n]...)
		}
	}
	s.offset += int64(n)
	return n, err
}

// back goes back n bytes.
func (s *source) back(n int64) {
	s.again += int(n)
	s.offset -= n
}

// NewReader reads records from r, which starts at the file's byte offset
// start.Offset; start.Skip events are passed over. At most maxBlock bytes of
// a record's block are kept. The error is that of reading r.
func NewReader(r io.Reader, start Position, maxBlock int64) (*Reader, error) {
	file := &source{r: r, offset: start.Offset}
	rd := &Reader{
		src: bufio.NewReaderSize(file, readAhead), file: file, off: start.Offset,
		clean: Position{Offset: start.Offset}, maxBlock: maxBlock,
	}
	head, err := rd.src.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, err
	}
	// A file whose first bytes are damaged is what comes first in it.
	if i := bytes.Index(head, gzipMark); i >= 0 && !bytes.Contains(bytes.ToUpper(head[:i]), []byte("WARC")) {
		rd.gzipped = true
		file.keep = lookBack + readAhead
		file.tail = append(file.tail, rd.buffered()...)
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

// Position is where reading can start again so that the next record is the
// one that Next would return now.
func (r *Reader) Position() Position { return r.clean }

// Consumed is the number of bytes of the file that the reader has been through.
func (r *Reader) Consumed() int64 { return max(r.furthest, r.offset()) }

// offset is where in the file reading goes on.
func (r *Reader) offset() int64 { return r.file.offset - int64(r.src.Buffered()) }

func (r *Reader) buffered() []byte {
	b, _ := r.src.Peek(r.src.Buffered())
	return b
}

// fill reads more decompressed bytes behind buf[r:]. It returns false at the
// end of the file, and at damage, which it leaves in fail.
func (r *Reader) fill() bool {
	if r.eof || r.fail != nil {
		return false
	}
	if r.r > 0 && (r.r == len(r.buf) || len(r.buf) == cap(r.buf)) {
		n := copy(r.buf, r.buf[r.r:])
		r.buf, r.r = r.buf[:n], 0
	}
	if len(r.buf) == cap(r.buf) {
		r.buf = append(make([]byte, 0, max(64<<10, 2*cap(r.buf))), r.buf...)
	}
	for {
		if r.gzipped && !r.inMember && !r.openMember() {
			return false
		}
		var n int
		var err error
		if r.gzipped {
			n, err = r.gz.Read(r.buf[len(r.buf):cap(r.buf)])
		} else {
			n, err = r.src.Read(r.buf[len(r.buf):cap(r.buf)])
		}
		r.buf = r.buf[:len(r.buf)+n]
		switch {
		case err == io.EOF && r.gzipped:
			r.inMember = false
			if n == 0 {
				continue // the next member
			}
		case err == io.EOF:
			r.eof = true
		case err != nil:
			r.fail = err
		}
		if n > 0 {
			return true
		}
		if r.eof || r.fail != nil {
			return false
		}
	}
}

// openMember starts the next gzip member, passing over zero bytes, which pad
// files on tape; false at the end of the file and at damage.
func (r *Reader) openMember() bool {
	magic, err := r.src.Peek(2)
	for len(magic) > 0 && magic[0] == 0 {
		_, _ = r.src.Discard(1)
		magic, err = r.src.Peek(2)
	}
	r.tried = r.offset()
	switch {
	case err != nil && err != io.EOF:
		r.fail = err
		return false
	case len(magic) == 0:
		r.eof = true
		return false
	case !bytes.HasPrefix(gzipMark, magic) || len(magic) < 2:
		r.fail = errNotGzip
		return false
	}
	if r.gz == nil {
		r.gz, err = gzip.NewReader(r.src)
	} else {
		err = r.gz.Reset(r.src)
	}
	if err == io.EOF { // of a clipped extra field; the file's own end was seen above
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		r.fail = err
		return false
	}
	r.gz.Multistream(false)
	r.inMember, r.member = true, r.tried
	r.fresh = r.r == len(r.buf)
	return true
}

// take drops n bytes from the front of the buffer.
func (r *Reader) take(n int) {
	r.r += n
	r.off += int64(n)
}

// Next returns the next record. It returns io.EOF at the end, a *Damage where
// bytes are no record (call Next again to go on after it), and any other error
// when the file itself cannot be read further.
func (r *Reader) Next() (*Raw, error) {
	for { // line ends between records
		for r.r < len(r.buf) && (r.buf[r.r] == '\r' || r.buf[r.r] == '\n') {
			r.take(1)
		}
		if r.r < len(r.buf) {
			break
		}
		if !r.fill() {
			return nil, r.ended()
		}
	}
	start := r.off
	if r.gzipped {
		start = r.member
	}
	if r.gzipped && r.fresh {
		r.clean = Position{Offset: start}
		r.fresh = false
	}
	header, err := r.header()
	if err != nil {
		return nil, r.resync(start, err)
	}
	if !r.gzipped {
		r.clean = Position{Offset: start}
	}
	length, ok := contentLength(header)
	if !ok {
		r.take(len("WARC/"))
		return nil, r.resync(start, errors.New("no valid Content-Length"))
	}
	raw := &Raw{Offset: start, Header: bytes.Clone(header), Length: length}
	r.take(len(header))
	raw.Block, raw.Clipped = r.block(length)
	if raw.Clipped && r.fail != nil && !isFormatError(r.fail) {
		return nil, r.fail // the file may give the whole record another time
	}
	r.clean.Skip++
	return raw, nil
}

// header returns the record's header up to and including its empty line,
// still in the buffer.
func (r *Reader) header() ([]byte, error) {
	scanned := 0
	for {
		b := r.buf[r.r:]
		if n := min(len(b), len("WARC/")); !strings.EqualFold(string(b[:n]), "WARC/"[:n]) {
			return nil, errors.New("expected the start of a record")
		}
		b = b[:min(len(b), maxHeader)] // what a header is must not depend on how much is buffered
		if end := headerEnd(b, max(0, scanned-2)); end > 0 {
			return b[:end], nil
		}
		scanned = len(b)
		if len(b) == maxHeader {
			r.take(len("WARC/"))
			return nil, fmt.Errorf("record header over %d bytes", maxHeader)
		}
		if !r.fill() {
			if r.fail == nil {
				r.take(len(b))
				return nil, io.ErrUnexpectedEOF
			}
			r.take(min(len(b), len("WARC/")))
			return nil, r.fail
		}
	}
}

// headerEnd is the index behind the first empty line of b, searching from
// from, or 0.
func headerEnd(b []byte, from int) int {
	end := 0
	for _, sep := range [2]string{"\n\r\n", "\n\n"} {
		if i := bytes.Index(b[from:], []byte(sep)); i >= 0 && (end == 0 || from+i+len(sep) < end) {
			end = from + i + len(sep)
		}
	}
	return end
}

// headerFields yields the fields of a WARC or HTTP header behind its first
// line. Folded lines are joined with a space; a line without a colon is passed
// over.
func headerFields(header []byte) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		_, rest, _ := bytes.Cut(header, []byte{'\n'})
		for len(rest) > 0 {
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte{'\n'})
			name, v, found := bytes.Cut(line, []byte{':'})
			value := string(bytes.TrimSpace(v))
			for len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t') {
				line, rest, _ = bytes.Cut(rest, []byte{'\n'})
				value = strings.TrimSpace(value + " " + string(bytes.TrimSpace(line)))
			}
			if found && !yield(string(bytes.TrimSpace(name)), value) {
				return
			}
		}
	}
}

func contentLength(header []byte) (int64, bool) {
	for name, value := range headerFields(header) {
		if strings.EqualFold(name, "Content-Length") {
			n, err := strconv.ParseInt(value, 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

// block takes length bytes and returns the first maxBlock of them; clipped
// when the block returned is not the whole. A gzip member that starts a record
// ends the block before it, so that a Content-Length that is too large does
// not cost the records that follow.
func (r *Reader) block(length int64) (block []byte, clipped bool) {
	keep := min(length, r.maxBlock)
	block = make([]byte, 0, min(keep, 1<<20))
	for left := length; left > 0; {
		if r.r == len(r.buf) && (!r.fill() || r.fresh && r.atRecord()) {
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

// atRecord tells whether the bytes that follow start a record.
func (r *Reader) atRecord() bool {
	for len(r.buf)-r.r < len(recordMark) && r.fill() {
	}
	return bytes.HasPrefix(r.buf[r.r:], recordMark)
}

// ended is what Next returns when there are no more bytes: io.EOF, a Damage
// to go on after, or the error of the file.
func (r *Reader) ended() error {
	if r.fail == nil {
		r.clean = Position{Offset: r.offset()}
		return io.EOF
	}
	return r.resync(r.offset(), r.fail)
}

// resync finds the next place that looks like a record or a gzip member and
// returns the damage before it.
func (r *Reader) resync(at int64, cause error) error {
	if r.fail != nil && !isFormatError(r.fail) {
		return r.fail
	}
	damage := &Damage{Offset: at, Err: cause}
	for mayGoBack := true; ; {
		b := r.buf[r.r:]
		if i := bytes.Index(b, recordMark); i >= 0 {
			r.drop(i)
			break
		}
		r.drop(max(0, len(b)-len(recordMark)+1)) // a mark may straddle the end
		if r.fill() {
			continue
		}
		r.drop(len(r.buf) - r.r)
		if r.fail == nil {
			break // end of file: the next call says so
		}
		if !isFormatError(r.fail) {
			return r.fail
		}
		r.fail, r.inMember = nil, false
		if mayGoBack {
			mayGoBack = false
			r.goBack()
		}
		if !r.nextMagic() {
			break
		}
	}
	r.clean.Skip++
	return damage
}

// drop takes n bytes that are no record. A member that has lost bytes is no
// place to start again from: from there its first record would be damage.
func (r *Reader) drop(n int) {
	if n > 0 {
		r.take(n)
		r.fresh = false
	}
}

// goBack returns to behind the start of the damaged member, but at most
// lookBack bytes: a decoder that has lost its place reads on into the members
// that follow.
func (r *Reader) goBack() {
	if b, _ := r.src.Peek(len(gzipMark)); bytes.Equal(b, gzipMark) || r.tried == r.offset() {
		return
	}
	to := max(r.tried+1, r.offset()-lookBack)
	r.furthest = r.Consumed()
	r.file.back(r.file.offset - to)
	r.src.Reset(r.file)
}

// nextMagic passes over compressed bytes up to what looks like the start of a
// gzip member.
func (r *Reader) nextMagic() bool {
	for {
		b, err := r.src.Peek(4096)
		if i := bytes.Index(b, gzipMark); i >= 0 {
			_, _ = r.src.Discard(i)
			return true
		}
		switch {
		case err == io.EOF: // the last bytes hold no member
			_, _ = r.src.Discard(len(b))
			r.eof = true
			return false
		case err != nil:
			r.fail = err
			return false
		}
		_, _ = r.src.Discard(len(b) - len(gzipMark) + 1)
	}
}

// isFormatError tells damage in the compressed data from a file that cannot
// be read.
func isFormatError(err error) bool {
	var corrupt flate.CorruptInputError
	var internal flate.InternalError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) ||
		errors.Is(err, errNotGzip) || errors.As(err, &corrupt) || errors.As(err, &internal)
}
