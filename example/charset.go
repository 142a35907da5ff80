package example

import (
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
)

// encode returns s in a charset. It panics on a character that the charset lacks.
func encode(s, charset string) []byte {
	switch charset {
	case "utf-8":
		return []byte(s)
	case "windows-1251":
		return encodeWith(s, charset, cyrillic)
	case "iso-8859-1":
		return encodeWith(s, charset, func(r rune) []byte {
			if r < 0xA0 || r > 0xFF {
				return nil
			}
			return []byte{byte(r)}
		})
	case "gbk":
		return encodeWith(s, charset, func(r rune) []byte { return gbk()[r] })
	}
	panic("example: no charset " + charset)
}

func encodeWith(s, charset string, code func(rune) []byte) []byte {
	var out []byte
	for _, r := range s {
		if r < 0x80 {
			out = append(out, byte(r))
			continue
		}
		b := code(r)
		if b == nil {
			panic(fmt.Sprintf("example: %q is not in %s", r, charset))
		}
		out = append(out, b...)
	}
	return out
}

// cyrillic returns the encoding in windows-1251 of a character that Russian pages
// use.
func cyrillic(r rune) []byte {
	switch {
	case r >= 'А' && r <= 'я':
		return []byte{byte(r - 'А' + 0xC0)}
	case r == 'Ё':
		return []byte{0xA8}
	case r == 'ё':
		return []byte{0xB8}
	case r == '«':
		return []byte{0xAB}
	case r == '»':
		return []byte{0xBB}
	case r == '—':
		return []byte{0x97}
	}
	return nil
}

// gbk is the table in text/gbk.txt, which has words "char=hex".
var gbk = sync.OnceValue(func() map[rune][]byte {
	data, err := textFiles.ReadFile("text/gbk.txt")
	if err != nil {
		panic(err)
	}
	table := map[rune][]byte{}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.Fields(line) {
			char, code, _ := strings.Cut(word, "=")
			b, err := hex.DecodeString(code)
			if err != nil || len(b) != 2 {
				panic("example: text/gbk.txt: " + word)
			}
			table[[]rune(char)[0]] = b
		}
	}
	return table
})
