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
// uncompressed file has no members, so a length that is too large would swallow the
// records that follow. Therefore the reader looks at the place where the block
// should end before it takes the block. Only if no record can have ended there, it
// searches the block for the next record. A page that quotes a record stays whole
// if its own record ends where it should.

// trueLength returns the length of the next block. length is the one that its
// record states. wrong reports whether they differ.
func (r *Reader) trueLength(format Format, length int64) (n int64, wrong bool) {
	if _, inflated := r.file.f.(*inflated); inflated || r.codec != nil {
		return length, false // looking ahead would mean decompressing twice
	}
	end := r.off + length
	if end < r.off { // more than a file can have
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
	case e == likelyEnding && (at == end || !r.reaches(format, at, end)):
		return length, false
	case at < end:
		return at - r.off, true
	}
	return length, e == cutEnding
}

// reaches reports whether one of the successive records from an offset on extends
// past another offset and ends as a record does. Then no block ends at that offset.
// Quoted records end before it. The chains of two blocks do not overlap, since a
// record that looks like the end of another is the last of its chain.
func (r *Reader) reaches(format Format, at, beyond int64) bool {
	for {
		end, ok := r.recordEnd(format, at)
		if !ok || r.ending(end) != sureEnding {
			return false
		}
		if end > beyond {
			return true
		}
		if at, ok = r.skipLines(end); !ok {
			return false
		}
	}
}

// recordEnd returns the end of the block of the record at an offset.
func (r *Reader) recordEnd(format Format, at int64) (int64, bool) {
	for _, size := range []int64{firstStep, int64(r.limits.MaxHeaderBytes)} {
		b, err := readHead(r.file.f, at, size)
		if err != nil {
			return 0, false
		}
		if format == FormatARC {
			if i := bytes.IndexByte(b, '\n'); i >= 0 {
				a, ok := ParseARC(b[:i+1])
				return at + int64(i) + 1 + a.Length, ok && a.Length <= maxZipSize
			}
		} else if n := header.End(b, 0); n > 0 {
			length, ok := contentLength(b[:n])
			return at + int64(n) + length, ok && length <= maxZipSize
		}
	}
	return 0, false
}

// skipLines returns the offset after the line ends at another. ok is false if the
// file ends, or if there are more line ends than stand between records.
func (r *Reader) skipLines(at int64) (int64, bool) {
	b, err := readHead(r.file.f, at, firstStep)
	next := bytes.TrimLeft(b, "\r\n")
	return at + int64(len(b)-len(next)), err == nil && len(next) > 0
}

// ending is how well an offset fits the end of a block.
type ending uint8

const (
	noEnding     ending = iota
	cutEnding           // it does not even end a line
	likelyEnding        // the standard's two line ends, and then no record
	sureEnding          // line ends, and then a record or the end of the file
)

// ending returns how well an offset fits the end of a block, by what follows it.
func (r *Reader) ending(end int64) ending {
	for _, size := range []int64{firstStep, int64(r.limits.MaxHeaderBytes)} { // the end of an ARC line identifies it
		before := min(end, schemeSize)
		b, err := readHead(r.file.f, end-before, size+before)
		switch {
		case err != nil: // reading on will report it
			return sureEnding
		case int64(len(b)) < before: // the file ends here
			return noEnding
		case inScheme(b, int(before)):
			return cutEnding
		}
		b = b[before:]
		next := bytes.TrimLeft(b, "\r\n")
		partly := len(b) == int(size) // more may follow
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

// inScheme reports whether the scheme of a URL extends over b[at:].
func inScheme(b []byte, at int) bool {
	for i := range at {
		if startsScheme(b[i:]) && i+len("https://") > at {
			return true
		}
	}
	return false
}

// warcTypes are the types that the WARC standard names.
var warcTypes = map[string]bool{
	"warcinfo": true, "response": true, "resource": true, "request": true,
	"metadata": true, "revisit": true, "conversion": true, "continuation": true,
}

// nextRecord returns the offset of the first record of the format that starts a
// line between from and to, or to if there is none. A WARC record counts if its
// header has a type and a length. Each byte is read once, however many records seem
// to start.
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

// versionIn returns the index of a WARC version that starts or ends a line, or -1.
// After a truncated record, the next one starts in the middle of a line.
func versionIn(line []byte) int {
	if startsMark(line) {
		return 0
	}
	if i := bytes.LastIndex(line, versionMark); i >= 0 && endsLine(line[i:]) {
		return i
	}
	return -1
}

// keptLine is the kept part of a line, with its line end.
type keptLine struct {
	text []byte
	size int64
	long bool // text is not the whole line
}

// readLine reads a line and keeps at most max bytes of it.
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
