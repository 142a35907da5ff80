package container

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A text collection is a file of UTF-8 lines. Each line is a record: an ID, a tab
// and a text; or a JSON object with "id" and "text", and optionally "url", "title"
// and "date".

const maxTextID = 1024 // bytes; a longer string is no ID

// line returns the next line that is not empty, without its line end.
func (r *Reader) line() (*Raw, error) {
	for {
		if r.r == len(r.buf) && !r.fill() {
			return nil, r.ended()
		}
		offset := r.start()
		if r.codec == nil {
			r.restartFrom(offset)
		}
		raw := &Raw{Format: r.lines, Offset: offset}
		for ended := false; !ended; {
			b := r.buf[r.r:]
			i := bytes.IndexByte(b, '\n')
			if ended = i >= 0; ended {
				b = b[:i]
			}
			if room := r.limits.MaxRecordBytes - int64(len(raw.Block)); room > 0 {
				raw.Block = append(raw.Block, b[:min(room, int64(len(b)))]...)
			}
			raw.Length += int64(len(b))
			r.take(len(b))
			if ended {
				r.take(1)
				break
			}
			if !r.fill() {
				if r.fail != nil {
					return nil, r.resync(offset, r.fail) // an incomplete line is damage
				}
				break
			}
			r.fresh = false
		}
		if raw.Clipped = int64(len(raw.Block)) < raw.Length; !raw.Clipped {
			raw.Block = bytes.TrimSuffix(raw.Block, []byte{'\r'})
			raw.Length = int64(len(raw.Block))
		}
		if raw.Length > 0 {
			r.account(raw)
			r.clean.Skip++
			return raw, nil
		}
	}
}

// Line is a parsed line of a collection.
type Line struct {
	ID    textID `json:"id"`
	Text  string `json:"text"`
	URL   string `json:"url"`
	Title string `json:"title"`
	Date  string `json:"date"`
}

// textID is an ID in JSON: a string or a number.
type textID string

func (id *textID) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err == nil {
		*id = textID(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*id = textID(n)
	return nil
}

// ParseLine parses a line of the given format. ok is false if it does not have that
// format.
func ParseLine(line []byte, format Format) (l Line, ok bool) {
	if format == FormatJSONL {
		err := json.Unmarshal(line, &l)
		ok = err == nil
	} else {
		id, text, found := bytes.Cut(line, []byte{'\t'})
		l.ID, l.Text, ok = textID(id), string(text), found
	}
	return l, ok && isTextID(string(l.ID))
}

func isTextID(id string) bool {
	return id != "" && len(id) <= maxTextID && utf8.ValidString(id) && !strings.ContainsFunc(id, unicode.IsControl) && strings.TrimSpace(id) != ""
}

// collectionFormat tells by its first line whether a file that starts with head is
// a collection. whole means that head is the whole file.
func collectionFormat(head []byte, whole bool) (Format, bool) {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), "\r\n")
	line, _, ended := bytes.Cut(head, []byte{'\n'})
	ended = ended || whole
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if bytes.HasPrefix(line, []byte{'{'}) {
		return FormatJSONL, isTextObject(line, ended)
	}
	l, ok := ParseLine(line, FormatTSV)
	if id := strings.TrimSpace(string(l.ID)); strings.HasPrefix(id, "<") && !isBracketed(id) {
		return FormatTSV, false // a page of HTML with a tab in its first line
	}
	text := []byte(l.Text)
	for i := 0; !ended && i < utf8.UTFMax && len(text) > 0 && !utf8.Valid(text); i++ {
		text = text[:len(text)-1] // the last character may be cut
	}
	// Binary files have NUL or are not UTF-8. Other control characters stand in texts.
	return FormatTSV, ok && utf8.Valid(text) && bytes.IndexByte(text, 0) < 0
}

// isBracketed reports whether an id is a URI in angle brackets, as record IDs are.
func isBracketed(id string) bool {
	uri, closed := strings.CutSuffix(strings.TrimPrefix(id, "<"), ">")
	return closed && strings.Contains(uri, ":") && !strings.ContainsAny(uri, "<>\"' ")
}

// isScalar reports whether a JSON value is there, and neither an object nor an array.
func isScalar(v json.RawMessage) bool { return len(v) > 0 && v[0] != '{' && v[0] != '[' }

// isTextObject reports whether line is a JSON object with id and text, as far as it
// goes. ended means that the line is complete.
func isTextObject(line []byte, ended bool) bool {
	if ended {
		// Whether the line can be read does not matter: it may be the only one that cannot.
		var l struct{ ID, Text json.RawMessage }
		return json.Unmarshal(line, &l) == nil && isScalar(l.ID) && isScalar(l.Text)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if _, err := d.Token(); err != nil {
		return false
	}
	known := false
	for {
		key, err := d.Token()
		if name, ok := key.(string); err == nil && ok {
			known = known || name == "id" || name == "text"
			var value json.RawMessage
			err = d.Decode(&value)
		}
		if err != nil {
			return known && (err == io.EOF || err == io.ErrUnexpectedEOF)
		}
		if _, ok := key.(string); !ok {
			return false // the object ends, and more follows
		}
	}
}
