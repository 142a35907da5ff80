package explain

import (
	"encoding/hex"
	"slices"

	"neardup/configs"
	"neardup/extract/text"
	"neardup/signature"
	"neardup/signature/ring"
	"neardup/signature/simhash"
	"neardup/signature/tokens"
)

// Limits of the lists; numbers count everything.
const (
	maxKeys         = 256 // shared signatures
	maxSentences    = 16  // of one origin
	sentenceColumns = 200 // of a sentence's text
	maxSpelledOut   = 512 // sentences
	signatureDigits = 32  // of 128 bits in hexadecimal; schemes of 64 bits have half
	shortSignatures = 16
)

// Signatures has the signatures of both texts, and those that they share.
type Signatures struct {
	Of      [2]int      `json:"of"`
	Counted [2]int      `json:"sentences_counted"` // with the ring: distinct sentences that are wide enough
	Common  int         `json:"sentences_common"`  // of those, sentences in both
	Shared  int         `json:"shared"`
	Least   int         `json:"least"`             // number that makes a pair candidates; 0 if signatures do not
	Enough  bool        `json:"enough"`            // the signatures make the pair candidates, as far as they decide
	Bits    *Bits       `json:"bits,omitempty"`    // of simhash
	Tokens  *Tokens     `json:"tokens,omitempty"`  // of a join
	Keys    []SharedKey `json:"keys"`              // the first 256 shared ones, ascending
	Spelled []Sentence  `json:"spelled,omitempty"` // the sentences that Keys names, by text and place
}

// SharedKey is a signature of both texts.
type SharedKey struct {
	Signature string     `json:"signature"`         // hexadecimal
	Origins   *[2]Origin `json:"origins,omitempty"` // with the ring: how it was first made in each text
	List      *ListOfKey `json:"list,omitempty"`    // of a workspace
}

// Origin says how a signature of the ring was made.
type Origin struct {
	Whole     bool  `json:"whole,omitempty"` // of all sentences
	Rotation  int   `json:"rotation"`
	Class     int   `json:"class"`
	Sentences []int `json:"sentences"` // by position, from 0; the first 16
}

// Sentence is a sentence of a text.
type Sentence struct {
	Text    int    `json:"of"`       // 0: a, 1: b
	Place   int    `json:"sentence"` // from 0
	Columns int    `json:"columns"`
	Words   string `json:"text"` // clipped
}

// ListOfKey is the list of texts that have a signature.
type ListOfKey struct {
	Texts   int    `json:"texts"`             // counted up to cluster.max_list and one more
	Deleted string `json:"deleted,omitempty"` // the rule that deleted the list: max_list or site_list
}

// Bits compares two signatures of simhash.
type Bits struct {
	Of     [2]string `json:"of"` // hexadecimal; empty if there is none
	Differ int       `json:"differ"`
	Most   *int      `json:"most,omitempty"` // largest number in which candidates differ, with the search hamming
}

// Tokens compares the tokens of both texts.
type Tokens struct {
	Of     [2]int `json:"of"`
	Common int    `json:"common"`
}

// Shared returns the signatures that both texts have, ascending, and all
// signatures of each.
func Shared(c configs.Config, a, b Side) (shared []signature.Signature, of [2][]signature.Signature) {
	for i, s := range [2]Side{a, b} {
		for _, t := range s.signed() {
			of[i] = c.NewScheme().Sign(of[i], t)
		}
		slices.SortFunc(of[i], compareSignatures)
		of[i] = slices.Compact(of[i])
	}
	return common(of[0], of[1]), of
}

// signed returns the readings that are signed.
func (s Side) signed() []string {
	if s.Signed == nil {
		return []string{s.Compared}
	}
	return s.Signed
}

