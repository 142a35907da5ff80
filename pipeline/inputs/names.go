package inputs

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"neardup/screen"
)

// A file name is bytes, and JSON is text. So bytes of a name that are not UTF-8 are
// written as \xNN, and a backslash before an x as \x5c.

// ShowName returns a file name as text.
func ShowName(name string) string {
	if utf8.ValidString(name) && !strings.Contains(name, `\x`) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && n == 1 || strings.HasPrefix(name[i:], `\x`) {
			b.WriteString(`\x` + strconv.FormatUint(uint64(name[i])+0x100, 16)[1:])
		} else {
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Shown returns the source's name for a message: what it was called, with control
// characters escaped.
func (s Source) Shown() string {
	name := ShowName(s.Path)
	if file := ShowName(s.FilePath()); isSpooled(file) {
		name = "standard input" + strings.TrimPrefix(name, file)
	}
	return screen.Printable(name)
}

// nameOf is the inverse of ShowName.
func nameOf(text string) string {
	var b []byte
	for {
		at := strings.Index(text, `\x`)
		if at < 0 || len(text) < at+4 {
			return string(b) + text
		}
		v, err := strconv.ParseUint(text[at+2:at+4], 16, 8)
		if err != nil {
			b, text = append(b, text[:at+2]...), text[at+2:]
			continue
		}
		b, text = append(append(b, text[:at]...), byte(v)), text[at+4:]
	}
}

// plainSource is a Source without its methods.
type plainSource Source

// MarshalJSON implements json.Marshaler.
func (s Source) MarshalJSON() ([]byte, error) {
	s.Path, s.File = ShowName(s.Path), ShowName(s.File)
	return json.Marshal(plainSource(s))
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Source) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*plainSource)(s))
	s.named()
	return err
}

// named sets the names of a source that was read from JSON.
func (s *Source) named() { s.Path, s.File = nameOf(s.Path), nameOf(s.File) }

// hasScheme reports whether a name is a URL.
func hasScheme(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	return found && scheme != "" && !strings.ContainsFunc(scheme, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("+-.", c))
	})
}

// withoutUser returns a URL for a message, without a user and a password.
func withoutUser(name string) string {
	scheme, rest, _ := strings.Cut(name, "://")
	if at := strings.LastIndex(rest, "@"); at >= 0 { // a password may have any characters
		rest = "..." + rest[at:]
	}
	return scheme + "://" + rest
}
