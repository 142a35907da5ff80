package tokens

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"neardup/signature/words"
)

// units holds texts as codes of their characters or words, numbered from 1 by first
// occurrence. A text of fewer than Size units, but at least one, is padded with 0.
type units struct {
	codes    []uint32
	ends     []int // of the texts
	distinct int   // the largest code
}

// end ends a text whose codes begin at start.
func (u *units) end(start, size int) {
	if n := len(u.codes) - start; n > 0 && n < size {
		u.codes = append(u.codes, make([]uint32, size-n)...)
	}
	u.ends = append(u.ends, len(u.codes))
}

// room returns units with memory for the texts. It estimates the units per byte
// from every 64th text, and adds a sixteenth.
func room(texts []string, size int, count func(string) int) units {
	total, bytes, counted := 0, 1, 0
	for i, s := range texts {
		total += len(s)
		if i%64 == 0 {
			bytes += len(s)
			counted += count(s)
		}
	}
	n := int(float64(total) / float64(bytes) * float64(counted) * 17 / 16)
	return units{codes: make([]uint32, 0, n+size*len(texts)/16), ends: make([]int, 0, len(texts))}
}

// namer gives codes to units. Merging the namer of a later part gives the codes
// that the units would have if the parts had been read in succession.
type namer interface {
	read(texts []string, size int) units
	merge(later namer) (codes []uint32) // merge returns the new codes of the later part's codes, from 1
}

// minTexts is how many texts a worker has at least.
const minTexts = 64

// inParts reads texts with several workers.
func inParts(texts []string, size, workers int, make func() namer) units {
	workers = max(1, min(workers, maxWorkers, len(texts)/minTexts))
	namers, parts := []namer{}, [maxWorkers]units{}
	var group sync.WaitGroup
	for w := range workers {
		n := make()
		namers = append(namers, n)
		part := texts[len(texts)*w/workers : len(texts)*(w+1)/workers]
		group.Go(func() { parts[w] = n.read(part, size) })
	}
	group.Wait()
	u := parts[0]
	for w, n := range namers[1:] {
		later := parts[w+1]
		codes := namers[0].merge(n)
		before := len(u.codes)
		u.codes = slices.Grow(u.codes, len(later.codes))
		for _, c := range later.codes {
			u.codes = append(u.codes, codes[c])
		}
		for _, end := range later.ends {
			u.ends = append(u.ends, before+end)
		}
		u.distinct = max(u.distinct, int(slices.Max(codes)))
	}
	return u
}

// alphabet gives codes to characters.
type alphabet struct {
	ascii [utf8.RuneSelf]uint32
	low   [256]*[256]uint32     // of the basic plane, by the high byte
	pages map[rune]*[256]uint32 // of the other planes
	runes []rune                // by code, from 1
}

func (a *alphabet) code(r rune) uint32 {
	var place *uint32
	if r < utf8.RuneSelf {
		place = &a.ascii[r]
	} else {
		var page *[256]uint32
		if r < 0x10000 {
			if page = a.low[r>>8]; page == nil {
				page = new([256]uint32)
				a.low[r>>8] = page
			}
		} else if page = a.pages[r>>8]; page == nil {
			if a.pages == nil {
				a.pages = map[rune]*[256]uint32{}
			}
			page = new([256]uint32)
			a.pages[r>>8] = page
		}
		place = &page[r&255]
	}
	if *place == 0 {
		a.runes = append(a.runes, r)
		*place = uint32(len(a.runes))
	}
	return *place
}

func (a *alphabet) read(texts []string, size int) units {
	u := room(texts, size, utf8.RuneCountInString)
	for _, s := range texts {
		start := len(u.codes)
		for i := 0; i < len(s); {
			b := s[i]
			if b < utf8.RuneSelf {
				i++
				if c := a.ascii[b]; c > 0 {
					u.codes = append(u.codes, c)
				} else {
					u.codes = append(u.codes, a.code(rune(b)))
				}
				continue
			}
			if b >= 0xE1 && b != 0xED && b < 0xF0 && i+2 < len(s) && s[i+1]&0xC0 == 0x80 && s[i+2]&0xC0 == 0x80 {
				// Most characters of three bytes, read without a call.
				if page := a.low[(b&0xF)<<4|s[i+1]>>2&0xF]; page != nil {
					if c := page[s[i+1]<<6|s[i+2]&0x3F]; c > 0 {
						u.codes = append(u.codes, c)
						i += 3
						continue
					}
				}
			}
			r, n := utf8.DecodeRuneInString(s[i:])
			i += n
			u.codes = append(u.codes, a.code(r))
		}
		u.end(start, size)
	}
	u.distinct = len(a.runes)
	return u
}

func (a *alphabet) merge(later namer) []uint32 {
	codes := []uint32{0}
	for _, r := range later.(*alphabet).runes {
		codes = append(codes, a.code(r))
	}
	return codes
}

// lexicon gives codes to words.
type lexicon struct {
	seed  maphash.Seed
	slots []slot // open addressing; a power of two
	text  []byte // of the words, one after the other
	ends  []int  // where in text word i ends

	letters bool
}

type slot struct {
	hash uint64
	code uint32 // 0: empty
}

func newLexicon(letters bool) *lexicon {
	return &lexicon{seed: maphash.MakeSeed(), slots: make([]slot, 1<<12), ends: []int{0}, letters: letters}
}

func (l *lexicon) merge(later namer) []uint32 {
	codes := []uint32{0}
	o := later.(*lexicon)
	for i := 1; i < len(o.ends); i++ {
		l.text = append(l.text, o.text[o.ends[i-1]:o.ends[i]]...)
		codes = append(codes, l.take())
	}
	return codes
}

// take returns the code of the word that was just appended to text.
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

// spaces and lower are tables for ASCII.
var spaces, lower = func() (space [utf8.RuneSelf]bool, low [utf8.RuneSelf]uint8) {
	for r := range rune(utf8.RuneSelf) {
		space[r] = unicode.IsSpace(r)
		low[r] = uint8(unicode.ToLower(r))
	}
	return space, low
}()

// read reads texts as words in lower case.
func (l *lexicon) read(texts []string, size int) units {
	u := room(texts, size, func(s string) int { return len(strings.Fields(s)) })
	for _, s := range texts {
		start := len(u.codes)
		if l.letters {
			u.codes = l.readLetters(u.codes, s)
		} else {
			u.codes = l.readWords(u.codes, s)
		}
		u.end(start, size)
	}
	u.distinct = len(l.ends) - 1
	return u
}

// readLetters appends the codes of the words of neardup/signature/words.
func (l *lexicon) readLetters(codes []uint32, s string) []uint32 {
	for i := 0; ; {
		from := len(l.text)
		if l.text, i = words.Next(l.text, s, i); len(l.text) == from {
			return codes
		}
		codes = append(codes, l.take())
	}
}

// readWords appends the codes of the words between white space.
func (l *lexicon) readWords(codes []uint32, s string) []uint32 {
	from := len(l.text)
	end := func() {
		if len(l.text) > from {
			codes = append(codes, l.take())
			from = len(l.text)
		}
	}
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			i++
			if spaces[b] {
				end()
			} else {
				l.text = append(l.text, lower[b])
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if unicode.IsSpace(r) {
			end()
		} else {
			l.text = utf8.AppendRune(l.text, unicode.ToLower(r))
		}
	}
	end()
	return codes
}
