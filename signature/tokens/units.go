package tokens

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"
)

// units are texts as codes, 1 and up, of their characters or words, by first
// occurrence. A text of fewer than Size units, but some, is filled up with 0.
type units struct {
	codes    []uint32
	ends     []int // of the texts
	distinct int   // the largest code
}

// end ends a text that began at start.
func (u *units) end(start, size int) {
	if n := len(u.codes) - start; n > 0 && n < size {
		u.codes = append(u.codes, make([]uint32, size-n)...)
	}
	u.ends = append(u.ends, len(u.codes))
}

// room is for as many texts, and about as many units as there are bytes.
func room(collections [][]string, perUnit int) units {
	texts, size := 0, 0
	for _, c := range collections {
		texts += len(c)
		for _, s := range c {
			size += len(s)
		}
	}
	return units{codes: make([]uint32, 0, size/perUnit+texts), ends: make([]int, 0, texts)}
}

// characters reads texts as code points.
func characters(collections [][]string, size int) units {
	u := room(collections, 1)
	var ascii [utf8.RuneSelf]uint32
	pages := map[rune]*[256]uint32{} // of the other planes
	var low [256]*[256]uint32        // of the basic plane, by the high byte
	for _, c := range collections {
		for _, s := range c {
			start := len(u.codes)
			for i := 0; i < len(s); {
				if b := s[i]; b < utf8.RuneSelf {
					i++
					if ascii[b] == 0 {
						u.distinct++
						ascii[b] = uint32(u.distinct)
					}
					u.codes = append(u.codes, ascii[b])
					continue
				}
				r, n := utf8.DecodeRuneInString(s[i:])
				i += n
				var page *[256]uint32
				if r < 0x10000 {
					if page = low[r>>8]; page == nil {
						page = new([256]uint32)
						low[r>>8] = page
					}
				} else if page = pages[r>>8]; page == nil {
					page = new([256]uint32)
					pages[r>>8] = page
				}
				if page[r&255] == 0 {
					u.distinct++
					page[r&255] = uint32(u.distinct)
				}
				u.codes = append(u.codes, page[r&255])
			}
			u.end(start, size)
		}
	}
	return u
}

// lexicon numbers words.
type lexicon struct {
	seed  maphash.Seed
	slots []slot // open addressing; a power of two
	text  []byte // of the words, one after the other
	ends  []int  // where in text word i ends
}

type slot struct {
	hash uint64
	code uint32 // 0: empty
}

func newLexicon() *lexicon {
	return &lexicon{seed: maphash.MakeSeed(), slots: make([]slot, 1<<12), ends: []int{0}}
}

// take numbers the word that was appended to text after the last one.
func (l *lexicon) take() uint32 {
	from := l.ends[len(l.ends)-1]
	word := l.text[from:]
	h := maphash.Bytes(l.seed, word)
	mask := uint64(len(l.slots) - 1)
	i := h & mask
	for ; l.slots[i].code != 0; i = (i + 1) & mask {
		if s := l.slots[i]; s.hash == h && bytes.Equal(l.text[l.ends[s.code-1]:l.ends[s.code]], word) {
			l.text = l.text[:from]
			return s.code
		}
	}
	code := uint32(len(l.ends))
	l.ends = append(l.ends, len(l.text))
	l.slots[i] = slot{h, code}
	if 2*len(l.ends) > len(l.slots) {
		old := l.slots
		l.slots = make([]slot, 4*len(old))
		mask := uint64(len(l.slots) - 1)
		for _, s := range old {
			if s.code == 0 {
				continue
			}
			i := s.hash & mask
			for l.slots[i].code != 0 {
				i = (i + 1) & mask
			}
			l.slots[i] = s
		}
	}
	return code
}

// What a byte of ASCII is to a word.
const (
	isSpace = 1 << iota
	isLetter
)

var class = func() (c [utf8.RuneSelf]uint8) {
	for r := range rune(utf8.RuneSelf) {
		if unicode.IsSpace(r) {
			c[r] |= isSpace
		}
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			c[r] |= isLetter
		}
	}
	return c
}()

// words reads texts as words in lower case.
func words(collections [][]string, letters bool, size int) units {
	u := room(collections, 4)
	l := newLexicon()
	for _, c := range collections {
		for _, s := range c {
			start := len(u.codes)
			from := l.ends[len(l.ends)-1]
			end := func() {
				if len(l.text) > from {
					u.codes = append(u.codes, l.take())
					from = l.ends[len(l.ends)-1]
				}
			}
			for i := 0; i < len(s); {
				if b := s[i]; b < utf8.RuneSelf {
					i++
					if letters && class[b]&isLetter == 0 || !letters && class[b]&isSpace != 0 {
						end()
					} else {
						if 'A' <= b && b <= 'Z' {
							b += 'a' - 'A'
						}
						l.text = append(l.text, b)
					}
					continue
				}
				r, n := utf8.DecodeRuneInString(s[i:])
				i += n
				switch {
				case !letters && unicode.IsSpace(r), letters && !unicode.In(r, unicode.L, unicode.M, unicode.N):
					end()
				case letters && unicode.Is(unicode.Ideographic, r):
					end()
					l.text = utf8.AppendRune(l.text, r)
					end()
				default:
					l.text = utf8.AppendRune(l.text, unicode.ToLower(r))
				}
			}
			end()
			u.end(start, size)
		}
	}
	u.distinct = len(l.ends) - 1
	return u
}

// ids numbers 64-bit keys.
type ids struct {
	slots []idSlot // open addressing; a power of two
	shift int
	n     uint32
}

type idSlot struct {
	key  uint64
	id   uint32 // plus 1; 0: empty
	text uint32 // where it was last seen
}

func newIDs(expected int) *ids {
	b := max(10, bits.Len(uint(expected)))
	return &ids{slots: make([]idSlot, 1<<b), shift: 64 - b}
}

// mix spreads the bits of a key; the constant is 2^64 divided by the golden
// ratio (Knuth, The Art of Computer Programming 3, section 6.4).
func mix(key uint64) uint64 { return (key ^ key>>32) * 0x9E3779B97F4A7C15 }

// take is the slot of a key, which is in it from now on.
func (d *ids) take(key, hash uint64) *idSlot {
	mask := uint64(len(d.slots) - 1)
	i := hash >> d.shift
	for ; ; i = (i + 1) & mask {
		s := &d.slots[i]
		if s.id == 0 {
			break
		}
		if s.key == key {
			return s
		}
	}
	if 2*int(d.n) >= len(d.slots) {
		d.grow()
		return d.take(key, hash)
	}
	d.n++
	d.slots[i] = idSlot{key: key, id: d.n}
	return &d.slots[i]
}

func (d *ids) grow() {
	old := d.slots
	d.shift -= 2
	d.slots = make([]idSlot, 4*len(old))
	mask := uint64(len(d.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := mix(s.key) >> d.shift
		for d.slots[i].id != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = s
	}
}

// sortIDs sorts a record.
func sortIDs(a []uint32) {
	if len(a) > 12 {
		slices.Sort(a)
		return
	}
	for i := 1; i < len(a); i++ {
		v, j := a[i], i
		for ; j > 0 && a[j-1] > v; j-- {
			a[j] = a[j-1]
		}
		a[j] = v
	}
}
