// Package subject tells apart pages that one template makes alike: two
// functions of one reference, two products of one shop, two statements of one
// form. Nearly all their text is the same, so no measure of the text can tell
// them apart. But such pages say in their first lines what they are about, and
// go on to name it. The TLCS paper counts them among its false positives
// ("similar objects", section 4) and has no remedy. This one is ours.
package subject

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"neardup/extract/text"
)

// Options are the options of the check. docs/benchmarks/quality.md has the rows
// behind the defaults.
type Options struct {
	Lines    int     `yaml:"subject_lines" json:"subject_lines"`         // first lines in which two pages may name different subjects; 0: no check
	Rate     float64 `yaml:"subject_rate" json:"subject_rate"`           // smallest number of times that a subject is named in 1,000 code points of the longer page
	OneSided float64 `yaml:"subject_one_sided" json:"subject_one_sided"` // resemblance below which it is enough that one of the pages keeps to its subject
}

// Validate returns an error that names the first option that makes no sense.
func (o Options) Validate() error {
	switch {
	case o.Lines < 0:
		return fmt.Errorf("subject_lines: %d is negative", o.Lines)
	case !(o.Rate >= 0):
		return fmt.Errorf("subject_rate: %v, must be a number of at least 0", o.Rate)
	case !(o.OneSided >= 0 && o.OneSided <= 1):
		return fmt.Errorf("subject_one_sided: %v, must be from 0 to 1", o.OneSided)
	}
	return nil
}

const (
	share = 2 // at least one in this many of the words that only one line has must name its subject

	lineWords = 64 // words of a line that count: no name is longer
)

// Page is a text prepared for comparison. Comparing does not change it, so
// goroutines can share pages.
type Page struct {
	text   string
	length int        // in code points
	lines  [][]uint64 // the words of the first lines
	once   sync.Once
	words  counts // words of the whole text; made when first needed, because few pages need it
}

// Read prepares a text for comparison by its first lines, as many as given. Lines
// end with line feeds.
func Read(t string, lines int) *Page {
	p := &Page{text: t, length: utf8.RuneCountInString(t)}
	for rest := t; len(p.lines) < lines && len(rest) > 0; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		var ws []uint64
		for w := range words(line) {
			if ws = append(ws, w); len(ws) == lineWords {
				break
			}
		}
		p.lines = append(p.lines, ws)
	}
	return p
}

// The evidence that two pages are about different subjects.
type Evidence uint8

const (
	None     Evidence = iota
	OneSided          // one of the pages keeps to a subject that the other does not name
	Both              // each keeps to its own
)

// tally counts one word of the deciding lines, by page: how often it is in the
// line, and in the whole text.
type tally struct {
	word       uint64
	line, text [2]int
}

// Compare returns the evidence that two pages are about different subjects. The
// order of the pages does not matter.
//
// The deciding lines are the first that differ in their words, if they are among
// the first Lines. A word that only one of them has, or has more often, names the
// subject of its page if the rest of that page has it, too, and has it more often
// than the rest of the other page. A page keeps to its subject if at least one
// whole word, and at least half of the words that only its line has, are such
// names. A wide character is half a word. One of the names must occur in its page
// at least Rate times in 1,000 code points of the longer page: a long text may
// name its site here and there, and still say what others say.
//
// The evidence is Both if both pages keep to their subjects, or if one does and
// the other line has no word of its own. If only one page keeps to its subject,
// it is OneSided.
func (o Options) Compare(a, b *Page) Evidence {
	e, _ := o.weigh(a, b)
	return e
}

// weighing is what the evidence is computed from.
type weighing struct {
	line       int // the deciding line; -1 if there is none
	tallies    []tally
	own, names [2]int // half words that only one line has, and those of them that name its subject
	named      int    // how often the text has the commonest name
}

func (o Options) weigh(a, b *Page) (Evidence, weighing) {
	i := 0
	for ; i < o.Lines && i < len(a.lines) && i < len(b.lines) && slices.Equal(a.lines[i], b.lines[i]); i++ {
	}
	if i >= o.Lines || i >= len(a.lines) || i >= len(b.lines) {
		return None, weighing{line: -1}
	}
	w := weighing{line: i, tallies: tell(a, b, i)}
	for _, t := range w.tallies {
		side, stands := t.stands()
		w.own[side] += halves(t.word)
		if stands {
			w.names[side] += halves(t.word)
			w.named = max(w.named, t.text[side])
		}
	}
	switch {
	case !w.keeps(0) && !w.keeps(1) || float64(w.named)*1000 < o.Rate*float64(max(a.length, b.length)):
		return None, w
	case (w.own[0] == 0 || w.keeps(0)) && (w.own[1] == 0 || w.keeps(1)):
		return Both, w
	}
	return OneSided, w
}

// keeps reports whether a page keeps to its subject.
func (w *weighing) keeps(side int) bool {
	return w.names[side] > 1 && w.names[side]*share >= w.own[side]
}

// stands returns the page whose line has the word, and reports whether the word
// stands for the subject of that page.
func (t tally) stands() (side int, yes bool) {
	if t.line[1] > t.line[0] {
		side = 1
	}
	return side, stands(t.word, t.text[side]-t.line[side], t.text[1-side]-t.line[1-side])
}

