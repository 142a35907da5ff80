package container

import "bytes"

// A WARC record starts with its version: WARC/1.0 and 1.1 of the standard, and
// earlier ones such as WARC/0.18 of ClueWeb09.
var versionMark = []byte("WARC/")

const markSize = len("WARC/1.") // bytes that identify a record's start

// startsMark reports whether b starts with a WARC version.
func startsMark(b []byte) bool {
	return len(b) >= markSize && bytes.HasPrefix(b, versionMark) && isDigits(b[markSize-2:markSize-1]) && b[markSize-1] == '.'
}

// lastMark returns the index in a header of the last WARC version that starts a
// record: it starts a line, or ends one whose record is truncated before it. 0
// means the header's own version.
func lastMark(header []byte) int {
	for end := len(header); ; {
		i := bytes.LastIndex(header[:end], versionMark)
		if i <= 0 || header[i-1] == '\n' && startsMark(header[i:]) || endsLine(header[i:]) {
			return max(0, i)
		}
		end = i
	}
}

// endsLine reports whether b is a WARC version followed by a line end.
func endsLine(b []byte) bool {
	if !startsMark(b) {
		return false
	}
	b = bytes.TrimLeft(b[markSize:], "0123456789")
	return bytes.HasPrefix(b, []byte("\n")) || bytes.HasPrefix(b, []byte("\r\n"))
}

// findMark returns the index of the first WARC version in b, or -1.
func findMark(b []byte) int {
	for from := 0; ; from++ {
		i := bytes.Index(b[from:], versionMark)
		if i < 0 {
			return -1
		}
		if from += i; startsMark(b[from:]) {
			return from
		}
	}
}
