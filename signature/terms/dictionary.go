package terms

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sort"
	"sync"
)

// words is the Chinese dictionary of github.com/go-ego/gse (Apache License 2.0;
// its words and frequencies are those of jieba, MIT): of its words those of Han
// characters alone, since only runs of these are segmented. dictionary_test.go
// makes it, and holds it and segment against gse.
//
//go:embed words.flate
var words []byte

// lexicon is the dictionary of Chinese, with the frequencies F' and F of the
// paper: of the least and the most frequent term of every part of speech. It
// does not change once it is loaded.
type lexicon struct {
	least, most [groups]uint64
	letters     []rune   // of all words, in the order of the words
	ends        []uint32 // where in letters a word ends
	first       []uint32 // by character, up to U+FFFF: the first word that does not begin with a smaller one
	words       []word
}

// word is an entry of the dictionary.
type word struct {
	frequency uint32
	distance  float32 // how much longer it makes a path: less the more frequent it is
	group     group
}

// unlisted stands for a character that starts no path through the dictionary.
var unlisted = word{frequency: 1, distance: 32, group: groupOf("x")}

// dictionary is loaded when the first Han character comes: collections in other
// scripts do without its memory.
var dictionary = sync.OnceValue(func() *lexicon {
	d, err := readLexicon(words)
	if err != nil {
		panic("terms: the dictionary that is part of the program: " + err.Error())
	}
	return d
})

// readLexicon reads what writeLexicon in dictionary_test.go writes. All is in
// numbers as of encoding/binary: the sum of all frequencies; how many parts of
// speech there are, and of each its name (length, bytes), the least and the
// greatest frequency, words that are not listed included; how many words there
// are. Then, in five columns, of each word, in the order of their characters:
// how many characters it shares with the one before, how many more it has; the
// part of speech; the frequency; the characters that it does not share.
func readLexicon(compressed []byte) (*lexicon, error) {
	b, err := io.ReadAll(flate.NewReader(bytes.NewReader(compressed)))
	if err != nil {
		return nil, err
	}
	next := func() (n uint64) {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			b, err = nil, errors.New("it is cut off")
			return 0
		}
		b = b[size:]
		return n
	}
	d := new(lexicon)
	total := math.Log2(float64(next()))
	groupAt := make([]group, next())
	for i := range groupAt {
		name := make([]byte, next())
		b = b[copy(name, b):]
		g := groupOf(string(name))
		groupAt[i] = g
		least, most := next(), next()
		if d.least[g] == 0 || least < d.least[g] {
			d.least[g] = least
		}
		d.most[g] = max(d.most[g], most)
	}
	n := int(next())
	d.words, d.ends = make([]word, n), make([]uint32, n)
	shared := make([]int, n)
	for i := range shared {
		shared[i] = int(next())
	}
	sum := 0
	for i := range d.ends {
		sum += shared[i] + int(next())
		d.ends[i] = uint32(sum)
	}
	for i := range d.words {
		d.words[i].group = groupAt[next()]
	}
	for i := range d.words {
		w := &d.words[i]
		w.frequency = uint32(next())
		w.distance = float32(total) - float32(math.Log2(float64(w.frequency)))
	}
	d.letters = make([]rune, 0, sum)
	start := 0
	for i, end := range d.ends {
		d.letters = append(d.letters, d.letters[start:start+shared[i]]...)
		start = len(d.letters) - shared[i]
		for len(d.letters) < int(end) {
			d.letters = append(d.letters, rune(next()))
		}
	}
	d.first = make([]uint32, 1<<16+1)
	for r, i := 0, 0; r < len(d.first); r++ {
		for i < n && int(d.letter(i, 0)) < r {
			i++
		}
		d.first[r] = uint32(i)
	}
	return d, err
}

func (d *lexicon) start(i int) uint32 {
	if i == 0 {
		return 0
	}
	return d.ends[i-1]
}

// letter returns the character of word i at a place, or -1 behind its end.
func (d *lexicon) letter(i, place int) rune {
	if at := d.start(i) + uint32(place); at < d.ends[i] {
		return d.letters[at]
	}
	return -1
}

// piece is a term of a run of Han characters.
type piece struct {
	text string
	*word
}

// step is how the shortest path to a place comes there: 0 is a place that none
// has reached.
type step struct {
	distance float32
	from     int32
	word     *word
}

// segment cuts a run of at most chunk characters on the path through the
// dictionary's words of the least distance, which is that of the greatest
// product of frequencies; of equal ones it keeps the word that begins first. It
// appends the pieces to dst.
func (d *lexicon) segment(dst []piece, run string) []piece {
	var path [chunk + 1]step
	var letters [chunk]rune
	var at [chunk + 1]int
	n := 0
	for i, r := range run {
		letters[n], at[n] = r, i
		n++
	}
	at[n] = len(run)
	for i := range n {
		reach := func(end int, w *word) {
			if to, distance := &path[end], path[i].distance+w.distance; to.distance == 0 || to.distance > distance {
				*to = step{distance, int32(i), w}
			}
		}
		alone := false
		low, high := d.startingWith(letters[i])
		for k := 1; low < high; k++ {
			if d.letter(low, k) < 0 { // it is what the words of the range begin with
				alone = alone || k == 1
				reach(i+k, &d.words[low])
				low++
			}
			if i+k == n {
				break
			}
			low, high = d.narrow(low, high, k, letters[i+k])
		}
		if !alone {
			reach(i+1, &unlisted)
		}
	}
	first := len(dst)
	for end := n; end > 0; {
		s := &path[end]
		dst = append(dst, piece{run[at[s.from]:at[end]], s.word})
		end = int(s.from)
	}
	slices.Reverse(dst[first:])
	return dst
}

// startingWith returns the range of the words that start with a character.
func (d *lexicon) startingWith(r rune) (low, high int) {
	if r >= 1<<16 {
		return d.narrow(int(d.first[1<<16]), len(d.words), 0, r)
	}
	return int(d.first[r]), int(d.first[r+1])
}

// narrow returns the part of a range of words, which agree in what stands before a
// place, that have a character there.
func (d *lexicon) narrow(low, high, place int, r rune) (from, to int) {
	from = low + sort.Search(high-low, func(i int) bool { return d.letter(low+i, place) >= r })
	if from == high || d.letter(from, place) != r {
		return from, from
	}
	return from, from + sort.Search(high-from, func(i int) bool { return d.letter(from+i, place) > r })
}

// groupOf returns the group of a part of speech as the dictionary writes it, in the
// tag set of Peking University that jieba uses: the first letter is the kind.
func groupOf(pos string) group {
	if pos == "" {
		return noun
	}
	switch pos[0] {
	case 'n', 'j', 'x': // j: abbreviations; x: no word
		return noun
	case 'v':
		return verb
	case 'a', 'b':
		return adjective
	case 'z':
		if pos != "zg" { // single characters of any kind
			return adjective
		}
	case 'd':
		return adverb
	case 'c', 'p', 'u', 'y', 'e', 'o', 'h', 'k':
		return connective
	case 'r':
		return pronoun
	case 'm', 'q':
		return numeral
	}
	return other
}
