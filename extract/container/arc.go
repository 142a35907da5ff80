package container

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"neardup/uris"
)

// ARC is the Internet Archive's format before WARC. A record is a line, of 5 fields
// in version 1 and 10 in version 2, and a block:
//
//	URL IP-address Archive-date Content-type Archive-length
//	URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length
//
// The block of an http URL starts with the HTTP header. The first record,
// filedesc://, describes the file. Crawlers wrote spaces into URLs and content
// types, so the date is found from the right, and the other fields relative to it.

// ARCLine is a parsed line of an ARC record.
type ARCLine struct {
	URI, ContentType string
	Date             string // in the form of WARC-Date
	Length           int64  // of the block, in bytes
}

// ParseARC parses the line of an ARC record. ok is false if it is none.
func ParseARC(line []byte) (a ARCLine, ok bool) {
	line = bytes.TrimRight(line, " \t\r\n")
	if len(line) == 0 || !isDigits(line[len(line)-1:]) || !uris.StartsWithScheme(line) {
		return a, false
	}
	fields := fieldsOf(line)
	last := len(fields) - 1
	if last < 3 || !isDigits(fields[last].b) {
		return a, false
	}
	var err error
	if a.Length, err = strconv.ParseInt(string(fields[last].b), 10, 64); err != nil {
		return a, false
	}
	address, date := addressAndDate(fields[:last])
	if date < 0 {
		return a, false
	}
	a.Date = arcDate(fields[date].b)
	a.URI = string(bytes.TrimSpace(line[:fields[min(address, date)].at])) // with its spaces
	types := fields[max(address, date)+1 : last]
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

// addressAndDate returns the indexes of the address and the date among the fields
// before the length, or -1. Some crawlers wrote them in reverse order, and some
// wrote no type after them.
func addressAndDate(fields []field) (address, date int) {
	last := len(fields) - 1
	for i := last; i > 1; i-- {
		usual := len(fields[i].b) == len(arcDateLayout) || len(fields[i].b) == len("YYYYMMDDhhmm") || len(fields[i].b) == len(arcDateLonger)
		if isARCDate(fields[i].b) && isIP(fields[i-1].b) && (usual || !isPlaceholder(fields[i-1].b)) { // otherwise an offset after no location
			return i - 1, i
		}
	}
	for i := last - 1; i > 0; i-- {
		if len(fields[i].b) == len(arcDateLayout) && isDigits(fields[i].b) && isIP(fields[i+1].b) && !isPlaceholder(fields[i+1].b) {
			return i + 1, i
		}
	}
	// An invalid date in an otherwise valid line.
	if (last == 3 || last == 8) && isIP(fields[1].b) && !isPlaceholder(fields[1].b) {
		return 1, 2
	}
	return -1, -1
}

// schemes are the URL schemes of pages. They identify an ARC line that follows
// other bytes.
var schemes = [][]byte{[]byte("http://"), []byte("https://")}

// startsScheme reports whether b starts with one of them.
func startsScheme(b []byte) bool {
	return slices.ContainsFunc(schemes, func(scheme []byte) bool { return bytes.HasPrefix(b, scheme) })
}

func isWord(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

const maxStarts = 16 // places in a line at which an ARC record is looked for

// arcStart returns the index in a line at which an ARC record starts, or -1: the
// line's start, or after the rest of a truncated record.
func arcStart(line []byte) int {
	whole, ok := ParseARC(line)
	if ok && !strings.ContainsAny(whole.URI, " \t") {
		scheme, _, _ := bytes.Cut(line, []byte{':'})
		for i := range scheme { // letters left from another record
			if startsScheme(line[i:]) {
				return i
			}
		}
		return 0
	}
	if n := len(bytes.TrimRight(line, " \t\r\n")); n == 0 || !isDigits(line[n-1:n]) {
		return -1
	}
	for _, at := range schemesIn(line) {
		a, inner := ParseARC(line[at:])
		if at == 0 || !inner || strings.ContainsAny(a.URI, " \t\"<>") {
			continue
		}
		if ok && !beginsLine(line[:at]) {
			continue // a URL inside a URL with spaces
		}
		return at
	}
	if ok {
		return 0
	}
	return -1
}

// beginsLine reports whether b may be the first half of an ARC line: an IP address,
// or half of one, follows its URL.
func beginsLine(b []byte) bool {
	fields := fieldsOf(b)
	return len(fields) > 1 && len(bytes.Trim(fields[1].b, "0123456789.")) == 0
}

// schemesIn returns the last positions in a line at which a URL starts.
func schemesIn(line []byte) (all []int) {
	for from := 0; ; from++ {
		i := bytes.Index(line[from:], []byte("http"))
		if i < 0 {
			return all[max(0, len(all)-maxStarts):]
		}
		if from += i; !startsScheme(line[from:]) {
			continue
		}
		if from > 0 && isWord(line[from-1]) { // part of the word before it
			all = all[:0]
		}
		all = append(all, from)
	}
}

// mayStartARC reports whether an ARC record may start in a line that is not
// complete yet.
func mayStartARC(line []byte) bool {
	return uris.StartsWithScheme(line) || slices.ContainsFunc(schemes, func(scheme []byte) bool { return bytes.Contains(line, scheme) })
}

// field is a field of a line with its position.
type field struct {
	b  []byte
	at int
}

const maxFields = 64 // fields that a line is split into

// fieldsOf splits a line at spaces and tabs. The first field has all that precedes
// the last maxFields-1.
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

const (
	arcDateLayout = "YYYYMMDDhhmmss"
	arcDateLonger = "YYYYMMDDhhmmssuuu"
)

// isARCDate accepts the standard's 14 digits, also with what some crawlers
// appended, and shorter dates that have hours.
func isARCDate(b []byte) bool {
	n := digitsOf(b)
	return n >= len("YYYYMMDDhh") && n <= len(arcDateLonger) && (n == len(b) || n >= len(arcDateLayout))
}

// digitsOf returns the number of digits that b starts with.
func digitsOf(b []byte) int { return len(b) - len(bytes.TrimLeft(b, "0123456789")) }

// isPlaceholder reports whether b stands for an unknown address.
func isPlaceholder(b []byte) bool { return string(b) == "0" || string(b) == "-" }

// isIP accepts an address, dotted or with colons, and the placeholders 0 and -.
func isIP(b []byte) bool {
	if isPlaceholder(b) {
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

// arcDate converts an ARC date to the form of WARC-Date without checking its value.
// It returns "" if b is no date.
func arcDate(b []byte) string {
	if !isARCDate(b) {
		return ""
	}
	d := string(b[:min(digitsOf(b), len(arcDateLayout))])
	d += strings.Repeat("0", len(arcDateLayout)-len(d))
	return d[:4] + "-" + d[4:6] + "-" + d[6:8] + "T" + d[8:10] + ":" + d[10:12] + ":" + d[12:14] + "Z"
}