// tell returns the words that line i of one page has more often than line i of
// the other.
func tell(a, b *Page, i int) []tally {
	var out []tally
	for side, p := range []*Page{a, b} {
		for _, w := range p.lines[i] {
			at := slices.IndexFunc(out, func(t tally) bool { return t.word == w })
			if at < 0 {
				at = len(out)
				out = append(out, tally{word: w, text: [2]int{a.times(w), b.times(w)}})
			}
			out[at].line[side]++
		}
	}
	return slices.DeleteFunc(out, func(t tally) bool { return t.line[0] == t.line[1] })
}

// times returns how often the page has the word.
func (p *Page) times(word uint64) int {
	p.once.Do(func() {
		for w := range words(p.text) {
			p.words.add(w)
		}
	})
	return p.words.of(word)
}

// seed places words in tables at random, so that a hostile page cannot choose
// words that collide.
var seed = rand.Uint64() | 1

// counts is a hash table of words and how often each was added, with open
// addressing, at most half full.
type counts struct {
	words []uint64 // 0 is free
	times []int32
	used  int
}

// slot returns where the word is, or the free place for it.
func (c *counts) slot(word uint64) int {
	mask := len(c.words) - 1
	i := int(word*seed>>32) & mask
	for c.words[i] != word && c.words[i] != 0 {
		i = (i + 1) & mask
	}
	return i
}

func (c *counts) add(word uint64) {
	if 2*(c.used+1) > len(c.words) {
		old := *c
		n := max(64, 2*len(old.words))
		c.words, c.times = make([]uint64, n), make([]int32, n)
		for i, w := range old.words {
			if w != 0 {
				at := c.slot(w)
				c.words[at], c.times[at] = w, old.times[i]
			}
		}
	}
	at := c.slot(word)
	if c.words[at] == 0 {
		c.words[at] = word
		c.used++
	}
	c.times[at]++
}

func (c *counts) of(word uint64) int {
	if len(c.words) == 0 {
		return 0
	}
	at := c.slot(word)
	if c.words[at] == 0 {
		return 0
	}
	return int(c.times[at])
}

// words returns the words of a text, each as a number.
func words(t string) func(yield func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for {
			var w uint64
			if w, t = next(t); w == 0 || !yield(w) {
				return
			}
		}
	}
}

// next returns the first word of t and what follows it; 0 is no word. A word is
// a run of letters, marks, underscores and, behind the first of these, digits;
// or a single wide character, for the scripts that have no spaces between
// words; or a run of symbols, since operators are names too. Numbers are no
// words: dates and versions change in the same page. Case does not count. The
// number of a word is its FNV-1a hash but for the last bit, so two words could
// be taken for one, once in a long time.
func next(t string) (word uint64, rest string) {
	i := 0
	k := other
	var r rune
	n := 0
	for ; i < len(t); i += n {
		r, n = decode(t[i:])
		if k = kindOf(r); k > digit {
			break
		}
	}
	if i == len(t) {
		return 0, ""
	}
	h := uint64(14695981039346656037)
	for {
		h = (h ^ uint64(uint32(lower(r)))) * 1099511628211
		if i += n; k == wide || i == len(t) {
			break
		}
		r, n = decode(t[i:])
		if next := kindOf(r); next != k && (k != letter || next != digit) {
			break
		}
	}
	if k == wide {
		return h | 1, t[i:]
	}
	return h&^1 | 2, t[i:]
}

// decode is utf8.DecodeRuneInString, inlined for ASCII.
func decode(t string) (r rune, n int) {
	if t[0] < utf8.RuneSelf {
		return rune(t[0]), 1
	}
	return utf8.DecodeRuneInString(t)
}

// halves returns the number of halves of a word: a wide character is one.
func halves(word uint64) int {
	if word&1 == 1 {
		return 1
	}
	return 2
}

// stands reports whether a word stands for the subject of a page, by how often the
// rest of that page and the rest of the other have it: at least once, and at least
// a third more often. A wide character is half a word, so both numbers must be
// twice as large.
func stands(word uint64, rest, other int) bool {
	if word&1 == 1 {
		return rest >= 2 && rest >= 2*other
	}
	return rest >= 1 && 3*rest >= 4*other
}

type kind uint8

const (
	other kind = iota
	digit
	letter // forms a word with letters and digits behind it
	wide
	symbol
)

var asciiKinds = func() (kinds [128]kind) {
	for r := range int32(128) {
		kinds[r] = slowKind(r)
	}
	return kinds
}()

func kindOf(r int32) kind {
	if r < 128 {
		return asciiKinds[r]
	}
	return slowKind(r)
}

func slowKind(r int32) kind {
	switch {
	case r == '_' || unicode.IsLetter(r) || unicode.IsMark(r):
		if text.RuneColumns(r) == 2 {
			return wide
		}
		return letter
	case unicode.IsNumber(r):
		return digit
	case unicode.In(r, unicode.Sm, unicode.Sc, unicode.Sk), r == '&', r == '*', r == '!', r == '/':
		return symbol
	}
	return other
}

func lower(r int32) int32 {
	if 'A' <= r && r <= 'Z' {
		return r + ('a' - 'A')
	}
	if r < 128 {
		return r
	}
	return unicode.ToLower(r)
}
