// Package tokens turns texts into records of token ids for a similarity join:
// words, q-grams of characters, or shingles of words. The PPJoin paper (C.
// Xiao, W. Wang, X. Lin, J. X. Yu, G. Wang, Efficient Similarity Joins for
// Near Duplicate Detection, TODS 2011), section 2.1: "Each Web page is parsed,
// cleaned, and transformed into a multiset of tokens: tokens could be stemmed
// words, q-grams, or shingles."
//
// Two tokens have one id if and only if they are equal. Hashes only find the
// tokens, which are then compared.
package tokens

import (
	"fmt"
	"slices"
)

// Unit is a way to split a text.
type Unit int

// Units. Words are compared in lower case, characters as written.
const (
	Words      Unit = iota // split at white space
	Letters                // the words of neardup/signature/words
	Characters             // code points; an invalid byte is U+FFFD
)

// Options choose what a token is.
type Options struct {
	Unit Unit

	// Size is the number of consecutive units in a token: q of the q-grams, or the
	// words of a shingle (Broder 1997). 0 counts as 1. A text of fewer units, but
	// at least one, has one token of all of them.
	Size int

	// Repeats keeps a token as often as it occurs. Otherwise a text has each token
	// once.
	Repeats bool

	// Alone counts tokens that only one text has instead of listing them, where
	// finding them is cheap. They match nothing, and often few other tokens are
	// left. It needs !Repeats.
	Alone bool

	Workers int // number of goroutines, at most 16; it changes IDs, but not which tokens share an ID
}

const maxWorkers = 16

// Validate returns an error that names the option out of its range.
func (o Options) Validate() error {
	switch {
	case o.Unit < Words || o.Unit > Characters:
		return fmt.Errorf("tokens: unit is %d, must be Words, Letters or Characters", o.Unit)
	case o.Size < 0:
		return fmt.Errorf("tokens: size is %d, must not be negative", o.Size)
	case o.Alone && o.Repeats:
		return fmt.Errorf("tokens: alone counts sets, repeats keeps multisets: only one of them")
	}
	return nil
}

// Records are texts as token IDs, in the form of ppjoin.Collection.
type Records struct {
	Tokens []uint32 // record after record
	Ends   []int    // where in Tokens record i ends
	Alone  []uint32 // number of further tokens of record i that no other record has; nil: none
}

// Record returns the listed tokens of record i.
func (r Records) Record(i int) []uint32 {
	if i == 0 {
		return r.Tokens[:r.Ends[0]]
	}
	return r.Tokens[r.Ends[i-1]:r.Ends[i]]
}

// Make returns the records of the collections. IDs are dense, and shared by all
// collections.
func Make(o Options, collections ...[]string) ([]Records, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.Size = max(1, o.Size)
	texts := slices.Concat(collections...)
	all := windows(inParts(texts, o.Size, o.Workers, func() namer {
		if o.Unit == Characters {
			return new(alphabet)
		}
		return newLexicon(o.Unit == Letters)
	}), o)
	out := make([]Records, len(collections))
	text, token := 0, 0
	for i, c := range collections {
		ends := all.Ends[text : text+len(c) : text+len(c)]
		if all.Alone != nil {
			out[i].Alone = all.Alone[text : text+len(c)]
		}
		last := token
		if len(ends) > 0 {
			last = ends[len(ends)-1]
		}
		out[i].Tokens = all.Tokens[token:last:last]
		if token > 0 {
			for j := range ends {
				ends[j] -= token
			}
		}
		out[i].Ends = ends
		text, token = text+len(c), last
	}
	return out, nil
}