func signatures(c configs.Config, a, b Side) Signatures {
	texts := [2]string{a.Compared, b.Compared}
	shared, of := Shared(c, a, b)
	s := Signatures{Of: [2]int{len(of[0]), len(of[1])}, Keys: []SharedKey{}}
	s.Shared = len(shared)
	switch c.Cluster.Search {
	case configs.SearchKeys:
		s.Least = 1
		if c.Cluster.Pairs() {
			s.Least = c.Cluster.Common
		}
		s.Enough = s.Shared >= s.Least
	case configs.SearchJoin:
		s.Enough = true
		s.Tokens = tokensOf(c.Cluster.Join, texts)
	case configs.SearchHamming:
		s.Enough = false // until the bits decide
	}
	if c.Sign.Scheme == configs.SchemeSimhash {
		s.bits(c, of)
	}
	digits := shortSignatures
	if c.Sign.Scheme == configs.SchemeRing {
		digits = signatureDigits
	}
	for _, key := range shared[:min(maxKeys, len(shared))] {
		s.Keys = append(s.Keys, SharedKey{Signature: hex.EncodeToString(key[:])[:digits]})
	}
	if c.Sign.Scheme == configs.SchemeRing {
		s.origins(c.Sign.Options, texts, shared[:len(s.Keys)])
	}
	return s
}

func compareSignatures(a, b signature.Signature) int { return slices.Compare(a[:], b[:]) }

// common returns the signatures that both sorted lists have.
func common(a, b []signature.Signature) (out []signature.Signature) {
	for len(a) > 0 && len(b) > 0 {
		switch n := compareSignatures(a[0], b[0]); {
		case n < 0:
			a = a[1:]
		case n > 0:
			b = b[1:]
		default:
			out = append(out, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return out
}

func (s *Signatures) bits(c configs.Config, of [2][]signature.Signature) {
	s.Bits = &Bits{}
	for i, one := range of {
		if len(one) > 0 {
			s.Bits.Of[i] = hex.EncodeToString(one[0][:])[:shortSignatures]
		}
	}
	both := len(of[0]) > 0 && len(of[1]) > 0
	if both {
		s.Bits.Differ = simhash.Differ(of[0][0].Bits(), of[1][0].Bits())
	}
	if c.Cluster.Search == configs.SearchHamming {
		most := c.Cluster.Hamming.Distance
		s.Bits.Most = &most
		s.Enough = both && s.Bits.Differ <= most
	}
}

// origins says how the shared signatures were made.
func (s *Signatures) origins(o ring.Options, texts [2]string, shared []signature.Signature) {
	signer := ring.New(o)
	first := [2]map[signature.Signature]Origin{{}, {}}
	var sentences [2][]text.Sentence
	in := [2]map[string]bool{{}, {}}
	for i, t := range texts {
		sentences[i] = text.Sentences(t)
		s.Counted[i] = signer.Counted(sentences[i])
		for _, sentence := range sentences[i] {
			if sentence.Columns > o.MinColumns {
				in[i][sentence.Text] = true
			}
		}
		for _, made := range signer.Trace(sentences[i]) {
			if _, there := first[i][made.Signature]; !there {
				first[i][made.Signature] = Origin{Whole: made.Whole, Rotation: made.Rotation, Class: made.Class,
					Sentences: made.Sentences[:min(maxSentences, len(made.Sentences))]}
			}
		}
	}
	for sentence := range in[0] {
		if in[1][sentence] {
			s.Common++
		}
	}
	var named [2]map[int]bool
	for i := range named {
		named[i] = map[int]bool{}
	}
	for i, key := range shared {
		origins := [2]Origin{first[0][key], first[1][key]}
		s.Keys[i].Origins = &origins
		for side, origin := range origins {
			for _, place := range origin.Sentences {
				named[side][place] = true
			}
		}
	}
	for side := range named {
		for place, sentence := range sentences[side] {
			if named[side][place] && len(s.Spelled) < maxSpelledOut {
				s.Spelled = append(s.Spelled, Sentence{side, place, sentence.Columns, text.Cut(sentence.Text, sentenceColumns)})
			}
		}
	}
}

// tokensOf counts the tokens of a join, as sets or multisets.
func tokensOf(j configs.Join, texts [2]string) *Tokens {
	o := j.TokenOptions(1)
	o.Alone = false
	if j.Measure == configs.JoinEdit {
		o = tokens.Options{Unit: tokens.Characters, Size: j.Size, Repeats: true}
	}
	records, err := tokens.Make(o, texts[:])
	if err != nil {
		return nil // cannot fail: the config is valid
	}
	a, b := slices.Sorted(slices.Values(records[0].Record(0))), slices.Sorted(slices.Values(records[0].Record(1)))
	t := &Tokens{Of: [2]int{len(a), len(b)}}
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			t.Common++
			a, b = a[1:], b[1:]
		}
	}
	return t
}
