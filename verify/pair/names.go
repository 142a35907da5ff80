package pair

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"neardup/signature/words"
)

// Title is the title of a page.
type Title struct {
	Key   uint64   // hash of its letters; 0: it has none
	Words []uint32 // hashes of its words, sorted, without repeats
}

// TitleOf returns the title of a page. Numbers, signs and spaces change in the title
// of one page, so they do not count in its key.
func TitleOf(title string) Title {
	t := Title{Key: titleKey(title)}
	eachWord(title, func(w uint32) { t.Words = append(t.Words, w) })
	slices.Sort(t.Words)
	t.Words = slices.Compact(t.Words)
	return t
}

// titleKey returns the FNV-1a hash of the letters of a title in lower case, or 0 if it
// has none.
func titleKey(title string) uint64 {
	letters := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, title)
	if letters == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(letters))
	return h.Sum64()
}

// eachWord calls f with the hash of each word of s that can name a subject: a run of
// letters, marks, low lines and digits, in lower case. Between digits, a sign as in 1.4.2,
// 12:30 or 2026-05-03 is part of it. A year, or a span of years, is none, because a page
// that is kept up to date changes it. In scripts without spaces, such a word is any two
// adjacent letters, or a letter on its own.
func eachWord(s string, f func(uint32)) {
	if ascii(s) {
		eachASCIIWord(s, f)
	} else {
		eachAnyWord(s, f)
	}
}

// joint reports whether a sign between two digits is part of a word.
func joint(r rune) bool { return r == '.' || r == ',' || r == ':' || r == '/' || r == '-' }

// isYear reports whether a word is a year from 1900 to 2099, or a span of years, such as
// 2019-2020 or 2019/20.
func isYear(word string) bool {
	if len(word) < 4 || word[:2] != "19" && word[:2] != "20" || !digits(word[2:4]) {
		return false
	}
	rest := word[4:]
	return rest == "" || (rest[0] == '-' || rest[0] == '/') && (len(rest) == 3 && digits(rest[1:]) || len(rest) == 5 && isYear(rest[1:]))
}

