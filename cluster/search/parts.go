package search

import (
	"fmt"
	"slices"

	"neardup/cluster/ppjoin"
	"neardup/signature/minhash"
	"neardup/signature/shingle"
)

// Parts is a join that is done in parts: its texts become records of hashes of tokens,
// and pairs are found by what records share. A pair is similar if and only if Similar
// finds it, but for a probability of about 2^-64 for each two tokens that differ.
type Parts struct {
	Rule   *ppjoin.Rule
	join   Join
	signer *minhash.Signer // of bands
}

// NewParts returns the join in parts. An error names what needs all texts in one place.
func NewParts(j Join) (*Parts, error) {
	switch {
	case j.Measure == JoinEdit:
		return nil, fmt.Errorf("cluster.join.measure: %s pairs texts by the places of q-grams", JoinEdit)
	case j.Measure == JoinHamming:
		return nil, fmt.Errorf("cluster.join.measure: %s pairs short texts that share no token", JoinHamming)
	case j.Weights != JoinUnweighted:
		return nil, fmt.Errorf("cluster.join.weights: %s weighs tokens by all texts", j.Weights)
	}
	rule, err := ppjoin.NewRule(j.options(1))
	p := &Parts{Rule: rule, join: j}
	if j.Algorithm == JoinLSH {
		p.signer = minhash.New(j.bands().Components(), 0)
	}
	return p, err
}

// Record returns the tokens of a text, or its sketch, as hashes: ascending, without
// repeats.
func (p *Parts) Record(text string) []uint64 {
	features := p.join.tokenOptions(1, false).Features(text)
	if p.join.Sketch == 0 {
		return features
	}
	values := slices.Clone(shingle.MinWise(shingle.NewSet(features), p.join.Sketch).Values)
	for i := range values {
		values[i] >>= 32 // as sketches does
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// ByBands reports whether pairs are found by bands, not by prefixes.
func (p *Parts) ByBands() bool { return p.signer != nil }

// Bands returns the keys of the bands of a record.
func (p *Parts) Bands(record []uint64) []uint64 {
	return p.join.bands().AppendKeys(nil, p.signer.Sign(nil, record))
}

// Share returns the score of records of so many tokens with common ones, as Similar
// does. ok is false if they are not similar.
func (p *Parts) Share(x, y, common int) (share float64, ok bool) {
	share, ok = p.Rule.Decide(int64(x), int64(y), int64(common), nil, nil)
	if p.join.Measure == JoinOverlap {
		share /= float64(x + y - common)
	}
	return share, ok
}
