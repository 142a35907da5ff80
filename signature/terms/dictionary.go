package terms

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/andybalholm/brotli"
)

// words is the Chinese dictionary of github.com/go-ego/gse (Apache License 2.0; its
// words and frequencies are those of jieba, MIT). It has only the words made of Han
// characters, since only runs of these are segmented. dictionary_test.go makes it,
// and compares it and segment with gse.
//
//go:embed words.br
var words []byte

// lexicon is the dictionary of Chinese. It includes the frequencies F' and F of the
// paper: those of the least and the most frequent term of every part of speech. It
// does not change once it is loaded.
type lexicon struct {
	least, most [groups]uint64
	letters     []rune   // of all words, in the order of the words
	ends        []uint32 // where each word ends in letters
	first       []uint32 // by character, up to U+FFFF: the first word that begins with this or a greater character
	words       []word
}

// word is an entry of the dictionary.
type word struct {
	frequency uint32
	distance  float32 // how much it lengthens a path: the more frequent the word, the less
	group     group
}

// unlisted stands for a character that starts no path through the dictionary.
var unlisted = word{frequency: 1, distance: 32, group: groupOf("x")}

// dictionary is loaded at the first Han character, so that collections in other
// scripts do not need its memory.
var dictionary = sync.OnceValue(func() *lexicon {
	d, err := readLexicon(words)
	if err != nil {
		panic("terms: the dictionary that is part of the program: " + err.Error())
	}
	return d
})

// readLexicon reads what writeLexicon in dictionary_test.go writes. All numbers are
// varints of encoding/binary: the sum of all frequencies; the number of parts of
// speech, and of each its name (length, bytes) and its least and greatest
// frequency, including words that are not listed; the number of words. Five columns
// follow, with the words in the order of their characters: how many characters the
// word shares with the one before; how many more it has; its part of speech; its
// frequency; the characters that it does not share.
func readLexicon(compressed []byte) (*lexicon, error) {
	b, err := io.ReadAll(brotli.NewReader(bytes.NewReader(compressed)))
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

// letter returns the character of word i at a place, or -1 after its end.
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

// step is the last step of the shortest path to a place. 0 means that no path has
// reached the place.
type step struct {
	distance float32
	from     int32
	word     *word
}

// segment splits a run of at most chunk characters along the shortest path through
// the dictionary's words, which is the path with the greatest product of
// frequencies. Of equal ones it keeps the path whose word begins first. It appends
// the pieces to dst.
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
			if d.letter(low, k) < 0 { // it is a prefix of the words in the range
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

// narrow returns the part of a range of words that have the character r at a place.
// The words of the range agree before that place.
func (d *lexicon) narrow(low, high, place int, r rune) (from, to int) {
	from = low + sort.Search(high-low, func(i int) bool { return d.letter(low+i, place) >= r })
	if from == high || d.letter(from, place) != r {
		return from, from
	}
	return from, from + sort.Search(high-from, func(i int) bool { return d.letter(from+i, place) > r })
}

// groupOf returns the group of a part of speech, in the dictionary's tags. jieba
// uses the tag set of Peking University, in which the first letter gives the kind.
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
