package dataflow

import (
	"slices"
	"unicode/utf8"

	"neardup/cluster"
	"neardup/configs"
	"neardup/extract/text"
	"neardup/pipeline/rows"
	"neardup/signature"
)

// Text is a text that is to be signed.
type Text struct {
	ID        rows.TextID
	Text      string   // as stored
	Templates []uint32 // numbers of the sentences that are left out, sorted
}

// Signer signs texts by the scheme of a config. A worker has its own.
type Signer struct {
	config configs.Config
	scheme signature.Scheme
	last   []signature.Signature
}

// NewSigner returns a signer.
func NewSigner(c configs.Config) *Signer { return &Signer{config: c, scheme: c.NewScheme()} }

// Sign returns what is known of a text that was signed, and appends its postings.
func (s *Signer) Sign(postings []cluster.Posting, t Text) (rows.Signed, []cluster.Posting) {
	var row rows.Signed
	if s.config.Text.Templates > 0 {
		row.Characters = uint32(utf8.RuneCountInString(t.Text))
		left := utf8.RuneCountInString(withoutSentences(t.Text, t.Templates))
		row.LeftOut = row.Characters - min(row.Characters, uint32(left))
	}
	signed := Compared(s.config, t)
	s.last = s.scheme.Sign(s.last[:0], signed)
	row.Signatures = uint32(len(s.last))
	key := cluster.NewKey(Weight(s.config, signed, len(s.last)), t.ID)
	postings = slices.Grow(postings, len(s.last))
	for _, signature := range s.last {
		postings = append(postings, cluster.Posting{Signature: signature, Key: key})
	}
	return row, postings
}

// Compared returns the part of a text that is signed and compared.
func Compared(c configs.Config, t Text) string {
	return text.Cut(withoutSentences(t.Text, t.Templates), c.Text.MaxColumns)
}

// withoutSentences returns s without the sentences of these numbers, which must
// be sorted.
func withoutSentences(s string, numbers []uint32) string {
	if len(numbers) == 0 {
		return s
	}
	return text.Without(s, func(i int) bool {
		if len(numbers) == 0 || numbers[0] != uint32(i) {
			return false
		}
		numbers = numbers[1:]
		return true
	})
}

// Weight is W of a text's key: the number of its signatures (TLCS paper, section
// 3.1), or its length in code points with schemes that give long texts no more
// signatures than short ones.
func Weight(c configs.Config, compared string, signatures int) float32 {
	if c.WeighsBySignatures() {
		return float32(signatures)
	}
	return float32(utf8.RuneCountInString(compared))
}
