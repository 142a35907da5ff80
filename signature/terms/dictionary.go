package terms

import (
	"sync"

	"github.com/go-ego/gse"
)

// lexicon is the dictionary of Chinese, with the frequencies F' and F of the
// paper: of the least and the most frequent term of every part of speech. It
// does not change once it is loaded.
type lexicon struct {
	segmenter   gse.Segmenter
	least, most [groups]uint64
}

// dictionary is loaded when the first Han character comes: it takes about two
// seconds and 200 MB, which collections in other scripts do without.
var dictionary = sync.OnceValue(func() *lexicon {
	d := new(lexicon)
	d.segmenter.SkipLog = true
	d.segmenter.NotLoadHMM = true
	if err := d.segmenter.LoadDictEmbed("zh"); err != nil {
		panic("terms: the dictionary that is part of the program: " + err.Error())
	}
	for i := range d.segmenter.Dict.Tokens {
		t := &d.segmenter.Dict.Tokens[i]
		g, frequency := groupOf(t.Pos()), uint64(t.Freq())
		if d.least[g] == 0 || frequency < d.least[g] {
			d.least[g] = frequency
		}
		d.most[g] = max(d.most[g], frequency)
	}
	return d
})

// groupOf is the group of a part of speech as the dictionary writes it, in the
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
