package container

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// Format is the format of a file or a record.
type Format string

// Formats of files and of the records in them.
const (
	FormatRecords Format = ""      // a file of WARC and ARC records; a WARC record
	FormatARC     Format = "arc"   // a record in an ARC file
	FormatWACZ    Format = "wacz"  // a ZIP file that holds such files
	FormatTSV     Format = "tsv"   // a collection of lines: ID, tab, text
	FormatJSONL   Format = "jsonl" // a collection of lines: JSON objects with id and text
)

// Errors of Detect for files that are not read.
var (
	ErrNotArchive = errors.New("neither a web archive nor a text collection")
	ErrLZ4        = errors.New("lz4 frames of the old kind are not supported; recompress with lz4, gzip or zstd")
)

// Bounds within which a file must show its format.
const (
	detectBytes  = 32 << 20 // of the file: some of the largest usual members
	detectHead   = 64 << 10 // of the decompressed content, for a collection
	detectEvents = 100      // damaged places before its first record
)

// First bytes of files of other formats.
const (
	zipEntry  = "PK\x03\x04"
	zipEmpty  = "PK\x05\x06"
	lz4Legacy = "\x02\x21\x4c\x18"
)

// Accepted says what Detect accepts, beside a file that begins with a record. Many other
// files look like text collections, and hold records somewhere.
type Accepted int

// What Detect accepts.
const (
	Records Accepted = iota // of any file: nothing else
	Garbage                 // of a file with the name of an archive: garbage before its first record
	All                     // of a file that the user named: a text collection, too
)

// Detect returns the format of f, by its content.
func Detect(f io.ReaderAt, accepted Accepted, limits Limits) (Format, error) {
	f = io.NewSectionReader(f, 0, detectBytes)
	magic, err := readHead(f, 0, magicSize)
	switch {
	case err != nil:
		return "", err
	case string(magic) == zipEntry, string(magic) == zipEmpty:
		return FormatWACZ, nil
	case string(magic) == lz4Legacy:
		return "", ErrLZ4
	}
	limits.MaxRecordBytes = 1 << 10 // blocks are not needed
	r, err := NewReader(f, Position{}, limits)
	if err != nil {
		return "", err
	}
	for len(r.buf) < detectHead && r.fill() {
	}
	if r.file.err != nil {
		return "", r.file.err
	}
	head := bytes.TrimLeft(r.buf, "\r\n")
	if startsRecord(head, limits.MaxHeaderBytes) {
		return FormatRecords, nil
	}
	if accepted == All && !hasVersionLine(head) {
		if format, ok := collectionFormat(r.buf, r.eof); ok {
			return format, nil
		}
	}
	if accepted >= Garbage {
		for range detectEvents {
			switch raw, err := r.Next(); {
			case raw != nil:
				return FormatRecords, nil
			case err == io.EOF:
				return "", ErrNotArchive
			}
		}
	}
	return "", ErrNotArchive
}

// hasVersionLine reports whether a line of head is the first one of a WARC record.
func hasVersionLine(head []byte) bool {
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) == len("WARC/1.1") && bytes.HasPrefix(line, []byte("WARC/1.")) {
			return true
		}
	}
	return false
}

// startsRecord reports whether head starts with a record.
func startsRecord(head []byte, maxHeader int) bool {
	if len(head) >= 5 && strings.EqualFold(string(head[:5]), "WARC/") {
		return true
	}
	line, _, found := bytes.Cut(head, []byte{'\n'})
	if !found || len(line) >= maxHeader {
		return false
	}
	_, ok := ParseARC(line)
	return ok
}
