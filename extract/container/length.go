package container

import (
	"bufio"
	"bytes"
	"math"
	"strconv"
	"strings"

	"neardup/extract/internal/header"
	"neardup/uris"
)

// A member that starts a record ends the block before it (Reader.block). An
// uncompressed file has no such places: there a length that is too large would
// take in the records that follow. So the reader looks at the place where the
// block should end before it takes the block, and only where no record can have
// ended it searches the block for the next record. A page that quotes a record
// stays whole where its own record ends as it should.

// trueLength is the length of the block that comes next, which its record gives
// as length. It tells whether that is wrong.
func (r *Reader) trueLength(format Format, length int64) (n int64, wrong bool) {
	if _, inflated := r.file.f.(*inflated); inflated || r.codec != nil {
		return length, false // looking ahead would cost decompressing twice
	}
	end := r.off + length
	if end < r.off { // over what a file can have
		end = math.MaxInt64
	}
	e := noEnding
	if end < math.MaxInt64 {
		if e = r.ending(end); e == sureEnding {
			return length, false
		}
	}
	at := r.nextRecord(format, r.off, end)
	switch {
	case e == likelyEnding && (at == end || format == FormatARC || !r.reaches(at, end)):
		return length, false
	case at < end:
		return at - r.off, true
	}
	return length, e == cutEnding
}

// reaches tells whether the WARC record at an offset goes beyond another offset,
// and ends as a record does: then no block ends there. A record that is quoted
// ends before.
func (r *Reader) reaches(at, beyond int64) bool {
	b, err := readHead(r.file.f, at, int64(r.limits.MaxHeaderBytes))
	n := header.End(b, 0)
	if err != nil || n == 0 {
		return false
	}
	length, ok := contentLength(b[:n])
	end := at + int64(n) + length
	return ok && end > beyond && r.ending(end) == sureEnding
}

// ending is what an offset looks like as the end of a block.
type ending uint8

const (
	noEnding     ending = iota
	cutEnding           // it does not even end a line
	likelyEnding        // the two line ends of the standard, and something that is no record
	sureEnding          // line ends, and then a record or the end of the file
)

// ending tells what stands behind an offset.
func (r *Reader) ending(end int64) ending {
	for _, size := range []int64{firstStep, int64(r.limits.MaxHeaderBytes)} { // an ARC line is known by its end
		before := min(end, schemeSize)
		b, err := readHead(r.file.f, end-before, size+before)
		switch {
		case err != nil: // reading on will say so
			return sureEnding
		case int64(len(b)) < before: // the file is over
			return noEnding
		case inScheme(b, int(before)):
			return cutEnding
		}
		b = b[before:]
		next := bytes.TrimLeft(b, "\r\n")
		partly := len(b) == int(size) // there may be more
		switch {
		case len(next) == 0, startsRecord(next, r.limits.MaxHeaderBytes):
			return sureEnding
		case partly && uris.StartsWithScheme(next) && bytes.IndexByte(next, '\n') < 0: // a long ARC line
		case bytes.HasPrefix(b, []byte("\r\n\r\n")):
			return likelyEnding
		case b[0] != '\r' && b[0] != '\n':
			return cutEnding
		default:
			return noEnding
		}
	}
	return noEnding
}

const schemeSize = int64(len("https:/"))

// inScheme tells whether the scheme of an address goes over b[at:].
func inScheme(b []byte, at int) bool {
	for i := range at {
		if startsScheme(b[i:]) && i+len("https://") > at {
			return true
		}
	}
	return false
}

// warcTypes are the types that the standard names.
var warcTypes = map[string]bool{
	"warcinfo": true, "response": true, "resource": true, "request": true,
	"metadata": true, "revisit": true, "conversion": true, "continuation": true,
}

// nextRecord is the offset of the first record of the format that starts a line
// between two offsets, or to. A WARC record counts if its header has a type and
// a length. Each byte is looked at once, whatever seems to start records.
func (r *Reader) nextRecord(format Format, from, to int64) int64 {
	if r.ahead == nil {
		r.ahead = bufio.NewReaderSize(nil, 32<<10)
	}
	src := r.ahead
	src.Reset(&source{f: r.file.f, offset: from, step: firstStep})
	record := int64(-1) // where the header starts that the line may belong to
	var hasType, hasLength bool
	for at := from; at < to || record >= 0; {
		line, err := readLine(src, r.limits.MaxHeaderBytes)
		start := at
		at += line.size
		switch text := bytes.TrimRight(line.text, "\r\n"); {
		case format == FormatARC:
			if i := arcStart(text); i >= 0 && !line.long {
				return min(start+int64(i), to)
			}
		case versionIn(line.text) >= 0:
			start += int64(versionIn(line.text))
			record, hasType, hasLength = start, false, false
			if start >= to {
				return to
			}
		case record < 0:
		case line.long || at-record > int64(r.limits.MaxHeaderBytes):
			record = -1
		case len(text) == 0:
			if hasType && hasLength {
				return record
			}
			record = -1
		default:
			name, value, _ := strings.Cut(string(text), ":")
			value = strings.TrimSpace(value)
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "warc-type":
				hasType = warcTypes[strings.ToLower(value)]
			case "content-length":
				n, err := strconv.ParseInt(value, 10, 64)
				hasLength = err == nil && n >= 0
			}
		}
		if err != nil {
			break
		}
	}
	return to
}

// versionIn is the index of a version of WARC that starts or ends a line, or -1.
// Where a record is cut off, the next starts behind what is left of it.
func versionIn(line []byte) int {
	if startsMark(line) {
		return 0
	}
	if i := bytes.LastIndex(line, versionMark); i >= 0 && endsLine(line[i:]) {
		return i
	}
	return -1
}

// keptLine is a line with its end, as much of it as is wanted.
type keptLine struct {
	text []byte
	size int64
	long bool // text is not all of it
}

// readLine reads a line, keeping at most max bytes of it.
func readLine(src *bufio.Reader, max int) (keptLine, error) {
	var l keptLine
	for {
		b, err := src.ReadSlice('\n')
		l.size += int64(len(b))
		switch {
		case l.size > int64(max):
			l.long = true
		case l.text == nil && err == nil:
			l.text = b // valid until the next read
		default:
			l.text = append(l.text, b...)
		}
		if err != bufio.ErrBufferFull {
			return l, err
		}
	}
}
