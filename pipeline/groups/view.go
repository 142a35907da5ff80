package groups

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseView decodes the value of a row of TableDocument.
func ParseView(row []byte) (DocumentView, error) { return parseView(string(row)) }

func parseView(row string) (d DocumentView, err error) {
	r := viewReader{rest: row}
	if r.view(&d) {
		return d, nil
	}
	d = DocumentView{}
	return d, json.Unmarshal([]byte(row), &d)
}

// viewReader decodes what encoding/json writes for a rows.Document, in less than a
// third of the time that encoding/json takes. It refuses whatever else it meets, also
// valid JSON, and encoding/json decides. The strings that it returns share the memory
// of the row.
type viewReader struct{ rest string }

func (r *viewReader) view(d *DocumentView) (ok bool) {
	if !r.take('{') {
		return false
	}
	for {
		key, ok := r.string()
		if !ok || !r.take(':') {
			return false
		}
		switch key {
		case "record_id":
			d.RecordID, ok = r.string()
		case "uri":
			d.TargetURI, ok = r.string()
		case "title":
			d.Title, ok = r.string()
		case "byline":
			d.Byline, ok = r.string()
		case "date":
			d.Date, ok = r.string()
		case "digest":
			d.Digest, ok = r.string()
		case "site":
			d.Site, ok = r.string()
		case "revisit_of":
			d.RevisitOf, ok = r.string()
		case "type":
			d.MediaType, ok = r.string()
		case "charset":
			d.Charset, ok = r.string()
		case "text_id":
			d.TextID, ok = r.string()
		case "bytes":
			d.Bytes, ok = r.int()
		case "record_bytes":
			d.RecordBytes, ok = r.int()
		case "text_bytes":
			d.TextBytes, ok = r.int()
		case "status":
			var n int64
			n, ok = r.int()
			d.Status = int(n)
		case "clipped":
			d.Clipped, ok = true, r.true()
		case "derived":
			d.Derived, ok = true, r.true()
		case "choices":
			var names string
			names, ok = r.list('[', ']', (*viewReader).skip)
			ok = ok && d.Choices.UnmarshalJSON([]byte(names)) == nil
		case "charset_from", "kind":
			ok = r.skip()
		case "repeats":
			_, ok = r.list('{', '}', func(r *viewReader) bool { return r.skip() && r.take(':') && r.skip() })
			d.Repeats = true
		case "parsed":
			ok = r.true()
		default:
			return false
		}
		switch {
		case !ok:
			return false
		case r.take('}'):
			return r.rest == ""
		case !r.take(','):
			return false
		}
	}
}

// take takes a byte, if it is the next one.
func (r *viewReader) take(b byte) bool {
	if r.rest == "" || r.rest[0] != b {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

func (r *viewReader) true() (ok bool) {
	r.rest, ok = strings.CutPrefix(r.rest, "true")
	return ok
}

// int takes a whole number.
func (r *viewReader) int() (n int64, ok bool) {
	end := 0
	for end < len(r.rest) && '0' <= r.rest[end] && r.rest[end] <= '9' {
		end++
	}
	if end > 1 && r.rest[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(r.rest[:end], 10, 64)
	r.rest = r.rest[end:]
	return n, err == nil
}

// list takes a list between two brackets, which is not empty, and returns it as it is
// written.
func (r *viewReader) list(open, end byte, item func(*viewReader) bool) (written string, ok bool) {
	from := r.rest
	if !r.take(open) {
		return "", false
	}
	for item(r) {
		if r.take(end) {
			return from[:len(from)-len(r.rest)], true
		}
		if !r.take(',') {
			break
		}
	}
	return "", false
}

// skip takes a string and drops it.
func (r *viewReader) skip() bool {
	_, ok := r.string()
	return ok
}

// string takes a string.
func (r *viewReader) string() (s string, ok bool) {
	if !r.take('"') {
		return "", false
	}
	ascii, escaped := true, false
	for i := 0; i < len(r.rest); i++ {
		switch b := r.rest[i]; {
		case b == '"':
			s, r.rest = r.rest[:i], r.rest[i+1:]
			if !ascii && !utf8.ValidString(s) {
				return "", false
			}
			if escaped {
				return unescaped(s)
			}
			return s, true
		case b == '\\':
			escaped = true
			i++
		case b < ' ':
			return "", false
		case b >= utf8.RuneSelf:
			ascii = false
		}
	}
	return "", false
}

// unescaped returns the string that s writes with escapes. It knows those that
// encoding/json uses for ASCII.
func unescaped(s string) (string, bool) {
	var b strings.Builder
	b.Grow(len(s))
	for {
		before, after, more := strings.Cut(s, `\`)
		b.WriteString(before)
		if !more {
			return b.String(), true
		}
		if after == "" {
			return "", false
		}
		s = after[1:]
		switch after[0] {
		case '"', '\\':
			b.WriteByte(after[0])
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			if len(s) < 4 {
				return "", false
			}
			n, err := strconv.ParseUint(s[:4], 16, 16)
			if err != nil || n >= utf8.RuneSelf {
				return "", false
			}
			b.WriteByte(byte(n))
			s = s[4:]
		default:
			return "", false
		}
	}
}
