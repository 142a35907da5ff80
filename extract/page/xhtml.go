package page

import (
	"html"
	"strings"
)

// FromXHTML returns a page of XHTML as HTML that has the same elements and text: a tag that
// closes its element gets an end tag, since HTML would read on in the element, and the
// text of a CDATA section is escaped, since HTML takes such a section for a comment. The
// declarations in a document type are left out, since HTML ends it at the first bracket.
func FromXHTML(s string) string {
	var b strings.Builder
	copied := 0
	typed := false // there was a document type
	put := func(upTo int, instead string, from int) {
		b.WriteString(s[copied:upTo])
		b.WriteString(instead)
		copied = from
	}
	for i := 0; i >= 0 && i < len(s); {
		n := strings.IndexByte(s[i:], '<')
		if n < 0 {
			break
		}
		i += n
		switch rest := s[i:]; {
		case strings.HasPrefix(rest, "<!--"):
			i = after(s, i+len("<!--"), "-->")
		case strings.HasPrefix(rest, "<![CDATA["):
			from := i + len("<![CDATA[")
			end := after(s, from, "]]>")
			if end > 0 {
				put(i, html.EscapeString(s[from:end-len("]]>")]), end)
			}
			i = end
		case !typed && hasFoldedPrefix(rest, "<!doctype"):
			typed = true
			from, to := subset(s, i)
			if to > 0 {
				put(from, "", to)
			}
			i = max(i+1, to)
		case len(rest) > 1 && (rest[1]|0x20 >= 'a' && rest[1]|0x20 <= 'z'):
			end := tagEnd(s, i)
			if end < 0 {
				i = end
				break
			}
			name := rest[1 : 1+strings.IndexAny(rest[1:], " \t\r\n\f/>")]
			lower := strings.ToLower(name)
			switch closed := s[end-2] == '/'; {
			case strings.ContainsAny(name, `<&="'`): // no name
			case closed && rules[lookupTag(lower)]&isVoid == 0:
				put(i+len(strings.TrimRight(s[i:end-1], "/")), "></"+name+">", end)
			case !closed && rules[lookupTag(lower)]&isRaw != 0:
				end = rawEnd(s, end, lower)
			}
			i = end
		default:
			i++
		}
	}
	if copied == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}

func hasFoldedPrefix(s, lower string) bool {
	return len(s) >= len(lower) && strings.EqualFold(s[:len(lower)], lower)
}

// subset returns where the declarations in the document type at i begin and end, with
// their brackets, or 0 if there are none. (XML 1.0, section 2.8.)
func subset(s string, i int) (from, to int) {
	for i >= 0 && i < len(s) {
		n := strings.IndexAny(s[i:], `<>[]"'`)
		if n < 0 {
			return 0, 0
		}
		i += n
		switch c := s[i]; {
		case strings.HasPrefix(s[i:], "<!--"):
			i = after(s, i+len("<!--"), "-->")
		case c == '"' || c == '\'':
			i = after(s, i+1, s[i:i+1])
		case c == '[' && from == 0:
			from = i
			i++
		case c == ']' && from > 0:
			if strings.HasPrefix(strings.TrimLeft(s[i+1:], " \t\r\n"), ">") {
				return from, i + 1
			}
			return 0, 0
		case c == '>' && from == 0:
			return 0, 0
		default:
			i++
		}
	}
	return 0, 0
}

// tagEnd returns the index behind the tag that begins at i, or -1.
func tagEnd(s string, i int) int {
	for i < len(s) {
		n := strings.IndexAny(s[i:], `>"'`)
		if n < 0 {
			return -1
		}
		if i += n; s[i] == '>' {
			return i + 1
		}
		n = strings.IndexByte(s[i+1:], s[i])
		if n < 0 {
			return -1
		}
		i += n + 2
	}
	return -1
}