// digits reports whether s has two ASCII digits, and nothing else.
func digits(s string) bool { return len(s) == 2 && isDigit(s[0]) && isDigit(s[1]) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// eachAnyWord is eachWord for any characters.
func eachAnyWord(s string, f func(uint32)) {
	const (
		between = iota
		spaced
		unspaced
	)
	var (
		run   []rune
		state = between
		named bool // run has a letter or a digit
		last  rune // of run
	)
	hash := func(r []rune) {
		if word := string(r); !isYear(word) {
			f(uint32(xxhash.Sum64String(word)))
		}
	}
	end := func() {
		switch {
		case !named:
		case state == spaced || len(run) == 1:
			hash(run)
		case state == unspaced:
			for i := range len(run) - 1 {
				hash(run[i : i+2])
			}
		}
		run, named, last = run[:0], false, 0
	}
	for at, r := range s {
		letter, number, now := unicode.IsLetter(r), unicode.IsNumber(r), between
		switch {
		case words.Unspaced(r):
			now = unspaced
		case letter || number || r == '_' || unicode.IsMark(r):
			now = spaced
		case joint(r) && state == spaced && unicode.IsNumber(last):
			if next, _ := utf8.DecodeRuneInString(s[at+1:]); unicode.IsNumber(next) {
				now = spaced
			}
		}
		if now != state {
			end()
			state = now
		}
		if now != between {
			run, last = append(run, unicode.ToLower(r)), r
			named = named || letter || number
		}
	}
	end()
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// eachASCIIWord is eachWord for ASCII, as most lines are.
func eachASCIIWord(s string, f func(uint32)) {
	var word []byte
	named := false
	digit := func(i int) bool { return i >= 0 && i < len(s) && isDigit(s[i]) }
	for i := 0; i <= len(s); i++ {
		var c byte
		if i < len(s) {
			c = s[i]
		}
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
			fallthrough
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			named = true
		case c != '_' && !(joint(rune(c)) && digit(i-1) && digit(i+1)):
			if named && !isYear(string(word)) {
				f(uint32(xxhash.Sum64(word)))
			}
			word, named = word[:0], false
			continue
		}
		word = append(word, c)
	}
}

// Names are the addresses and titles of the pages that have a text, as hashes. The
// zero value has no pages.
//
// A page that is captured again keeps its address or its title. On the labelled sets
// no two captures of a page differ in both, except for six pairs that are nearly equal
// (docs/verdicts.md).
type Names struct {
	addresses, titles []uint64 // sorted
	always, ever      []uint32 // words of all titles, and of any, sorted
	unknown           bool     // a page has no title, or there are more names than are kept
}

// maxNames is the number of different addresses, and of titles, that are kept, and
// maxWords that of words of the titles.
const (
	maxNames = 64
	maxWords = 8 * maxNames
)

// Add adds a page.
func (n *Names) Add(address uint64, title Title) {
	n.unknown = n.unknown || title.Key == 0
	if !n.unknown {
		if len(n.addresses) == 0 {
			n.always = slices.Clone(title.Words)
		} else {
			n.always = select32(n.always, title.Words, true)
		}
		n.ever = slices.Concat(n.ever, select32(title.Words, n.ever, false))
		slices.Sort(n.ever)
		n.addresses, n.titles = insert(n.addresses, address), insert(n.titles, title.Key)
		n.unknown = len(n.addresses) > maxNames || len(n.titles) > maxNames || len(n.ever) > maxWords
	}
	if n.unknown {
		*n = Names{unknown: true}
	}
}

func insert(to []uint64, x uint64) []uint64 {
	if i, found := slices.BinarySearch(to, x); !found {
		return slices.Insert(to, i, x)
	}
	return to
}

// select32 returns the words that are in others, or that are not.
func select32(words, others []uint32, in bool) (out []uint32) {
	for _, w := range words {
		if _, found := slices.BinarySearch(others, w); found == in {
			out = append(out, w)
		}
	}
	return out
}

// elsewhere reports whether the pages of n are known to be at other addresses than those of
// m, and to have titles.
func (n Names) elsewhere(m Names) bool {
	return n.known() && m.known() && !share(n.addresses, m.addresses)
}

// different reports whether the pages of n are known to be others than those of m: all
// have titles, and no address and no title is of both.
func (n Names) different(m Names) bool { return n.elsewhere(m) && !share(n.titles, m.titles) }

func (n Names) known() bool { return !n.unknown && len(n.addresses) > 0 }

// otherSubjects reports whether the titles of two texts name different subjects: each
// text is about a word that all of its titles have, and none of the other's titles. The
// titles of a text that is published twice, under two headlines, are about what both
// texts say.
func otherSubjects(a, b *Text) bool {
	x, y := select32(a.names.always, b.names.ever, false), select32(b.names.always, a.names.ever, false)
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	words := slices.Concat(x, y)
	slices.Sort(words)
	byA, byB := a.says(words), b.says(words)
	about := func(own []uint32, one, other []int) bool {
		return slices.ContainsFunc(own, func(w uint32) bool {
			i, _ := slices.BinarySearch(words, w)
			return one[i] > 2*other[i] // a page may name its sibling, as one that it links to
		})
	}
	return about(x, byA, byB) && about(y, byB, byA)
}

// says returns how often the text says each of the words in lines that are no title of it.
// words are sorted.
func (t *Text) says(words []uint32) []int {
	said := make([]int, len(words))
	var found []int // words of a line
	for line := range strings.SplitSeq(t.compared, "\n") {
		found = found[:0]
		eachWord(line, func(w uint32) {
			if i, is := slices.BinarySearch(words, w); is {
				found = append(found, i)
			}
		})
		if len(found) == 0 {
			continue
		}
		if _, is := slices.BinarySearch(t.names.titles, titleKey(line)); is {
			continue
		}
		for _, i := range found {
			said[i]++
		}
	}
	return said
}

// Append appends the names to b. Equal bytes mean equal names.
func (n Names) Append(b []byte) []byte {
	unknown := byte(0)
	if n.unknown {
		unknown = 1
	}
	b = append(b, unknown)
	for _, list := range [][]uint64{n.addresses, n.titles} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, x := range list {
			b = binary.BigEndian.AppendUint64(b, x)
		}
	}
	for _, list := range [][]uint32{n.always, n.ever} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, x := range list {
			b = binary.BigEndian.AppendUint32(b, x)
		}
	}
	return b
}

func (n Names) bytes() int {
	return 8*(len(n.addresses)+len(n.titles)) + 4*(len(n.always)+len(n.ever))
}

// ParseNames parses what Append wrote at the start of b, and returns the rest. ok is
// false for other bytes.
func ParseNames(b []byte) (n Names, rest []byte, ok bool) {
	if len(b) == 0 || b[0] > 1 {
		return n, nil, false
	}
	n.unknown, b = b[0] == 1, b[1:]
	count := func(max, size int) (n int, ok bool) {
		count, used := binary.Uvarint(b)
		if used <= 0 || count > uint64(max) || len(b)-used < size*int(count) {
			return 0, false
		}
		b = b[used:]
		return int(count), true
	}
	for _, list := range []*[]uint64{&n.addresses, &n.titles} {
		size, ok := count(maxNames, 8)
		if !ok {
			return n, nil, false
		}
		for range size {
			*list = append(*list, binary.BigEndian.Uint64(b))
			b = b[8:]
		}
	}
	for _, list := range []*[]uint32{&n.always, &n.ever} {
		size, ok := count(maxWords, 4)
		if !ok {
			return n, nil, false
		}
		for range size {
			*list = append(*list, binary.BigEndian.Uint32(b))
			b = b[4:]
		}
	}
	return n, b, true
}
