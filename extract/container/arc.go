package container

import (
	"bytes"
	"slices"
	"strconv"

	"neardup/uris"
)

// ARC is the format of the Internet Archive before WARC. A record is a line,
// of 5 fields in version 1 and 10 in version 2, and a block:
//
//	URL IP-address Archive-date Content-type Archive-length
//	URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length
//
// The block of an http URL starts with the HTTP header. The first record,
// filedesc://, describes the file. Crawlers wrote spaces into URLs and content
// types, so the line is read from the date on, and the date found from the
// right.

// ARCLine is what an ARC record says of itself.
type ARCLine struct {
	URI, ContentType string
	Date             string // as WARC-Date is written
	Length           int64  // of the block
}

// ParseARC parses an ARC record's line.
func ParseARC(line []byte) (a ARCLine, ok bool) {
	line = bytes.TrimRight(line, " \t\r\n")
	if len(line) == 0 || !isDigits(line[len(line)-1:]) || !uris.StartsWithScheme(line) {
		return a, false
	}
	fields := fieldsOf(line)
	last := len(fields) - 1
	if last < 4 || !isDigits(fields[last].b) {
		return a, false
	}
	var err error
	if a.Length, err = strconv.ParseInt(string(fields[last].b), 10, 64); err != nil {
		return a, false
	}
	date := last - 2
	for date > 1 && !(isARCDate(fields[date].b) && isIP(fields[date-1].b)) {
		date--
	}
	if date < 2 { // a date that is none, in a line that is all right otherwise
		if last != 4 && last != 9 || len(fields[1].b) < 3 || !isIP(fields[1].b) {
			return a, false
		}
		date = 2
	}
	a.Date = arcDate(fields[date].b)
	a.URI = string(bytes.TrimSpace(line[:fields[date-1].at])) // with its spaces
	types := fields[date+1 : last]
	if len(types) >= 6 { // version 2
		types = types[:len(types)-5]
	}
	for i, t := range types {
		if i > 0 {
			a.ContentType += " "
		}
		a.ContentType += string(t.b)
	}
	return a, true
}

// field is a field of a line and where it is.
type field struct {
	b  []byte
	at int
}

const maxFields = 64 // that a line is cut into

// fieldsOf cuts a line at spaces and tabs. What comes before the last
// maxFields-1 is the first.
func fieldsOf(line []byte) []field {
	var out []field
	end := len(line)
	for end > 0 {
		start := bytes.LastIndexAny(line[:end], " \t") + 1
		if len(out) == maxFields-1 {
			start = 0
		}
		if start < end {
			out = append(out, field{line[start:end], start})
		}
		end = max(0, start-1)
	}
	slices.Reverse(out)
	return out
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// isARCDate takes the 14 digits of the standard, and the 12 and 17 of some
// crawlers.
func isARCDate(b []byte) bool {
	return isDigits(b) && (len(b) == 14 || len(b) == 12 || len(b) == 17)
}

// isIP takes what stands for an address: dotted or with colons, 0 or -.
func isIP(b []byte) bool {
	if string(b) == "0" || string(b) == "-" {
		return true
	}
	colons := bytes.Count(b, []byte{':'})
	for _, c := range b {
		hex := c|0x20 >= 'a' && c|0x20 <= 'f'
		if c != '.' && c != ':' && (c < '0' || c > '9') && (!hex || colons < 2) {
			return false
		}
	}
	return colons >= 2 || colons == 0 && bytes.Count(b, []byte{'.'}) == 3
}

// arcDate writes an ARC date as WARC-Date does, without a look at what it
// says; "" for one that is none.
func arcDate(b []byte) string {
	if !isARCDate(b) {
		return ""
	}
	d := string(b) + "00"
	return d[:4] + "-" + d[4:6] + "-" + d[6:8] + "T" + d[8:10] + ":" + d[10:12] + ":" + d[12:14] + "Z"
}
