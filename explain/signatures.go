package explain

import (
	"slices"
	"sort"

	"neardup/cluster/search"
	"neardup/configs"
	"neardup/extract/text"
	"neardup/signature"
	"neardup/signature/simhash"
)

// Limits of the lists. Numbers cover everything.
const (
	maxKeys         = 256 // shared signatures
	maxSentences    = 16  // sentences of one origin
	sentenceColumns = 200 // width of a sentence's text
	maxSpelledOut   = 512 // sentences
)

// Signatures holds the signatures of both texts, and those that they share.
type Signatures struct {
	Signs  bool `json:"-"` // the method signs texts
	Traced bool `json:"-"` // the scheme tells which sentences made a signature
	Lists  bool `json:"-"` // lists of shared signatures bring texts together
	Exact  bool `json:"-"` // the search finds every pair that reaches its score

	Of      [2]int         `json:"of"`
	Counted [2]int         `json:"sentences_counted"` // distinct sentences that are wide enough, if the scheme signs sentences
	Common  int            `json:"sentences_common"`  // those of them that both texts have
	Shared  int            `json:"shared"`
	Least   int            `json:"least"`             // number of common signatures that makes a pair candidates; 0 if it does not decide
	Enough  bool           `json:"enough"`            // the signatures make the pair candidates, as far as they decide
	Bits    *Bits          `json:"bits,omitempty"`    // only of simhash
	Tokens  *search.Tokens `json:"tokens,omitempty"`  // only of a join
	Keys    []SharedKey    `json:"keys"`              // the first 256 shared signatures, ascending
	Spelled []Sentence     `json:"spelled,omitempty"` // the sentences that Keys refers to, by text and index
}

// SharedKey is a signature that both texts have.
type SharedKey struct {
	Signature string     `json:"signature"`         // hexadecimal
	Origins   *[2]Origin `json:"origins,omitempty"` // how each text first made it, if the scheme signs sentences
	List      *ListOfKey `json:"list,omitempty"`    // only of a workspace
}

// Origin tells how a signature of the ring was made.
type Origin struct {
	Whole     bool  `json:"whole,omitempty"` // made of all sentences
	Few       bool  `json:"few,omitempty"`   // made of all sentences that count of a short text, or all but one or two
	Rotation  int   `json:"rotation"`
	Class     int   `json:"class"`
	Sentences []int `json:"sentences"` // indexes of the sentences, from 0; the first 16
}

// Sentence is a sentence of a text.
type Sentence struct {
	Text    int    `json:"of"`       // 0: a, 1: b
	Place   int    `json:"sentence"` // index, from 0
	Columns int    `json:"columns"`
	Words   string `json:"text"` // cut
}

// ListOfKey is the list of texts that have a signature.
type ListOfKey struct {
	Texts   int    `json:"texts"`             // number of texts; counting stops after cluster.max_list and one more
	Deleted string `json:"deleted,omitempty"` // the rule that deleted the list: max_list or site_list
}

// Over returns cluster.max_list if more texts have the signature, since counting stops there;
// otherwise 0.
func (l ListOfKey) Over() int {
	if l.Deleted == "max_list" {
		return l.Texts - 1
	}
	return 0
}

// Bits compares two signatures of simhash.
type Bits struct {
	Of     [2]string `json:"of"` // hexadecimal; empty if there is none
	Differ int       `json:"differ"`
	Most   *int      `json:"most,omitempty"` // largest number of differing bits of candidates, with the search hamming
}

// TwoOf returns the two texts as a search sees them.
func TwoOf(c configs.Config, a, b Side) search.Two {
	two := search.Two{Texts: [2]string{a.Compared, b.Compared}}
	for i, s := range [2]Side{a, b} {
		of := &two.Signatures[i]
		for _, t := range s.signed() {
			*of = c.NewScheme().Sign(*of, t)
		}
		sort.Slice(*of, func(i, j int) bool { return compareSignatures((*of)[i], (*of)[j]) < 0 })
		*of = slices.Compact(*of)
	}
	two.Shared = len(Shared(two))
	return two
}

// Shared returns the signatures that both texts have, ascending.
func Shared(two search.Two) []signature.Signature {
	return common(two.Signatures[0], two.Signatures[1])
}

// signed returns the readings that are signed.
func (s Side) signed() []string {
	if s.Signed == nil {
		return []string{s.Compared}
	}
	return s.Signed
}

func signatures(c configs.Config, two search.Two, m search.Meeting) Signatures {
	of, shared := two.Signatures, Shared(two)
	s := Signatures{Signs: c.Signs(), Of: [2]int{len(of[0]), len(of[1])}, Shared: len(shared), Keys: []SharedKey{},
		Least: m.Least, Enough: m.Candidates, Tokens: m.Tokens, Lists: m.Lists, Exact: m.Exact}
	if c.Fingerprints() {
		s.bits(of, m.Bits)
	}
	for _, key := range shared[:min(maxKeys, len(shared))] {
		s.Keys = append(s.Keys, SharedKey{Signature: key.String()})
	}
	if t, ok := c.NewScheme().(signature.Tracer); ok {
		s.Traced = true
		s.origins(t, two.Texts, shared[:len(s.Keys)])
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

func (s *Signatures) bits(of [2][]signature.Signature, most *int) {
	s.Bits = &Bits{Most: most}
	for i, one := range of {
		if len(one) > 0 {
			s.Bits.Of[i] = one[0].String()
		}
	}
	if len(of[0]) > 0 && len(of[1]) > 0 {
		s.Bits.Differ = simhash.Differ(of[0][0].Bits(), of[1][0].Bits())
	}
}

// origins sets how the shared signatures were made.
func (s *Signatures) origins(tracer signature.Tracer, texts [2]string, shared []signature.Signature) {
	first := [2]map[signature.Signature]Origin{{}, {}}
	var sentences [2][]text.Sentence
	in := [2]map[[16]byte]bool{{}, {}}
	for i, t := range texts {
		sentences[i] = text.Sentences(t)
		trace := tracer.Trace(t)
		s.Counted[i] = len(trace.Counted)
		for _, print := range trace.Prints {
			in[i][print] = true
		}
		for _, made := range trace.Origins {
			if _, there := first[i][made.Signature]; !there {
				first[i][made.Signature] = Origin{Whole: made.Whole, Few: made.Few, Rotation: made.Rotation, Class: made.Class,
					Sentences: made.Sentences[:min(maxSentences, len(made.Sentences))]}
			}
		}
	}
	for print := range in[0] {
		if in[1][print] {
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
